use std::{
    collections::BTreeMap,
    sync::{
        RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use tokio::sync::broadcast;
use toolgate_store::{CommitEvents, Revision, Row, StoreError};

use crate::{drain::Formers, error::engine, meta::Meta};

/// What readers, watchers and the committer share.
pub(crate) struct Shared {
    phase: RwLock<Phase>,
    /// The rows that readers get instead of what the tree holds, while a batch is in the tree and not yet on disk: nobody
    /// reads what a crash could still take back.
    veil: RwLock<Formers>,
    revision: AtomicU64,
    oldest: AtomicU64,
}

/// Where the store is in its life. It only moves down this list.
enum Phase {
    Open(Running),
    /// A write met a full disk and sled takes no more of them; reads go on.
    Full(Running),
    Failed(String),
    Closed,
}

/// What an open store runs on. Clones are one.
#[derive(Clone)]
pub(crate) struct Running {
    pub(crate) db: sled::Db,
    pub(crate) live: broadcast::Sender<Told>,
}

/// News of a durable commit.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    /// The commit itself.
    Whole(std::sync::Arc<CommitEvents>),
    /// The commit is large; the change log has it.
    Logged(Revision),
}

/// Why the committer stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It was asked to.
    Closed,
    /// The disk is full.
    Full,
    /// The engine failed.
    Failed(String),
}

impl Shared {
    pub(crate) fn new(running: Running, meta: &Meta) -> Self {
        Self {
            phase: RwLock::new(Phase::Open(running)),
            veil: RwLock::default(),
            revision: AtomicU64::new(meta.revision.0),
            oldest: AtomicU64::new(meta.oldest.0),
        }
    }

    /// What reads run on, as long as reads are answered.
    pub(crate) fn running(&self) -> Result<Running, StoreError> {
        match &*read(&self.phase) {
            Phase::Open(running) | Phase::Full(running) => Ok(running.clone()),
            Phase::Failed(why) => Err(engine(why.clone())),
            Phase::Closed => Err(StoreError::Closed),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(&*read(&self.phase), Phase::Open(_))
    }

    pub(crate) fn is_full(&self) -> bool {
        matches!(&*read(&self.phase), Phase::Full(_))
    }

    /// Moves on; a store that failed stays failed until it is closed.
    pub(crate) fn stop(&self, stop: Stop) {
        let mut phase = write(&self.phase);
        match (stop, &*phase) {
            (Stop::Closed, _) => *phase = Phase::Closed,
            (Stop::Full, Phase::Open(running)) => *phase = Phase::Full(running.clone()),
            (Stop::Failed(why), Phase::Open(_) | Phase::Full(_)) => *phase = Phase::Failed(why),
            _ => {}
        }
    }

    /// Hides the keys of a batch that is about to be applied.
    pub(crate) fn hide(&self, formers: Formers) {
        *write(&self.veil) = formers;
    }

    /// Shows a batch that is on disk, and its revisions.
    pub(crate) fn reveal(&self, meta: &Meta) {
        write(&self.veil).clear();
        self.oldest.store(meta.oldest.0, Ordering::Release);
        self.revision.store(meta.revision.0, Ordering::Release);
    }

    /// The newest durable revision.
    pub(crate) fn revision(&self) -> Revision {
        Revision(self.revision.load(Ordering::Acquire))
    }

    /// The oldest revision that a watch may start after.
    pub(crate) fn oldest(&self) -> Revision {
        Revision(self.oldest.load(Ordering::Acquire))
    }

    /// What a reader gets for a key that it has read from the tree already; `None` when the tree is right.
    pub(crate) fn veiled(&self, key: &[u8]) -> Option<Option<Row>> {
        read(&self.veil).get(key).cloned()
    }

    /// The same for all keys from `start` to before `end`.
    pub(crate) fn veil_rows(&self, rows: &mut BTreeMap<Bytes, Row>, start: &Bytes, end: Option<&Bytes>) {
        for (key, former) in read(&self.veil).range(start.clone()..) {
            if end.is_some_and(|end| key >= end) {
                break;
            }
            match former {
                Some(row) => rows.insert(key.clone(), row.clone()),
                None => rows.remove(key),
            };
        }
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().expect("nothing panics while it holds the lock")
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().expect("nothing panics while it holds the lock")
}
