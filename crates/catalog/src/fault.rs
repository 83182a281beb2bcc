//! Failures of the store and of rows as the faults that callers see. Nothing of the cause leaves the process.

use toolgate_domain::Fault;
use toolgate_records::RowError;
use toolgate_store::{CommitError, StoreError, WatchError};

/// A read that failed.
pub fn from_store_error(error: &StoreError) -> Fault {
    match error {
        StoreError::Closed => Fault::Draining,
        StoreError::Damaged(_) => Fault::Internal { cause: error.to_string() },
        StoreError::Engine(_) => unavailable(false, error),
    }
}

/// A commit that failed. A conflict that reaches this far has been tried again in vain.
pub fn from_commit_error(error: &CommitError) -> Fault {
    match error {
        CommitError::Failed(error) => from_store_error(error),
        CommitError::Refused(_) => Fault::Internal { cause: error.to_string() },
        CommitError::Conflict(_) | CommitError::Full => unavailable(false, error),
        CommitError::Unknown(_) => unavailable(true, error),
    }
}

/// A watch that ended.
pub fn from_watch_error(error: &WatchError) -> Fault {
    match error {
        WatchError::Store(error) => from_store_error(error),
        WatchError::Compacted { .. } | WatchError::Lagged => unavailable(false, error),
    }
}

/// A row that cannot be read.
pub fn from_row_error(error: &RowError) -> Fault {
    Fault::Internal { cause: error.to_string() }
}

fn unavailable(outcome_unknown: bool, error: &dyn std::error::Error) -> Fault {
    let mut cause = error.to_string();
    let mut source = error.source();
    while let Some(next) = source {
        cause = format!("{cause}: {next}");
        source = next.source();
    }
    Fault::StoreUnavailable { outcome_unknown, cause }
}
