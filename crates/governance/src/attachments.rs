//! Use cases: attaching something to an agent, and detaching it.

use toolgate_catalog::{
    Revision, Snapshot,
    agents::{AgentRef, AttachmentRef},
    upstreams::{UpstreamRef, find_upstream},
};
use toolgate_domain::{
    Agent, AttachmentId, Caller, ClientId, Fault, Moment,
    agent::{Attachment, AttachmentKind},
    limits,
    ruling::AgentAct,
};
use toolgate_records::{Key, Record};
use toolgate_store::{Commit, Condition};

use crate::{
    Governance, StoredAgent,
    agents::would_be,
    logged::{MAX_ATTEMPTS, outrun, put_all},
};

/// What to attach.
#[derive(Debug, Clone)]
pub struct AttachAgentTool {
    /// The tenant.
    pub client: ClientId,
    /// The agent.
    pub agent: AgentRef,
    /// The agent's last change that the act is based on; anything newer refuses it.
    pub based_on: Option<Revision>,
    /// What it is.
    pub kind: AttachedKind,
    /// What it is called, unchecked; of an upstream its slug, or empty.
    pub name: String,
    /// Free text for people, unchecked.
    pub display_name: String,
    /// What it is good for, unchecked.
    pub description: String,
    /// Check everything, write nothing.
    pub validate_only: bool,
}

/// What kind of thing to attach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachedKind {
    /// An upstream.
    Mcp(UpstreamRef),
    /// A function of the agent's runtime, with the schema of its parameters, unchecked; empty for none.
    Function(String),
    /// A store that the agent's runtime searches, unchecked.
    FileSearch(String),
}

/// What to detach.
#[derive(Debug, Clone)]
pub struct DetachAgentTool {
    /// The tenant.
    pub client: ClientId,
    /// The agent.
    pub agent: AgentRef,
    /// The agent's last change that the act is based on; anything newer refuses it.
    pub based_on: Option<Revision>,
    /// The attachment.
    pub attachment: AttachmentRef,
    /// Check everything, write nothing.
    pub validate_only: bool,
}

/// An agent after an edit, with what the edit is in the log and what must hold for it.
struct Edited {
    agent: Agent,
    act: AgentAct,
    conditions: Vec<Condition>,
}

impl Governance {
    /// Attaches. The new attachment is the last of the agent's.
    ///
    /// # Errors
    /// [`Fault::Invalid`]; [`Fault::AgentNotFound`]; [`Fault::UpstreamNotFound`]; [`Fault::AttachmentNameTaken`];
    /// [`Fault::LimitExceeded`]; [`Fault::EtagMismatch`] with an empty `current`; [`Fault::ClientNotFound`]; failures of the
    /// store.
    pub async fn attach_agent_tool(
        &self,
        caller: &Caller,
        wanted: &AttachAgentTool,
    ) -> Result<StoredAgent, Fault> {
        let at = self.clock.now();
        let id = AttachmentId::new(at, self.entropy.ten_bytes());
        for _ in 0..MAX_ATTEMPTS {
            let (was, version) = self.present(wanted.client, &wanted.agent, wanted.based_on).await?;
            let edited = attach(&was.entry.agent, &was.snapshot, wanted, id, at)?;
            let done = self.edit(caller, was, version, edited, wanted.validate_only).await?;
            if let Some(done) = done {
                return Ok(done);
            }
        }
        Err(outrun())
    }

    /// Detaches.
    ///
    /// # Errors
    /// [`Fault::AgentNotFound`]; [`Fault::AttachmentNotFound`]; [`Fault::EtagMismatch`] with an empty `current`;
    /// [`Fault::ClientNotFound`]; failures of the store.
    pub async fn detach_agent_tool(
        &self,
        caller: &Caller,
        wanted: &DetachAgentTool,
    ) -> Result<StoredAgent, Fault> {
        for _ in 0..MAX_ATTEMPTS {
            let (was, version) = self.present(wanted.client, &wanted.agent, wanted.based_on).await?;
            let edited = detach(&was.entry.agent, &was.snapshot, &wanted.attachment, self.clock.now())?;
            let done = self.edit(caller, was, version, edited, wanted.validate_only).await?;
            if let Some(done) = done {
                return Ok(done);
            }
        }
        Err(outrun())
    }

