//! The calls about agents.

use toolgate_api_proto::v1 as pb;
use toolgate_catalog::agents::{AgentRef, AttachmentRef, get_agent};
use toolgate_domain::{Caller, ClientId, Fault};
use toolgate_governance::{AttachAgentTool, CreateAgent, DeleteAgent, DetachAgentTool, StoredAgent};

use super::GovernanceService;
use crate::{
    convert::{
        agent::{self, required_agent},
        fields::count,
    },
    tokens::Tokens,
};

impl GovernanceService {
    pub(super) async fn create_agent(
        &self,
        caller: Caller,
        ask: pb::CreateAgentRequest,
    ) -> Result<pb::CreateAgentResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let pb::CreateAgentRequest { name, display_name, validate_only, .. } = ask;
        let wanted = CreateAgent { client, name, display_name, validate_only };
        let (agent, revision) = shown(&self.governance.create_agent(&caller, wanted).await?, &tokens);
        Ok(pb::CreateAgentResponse { agent, revision })
    }

    pub(super) async fn delete_agent(
        &self,
        caller: Caller,
        ask: pb::DeleteAgentRequest,
    ) -> Result<pb::DeleteAgentResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let agent = required_agent(&ask.id, "id")?;
        let based_on = self.based_on(client, &agent, &ask.etag).await?;
        let wanted = DeleteAgent { client, agent: agent.clone(), based_on, validate_only: ask.validate_only };
        let deleted = self.governance.delete_agent(&caller, wanted).await;
        let deleted = self.with_etag(client, &agent, deleted).await?;
        Ok(pb::DeleteAgentResponse {
            agent: shown(&deleted.was, &tokens).0,
            revision: tokens.revision(deleted.snapshot.revision()),
            api_key_count: count(deleted.api_key_count),
        })
    }

    pub(super) async fn attach_agent_tool(
        &self,
        caller: Caller,
        ask: pb::AttachAgentToolRequest,
    ) -> Result<pb::AttachAgentToolResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let name = required_agent(&ask.agent_id, "agent_id")?;
        let wanted = AttachAgentTool {
            client,
            agent: name.clone(),
            based_on: self.based_on(client, &name, &ask.etag).await?,
            kind: agent::kind_from_proto(&ask)?,
            name: ask.name,
            display_name: ask.display_name,
            description: ask.description,
            validate_only: ask.validate_only,
        };
        let attached = self.governance.attach_agent_tool(&caller, &wanted).await;
        let attached = self.with_etag(client, &name, attached).await?;
        let attachment = attached.entry.agent.attachments.last().map(agent::attachment_to_proto);
        let (agent, revision) = shown(&attached, &tokens);
        Ok(pb::AttachAgentToolResponse { agent, attachment, revision })
    }

    pub(super) async fn detach_agent_tool(
        &self,
        caller: Caller,
        ask: pb::DetachAgentToolRequest,
    ) -> Result<pb::DetachAgentToolResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let agent = required_agent(&ask.agent_id, "agent_id")?;
        if ask.attachment_id.is_empty() {
            return Err(Fault::invalid("attachment_id", "is required: an attachment's id or name"));
        }
        let wanted = DetachAgentTool {
            client,
            agent: agent.clone(),
            based_on: self.based_on(client, &agent, &ask.etag).await?,
            attachment: AttachmentRef::parse(&ask.attachment_id),
            validate_only: ask.validate_only,
        };
        let detached = self.governance.detach_agent_tool(&caller, &wanted).await;
        let (agent, revision) = shown(&self.with_etag(client, &agent, detached).await?, &tokens);
        Ok(pb::DetachAgentToolResponse { agent, revision })
    }

    /// The change behind the etag of a request about an agent; `None` for the empty text.
    async fn based_on(
        &self,
        client: ClientId,
        name: &AgentRef,
        etag: &str,
    ) -> Result<Option<toolgate_catalog::Revision>, Fault> {
        if etag.is_empty() {
            return Ok(None);
        }
        let (entry, _) = get_agent(self.governance.catalog(), client, name, None).await?;
        self.gate.tokens(client).open_agent(entry.agent.id, etag)
    }

    /// Fills the present etag into a refusal.
    async fn with_etag<T>(
        &self,
        client: ClientId,
        name: &AgentRef,
        done: Result<T, Fault>,
    ) -> Result<T, Fault> {
        match done {
            Err(Fault::EtagMismatch { .. }) => {
                let (entry, _) = get_agent(self.governance.catalog(), client, name, None).await?;
                Err(Fault::EtagMismatch { current: self.gate.tokens(client).agent(&entry) })
            }
            other => other,
        }
    }
}

/// The agent, and the revision that it was taken from.
fn shown(stored: &StoredAgent, tokens: &Tokens<'_>) -> (Option<pb::Agent>, String) {
    let agent = agent::to_proto(&stored.entry, &stored.snapshot, tokens);
    (Some(agent), tokens.revision(stored.snapshot.revision()))
}
