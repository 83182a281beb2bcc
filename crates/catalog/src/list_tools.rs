//! Use case: a page of a client's tools.

use std::sync::Arc;

use toolgate_domain::{AgentId, ClientId, Fault};
use toolgate_store::Revision;

use crate::{
    Catalog, Snapshot, ToolKey, View,
    snapshot::{Filter, PageSize, ToolPage},
};

/// Which tools.
#[derive(Debug, Clone)]
pub struct ListTools {
    /// The tenant.
    pub client: ClientId,
    /// Which definition, and which tools.
    pub view: View,
    /// The agent that reads, if one does.
    pub agent: Option<AgentId>,
    /// Which of those.
    pub filter: Filter,
    /// Only tools after this one.
    pub after: Option<ToolKey>,
    /// Where the page ends.
    pub size: PageSize,
    /// What the answer must have reached.
    pub min_revision: Option<Revision>,
}

/// The tools, and the snapshot they were taken from.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The page.
    pub page: ToolPage,
    /// Where it was taken from.
    pub snapshot: Arc<Snapshot>,
}

/// Lists.
///
/// # Errors
/// [`Fault::UpstreamNotFound`] when the filter names an upstream that the client does not have, or the agent does not reach; those of
/// [`Catalog::snapshot`].
pub async fn list_tools(catalog: &Catalog, ask: &ListTools) -> Result<Listed, Fault> {
    let snapshot = catalog.snapshot(ask.client, ask.min_revision).await?;
    list_from(snapshot, ask)
}

/// Lists from a snapshot that the caller has already taken.
///
/// # Errors
/// [`Fault::UpstreamNotFound`] when the filter names an upstream that the client does not have, or the agent does not reach.
pub fn list_from(snapshot: Arc<Snapshot>, ask: &ListTools) -> Result<Listed, Fault> {
    let sight = snapshot.sight(ask.view, ask.agent);
    if ask.filter.upstream.is_some_and(|id| snapshot.upstream(id).is_none() || !sight.reaches(id)) {
        return Err(Fault::UpstreamNotFound);
    }
    let page = snapshot.page(&sight, &ask.filter, ask.after.as_ref(), ask.size);
    Ok(Listed { page, snapshot })
}
