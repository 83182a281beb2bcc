//! Use case: one tool.

use std::sync::Arc;

use toolgate_domain::{AgentId, ClientId, Fault, ToolId};
use toolgate_store::Revision;

use crate::{Catalog, Snapshot, ToolEntry, View};

/// Which tool.
#[derive(Debug, Clone)]
pub struct GetTool {
    /// The tenant.
    pub client: ClientId,
    /// The tool.
    pub id: ToolId,
    /// Which definition, and whether it is there at all.
    pub view: View,
    /// The agent that reads, if one does.
    pub agent: Option<AgentId>,
    /// What the answer must have reached.
    pub min_revision: Option<Revision>,
}

/// Reads.
///
/// # Errors
/// [`Fault::ToolNotFound`] when the client has no such tool or it is not there in the view or for the agent; those of [`Catalog::snapshot`].
pub async fn get_tool(catalog: &Catalog, ask: &GetTool) -> Result<(Arc<ToolEntry>, Arc<Snapshot>), Fault> {
    let snapshot = catalog.snapshot(ask.client, ask.min_revision).await?;
    let sight = snapshot.sight(ask.view, ask.agent);
    let entry = snapshot.tool(ask.id).filter(|entry| sight.holds(&entry.tool)).cloned();
    Ok((entry.ok_or(Fault::ToolNotFound)?, snapshot))
}
