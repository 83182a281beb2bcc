use bytes::Bytes;

use crate::{CommitError, Fence, Revision, limits};

/// What must be true for a commit to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The key has no value.
    Absent(Bytes),
    /// The key has a value, whatever its version.
    Present(Bytes),
    /// The key's version is exactly this (0 means absent).
    Equals(Bytes, Revision),
    /// The lease that the fence belongs to is still held.
    Held(Fence),
}

/// A change of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Puts a value, new or over an old one.
    Put(Bytes, Bytes),
    /// Removes the key. Deleting an absent key is no error and no event.
    Delete(Bytes),
}

impl Write {
    /// The key that is changed.
    pub fn key(&self) -> &Bytes {
        match self {
            Self::Put(key, _) | Self::Delete(key) => key,
        }
    }

    /// Bytes that count towards [`limits::COMMIT_BYTES`].
    pub fn len_bytes(&self) -> usize {
        match self {
            Self::Put(key, value) => key.len() + value.len(),
            Self::Delete(key) => key.len(),
        }
    }
}

/// Conditions and writes that happen together or not at all.
///
/// At most [`limits::COMMIT_CONDITIONS`] conditions, [`limits::COMMIT_WRITES`] writes and [`limits::COMMIT_BYTES`] bytes.
/// A key may be written once; an empty commit is refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commit {
    /// All must hold.
    pub conditions: Vec<Condition>,
    /// Applied in this order.
    pub writes: Vec<Write>,
}

impl Commit {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a condition.
    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// Adds a put.
    #[must_use]
    pub fn put(mut self, key: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        self.writes.push(Write::Put(key.into(), value.into()));
        self
    }

    /// Adds a delete.
    #[must_use]
    pub fn delete(mut self, key: impl Into<Bytes>) -> Self {
        self.writes.push(Write::Delete(key.into()));
        self
    }

    /// Refuses what no engine would take, naming the limit. Every engine calls this first.
    pub fn check(&self) -> Result<(), CommitError> {
        let bytes: usize = self.writes.iter().map(Write::len_bytes).sum();
        let refuse = |reason: String| Err(CommitError::Refused(reason));
        if self.writes.is_empty() {
            return refuse("a commit writes at least one key".into());
        }
        if self.conditions.len() > limits::COMMIT_CONDITIONS {
            return refuse(format!(
                "{} conditions, limit {}",
                self.conditions.len(),
                limits::COMMIT_CONDITIONS
            ));
        }
        if self.writes.len() > limits::COMMIT_WRITES {
            return refuse(format!("{} writes, limit {}", self.writes.len(), limits::COMMIT_WRITES));
        }
        if bytes > limits::COMMIT_BYTES {
            return refuse(format!("{bytes} bytes, limit {}", limits::COMMIT_BYTES));
        }
        let mut keys: Vec<&Bytes> = self.writes.iter().map(Write::key).collect();
        keys.sort_unstable();
        if keys.windows(2).any(|pair| pair[0] == pair[1]) {
            return refuse("a commit writes each key once".into());
        }
        if keys.iter().any(|key| key.is_empty() || key.len() > limits::KEY_BYTES) {
            return refuse(format!("a key has 1 to {} bytes", limits::KEY_BYTES));
        }
        Ok(())
    }
}
