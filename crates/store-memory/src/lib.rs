//! The store in memory: the reference that can be checked by reading.
//!
//! Everything stands behind one lock, so order, versions and atomicity are plain to see. Nothing is kept on disk: the
//! promise of durability is the only one that this engine does not make. Tests and `TOOLGATE_STORE=memory` use it.
//!
//! This crate must never know a tenant, a tool, a codec or a file.
//!
//! Start reading at `state`, which is the whole engine; `tail` is its watch.

mod limits;
mod state;
mod tail;

pub use limits::HISTORY_COMMITS;

use std::{
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use tokio::sync::watch;
use toolgate_store::{
    Clock, Commit, CommitError, Hold, HoldName, KeyRange, Revision, Row, ScanPage, Store, StoreError, Watch,
    WatchError,
};

use crate::state::State;

/// A store that lives and ends with the process. Clones share it.
#[derive(Clone)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Wakes the watchers; the value is of no account.
    changed: watch::Sender<()>,
}

/// What may be set.
pub struct Options {
    /// Commits that a watch may still start before.
    pub history_commits: NonZeroUsize,
    /// Measures how long a lease has left.
    pub clock: Clock,
}

impl Default for Options {
    fn default() -> Self {
        let start = Instant::now();
        Self { history_commits: HISTORY_COMMITS, clock: Arc::new(move || start.elapsed()) }
    }
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::with(Options::default())
    }

    /// An empty store with options of its own.
    pub fn with(options: Options) -> Self {
        let (changed, _) = watch::channel(());
        Self { shared: Arc::new(Shared { state: Mutex::new(State::new(options)), changed }) }
    }

    fn open(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let state = self.shared.state();
        if state.closed { Err(StoreError::Closed) } else { Ok(state) }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the lock")
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn get(&self, key: &[u8]) -> Result<Option<Row>, StoreError> {
        Ok(self.open()?.get(key))
    }

    async fn scan(&self, range: &KeyRange, limit: NonZeroUsize) -> Result<ScanPage, StoreError> {
        Ok(self.open()?.scan(range, limit))
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        commit.check()?;
        let revision = self.open()?.commit(commit)?;
        self.shared.changed.send_replace(());
        Ok(revision)
    }

    async fn watch(&self, range: KeyRange, after: Revision) -> Result<Watch, WatchError> {
        let oldest = self.open()?.oldest;
        if after < oldest {
            return Err(WatchError::Compacted { oldest });
        }
        Ok(tail::follow(self.shared.clone(), range, after))
    }

    async fn revision(&self) -> Result<Revision, StoreError> {
        Ok(self.open()?.revision)
    }

    async fn hold(&self, name: &HoldName, ttl: Duration) -> Result<Option<Hold>, StoreError> {
        Ok(self.open()?.leases.take(name, ttl))
    }

    async fn renew(&self, hold: &Hold, ttl: Duration) -> Result<bool, StoreError> {
        Ok(self.open()?.leases.renew(hold, ttl))
    }

    async fn release(&self, hold: Hold) -> Result<(), StoreError> {
        self.open()?.leases.release(&hold);
        Ok(())
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.shared.state().closed = true;
        self.shared.changed.send_replace(());
        Ok(())
    }
}
