//! Bounds on what is taken from callers and on what is kept.

use toolgate_definition::json::ParseLimits;

/// Bytes of a request's body.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// Bytes of a body that are read before the service has judged the credential, which a list of tools has it judge anyway.
pub(crate) const MAX_UNJUDGED_BYTES: u64 = 16 * 1024;

/// Nesting of objects and arrays in a request, the message itself counting as 1.
pub const MAX_REQUEST_DEPTH: usize = 128;

/// What reading a request may cost.
pub(crate) const REQUEST: ParseLimits =
    ParseLimits { max_bytes: MAX_REQUEST_BYTES, max_depth: MAX_REQUEST_DEPTH };

/// Bytes of a request's id as it is written: each answer and each notice of a stream repeats it.
pub const MAX_ID_BYTES: usize = 1024;

/// Messages of a batch (revision 2025-03-26).
pub const MAX_BATCH_MESSAGES: usize = 64;

/// Longest session id that is looked at; ours are far shorter.
pub(crate) const MAX_SESSION_ID_BYTES: usize = 256;

/// Sessions whose wish about logs is kept.
pub(crate) const MAX_LOG_LEVELS: usize = 4096;

/// Characters of a caller's text that an error repeats.
pub(crate) const MAX_ECHO_CHARS: usize = 128;

/// Bytes of rendered pages kept for being sent again.
pub const MAX_CACHED_BYTES: usize = 64 << 20;

/// Rendered pages kept for being sent again, so that many small ones cannot outgrow the byte bound in bookkeeping.
pub const MAX_CACHED_PAGES: usize = 1024;

/// Least time between two notices of one stream, in milliseconds. What changes meanwhile is told by one. Longer than the
/// 300 that a common client waits for quiet before it acts: many changes would otherwise keep it waiting.
pub const NOTICE_PACE_MS: u64 = 500;

/// How long what the server says of itself is fresh, in milliseconds.
pub(crate) const DISCOVERY_TTL_MS: u64 = 3_600_000;

/// How long a list of tools is fresh, in milliseconds: a revoked approval holds at once.
pub(crate) const LIST_TTL_MS: u64 = 0;
