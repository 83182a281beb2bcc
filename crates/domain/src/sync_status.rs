//! How the listings of an upstream went.

use crate::{Moment, sync_issue::SyncIssue};

/// What the last listing that was read had in it. Part of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LastListing {
    /// Entries over all pages.
    pub entries_read: u32,
    /// Protocol revision that was spoken.
    pub protocol_version: String,
    /// Faults of single entries, in the order of the listing.
    pub issues: Vec<SyncIssue>,
}

/// How the last attempts went. Changes without meaning for the catalogue: it moves no revision and no etag.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyncStatus {
    /// How the last attempt went.
    pub health: Health,
    /// When a listing was last read to its end.
    pub last_complete_at: Option<Moment>,
    /// When a listing was last tried.
    pub last_attempt_at: Option<Moment>,
    /// Why the last attempt failed or stopped early; empty when it did neither.
    pub last_error: String,
    /// Bytes of the texts of earlier definitions that are kept of its tools.
    pub earlier_text_bytes: u64,
}

/// How the last attempt to list an upstream went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Health {
    /// Not tried yet.
    #[default]
    Unknown,
    /// Read to the end.
    Ok,
    /// Stopped early, after at least one page.
    Incomplete,
    /// Not a single page was read.
    Unavailable,
}
