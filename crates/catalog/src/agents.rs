//! Use cases: the agents of a client.

use std::{num::NonZeroUsize, sync::Arc};

use toolgate_domain::{Agent, AgentId, AttachmentId, ClientId, Fault, agent::Attachment, limits};
use toolgate_store::Revision;

use crate::{AgentEntry, Catalog, Snapshot, snapshot::ENTRY_BYTES};

/// How a request names an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentRef {
    /// By its id.
    Id(AgentId),
    /// By its name.
    Name(String),
}

impl AgentRef {
    /// Anything that is not a UUID is taken as a name.
    pub fn parse(text: &str) -> Self {
        text.parse().map(Self::Id).unwrap_or_else(|_| Self::Name(text.to_owned()))
    }

    /// The agent of this id or name in `snapshot`.
    ///
    /// # Errors
    /// [`Fault::AgentNotFound`].
    pub fn find<'s>(&self, snapshot: &'s Snapshot) -> Result<&'s Arc<AgentEntry>, Fault> {
        let entry = match self {
            // A name may look like a UUID.
            Self::Id(id) => snapshot.agent(*id).or_else(|| snapshot.agent_by_name(&id.to_string())),
            Self::Name(name) => snapshot.agent_by_name(name),
        };
        entry.ok_or(Fault::AgentNotFound)
    }
}

/// How a request names an attachment of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachmentRef {
    /// By its id.
    Id(AttachmentId),
    /// By its name.
    Name(String),
}

impl AttachmentRef {
    /// Anything that is not a UUID is taken as a name.
    pub fn parse(text: &str) -> Self {
        text.parse().map(Self::Id).unwrap_or_else(|_| Self::Name(text.to_owned()))
    }

    /// The attachment of this id or name that is not void in `snapshot`.
    ///
    /// # Errors
    /// [`Fault::AttachmentNotFound`].
    pub fn find<'a>(&self, agent: &'a Agent, snapshot: &'a Snapshot) -> Result<&'a Attachment, Fault> {
        let by_id = |id| snapshot.attachments(agent).find(|attachment| attachment.id == id);
        let by_name = |name: &str| snapshot.attachments(agent).find(|attachment| attachment.name == name);
        let found = match self {
            // A name may look like a UUID.
            Self::Id(id) => by_id(*id).or_else(|| by_name(&id.to_string())),
            Self::Name(name) => by_name(name),
        };
        found.ok_or(Fault::AttachmentNotFound)
    }
}

/// Which agents.
#[derive(Debug, Clone)]
pub struct ListAgents {
    /// The tenant.
    pub client: ClientId,
    /// Only those made after this one.
    pub after: Option<AgentId>,
    /// At most so many, and no more than fit [`limits::PAGE_DEFINITION_BYTES`].
    pub size: NonZeroUsize,
    /// What the answer must have reached.
    pub min_revision: Option<Revision>,
}

/// A page of agents.
#[derive(Debug, Clone)]
pub struct AgentPage {
    /// In order of creation.
    pub agents: Vec<Arc<AgentEntry>>,
    /// The last of the page, where more follow.
    pub more_after: Option<AgentId>,
    /// Where it was taken from.
    pub snapshot: Arc<Snapshot>,
}

/// Lists agents.
///
/// # Errors
/// Those of [`Catalog::snapshot`].
pub async fn list_agents(catalog: &Catalog, ask: &ListAgents) -> Result<AgentPage, Fault> {
    let snapshot = catalog.snapshot(ask.client, ask.min_revision).await?;
    let (agents, more_after) = match ask.after {
        None => page(snapshot.agents(), ask.size),
        Some(last) => page(snapshot.agents_after(last), ask.size),
    };
    Ok(AgentPage { agents, more_after, snapshot })
}

fn page<'s>(
    all: impl Iterator<Item = &'s Arc<AgentEntry>>,
    size: NonZeroUsize,
) -> (Vec<Arc<AgentEntry>>, Option<AgentId>) {
    let (mut agents, mut bytes) = (Vec::<Arc<AgentEntry>>::new(), 0);
    for entry in all {
        bytes += ENTRY_BYTES + limits::MAX_DISPLAY_NAME_BYTES + entry.agent.attachment_bytes();
        let is_full = agents.len() >= size.get() || bytes > limits::PAGE_DEFINITION_BYTES;
        if let Some(last) = agents.last().filter(|_| is_full) {
            let more_after = last.agent.id;
            return (agents, Some(more_after));
        }
        agents.push(Arc::clone(entry));
    }
    (agents, None)
}

/// Reads one agent.
///
/// # Errors
/// [`Fault::AgentNotFound`]; those of [`Catalog::snapshot`].
pub async fn get_agent(
    catalog: &Catalog,
    client: ClientId,
    name: &AgentRef,
    min_revision: Option<Revision>,
) -> Result<(Arc<AgentEntry>, Arc<Snapshot>), Fault> {
    let snapshot = catalog.snapshot(client, min_revision).await?;
    Ok((Arc::clone(name.find(&snapshot)?), snapshot))
}
