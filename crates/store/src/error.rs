use std::error::Error;

use thiserror::Error as ThisError;

use crate::Revision;

/// A read that failed. Nothing was changed.
#[derive(Debug, ThisError)]
pub enum StoreError {
    /// The engine was closed, or died.
    #[error("the store is closed")]
    Closed,
    /// Bytes on disk are not what was written. Not to be retried.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// Anything else of the engine; trying again may help.
    #[error("the store failed: {0}")]
    Engine(#[source] Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// Whether the same call may succeed later.
    pub fn may_retry(&self) -> bool {
        matches!(self, Self::Engine(_))
    }
}

/// A commit that did not happen, or may not have.
#[derive(Debug, ThisError)]
pub enum CommitError {
    /// A condition did not hold. Nothing happened. Carries the index of the first that failed.
    #[error("condition {0} of the commit does not hold")]
    Conflict(usize),
    /// The commit breaks a limit of the port. Nothing happened, and it never will.
    #[error("the commit was refused: {0}")]
    Refused(String),
    /// The disk or quota is full. Nothing happened; trying again helps once there is room.
    #[error("the store is full")]
    Full,
    /// The engine failed before anything was written. Nothing happened.
    #[error(transparent)]
    Failed(#[from] StoreError),
    /// The engine failed while writing: the commit may have happened. Read before trying again.
    #[error("the outcome of the commit is unknown: {0}")]
    Unknown(#[source] Box<dyn Error + Send + Sync>),
}

impl CommitError {
    /// Whether the same commit may succeed later.
    pub fn may_retry(&self) -> bool {
        match self {
            Self::Conflict(_) | Self::Refused(_) => false,
            Self::Full | Self::Unknown(_) => true,
            Self::Failed(error) => error.may_retry(),
        }
    }

    /// Whether the writes may be in the store all the same.
    pub fn may_have_happened(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }
}

/// A watch that could not start, or ended.
#[derive(Debug, ThisError)]
pub enum WatchError {
    /// The history after the asked revision is no longer kept. Scan again and watch from there.
    #[error("history is kept from revision {oldest} only")]
    Compacted {
        /// The oldest revision that a watch may still start after.
        oldest: Revision,
    },
    /// The watcher fell too far behind and was cut off. Reopen from the last revision seen.
    #[error("the watcher fell behind")]
    Lagged,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
