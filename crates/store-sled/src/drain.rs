use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use sled::IVec;
use toolgate_store::{
    Change, Commit, CommitError, CommitEvents, Condition, Leases, Revision, Row, StoreError, Write,
};

use crate::{
    cell::{self, Head, Source},
    error::damaged_key,
    layout::{self, META, Place},
    meta::Meta,
    record::{self, Logged},
};

/// Rows as they are on disk, of the keys that a drain is about to change; `None` for an absent one.
pub(crate) type Formers = BTreeMap<Bytes, Option<Row>>;

/// The commits that become durable together: judged one after the other, each on what the ones before it left.
///
/// Nothing reaches the tree before the whole drain is written as one batch.
pub(crate) struct Drain<'a> {
    db: &'a sled::Db,
    leases: &'a Leases,
    meta: Meta,
    writes: HashMap<Vec<u8>, Option<IVec>>,
    formers: Formers,
}

/// A drain on its way to disk.
pub(crate) struct Written {
    pub(crate) batch: sled::Batch,
    /// What will be true of the store.
    pub(crate) meta: Meta,
    /// What readers get until then.
    pub(crate) formers: Formers,
}

/// The row that a write overwrites.
struct Old {
    raw: IVec,
    head: Head,
}

impl Source for Drain<'_> {
    fn raw(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        match self.writes.get(key) {
            Some(staged) => Ok(staged.clone()),
            None => self.db.raw(key),
        }
    }
}

impl<'a> Drain<'a> {
    pub(crate) fn new(db: &'a sled::Db, leases: &'a Leases, meta: Meta) -> Self {
        Self { db, leases, meta, writes: HashMap::new(), formers: Formers::new() }
    }

    /// Adds a commit if its conditions hold. A commit that fails leaves no trace.
    pub(crate) fn add(&mut self, commit: Commit) -> Result<CommitEvents, CommitError> {
        self.check(&commit.conditions)?;
        let mut olds = Vec::with_capacity(commit.writes.len());
        for write in &commit.writes {
            olds.push(self.old(write.key())?);
        }
        // From here on nothing can fail.
        self.meta.revision.0 += 1;
        let writes = (0..).zip(commit.writes.into_iter().zip(olds));
        let (mut logged, mut changes) = (Vec::new(), Vec::new());
        for (index, (write, old)) in writes {
            if let Some(change) = self.apply(index, write, old) {
                logged.push(Logged { index, put: change.value.is_some(), key: change.key.clone() });
                changes.push(change);
            }
        }
        self.log(&logged);
        Ok(CommitEvents { revision: self.meta.revision, changes })
    }

    fn check(&self, conditions: &[Condition]) -> Result<(), CommitError> {
        for (index, condition) in conditions.iter().enumerate() {
            let holds = match condition {
                Condition::Absent(key) => self.version(key)? == Revision::ZERO,
                Condition::Present(key) => self.version(key)? != Revision::ZERO,
                Condition::Equals(key, version) => self.version(key)? == *version,
                Condition::Held(fence) => self.leases.is_held(fence),
            };
            if !holds {
                return Err(CommitError::Conflict(index));
            }
        }
        Ok(())
    }

    fn version(&self, key: &[u8]) -> Result<Revision, StoreError> {
        match self.raw(&layout::row(key))? {
            Some(raw) => Ok(Head::read(key, &raw)?.place.revision),
            None => Ok(Revision::ZERO),
        }
    }

    /// The row at `key`, and note of it if the drain has not touched it before.
    fn old(&mut self, key: &Bytes) -> Result<Option<Old>, StoreError> {
        let raw = self.raw(&layout::row(key))?;
        let old = match raw {
            Some(raw) => Some(Old { head: Head::read(key, &raw)?, raw }),
            None => None,
        };
        if !self.formers.contains_key(key) {
            let former = old.as_ref().map(|old| self.row(key, old)).transpose()?;
            self.formers.insert(key.clone(), former);
        }
        Ok(old)
    }

    fn row(&self, key: &Bytes, old: &Old) -> Result<Row, StoreError> {
        let value = cell::content(self, key, &old.raw)?
            .ok_or_else(|| damaged_key(key, "a piece of it is missing"))?;
        Ok(Row { key: key.clone(), value, version: old.head.place.revision })
    }

    /// Makes the change; `None` when there was nothing to delete.
    fn apply(&mut self, index: u8, write: Write, old: Option<Old>) -> Option<Change> {
        let existed = old.is_some();
        if let Some(old) = old {
            self.bury(old);
        }
        match write {
            Write::Put(key, value) => {
                self.meta.rows += u64::from(!existed);
                self.put(layout::row(&key), &key, Place { revision: self.meta.revision, index }, &value);
                Some(Change { key, value: Some(value) })
            }
            Write::Delete(key) => {
                self.meta.rows -= u64::from(existed);
                self.writes.insert(layout::row(&key), None);
                existed.then_some(Change { key, value: None })
            }
        }
    }

    fn put(&mut self, at: Vec<u8>, key: &[u8], place: Place, content: &[u8]) {
        let (cell, pieces) = cell::seal(key, place, content);
        self.writes.insert(at, Some(cell.into()));
        for (number, piece) in (0..).zip(pieces) {
            self.writes.insert(layout::piece(place, number), Some(piece.into()));
        }
    }

    /// Keeps an overwritten row for the watches that have not seen it, if its commit is still in the history.
    fn bury(&mut self, old: Old) {
        if old.head.place.revision > self.meta.oldest {
            self.meta.history_bytes += old.head.stored_bytes();
            self.writes.insert(layout::former(old.head.place), Some(old.raw));
        } else {
            self.drop_pieces(old.head);
        }
    }

