//! Every bound of the log.

use std::time::Duration;

/// Calls that wait to be written; further ones are counted as missing.
pub(crate) const MAX_WAITING_CALLS: usize = 65_536;
/// Bytes of the arguments of calls that wait to be written; calls beyond it are counted as missing.
pub(crate) const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;
/// Calls that are written at once, at most.
pub(crate) const MAX_GROUP_CALLS: usize = 4096;
/// How long calls are gathered before they are written together.
pub(crate) const GROUP_EVERY: Duration = Duration::from_millis(10);
/// How long what is written may wait to be synced to the disk: what a loss of power may cost.
pub(crate) const SYNC_EVERY: Duration = Duration::from_secs(1);
/// A segment that has grown to this is followed by another.
pub(crate) const SEGMENT_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes of a frame's payload: where every client's chain stands is the longest.
pub(crate) const MAX_PAYLOAD_BYTES: u32 = 64 * 1024 * 1024;
/// Bytes of the log that one page looks at: where few calls are wanted, the answer does not wait for all of them.
pub(crate) const MAX_PAGE_SCAN_BYTES: u64 = 16 * 1024 * 1024;
