//! Why a use case refused or failed: one closed list, mapped to each transport's codes in one place there.

use toolgate_definition::{Fingerprint, arguments::Misfit};

use crate::{Scope, ToolState};

/// What is wrong with one field of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Path of the field in the request, for example `http.headers["X-A"]`.
    pub field: String,
    /// What is wrong and how to mend it, as the end of a sentence that begins with the field.
    pub problem: String,
}

impl Violation {
    /// One violation.
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }
}

/// Why a use case did not do what it was asked. Texts are for the caller; `cause` is for the log alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Fields of the request are wrong. At least one.
    #[error("{}", first_problem(.0))]
    Invalid(Vec<Violation>),
    /// No credential came with the call.
    #[error("a credential is required: send an API key as a bearer token")]
    CredentialMissing,
    /// The credential is not accepted, for whatever reason.
    #[error("the credential is not accepted")]
    CredentialInvalid,
    /// The credential lacks a scope.
    #[error("this takes the scope {0}")]
    ScopeMissing(Scope),
    /// The caller is no operator.
    #[error("this takes an operator key")]
    OperatorRequired,
    /// No such client, or none that the caller may know of.
    #[error("no such client")]
    ClientNotFound,
    /// The client has no such upstream.
    #[error("no such upstream")]
    UpstreamNotFound,
    /// The client has no such tool, or the view does not hold it.
    #[error("no such tool")]
    ToolNotFound,
    /// The client has no such agent.
    #[error("no such agent")]
    AgentNotFound,
    /// Nothing of this id or name is attached to the agent.
    #[error("nothing of this id or name is attached to the agent")]
    AttachmentNotFound,
    /// What is attached is no tool server, and only one can be asked.
    #[error("what is attached is of the type {kind}, and only an mcp one has a tool server behind it")]
    AttachmentNotMcp {
        /// What it is.
        kind: &'static str,
    },
    /// The client has no such API key.
    #[error("no such API key")]
    ApiKeyNotFound,
    /// Nobody could make another operator key.
    #[error("this is the last operator key that never expires; make another one before revoking it")]
    LastOperatorKey,
    /// The first client is to be deleted.
    #[error("the client default cannot be deleted: the operator keys belong to it")]
    DefaultClient,
    /// Another upstream of the client has the slug.
    #[error("the slug {slug} is taken by another upstream (- and _ count as the same)")]
    SlugTaken {
        /// As asked for.
        slug: String,
    },
    /// Another client has the name.
    #[error("the name {name} is taken by another client; choose another")]
    ClientNameTaken {
        /// As asked for.
        name: String,
    },
    /// Another agent of the client has the name.
    #[error("the name {name} is taken by another agent; choose another")]
    AgentNameTaken {
        /// As asked for.
        name: String,
    },
    /// Something of the name is attached to the agent already.
    #[error("something named {name} is attached already; detach it, or choose another name")]
    AttachmentNameTaken {
        /// As asked for.
        name: String,
    },
    /// Another tool of the client holds the name.
    #[error("the name {name} belongs to another tool; choose another")]
    NameTaken {
        /// As asked for.
        name: String,
    },
    /// The definition is not the one that was reviewed.
    #[error("the definition changed since it was reviewed: it is {current} now; review it and approve that")]
    DefinitionChanged {
        /// What the reviewer saw.
        reviewed: Fingerprint,
        /// What it is.
        current: Fingerprint,
    },
    /// What is to be changed is not as it was when its etag was read.
    #[error("it changed since its etag was read; read it again")]
    EtagMismatch {
        /// What it is.
        current: String,
    },
    /// The upstream no longer lists the tool.
    #[error("the upstream no longer lists this tool, so there is no definition to approve")]
    ToolRemoved,
    /// The upstream's endpoint is another one, and its listing has yet to be read there.
    #[error(
        "the upstream is reached elsewhere now and has not listed this tool there yet; sync it, then review the tool"
    )]
    ToolNotListedYet,
    /// The upstream lists two definitions under the name.
    #[error(
        "the upstream lists two different definitions under this name; none can be approved until it lists one"
    )]
    ToolConflicted,
    /// The tool is not served, so nobody can call it.
    #[error("the tool is {}: {remedy}", state.as_str())]
    ToolNotServed {
        /// What it is instead.
        state: ToolState,
        /// What would end that.
        remedy: &'static str,
    },
    /// The arguments of a call do not fit the tool's approved input schema.
    #[error("the arguments do not fit the tool's input schema: {}", first_misfit(.0))]
    ArgumentsMisfit(Vec<Misfit>),
    /// A header that an input is bound to does not repeat what the arguments have.
    #[error("the header mcp-param-{header} is not what the arguments say")]
    ArgumentHeaderMismatch {
        /// The header's name without its prefix, as the input schema spells it.
        header: String,
    },
    /// The upstream answered a call with an error of the protocol.
    #[error("the tool's server answered error {code}: {message}")]
    UpstreamRefused {
        /// JSON-RPC error code.
        code: i64,
        /// The server's own text, cut, without addresses.
        message: String,
    },
    /// The upstream does nothing for a caller without these capabilities.
    #[error(
        "the tool's server requires capabilities of the client: {capabilities_json}; `elicitation` alone is passed on, of MCP clients of revision 2026-07-28 that declare it"
    )]
    CapabilityMissing {
        /// JSON text of an object of at most 1,024 bytes.
        capabilities_json: String,
    },
    /// The upstream did not answer a call.
    #[error("the tool's server did not answer: {problem}{}", if *may_have_run { "; the tool may have run" } else { "" })]
    UpstreamFailed {
        /// What happened, without addresses.
        problem: String,
        /// Whether the tool may have run all the same.
        may_have_run: bool,
    },
    /// An upstream may list something else than what was approved, and its policy is to refuse calls until that is known.
    #[error(
        "what the tool's server lists may have changed since the tool was approved; try again once it is synced"
    )]
    ListingStale,
    /// A limit was reached.
    #[error("the limit {limit} of {value} is reached; {remedy}")]
    LimitExceeded {
        /// Name of the limit.
        limit: &'static str,
        /// Its value.
        value: u64,
        /// What to do about it, as an imperative.
        remedy: &'static str,
    },
    /// `min_revision` was not reached in time.
    #[error("the asked revision was not reached in time; try again")]
    RevisionNotReached,
    /// The store cannot be read or written now.
    #[error("the store is not available{}", if *outcome_unknown { "; the write may have happened" } else { "" })]
    StoreUnavailable {
        /// Whether a write may have happened all the same.
        outcome_unknown: bool,
        /// For the log.
        cause: String,
    },
    /// The server is stopping.
    #[error("the server is stopping")]
    Draining,
    /// The watcher fell too far behind.
    #[error("the watcher fell too far behind; resume from the last revision received")]
    WatchLagged,
    /// What left the catalogue since the revision that was to be resumed from is forgotten.
    #[error("the revision is too old to resume from; begin anew without it")]
    WatchExpired {
        /// The oldest one that can be resumed from, as a token.
        oldest: String,
    },
    /// A fault of the product.
    #[error("internal error")]
    Internal {
        /// For the log.
        cause: String,
    },
}

impl Fault {
    /// A single wrong field.
    pub fn invalid(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid(vec![Violation::new(field, problem)])
    }
}

fn first_misfit(misfits: &[Misfit]) -> String {
    let more = misfits.len().saturating_sub(1);
    let rest = if more > 0 { format!(" (and {more} more)") } else { String::new() };
    misfits.first().map(|misfit| format!("{misfit}{rest}")).unwrap_or_default()
}

fn first_problem(violations: &[Violation]) -> String {
    let more = violations.len().saturating_sub(1);
    let rest = if more > 0 { format!(" (and {more} more)") } else { String::new() };
    violations.first().map(|v| format!("{} {}{rest}", v.field, v.problem)).unwrap_or_default()
}
