use std::time::Duration;

/// Time for one list. A person waits for it, so it is less than what a sync may take.
pub(super) const MAX_TOTAL: Duration = Duration::from_secs(30);
/// Bytes of one list.
pub(super) const MAX_LISTING_BYTES: usize = 16 * 1024 * 1024;
/// A list is kept for so long at most, whatever its server says.
pub(super) const MAX_KEPT: Duration = Duration::from_secs(600);
/// How long it is kept that a server could not be listed, so that a dead one is left alone.
pub(super) const UNAVAILABLE_KEPT: Duration = Duration::from_secs(5);
/// Bytes of all lists that are kept.
pub(super) const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;
/// How often a server is asked for one answer, if it is declared differently meanwhile.
pub(super) const DECLARED_ATTEMPTS: usize = 3;
