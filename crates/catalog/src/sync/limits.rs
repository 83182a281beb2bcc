use std::time::Duration;

use toolgate_upstream::Bounds;

use super::HistoryLimits;

/// What a sync may cost, and how often it happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncLimits {
    /// Bounds of one listing.
    pub listing: Bounds,
    /// Time between two syncs of an upstream; up to a tenth is taken off or added so that they spread.
    pub interval: Duration,
    /// What is kept of definitions that are no longer listed.
    pub history: HistoryLimits,
}

impl Default for SyncLimits {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        let listing = Bounds {
            connect_timeout: Duration::from_secs(10),
            answer_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(120),
            max_pages: 1000,
            max_answer_bytes: 32 * MIB,
            max_listing_bytes: 128 * MIB,
            max_entries: 20_000,
        };
        Self { listing, interval: Duration::from_secs(300), history: HistoryLimits::default() }
    }
}

/// Listings that may begin at once; each makes room for the next when it is read, or after [`BEGIN_PATIENCE`].
pub(super) const BEGINNING: usize = 16;
/// How long a listing that has begun keeps others from beginning, however long its server takes.
pub(super) const BEGIN_PATIENCE: Duration = Duration::from_millis(250);
/// Listings that are judged, compared and written at once: work of this process alone.
pub(super) const AT_WORK: usize = 8;
/// First pause after a failed sync; doubled with each further one, up to the interval.
pub(super) const FIRST_RETRY: Duration = Duration::from_secs(5);
/// A list is taken for fresh for at least so long, whatever its server says; at most, for the interval.
pub(super) const MIN_TTL: Duration = Duration::from_secs(10);
/// Time from a notice of change to the sync it asks for: notices come in bursts.
pub(super) const NOTICE_SETTLES: Duration = Duration::from_millis(500);
/// Time between two syncs that notices ask for.
pub(super) const NOTICE_GAP: Duration = Duration::from_secs(5);
/// A list that was not read for so many intervals is too old to go by.
pub(super) const STALE_AFTER_INTERVALS: u32 = 3;
/// A status that only says "still fine" is written at most this often.
pub(super) const STATUS_EVERY_MS: i64 = 60_000;
/// Writes of one commit of a sync; a tool takes up to four.
pub(super) const COMMIT_WRITES: usize = 96;
/// Conditions of one commit of a sync, without those on its client and its upstream.
pub(super) const COMMIT_CONDITIONS: usize = 120;
/// Bytes of one commit of a sync.
pub(super) const COMMIT_BYTES: usize = 768 * 1024;
/// How often an upstream is listed for one sync, if it is declared differently meanwhile.
pub(super) const DECLARED_ATTEMPTS: usize = 3;
/// How often a sync that met another writer is planned anew.
pub(super) const PLAN_ATTEMPTS: usize = 3;
