//! Bounds on what is taken from callers and on what is kept.

/// Longest `x-correlation-id` taken over from a request.
pub const MAX_CORRELATION_ID_BYTES: usize = 128;

/// Bytes of rendered bodies kept for being sent again.
pub const MAX_CACHED_BYTES: usize = 64 << 20;

/// Rendered bodies kept for being sent again, so that many small ones cannot outgrow the byte bound in bookkeeping.
pub const MAX_CACHED_BODIES: usize = 1024;

/// Bytes of a body that a request of an OXP list may have. The documented one has one short member.
pub const MAX_LIST_BODY_BYTES: usize = 16 * 1024;

/// Bytes of a body that an OXP call may have.
pub const MAX_CALL_BODY_BYTES: usize = 1024 * 1024;

/// Nesting of objects and arrays in it, the body itself counting as 1.
pub(crate) const MAX_CALL_BODY_DEPTH: usize = 128;

/// Bytes of it that are read before the service has judged the credential, which the call has it judge anyway.
pub(crate) const MAX_UNJUDGED_BODY_BYTES: u64 = 16 * 1024;

/// How long a request's body may take to come, on every route and whoever sends it.
pub const BODY_DEADLINE_SECONDS: u64 = 10;
