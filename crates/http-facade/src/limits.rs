//! Bounds on what is taken from callers and on what is kept.

/// Longest `x-correlation-id` taken over from a request.
pub const MAX_CORRELATION_ID_BYTES: usize = 128;

/// Bytes of rendered bodies kept for being sent again.
pub const MAX_CACHED_BYTES: usize = 64 << 20;

/// Rendered bodies kept for being sent again, so that many small ones cannot outgrow the byte bound in bookkeeping.
pub const MAX_CACHED_BODIES: usize = 1024;

/// Bytes of a body that a request of an OXP list may have. The documented one has one short member.
pub const MAX_LIST_BODY_BYTES: usize = 16 * 1024;

/// How long a request's body may take to come, on every route and whoever sends it.
pub const BODY_DEADLINE_SECONDS: u64 = 10;
