//! The bounds of this engine, and where they come from.

use std::time::Duration;

/// Memory of sled's page cache unless set otherwise (sled's own default is 1 GiB).
pub const CACHE_BYTES: u64 = 32 * 1024 * 1024;
/// Commits kept for watches that start in the past, unless set otherwise.
pub const HISTORY_COMMITS: u64 = 10_000;
/// Bytes kept for watches that start in the past, unless set otherwise.
pub const HISTORY_BYTES: u64 = 64 * 1024 * 1024;
/// Free disk space below which commits are refused, unless set otherwise: sled writes at opening too, and a store on a disk
/// that it filled to the brim could not be opened any more.
pub const RESERVE_BYTES: u64 = 64 * 1024 * 1024;

/// sled's unit of allocation, raised from 512 KiB. sled keeps what is larger than a quarter of it in a file of its own, which
/// it never syncs. A leaf has about 20 entries of at most a piece and a key, an inner node about 320 keys: both stay below.
pub(crate) const SEGMENT_BYTES: usize = 8 * 1024 * 1024;
/// A value is cut into pieces of this size.
pub(crate) const PIECE_BYTES: usize = 64 * 1024;

/// Requests that wait for the committer.
pub(crate) const QUEUE_REQUESTS: usize = 1024;
/// Commits that become durable by one sync.
pub(crate) const DRAIN_COMMITS: usize = 512;
/// Bytes of commits that become durable by one sync, give or take one commit.
pub(crate) const DRAIN_BYTES: usize = 8 * 1024 * 1024;

/// Commits that a watcher may be behind before it reads the change log instead.
pub(crate) const LIVE_COMMITS: usize = 256;
/// A commit larger than this is read from the change log by each watcher, so that slow watchers pin little memory.
pub(crate) const LIVE_COMMIT_BYTES: usize = 64 * 1024;
/// Commits and bytes that a watcher takes from the change log at a time.
pub(crate) const CATCH_UP_COMMITS: usize = 256;
pub(crate) const CATCH_UP_BYTES: usize = 1024 * 1024;

/// A scan of more rows leaves the async threads alone.
pub(crate) const INLINE_SCAN_ROWS: usize = 64;
/// How long the mark may lag behind the store.
pub(crate) const MARK_EVERY: Duration = Duration::from_secs(1);
/// How long opening waits for an earlier store of this process to let go of its files.
pub(crate) const LET_GO: Duration = Duration::from_secs(5);
/// Bytes of a key that an error shows.
pub(crate) const SHOWN_KEY_BYTES: usize = 80;
