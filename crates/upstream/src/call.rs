use std::fmt;
use std::time::Duration;

use thiserror::Error;

use crate::{ListingError, LogLevel};

/// Whose calls may share what a server keeps between calls: a session, a process. Calls with different ones never do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionKey(pub [u8; 16]);

/// A call as it is to be sent.
#[derive(Clone, Copy)]
pub struct ToolCall<'a> {
    /// The server's own name of the tool.
    pub name: &'a str,
    /// The exact text of the tool's definition, as it was listed.
    pub definition: &'a str,
    /// The exact text of a JSON object.
    pub arguments: &'a str,
    /// Headers that repeat arguments (`x-mcp-header`), with their values in clear text, for a transport that has headers.
    pub argument_headers: &'a [(String, String)],
    /// Whose call it is; `None` for one that shares with no other.
    pub shares: Option<SessionKey>,
    /// Asked right before the call leaves, each time that it does; where the answer is no, it is not sent.
    pub may_leave: &'a (dyn Fn() -> bool + Send + Sync),
    /// Whether the server is asked to tell its progress.
    pub wants_progress: bool,
    /// How much of what the server logs of the call is wanted; `None` for nothing.
    pub log_level: Option<LogLevel>,
    /// JSON text of the capability `elicitation` of whoever waits for the result; `None` where that is not declared.
    pub elicitation: Option<&'a str>,
    /// What was answered to what the server asked for before it could give a result.
    pub answers: Option<InputAnswers<'a>>,
    /// The trace that the call is part of.
    pub trace: Option<TraceContext<'a>>,
}

/// A span, as the next server is told of it (W3C Trace Context).
#[derive(Debug, Clone, Copy)]
pub struct TraceContext<'a> {
    /// `traceparent`.
    pub traceparent: &'a str,
    /// `tracestate`, where there is one.
    pub tracestate: Option<&'a str>,
}

/// Answers to what a server asked for (2026-07-28, "Multi Round-Trip Requests").
#[derive(Clone, Copy)]
pub struct InputAnswers<'a> {
    /// JSON text of an object: `inputResponses`.
    pub responses: Option<&'a str>,
    /// The server's own `requestState`, where it gave one.
    pub state: Option<&'a str>,
}

/// What comes of a call that a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallAnswer {
    /// The exact text of the result.
    Result(String),
    /// The exact text of a result that asks for input first, by `elicitation/create` alone, or to be asked once more. Whether
    /// the caller can be asked is not judged yet.
    Asks(String),
}

impl fmt::Debug for ToolCall<'_> {
    /// Without the arguments: they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What one call may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallBounds {
    /// Time for everything before the call itself: connecting or starting a process, and the handshake.
    pub connect_timeout: Duration,
    /// Time for the whole call, to the last byte of its answer.
    pub total_timeout: Duration,
    /// Bytes of everything that the server sends for the call, counted while reading, after decompression.
    pub max_answer_bytes: usize,
}

/// What a server tells of a call under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallNotice {
    /// Its progress: the exact texts of the members of the notification's params, `progressToken` left out.
    Progress(String),
    /// An entry of its log, at least as severe as was asked for: the exact text of the notification's params.
    Log(String),
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{error}")]
pub struct CallError {
    /// What went wrong; of no address and no secret.
    pub error: ListingError,
    /// Whether the tool may have run all the same.
    pub may_have_run: bool,
}
