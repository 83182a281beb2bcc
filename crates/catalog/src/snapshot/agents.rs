//! The agents of a client, and how far each of them reaches.

use std::sync::Arc;

use toolgate_domain::{
    Agent, AgentId, Tool, UpstreamId,
    agent::Attachment,
    decision::{Reach, decide},
};
use toolgate_store::Revision;

use super::{Snapshot, View, WithdrawnTool};

/// An agent and when it last changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentEntry {
    /// As declared.
    pub agent: Agent,
    /// The last commit that wrote it.
    pub changed: Revision,
    /// What it reaches.
    pub(crate) reach: Reach,
}

impl AgentEntry {
    /// Of an agent that `changed` wrote.
    pub fn new(agent: Agent, changed: Revision) -> Self {
        let reach = agent.reach();
        Self { agent, changed, reach }
    }
}

/// What somebody sees of a client's tools: a view, as far as they reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    pub(super) view: View,
    pub(super) reach: Reach,
}

impl Sight {
    /// How far it reaches, whatever the view.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Whether the tool is there for them (laws 4 and 5).
    pub fn holds(&self, tool: &Tool) -> bool {
        match self.view {
            View::Raw => self.reach.includes(tool.upstream),
            View::Served => decide(&self.reach, tool).is_ok(),
        }
    }

    /// Whether an upstream is there for them.
    pub fn reaches(&self, upstream: UpstreamId) -> bool {
        self.reach.includes(upstream)
    }

    /// Upstreams that only one of two sights reaches.
    pub(crate) fn reach_differing_from(&self, other: &Self) -> Vec<UpstreamId> {
        match (&self.reach, &other.reach) {
            (Reach::Attached(one), Reach::Attached(other)) => {
                one.symmetric_difference(other).copied().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether it may ever have been. What nobody ruled about was never served, and stays unknown to agents.
    pub(crate) fn may_have_held(&self, tool: &Tool) -> bool {
        self.reach.includes(tool.upstream) && self.view.may_have_held(tool)
    }

    /// The same of a tool that left the catalogue.
    pub(crate) fn may_have_held_gone(&self, tool: &WithdrawnTool) -> bool {
        self.reach.includes(tool.key.upstream) && tool.may_have_been_in(self.view)
    }
}

impl Snapshot {
    /// An agent by its id.
    pub fn agent(&self, id: AgentId) -> Option<&Arc<AgentEntry>> {
        self.agents.get(&id)
    }

    /// An agent by its name.
    pub fn agent_by_name(&self, name: &str) -> Option<&Arc<AgentEntry>> {
        self.agent_names.get(name).and_then(|id| self.agents.get(id))
    }

    /// Agents in order of creation.
    pub fn agents(&self) -> impl Iterator<Item = &Arc<AgentEntry>> {
        self.agents.values()
    }

    /// Agents in order of creation, after one of them.
    pub fn agents_after(&self, last: AgentId) -> impl Iterator<Item = &Arc<AgentEntry>> {
        let after = (std::ops::Bound::Excluded(last), std::ops::Bound::Unbounded);
        self.agents.range(after).map(|(_, entry)| entry)
    }

    /// How many agents there are.
    pub fn agent_count(&self) -> usize {
        self.agents.len()
    }

    /// What is attached to an agent, without what an upstream took along when it was deleted.
    pub fn attachments<'a>(&'a self, agent: &'a Agent) -> impl Iterator<Item = &'a Attachment> {
        let is_void = |attachment: &Attachment| {
            attachment.upstream().is_some_and(|upstream| !self.upstreams.contains_key(&upstream))
        };
        agent.attachments.iter().filter(move |attachment| !is_void(attachment))
    }

    /// What a view shows to an agent, or to somebody who is none. An agent that is not there reaches nothing.
    pub fn sight(&self, view: View, agent: Option<AgentId>) -> Sight {
        let reach = match agent {
            None => Reach::Everything,
            Some(id) => self.agents.get(&id).map_or_else(Reach::nothing, |entry| entry.reach.clone()),
        };
        Sight { view, reach }
    }

    /// Since when the reach of an agent is what it is now.
    pub(crate) fn reach_since(&self, agent: Option<AgentId>) -> Revision {
        match agent {
            None => Revision::ZERO,
            Some(id) => self.agents.get(&id).map_or(self.revision, |entry| entry.changed),
        }
    }

    pub(super) fn take_agent(&mut self, agent: Agent, version: Revision) {
        self.agent_names.insert(agent.name.to_string(), agent.id);
        self.agents.insert(agent.id, Arc::new(AgentEntry::new(agent, version)));
    }

    pub(super) fn drop_agent(&mut self, id: AgentId) {
        let Some(entry) = self.agents.remove(&id) else { return };
        // The name may be another agent's by now.
        if self.agent_names.get(entry.agent.name.as_str()) == Some(&id) {
            self.agent_names.remove(entry.agent.name.as_str());
        }
    }
}
