//! Every limit of outgoing connections.

use std::time::Duration;

/// Redirects followed for one request.
pub const MAX_REDIRECTS: usize = 3;

/// How long an unused connection is kept. Long enough for the next request of one conversation, shorter than the
/// idle time after which servers hang up (a request sent into a closing connection is lost).
pub const IDLE_CONNECTION: Duration = Duration::from_secs(2);

/// Name look-ups running at once. Each occupies a thread until the system's resolver gives up.
pub const MAX_LOOKUPS: usize = 64;
