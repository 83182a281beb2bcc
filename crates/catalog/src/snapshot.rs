//! A client's catalogue at one revision: immutable, shared, and cheap to derive the next one from.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use toolgate_domain::{
    AgentId, ClientId, Tool, ToolId, Upstream, UpstreamId,
    sync_status::LastListing,
    tool::{NameClaim, Observed, Ruled},
    upstream::Tombstone,
};
use toolgate_records::NameHolder;
use toolgate_store::Revision;

mod agents;
mod apply;
mod oxp_ids;
mod page;
mod withdrawn;

pub use agents::{AgentEntry, Sight};
pub(crate) use apply::{Loaded, Update};
use oxp_ids::OxpIds;
pub use page::{Filter, PageSize, ToolPage};
use withdrawn::Withdrawn;
pub use withdrawn::WithdrawnTool;

/// Where a tool stands in the one order of tools: its upstream's creation, then its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolKey {
    /// Ids of upstreams sort by creation.
    pub upstream: UpstreamId,
    /// The upstream's own name of the tool.
    pub name: Arc<str>,
}

/// Which tools a reader sees, of those that it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum View {
    /// Every tool, as its upstream lists it.
    Raw,
    /// Only what is served, as an agent reads it.
    Served,
}

impl View {
    /// Whether it may ever have held the tool. What nobody ruled about was never served, and stays unknown to agents.
    pub(crate) fn may_have_held(self, tool: &Tool) -> bool {
        match self {
            Self::Raw => true,
            Self::Served => tool.ruled.changed_at.is_some(),
        }
    }
}

/// A tool and when it last changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolEntry {
    /// The tool.
    pub tool: Tool,
    /// The last commit that touched anything the tool is made of.
    pub changed: Revision,
}

impl ToolEntry {
    /// About what it takes on the wire, and seldom more: its definition, its name twice, ids, hashes and tokens.
    pub fn weight_bytes(&self) -> usize {
        self.tool.definition.text().len() + 2 * self.tool.name().len() + ENTRY_BYTES
    }
}

/// What an entry takes on the wire beside texts of any length.
pub(crate) const ENTRY_BYTES: usize = 800;

/// An upstream and its last listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamEntry {
    /// As declared.
    pub upstream: Upstream,
    /// The commit that declared it so.
    pub declared: Revision,
    /// What its last listing had in it; `None` before the first.
    pub listing: Option<LastListing>,
}

/// A client's catalogue at one revision.
#[derive(Debug, Clone)]
pub struct Snapshot {
    client: ClientId,
    revision: Revision,
    /// There is no such client any more.
    is_deleted: bool,
    upstreams: OrdMap<UpstreamId, Arc<UpstreamEntry>>,
    slugs: OrdMap<String, UpstreamId>,
    agents: OrdMap<AgentId, Arc<AgentEntry>>,
    agent_names: OrdMap<String, AgentId>,
    tools: OrdMap<ToolKey, Arc<ToolEntry>>,
    /// The rows that `tools` is made of, so that one changed row changes one tool.
    parts: OrdMap<ToolKey, Parts>,
    claims: OrdMap<String, (Option<NameHolder>, Revision)>,
    /// Upstreams that were deleted.
    graves: OrdMap<UpstreamId, Grave>,
    ids: OrdMap<ToolId, ToolKey>,
    /// Every tool by its namespaced name; several where the name is not usable.
    names: OrdSet<(String, ToolKey)>,
    /// By their upstream.
    oxp_ids: OrdMap<UpstreamId, Arc<OxpIds>>,
    /// Every tool by its last change: what a resumed watch asks for.
    changes: OrdSet<(Revision, ToolKey)>,
    /// Tools that are gone: what a resumed watch asks for too.
    withdrawn: Withdrawn,
}

#[derive(Debug, Clone, Default)]
struct Parts {
    observed: Option<(Observed, Revision)>,
    ruled: Option<(Ruled, Revision)>,
}

/// What is left of an upstream.
#[derive(Debug, Clone)]
struct Grave {
    tombstone: Tombstone,
    /// The commit that deleted it.
    deleted: Revision,
    is_swept: bool,
}

impl Snapshot {
    /// Of a client without anything.
    pub(crate) fn empty(client: ClientId) -> Self {
        Self {
            client,
            revision: Revision::ZERO,
            is_deleted: false,
            upstreams: OrdMap::new(),
            slugs: OrdMap::new(),
            agents: OrdMap::new(),
            agent_names: OrdMap::new(),
            tools: OrdMap::new(),
            parts: OrdMap::new(),
            claims: OrdMap::new(),
            graves: OrdMap::new(),
            ids: OrdMap::new(),
            names: OrdSet::new(),
            oxp_ids: OrdMap::new(),
            changes: OrdSet::new(),
            withdrawn: Withdrawn::default(),
        }
    }

