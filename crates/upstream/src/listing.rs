use std::time::Duration;

use thiserror::Error;

/// What one listing may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Time for everything before the first page: connecting or starting a process, and the handshake.
    pub connect_timeout: Duration,
    /// Time for one answer, from the request to its last byte.
    pub answer_timeout: Duration,
    /// Time for the whole listing.
    pub total_timeout: Duration,
    /// Pages of one listing.
    pub max_pages: usize,
    /// Bytes of one answer, counted while reading, after decompression.
    pub max_answer_bytes: usize,
    /// Bytes of all answers of one listing.
    pub max_listing_bytes: usize,
    /// Entries of one listing.
    pub max_entries: usize,
}

/// What a server listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The exact text of each entry of `tools`, in the server's order, over all pages. Any JSON value may stand here,
    /// and a text that only looks like one: brackets and quotes are known to match, nothing more.
    pub entries: Vec<String>,
    /// Whether this is everything.
    pub end: ListingEnd,
    /// The protocol revision that was spoken, for example `2026-07-28`.
    pub protocol_version: String,
    /// How long the server takes its answers for fresh (`ttlMs`), the shortest of all pages. `None` when it did not say,
    /// and for zero, which says nothing of when to look again.
    pub ttl: Option<Duration>,
    /// How long anybody may keep the list (`ttlMs`, the shortest of all pages), if every page says that anybody may
    /// (`cacheScope` is `public`). Zero forbids it.
    pub public_ttl: Option<Duration>,
    /// Whether inputs may be bound to request headers (`x-mcp-header`): the revision has that, and HTTP carried it.
    pub binds_headers: bool,
    /// `serverInfo.name` and `serverInfo.version` as the server gave them, if it did.
    pub server_name: Option<String>,
}

/// How a listing ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListingEnd {
    /// Every page was read: what is not in it is not listed.
    Complete,
    /// It stopped early: what is not in it may still be listed.
    Incomplete(Incomplete),
}

/// Why a listing stopped after at least one page.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Incomplete {
    /// The server answered a cursor that it had answered before.
    #[error("the server repeated a page cursor")]
    RepeatedCursor,
    /// A bound of [`Bounds`] was reached; names it.
    #[error("the listing is over the limit: {0}")]
    Bound(String),
    /// A later page failed.
    #[error("page {page} failed: {error}")]
    Page {
        /// Counted from 1.
        page: usize,
        /// What happened.
        error: ListingError,
    },
}

/// Why a server could not be listed. Texts name no address and no secret: an operator reads them, and so may others.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ListingError {
    /// The guard refused the address, or stdio is not allowed.
    #[error("refused by policy: {0}")]
    Refused(String),
    /// No connection: DNS, TCP, TLS, or the process did not start.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// A time-out; names which.
    #[error("timed out: {0}")]
    Timeout(String),
    /// The server wants a credential (HTTP 401), or does not accept the one it was given (403).
    #[error("the server wants another credential (HTTP {status})")]
    Unauthorized {
        /// 401 or 403.
        status: u16,
        /// The server's `WWW-Authenticate` (RFC 9728 5.1), for an operator: it says where to get a credential, so it
        /// may hold addresses, and is no part of this error's text. Cut to 1,024 characters, no control characters.
        challenge: Option<String>,
    },
    /// An HTTP status that is no answer.
    #[error("the server answered HTTP {0}")]
    Status(u16),
    /// A JSON-RPC error. The text is the server's own, cut to 300 characters, without control characters, addresses
    /// or the endpoint's secrets.
    #[error("the server answered error {code}: {message}")]
    Rpc {
        /// JSON-RPC error code.
        code: i64,
        /// The server's text.
        message: String,
    },
    /// The server does nothing for a client without these capabilities (2026-07-28, `MissingRequiredClientCapability`).
    #[error("the server requires capabilities of its client: {capabilities_json}")]
    MissingCapability {
        /// JSON text of an object of at most 1,024 bytes, as the server sent it.
        capabilities_json: String,
    },
    /// Bytes that are not the protocol; says where.
    #[error("the server broke the protocol: {0}")]
    Protocol(String),
    /// The first answer alone is over a bound.
    #[error("the answer is over the limit: {0}")]
    TooLarge(String),
}