    /// Writes an edit of the agent whose row has `version`. `None` when another writer came between.
    async fn edit(
        &self,
        caller: &Caller,
        was: StoredAgent,
        version: Revision,
        edited: Edited,
        validate_only: bool,
    ) -> Result<Option<StoredAgent>, Fault> {
        let Edited { agent, act, conditions } = edited;
        if validate_only {
            return Ok(Some(StoredAgent { entry: would_be(agent), snapshot: was.snapshot }));
        }
        let row = Key::Agent(agent.client, agent.id).encode();
        let mut commit = put_all(Commit::new(), [Record::Agent(agent.clone())]);
        commit.conditions.extend(conditions);
        let commit = commit.when(Condition::Equals(row, version));
        match self.commit_about(&agent, &caller.subject, act, commit).await? {
            Some(revision) => Ok(Some(self.stored(&agent, revision).await?)),
            None => Ok(None),
        }
    }
}

fn attach(
    agent: &Agent,
    snapshot: &Snapshot,
    wanted: &AttachAgentTool,
    id: AttachmentId,
    at: Moment,
) -> Result<Edited, Fault> {
    let (kind, slug) = resolved(snapshot, &wanted.kind)?;
    let name = match slug {
        Some(slug) if !wanted.name.is_empty() && wanted.name != slug => {
            return Err(Fault::invalid(
                "name",
                "of an MCP attachment is its upstream's slug; leave it empty",
            ));
        }
        Some(slug) => slug,
        None => wanted.name.clone(),
    };
    let (display_name, description) = (wanted.display_name.clone(), wanted.description.clone());
    let attachment = Attachment { id, name, kind, display_name, description, created_at: at };
    let violations = attachment.violations();
    if !violations.is_empty() {
        return Err(Fault::Invalid(violations));
    }
    let mut after = swept(agent, snapshot, at);
    if after.attachments.iter().any(|present| present.name == attachment.name) {
        return Err(Fault::AttachmentNameTaken { name: attachment.name });
    }
    let upstream = attachment.upstream().map(|upstream| Key::Upstream(agent.client, upstream));
    let conditions = upstream.map(|key| Condition::Present(key.encode())).into_iter().collect();
    after.attachments.push(attachment.clone());
    within_limits(&after)?;
    Ok(Edited { agent: after, act: AgentAct::Attach(attachment), conditions })
}

fn detach(agent: &Agent, snapshot: &Snapshot, wanted: &AttachmentRef, at: Moment) -> Result<Edited, Fault> {
    let Attachment { id, name, .. } = wanted.find(agent, snapshot)?.clone();
    let mut after = swept(agent, snapshot, at);
    after.attachments.retain(|attachment| attachment.id != id);
    Ok(Edited { agent: after, act: AgentAct::Detach { id, name }, conditions: Vec::new() })
}

/// The agent without what a deleted upstream took along. `snapshot` is no older than the agent's row, so an upstream that it
/// lacks will not come.
fn swept(agent: &Agent, snapshot: &Snapshot, at: Moment) -> Agent {
    let attachments = snapshot.attachments(agent).cloned().collect();
    Agent { attachments, updated_at: at, ..agent.clone() }
}

/// What is attached, and the slug of an upstream.
fn resolved(snapshot: &Snapshot, kind: &AttachedKind) -> Result<(AttachmentKind, Option<String>), Fault> {
    Ok(match kind {
        AttachedKind::Mcp(name) => {
            let upstream = &find_upstream(snapshot, name)?.upstream;
            (AttachmentKind::Mcp(upstream.id), Some(upstream.slug.to_string()))
        }
        AttachedKind::Function(parameters) => {
            (AttachmentKind::Function { parameters: parameters.clone() }, None)
        }
        AttachedKind::FileSearch(store) => {
            (AttachmentKind::FileSearch { vector_store_id: store.clone() }, None)
        }
    })
}

fn within_limits(agent: &Agent) -> Result<(), Fault> {
    let over = |limit, value: usize| {
        let remedy = "detach what the agent no longer needs";
        Err(Fault::LimitExceeded { limit, value: value as u64, remedy })
    };
    if agent.attachments.len() > limits::MAX_ATTACHMENTS_PER_AGENT {
        return over("MAX_ATTACHMENTS_PER_AGENT", limits::MAX_ATTACHMENTS_PER_AGENT);
    }
    if agent.attachment_bytes() > limits::MAX_ATTACHMENT_BYTES_PER_AGENT {
        return over("MAX_ATTACHMENT_BYTES_PER_AGENT", limits::MAX_ATTACHMENT_BYTES_PER_AGENT);
    }
    Ok(())
}
