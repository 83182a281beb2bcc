//! What people rule about tools: append-only, each row tied to the one before.

use toolgate_definition::{Effect, Fingerprint, locks::Locks};

use crate::{Moment, UpstreamId};

/// A person's word about one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// Position in the client's log, counted from 1 without gaps.
    pub sequence: u64,
    /// When it was made, by the clock of the server that took it.
    pub at: Moment,
    /// Who made it ([`crate::Caller::subject`]).
    pub subject: String,
    /// The tool's upstream.
    pub upstream: UpstreamId,
    /// The upstream's own name of the tool.
    pub tool_name: String,
    /// What was ruled.
    pub act: Act,
}

/// What can be ruled about a tool.
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
}
