//! The bounds of the port, the same for every engine (etcd's own limits, with room to spare).

use std::num::NonZeroUsize;

/// Conditions of one commit.
pub const COMMIT_CONDITIONS: usize = 128;
/// Writes of one commit.
pub const COMMIT_WRITES: usize = 128;
/// Key and value bytes that one commit writes.
pub const COMMIT_BYTES: usize = 1024 * 1024;
/// Bytes of one key.
pub const KEY_BYTES: usize = 4096;
/// Rows that [`crate::scan_all`] asks for at a time.
pub const SCAN_PAGE_ROWS: NonZeroUsize = NonZeroUsize::new(500).expect("500 is not zero");
