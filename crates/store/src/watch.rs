use std::pin::Pin;

use bytes::Bytes;
use futures::Stream;

use crate::{KeyRange, Revision, WatchError};

/// What a commit did to one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub key: Bytes,
    /// The new value; `None` for a delete.
    pub value: Option<Bytes>,
}

/// All changes that one commit made inside the watched range, in the order of its writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitEvents {
    /// The commit.
    pub revision: Revision,
    /// At least one.
    pub changes: Vec<Change>,
}

impl CommitEvents {
    /// What a watch of `range` is told of the commit; `None` when that is nothing.
    pub fn within(&self, range: &KeyRange) -> Option<Self> {
        let changes: Vec<Change> =
            self.changes.iter().filter(|change| range.contains(&change.key)).cloned().collect();
        (!changes.is_empty()).then_some(Self { revision: self.revision, changes })
    }
}

/// An endless stream of commits. After an error it ends; the caller reopens it from the last revision it has seen.
pub type Watch = Pin<Box<dyn Stream<Item = Result<CommitEvents, WatchError>> + Send>>;
