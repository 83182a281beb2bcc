//! What a tool server lists at this moment.

use toolgate_api_proto::v1 as pb;
use toolgate_catalog::{
    agents::{AgentRef, AttachmentRef},
    server_tools::ListServerTools,
};
use toolgate_domain::{Caller, Fault, Scope};

use super::CatalogService;
use crate::convert::{fields, server_tools};

/// Characters of an agent's id or name.
const MAX_AGENT_CHARS: usize = 64;
/// Characters of an attachment's id or name.
const MAX_ATTACHMENT_CHARS: usize = 128;

impl CatalogService {
    /// Checks in the documented order: the agent, the scope, the attachment. What is wrong with a later one is not told to
    /// whom an earlier one stops.
    pub(super) async fn list_server_tools(
        &self,
        caller: Caller,
        ask: pb::ListServerToolsRequest,
    ) -> Result<pb::ListServerToolsResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let min_revision = tokens.open_revision(&ask.min_revision, "min_revision")?;
        let agent = fields::bounded(&ask.agent_id, "agent_id", MAX_AGENT_CHARS)?;
        let snapshot = self.catalog.snapshot(client, min_revision).await?;
        let agent = AgentRef::parse(agent).find(&snapshot)?.agent.id;
        caller.require(Scope::Read)?;
        let attachment = fields::bounded(&ask.attachment_id, "attachment_id", MAX_ATTACHMENT_CHARS)?;
        let attachment = AttachmentRef::parse(attachment);
        let list = ListServerTools { client, agent, attachment, min_revision };
        Ok(server_tools::to_proto(self.server_tools.list(&list).await?, &tokens))
    }
}
