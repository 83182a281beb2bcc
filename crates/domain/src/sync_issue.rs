//! Faults of single entries of a listing.

/// A fault of one entry of a listing. It never sinks the listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncIssue {
    /// Stable code, for example `DUPLICATE_NAME`.
    pub code: String,
    /// The tool's name, where the entry has a readable one.
    pub tool_name: Option<String>,
    /// Position of the entry, counted from 0 over all pages.
    pub position: u32,
    /// JSON Pointer to the place inside the entry.
    pub path: String,
    /// What is wrong and what to do.
    pub message: String,
    /// Entries that this issue accounts for beyond those that became tools.
    pub entries: u32,
}
