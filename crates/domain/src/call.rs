//! What is remembered of a call of a tool.

use toolgate_definition::Fingerprint;

use crate::{AgentId, ClientId, KeyId, Moment, ToolId, ToolState, UpstreamId};

/// A call, whatever came of it. Its arguments are kept beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecord {
    /// When it came, by the clock of the server that took it.
    pub at: Moment,
    /// The tenant of the tool.
    pub client: ClientId,
    /// The credential that called.
    pub key: KeyId,
    /// The agent that called, if one did.
    pub agent: Option<AgentId>,
    /// The name that agents call the tool, or what was called where there is no such tool; cut to
    /// [`MAX_LOGGED_NAME_BYTES`](crate::limits::MAX_LOGGED_NAME_BYTES).
    pub name: String,
    /// The tool, where there is one for the caller.
    pub tool: Option<CalledTool>,
    /// What came of it.
    pub outcome: CallOutcome,
    /// From when it came to when it ended, in microseconds.
    pub duration_us: u64,
    /// The number of the row that says that it was about to be sent, where one had to be written before.
    pub forwarded_row: Option<u64>,
    /// Why the approved input schema could not judge the arguments, where it could not.
    pub unjudged: Option<String>,
}

/// The tool of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalledTool {
    /// Its identity.
    pub id: ToolId,
    /// The upstream that it belongs to.
    pub upstream: UpstreamId,
    /// Its definition at that moment.
    pub fingerprint: Fingerprint,
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// None yet: it is about to be sent.
    Forwarded,
    /// The upstream answered with a result.
    Answered {
        /// Whether the result says that the tool failed (`isError`).
        is_error: bool,
        /// Bytes of the result.
        result_bytes: u64,
    },
    /// The upstream asked for input before it can give a result.
    Asked,
    /// Nothing was sent.
    Refused(CallRefusal),
    /// The upstream answered with an error of the protocol.
    UpstreamRefused {
        /// JSON-RPC error code.
        code: i64,
    },
    /// No answer came.
    UpstreamFailed {
        /// Whether the tool may have run all the same.
        may_have_run: bool,
    },
    /// The caller gave it up.
    Cancelled {
        /// Whether it was on its way to the upstream, so that the tool may have run.
        may_have_run: bool,
    },
}

/// Why nothing was sent to the upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallRefusal {
    /// For this caller there is no such tool.
    NotFound,
    /// It is in this state, which is not [`ToolState::Served`].
    NotServed(ToolState),
    /// The arguments do not fit the approved input schema.
    ArgumentsMisfit,
    /// The upstream's list may be another by now, and its policy is to refuse then.
    Stale,
    /// Too many calls are under way.
    TooMany,
    /// It could not be decided: the catalogue was not there in time.
    Undecided,
}
