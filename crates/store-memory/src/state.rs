use std::{
    collections::{BTreeMap, VecDeque},
    num::NonZeroUsize,
    ops::Bound,
    sync::Arc,
};

use bytes::Bytes;
use toolgate_store::{
    Change, Commit, CommitError, CommitEvents, Condition, KeyRange, Leases, Revision, Row, ScanPage, Write,
};

use crate::Options;

/// The whole store. Every method is one step that nobody can see the middle of.
pub(crate) struct State {
    rows: BTreeMap<Bytes, Row>,
    pub(crate) revision: Revision,
    /// The newest commits, oldest first; the commits of revisions `oldest + 1` to `revision`.
    history: VecDeque<Arc<CommitEvents>>,
    history_commits: NonZeroUsize,
    /// The oldest revision that a watch may start after.
    pub(crate) oldest: Revision,
    pub(crate) leases: Leases,
    pub(crate) closed: bool,
}

impl State {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            rows: BTreeMap::new(),
            revision: Revision::ZERO,
            history: VecDeque::new(),
            history_commits: options.history_commits,
            oldest: Revision::ZERO,
            leases: Leases::new(options.clock, 0),
            closed: false,
        }
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<Row> {
        self.rows.get(key).cloned()
    }

    pub(crate) fn scan(&self, range: &KeyRange, limit: NonZeroUsize) -> ScanPage {
        let end = range.end.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let empty = range.end.as_ref().is_some_and(|end| *end <= range.start);
        let mut rest = (!empty)
            .then(|| self.rows.range::<Bytes, _>((Bound::Included(&range.start), end)))
            .into_iter()
            .flatten()
            .map(|(_, row)| row);
        let rows = rest.by_ref().take(limit.get()).cloned().collect();
        ScanPage { rows, revision: self.revision, next: rest.next().map(|row| row.key.clone()) }
    }

    pub(crate) fn commit(&mut self, commit: Commit) -> Result<Revision, CommitError> {
        if let Some(index) = commit.conditions.iter().position(|condition| !self.holds(condition)) {
            return Err(CommitError::Conflict(index));
        }
        self.revision = Revision(self.revision.0 + 1);
        let changes = commit.writes.into_iter().filter_map(|write| self.apply(write)).collect();
        self.remember(CommitEvents { revision: self.revision, changes });
        Ok(self.revision)
    }

    fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Absent(key) => !self.rows.contains_key(key),
            Condition::Present(key) => self.rows.contains_key(key),
            Condition::Equals(key, version) => {
                self.rows.get(key).map_or(Revision::ZERO, |row| row.version) == *version
            }
            Condition::Held(fence) => self.leases.is_held(fence),
        }
    }

    /// Makes the change; `None` when there was nothing to delete.
    fn apply(&mut self, write: Write) -> Option<Change> {
        match write {
            Write::Put(key, value) => {
                let row = Row { key: key.clone(), value: value.clone(), version: self.revision };
                self.rows.insert(key.clone(), row);
                Some(Change { key, value: Some(value) })
            }
            Write::Delete(key) => self.rows.remove(&key).map(|_| Change { key, value: None }),
        }
    }

    fn remember(&mut self, events: CommitEvents) {
        self.history.push_back(Arc::new(events));
        while self.history.len() > self.history_commits.get() {
            if let Some(forgotten) = self.history.pop_front() {
                self.oldest = forgotten.revision;
            }
        }
    }

    /// The commits after `after`, oldest first.
    pub(crate) fn history_after(&self, after: Revision) -> impl Iterator<Item = &Arc<CommitEvents>> {
        let start = self.history.partition_point(|events| events.revision <= after);
        self.history.range(start..)
    }
}