    /// Of a client that was deleted: the last one, past every revision that could be waited for.
    pub(crate) fn deleted(client: ClientId) -> Self {
        Self { is_deleted: true, revision: Revision(u64::MAX), ..Self::empty(client) }
    }

    /// Whether the client was deleted.
    pub(crate) fn is_deleted(&self) -> bool {
        self.is_deleted
    }

    /// Whose it is.
    pub fn client(&self) -> ClientId {
        self.client
    }

    /// The last commit that touched this client's catalogue.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// A tool by its id.
    pub fn tool(&self, id: ToolId) -> Option<&Arc<ToolEntry>> {
        self.ids.get(&id).and_then(|key| self.tools.get(key))
    }

    /// An upstream by its id.
    pub fn upstream(&self, id: UpstreamId) -> Option<&Arc<UpstreamEntry>> {
        self.upstreams.get(&id)
    }

    /// An upstream by its slug, `-` and `_` counting as the same.
    pub fn upstream_by_slug(&self, slug: &str) -> Option<&Arc<UpstreamEntry>> {
        self.slugs.get(&slug.replace('-', "_")).and_then(|id| self.upstreams.get(id))
    }

    /// Upstreams in order of creation.
    pub fn upstreams(&self) -> impl Iterator<Item = &Arc<UpstreamEntry>> {
        self.upstreams.values()
    }

    /// What is left of an upstream that was deleted.
    pub fn tombstone(&self, id: UpstreamId) -> Option<&Tombstone> {
        self.graves.get(&id).map(|grave| &grave.tombstone)
    }

    /// Upstreams that were deleted, and whose rows are not all swept.
    pub fn unswept(&self) -> impl Iterator<Item = UpstreamId> {
        self.graves.iter().filter(|(_, grave)| !grave.is_swept).map(|(id, _)| *id)
    }

    /// How many upstreams there are.
    pub fn upstream_count(&self) -> usize {
        self.upstreams.len()
    }

    /// How many tools there are, in every state.
    pub fn tool_count(&self) -> usize {
        self.tools.len()
    }

    /// Tools that changed after `revision`, in catalogue order.
    pub fn changed_since(&self, revision: Revision) -> Vec<Arc<ToolEntry>> {
        let start = (Revision(revision.0.saturating_add(1)), first_key());
        let mut keys: Vec<&ToolKey> = self.changes.range(start..).map(|(_, key)| key).collect();
        keys.sort_unstable();
        keys.into_iter().filter_map(|key| self.tools.get(key)).cloned().collect()
    }

    /// Tools that left after `revision` and are still gone, each in order of leaving. Of no use before [`Snapshot::oldest`].
    pub fn withdrawn_since(&self, revision: Revision) -> impl Iterator<Item = WithdrawnTool> {
        self.withdrawn.since(revision).filter(|tool| !self.tools.contains_key(&tool.key))
    }

    /// The oldest revision since when every tool that left is remembered: what a watch may be resumed from.
    pub fn oldest(&self) -> Revision {
        self.withdrawn.oldest()
    }

    /// The tools of an upstream, by name.
    pub fn tools_of(&self, upstream: UpstreamId) -> impl Iterator<Item = &Arc<ToolEntry>> {
        self.keyed_tools_of(upstream).map(|(_, entry)| entry)
    }

    fn keyed_tools_of(&self, upstream: UpstreamId) -> impl Iterator<Item = (&ToolKey, &Arc<ToolEntry>)> {
        let first = ToolKey { upstream, name: Arc::from("") };
        self.tools.range(first..).take_while(move |(key, _)| key.upstream == upstream)
    }

    /// Whether any tool goes by this name, whoever holds it.
    pub fn is_a_tools_name(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }

    /// The tools that go by this name; more than one where the name is not usable.
    pub fn tools_named(&self, name: &str) -> impl Iterator<Item = &Arc<ToolEntry>> {
        self.named(name).filter_map(|key| self.tools.get(key))
    }

    fn named(&self, name: &str) -> impl Iterator<Item = &ToolKey> {
        let first = (name.to_owned(), first_key());
        self.names.range(first..).take_while(move |(other, _)| other == name).map(|(_, key)| key)
    }

    fn claim_of(&self, key: &ToolKey, name: &str) -> (NameClaim, Revision) {
        let Some((holder, at)) = self.claims.get(name) else { return (NameClaim::Held, Revision::ZERO) };
        match holder {
            Some(holder) if holder.upstream != key.upstream || *holder.tool_name != *key.name => {
                match self.graves.get(&holder.upstream) {
                    None => (NameClaim::TakenByAnother, *at),
                    // A claim ends with its upstream.
                    Some(grave) => (NameClaim::Held, grave.deleted.max(*at)),
                }
            }
            Some(_) | None => (NameClaim::Held, *at),
        }
    }
}

fn first_key() -> ToolKey {
    ToolKey { upstream: UpstreamId::from_bytes([0; 16]), name: Arc::from("") }
}
