//! What people rule about tools: append-only, each row tied to the one before.

use toolgate_definition::{Effect, Fingerprint, locks::Locks};

use crate::{AgentId, AttachmentId, Moment, ToolId, UpstreamId, agent::Attachment};

/// A person's word about one tool, about an upstream with all its tools, about an agent, or about the whole client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// Position in the client's log, counted from 1 without gaps.
    pub sequence: u64,
    /// When it was made, by the clock of the server that took it.
    pub at: Moment,
    /// Who made it ([`crate::Caller::subject`]).
    pub subject: String,
    /// The upstream, or the tool's; `None` where an agent or the whole client is meant.
    pub upstream: Option<UpstreamId>,
    /// The upstream's own name of the tool; empty for an act that is not about one tool.
    pub tool_name: String,
    /// What was ruled.
    pub act: Act,
}

impl Ruling {
    /// The tool that it is about; `None` where more is meant.
    pub fn tool(&self) -> Option<ToolId> {
        let upstream = self.upstream.filter(|_| !self.act.is_about_upstream())?;
        Some(ToolId::of(upstream, &self.tool_name))
    }
}

/// What can be ruled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// This definition is approved, under this binding of the upstream's endpoint.
    Approve {
        /// What the reviewer saw.
        fingerprint: Fingerprint,
        /// [`crate::Upstream::binding_epoch`] at that moment.
        binding_epoch: u64,
    },
    /// The approval is taken back.
    RevokeApproval,
    /// The tool is switched off.
    Disable,
    /// The tool is switched on.
    Enable,
    /// What it does, whatever its definition claims; `None` to go by the definition.
    SetEffect(Option<Effect>),
    /// What agents read instead of its description; `None` for the upstream's own.
    SetDescription(Option<String>),
    /// What agents call it; `None` to go by the upstream's name policy.
    Rename(Option<String>),
    /// All inputs that are locked from now on.
    SetLocks(Locks),
    /// The upstream is deleted, with all its tools and what was ruled about them.
    DeleteUpstream {
        /// What its slug was.
        slug: String,
        /// How many tools it had, in every state.
        tool_count: u32,
    },
    /// The client is deleted: the last row of its log.
    DeleteClient,
    /// The upstream is reached elsewhere from now on. Endpoints are as [`crate::upstream::Transport::endpoint_text`] says.
    ChangeEndpoint {
        /// Where it was.
        before: String,
        /// Where it is.
        after: String,
        /// Approvals that were given for the one count for the other.
        keeps_approvals: bool,
    },
    /// An act about an agent.
    Agent {
        /// Which.
        agent: AgentId,
        /// Its name.
        name: String,
        /// What was done.
        act: AgentAct,
    },
}

impl Act {
    /// Whether it is about an upstream rather than one tool.
    pub fn is_about_upstream(&self) -> bool {
        matches!(self, Self::DeleteUpstream { .. } | Self::ChangeEndpoint { .. })
    }
}

/// What can be done about an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentAct {
    /// It is made.
    Create {
        /// Free text for people.
        display_name: String,
    },
    /// It is deleted, with its attachments and its keys.
    Delete,
    /// This is attached to it.
    Attach(Attachment),
    /// This is no longer attached to it.
    Detach {
        /// Which attachment.
        id: AttachmentId,
        /// What its name was.
        name: String,
    },
}
