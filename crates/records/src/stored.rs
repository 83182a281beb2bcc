//! The payloads: a private protobuf, written by hand. Field numbers are on disk: never change or reuse one.

use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Client {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int64, tag = "2")]
    pub created_at_ms: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DeletedClient {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int64, tag = "2")]
    pub created_at_ms: i64,
    #[prost(int64, tag = "3")]
    pub deleted_at_ms: i64,
    #[prost(bool, tag = "4")]
    pub is_swept: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Upstream {
    #[prost(string, tag = "1")]
    pub slug: String,
    #[prost(string, tag = "2")]
    pub display_name: String,
    #[prost(oneof = "Transport", tags = "3, 4")]
    pub transport: Option<Transport>,
    #[prost(uint64, tag = "5")]
    pub binding_epoch: u64,
    #[prost(int64, tag = "6")]
    pub created_at_ms: i64,
    #[prost(int32, tag = "7")]
    pub name_policy: i32,
    /// Not in rows that were written before it was.
    #[prost(bool, tag = "8")]
    pub is_per_user: bool,
    #[prost(string, tag = "9")]
    pub description: String,
    #[prost(string, repeated, tag = "10")]
    pub path: Vec<String>,
    /// These three are not in rows that were written before they were.
    #[prost(int32, tag = "11")]
    pub freshness: i32,
    #[prost(int32, tag = "12")]
    pub isolation: i32,
    #[prost(int32, tag = "13")]
    pub protocol: i32,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Transport {
    #[prost(message, tag = "3")]
    Http(Http),
    #[prost(message, tag = "4")]
    Stdio(Stdio),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Http {
    #[prost(string, tag = "1")]
    pub url: String,
    #[prost(message, repeated, tag = "2")]
    pub headers: Vec<NamedSecret>,
    #[prost(bool, tag = "3")]
    pub allow_private: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Stdio {
    #[prost(string, tag = "1")]
    pub command: String,
    #[prost(string, repeated, tag = "2")]
    pub args: Vec<String>,
    #[prost(message, repeated, tag = "3")]
    pub env: Vec<NamedSecret>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct NamedSecret {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(bytes = "vec", tag = "2")]
    pub sealed: Vec<u8>,
}

/// What is left of an upstream.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Tombstone {
    #[prost(string, tag = "1")]
    pub slug: String,
    #[prost(int64, tag = "2")]
    pub deleted_at_ms: i64,
    #[prost(string, tag = "3")]
    pub subject: String,
    #[prost(uint32, tag = "4")]
    pub tool_count: u32,
}

/// How far the rows of a deleted upstream are swept.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Sweep {
    #[prost(bool, tag = "1")]
    pub done: bool,
}

/// The holder of a slug (without a tool name) or of a served name; without an upstream, a name that was given up.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Claim {
    #[prost(bytes = "vec", tag = "1")]
    pub upstream: Vec<u8>,
    #[prost(string, tag = "2")]
    pub tool_name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Listing {
    #[prost(uint32, tag = "1")]
    pub entries_read: u32,
    #[prost(string, tag = "2")]
    pub protocol_version: String,
    #[prost(message, repeated, tag = "3")]
    pub issues: Vec<Issue>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Issue {
    #[prost(string, tag = "1")]
    pub code: String,
    #[prost(string, optional, tag = "2")]
    pub tool_name: Option<String>,
    #[prost(uint32, tag = "3")]
    pub position: u32,
    #[prost(string, tag = "4")]
    pub path: String,
    #[prost(string, tag = "5")]
    pub message: String,
    #[prost(uint32, tag = "6")]
    pub entries: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Observed {
    #[prost(bytes = "vec", tag = "1")]
    pub fingerprint: Vec<u8>,
    #[prost(int64, tag = "2")]
    pub first_seen_at_ms: i64,
    #[prost(int64, tag = "3")]
    pub changed_at_ms: i64,
    #[prost(int64, optional, tag = "4")]
    pub removed_at_ms: Option<i64>,
    #[prost(bool, tag = "5")]
    pub conflicted: bool,
    #[prost(string, optional, tag = "6")]
    pub canonical_name: Option<String>,
    #[prost(message, optional, tag = "7")]
    pub earlier: Option<EarlierTexts>,
    /// Not in rows that were written before an endpoint could change.
    #[prost(uint64, tag = "8")]
    pub binding_epoch: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct EarlierTexts {
    #[prost(uint32, tag = "1")]
    pub kept: u32,
    #[prost(uint64, tag = "2")]
    pub kept_bytes: u64,
    #[prost(uint32, tag = "3")]
    pub dropped: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Definition {
    /// Empty for a text that is not kept; none is empty.
    #[prost(string, tag = "1")]
    pub text: String,
    /// Not in rows that were written before it was.
    #[prost(int64, optional, tag = "2")]
    pub first_seen_at_ms: Option<i64>,
    #[prost(int64, optional, tag = "3")]
    pub returned_at_ms: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Ruled {
    #[prost(message, optional, tag = "1")]
    pub approval: Option<Approval>,
    #[prost(bool, tag = "2")]
    pub disabled: bool,
    #[prost(int64, optional, tag = "3")]
    pub changed_at_ms: Option<i64>,
    #[prost(message, optional, tag = "4")]
    pub effect: Option<Effect>,
    #[prost(string, optional, tag = "5")]
    pub description: Option<String>,
    #[prost(string, optional, tag = "6")]
    pub served_name: Option<String>,
    /// The text of a JSON object; empty for no locks.
    #[prost(string, tag = "7")]
    pub locks: String,
    /// Oldest first. Not in rows that were written before versions were given.
    #[prost(message, repeated, tag = "8")]
    pub versions: Vec<GivenVersion>,
}

/// The OXP version that a definition was given.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct GivenVersion {
    #[prost(bytes = "vec", tag = "1")]
    pub fingerprint: Vec<u8>,
    #[prost(uint64, tag = "2")]
    pub major: u64,
}

/// What an owner says a tool does.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Effect {
    #[prost(bool, tag = "1")]
    pub changes: bool,
}

/// A text, or its absence.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MaybeText {
    #[prost(string, optional, tag = "1")]
    pub text: Option<String>,
}

/// An effect, or its absence.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MaybeEffect {
    #[prost(message, optional, tag = "1")]
    pub effect: Option<Effect>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Approval {
    #[prost(bytes = "vec", tag = "1")]
    pub fingerprint: Vec<u8>,
    #[prost(uint64, tag = "2")]
    pub binding_epoch: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Agent {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub display_name: String,
    #[prost(int64, tag = "3")]
    pub created_at_ms: i64,
    #[prost(int64, tag = "4")]
    pub updated_at_ms: i64,
    #[prost(message, repeated, tag = "5")]
    pub attachments: Vec<Attachment>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Attachment {
    #[prost(bytes = "vec", tag = "1")]
    pub id: Vec<u8>,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(string, tag = "3")]
    pub display_name: String,
    #[prost(string, tag = "4")]
    pub description: String,
    #[prost(int64, tag = "5")]
    pub created_at_ms: i64,
    #[prost(oneof = "AttachmentKind", tags = "6, 7, 8")]
    pub kind: Option<AttachmentKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum AttachmentKind {
    /// The upstream.
    #[prost(bytes, tag = "6")]
    Mcp(Vec<u8>),
    /// The schema of its parameters; empty for none.
    #[prost(string, tag = "7")]
    Function(String),
    /// The store.
    #[prost(string, tag = "8")]
    FileSearch(String),
}

/// How many agents of the client were deleted.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct AgentDeletions {
    #[prost(uint64, tag = "1")]
    pub count: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Ruling {
    #[prost(uint64, tag = "1")]
    pub sequence: u64,
    #[prost(int64, tag = "2")]
    pub at_ms: i64,
    #[prost(string, tag = "3")]
    pub subject: String,
    /// Empty for an act about an agent or the whole client.
    #[prost(bytes = "vec", tag = "4")]
    pub upstream: Vec<u8>,
    #[prost(string, tag = "5")]
    pub tool_name: String,
    #[prost(oneof = "Act", tags = "6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20")]
    pub act: Option<Act>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Act {
    #[prost(message, tag = "6")]
    Approve(Approval),
    #[prost(message, tag = "7")]
    RevokeApproval(Nothing),
    #[prost(message, tag = "8")]
    Disable(Nothing),
    #[prost(message, tag = "9")]
    Enable(Nothing),
    #[prost(message, tag = "10")]
    SetEffect(MaybeEffect),
    #[prost(message, tag = "11")]
    SetDescription(MaybeText),
    #[prost(message, tag = "12")]
    Rename(MaybeText),
    /// The text of a JSON object; empty for no locks.
    #[prost(string, tag = "13")]
    SetLocks(String),
    #[prost(message, tag = "14")]
    DeleteUpstream(DeletedUpstream),
    #[prost(message, tag = "15")]
    DeleteClient(Nothing),
    #[prost(message, tag = "16")]
    ChangeEndpoint(ChangedEndpoint),
    #[prost(message, tag = "20")]
    Agent(AgentRuling),
}

/// Where an upstream was and where it is.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ChangedEndpoint {
    #[prost(string, tag = "1")]
    pub before: String,
    #[prost(string, tag = "2")]
    pub after: String,
    #[prost(bool, tag = "3")]
    pub keeps_approvals: bool,
}

/// An upstream that a ruling deleted.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DeletedUpstream {
    #[prost(string, tag = "1")]
    pub slug: String,
    #[prost(uint32, tag = "2")]
    pub tool_count: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AgentRuling {
    #[prost(bytes = "vec", tag = "1")]
    pub agent: Vec<u8>,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(oneof = "AgentAct", tags = "3, 4, 5, 6")]
    pub act: Option<AgentAct>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum AgentAct {
    /// Its display name.
    #[prost(string, tag = "3")]
    Create(String),
    #[prost(message, tag = "4")]
    Delete(Nothing),
    #[prost(message, tag = "5")]
    Attach(Attachment),
    #[prost(message, tag = "6")]
    Detach(Detached),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Detached {
    #[prost(bytes = "vec", tag = "1")]
    pub id: Vec<u8>,
    #[prost(string, tag = "2")]
    pub name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Nothing {}

/// A row of the log: the ruling's own bytes, and the hash that ties it to all before it.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Chained {
    #[prost(bytes = "vec", tag = "1")]
    pub ruling: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub hash: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ChainHead {
    #[prost(uint64, tag = "1")]
    pub sequence: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub hash: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ApiKey {
    #[prost(string, tag = "1")]
    pub display_name: String,
    #[prost(string, repeated, tag = "2")]
    pub scopes: Vec<String>,
    #[prost(bool, tag = "3")]
    pub operator: bool,
    #[prost(bytes = "vec", tag = "4")]
    pub digest: Vec<u8>,
    #[prost(int64, tag = "5")]
    pub created_at_ms: i64,
    #[prost(int64, optional, tag = "6")]
    pub expires_at_ms: Option<i64>,
    #[prost(int64, optional, tag = "7")]
    pub revoked_at_ms: Option<i64>,
    /// The agent that it is bound to; empty for none.
    #[prost(bytes = "vec", tag = "8")]
    pub agent: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Status {
    #[prost(int32, tag = "1")]
    pub health: i32,
    #[prost(int64, optional, tag = "2")]
    pub last_complete_at_ms: Option<i64>,
    #[prost(int64, optional, tag = "3")]
    pub last_attempt_at_ms: Option<i64>,
    #[prost(string, tag = "4")]
    pub last_error: String,
    #[prost(uint64, tag = "5")]
    pub earlier_text_bytes: u64,
}

/// A text that is known, sealed under the master key of this data.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct KeyCheck {
    #[prost(bytes = "vec", tag = "1")]
    pub sealed: Vec<u8>,
}

/// A reference to a client, to an agent or to an API key.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Reference {
    #[prost(bytes = "vec", tag = "1")]
    pub id: Vec<u8>,
}