    fn drop_pieces(&mut self, head: Head) {
        self.writes.extend(head.pieces().map(|piece| (piece, None)));
    }

    fn log(&mut self, changes: &[Logged]) {
        let key = layout::log(self.meta.revision);
        let content = record::encode(changes);
        self.put(key.clone(), &key, Place::of_record(self.meta.revision), &content);
        self.meta.history_bytes += content.len() as u64;
    }

    /// Forgets the oldest commits until the history is within its bounds.
    pub(crate) fn compact(&mut self, history_commits: u64, history_bytes: u64) -> Result<(), StoreError> {
        while self.meta.revision.0 - self.meta.oldest.0 > history_commits
            || (self.meta.history_bytes > history_bytes && self.meta.oldest < self.meta.revision)
        {
            self.forget(Revision(self.meta.oldest.0 + 1))?;
        }
        Ok(())
    }

    fn forget(&mut self, revision: Revision) -> Result<(), StoreError> {
        let key = layout::log(revision);
        let gap = || damaged_key(&key, "the change log has a gap");
        let head = Head::read(&key, &self.raw(&key)?.ok_or_else(gap)?)?;
        for change in changes_of(self, revision)?.ok_or_else(gap)?.iter().filter(|change| change.put) {
            self.forget_former(Place { revision, index: change.index }, &change.key)?;
        }
        self.drop_pieces(head);
        self.writes.insert(key, None);
        self.meta.history_bytes = self.meta.history_bytes.saturating_sub(u64::from(head.len));
        self.meta.oldest = revision;
        Ok(())
    }

    /// A row that was not overwritten yet stays: it is no former one.
    fn forget_former(&mut self, place: Place, key: &[u8]) -> Result<(), StoreError> {
        let former = layout::former(place);
        let Some(raw) = self.raw(&former)? else { return Ok(()) };
        let head = Head::read(key, &raw)?;
        self.drop_pieces(head);
        self.writes.insert(former, None);
        self.meta.history_bytes = self.meta.history_bytes.saturating_sub(head.stored_bytes());
        Ok(())
    }

    /// Everything as one batch, which sled applies whole or not at all.
    pub(crate) fn finish(self) -> Written {
        let mut batch = sled::Batch::default();
        for (key, value) in self.writes {
            match value {
                Some(value) => batch.insert(key, value),
                None => batch.remove(key),
            }
        }
        batch.insert(META, self.meta.encode());
        Written { batch, meta: self.meta, formers: self.formers }
    }
}

/// What the change log says of a commit; `None` when it says nothing.
pub(crate) fn changes_of(
    source: &impl Source,
    revision: Revision,
) -> Result<Option<Vec<Logged>>, StoreError> {
    let key = layout::log(revision);
    let Some(raw) = source.raw(&key)? else { return Ok(None) };
    let Some(content) = cell::content(source, &key, &raw)? else { return Ok(None) };
    record::decode(&content).map(Some).ok_or_else(|| damaged_key(&key, "it is no record of a commit"))
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::*;

    struct Tree {
        db: sled::Db,
        leases: Leases,
        meta: Meta,
    }

    impl Tree {
        fn new() -> Self {
            let db = sled::Config::new().temporary(true).flush_every_ms(None).open().unwrap();
            Self { db, leases: Leases::new(Arc::new(|| Duration::ZERO), 0), meta: Meta::new([7; 16]) }
        }

        /// Applies commits as one drain and keeps `history_commits`.
        fn drain(&mut self, commits: impl IntoIterator<Item = Commit>, history_commits: u64) {
            let mut drain = Drain::new(&self.db, &self.leases, self.meta);
            commits.into_iter().for_each(|commit| drop(drain.add(commit).unwrap()));
            drain.compact(history_commits, u64::MAX).unwrap();
            let written = drain.finish();
            self.db.apply_batch(written.batch).unwrap();
            self.meta = written.meta;
        }
    }

    fn large(byte: u8) -> Vec<u8> {
        vec![byte; 200_000]
    }

    #[test]
    fn what_was_deleted_and_forgotten_leaves_nothing_behind() {
        let mut tree = Tree::new();
        tree.drain([Commit::new().put("a", large(1)).put("b", "1")], 10);
        tree.drain([Commit::new().put("a", large(2)), Commit::new().put("a", large(3))], 10);
        // The row of "c" outlives the record of its commit before it is overwritten.
        tree.drain([Commit::new().put("c", large(4))], 0);
        tree.drain([Commit::new().put("c", large(5)), Commit::new().delete("a").delete("b").delete("c")], 10);
        assert_eq!(tree.meta.rows, 0);
        tree.drain([Commit::new().delete("a")], 0);
        let left: Vec<_> = tree.db.iter().keys().map(Result::unwrap).collect();
        assert_eq!(left, [META]);
        assert_eq!(tree.meta.history_bytes, 0);
    }

    #[test]
    fn a_commit_is_judged_by_what_the_one_before_it_in_the_drain_left() {
        let tree = Tree::new();
        let mut drain = Drain::new(&tree.db, &tree.leases, tree.meta);
        let create = || Commit::new().when(Condition::Absent("a".into())).put("a", "1");
        assert_eq!(drain.add(create()).unwrap().revision, Revision(1));
        assert!(matches!(drain.add(create()), Err(CommitError::Conflict(0))));
        let update = Commit::new().when(Condition::Equals("a".into(), Revision(1))).put("a", "2");
        assert_eq!(drain.add(update).unwrap().revision, Revision(2));
        assert_eq!(drain.formers, Formers::from([("a".into(), None)]));
        assert!(tree.db.is_empty());
    }
}
