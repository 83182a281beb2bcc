use std::{
    fmt,
    num::NonZeroUsize,
    path::Path,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use tokio::{
    sync::{Mutex, broadcast, mpsc, oneshot},
    task,
};
use toolgate_store::{
    Clock, Commit, CommitError, Hold, HoldName, KeyRange, Leases, Revision, Row, ScanPage, Store, StoreError,
    Watch, WatchError,
};

use crate::{
    committer::{Bounds, Committer, Request},
    error::{OpenError, engine, guarded},
    folder::Folder,
    limits::{
        CACHE_BYTES, HISTORY_BYTES, HISTORY_COMMITS, INLINE_SCAN_ROWS, LIVE_COMMITS, QUEUE_REQUESTS,
        RESERVE_BYTES,
    },
    marker::Marker,
    opening::{self, Opened},
    read,
    shared::{Running, Shared, Stop},
    tail,
};

/// What may be set.
#[derive(Clone)]
pub struct Options {
    /// Memory of sled's page cache.
    pub cache_bytes: u64,
    /// Commits that a watch may still start before.
    pub history_commits: u64,
    /// Bytes of history beyond which the oldest commits are forgotten.
    pub history_bytes: u64,
    /// Free disk space below which commits are refused as [`CommitError::Full`].
    pub reserve_bytes: u64,
    /// Refuses a folder without a store in it, where one is known to have been.
    pub must_exist: bool,
    /// Measures how long a lease has left.
    pub clock: Clock,
}

impl Default for Options {
    fn default() -> Self {
        let start = Instant::now();
        Self {
            cache_bytes: CACHE_BYTES,
            history_commits: HISTORY_COMMITS,
            history_bytes: HISTORY_BYTES,
            reserve_bytes: RESERVE_BYTES,
            must_exist: false,
            clock: Arc::new(move || start.elapsed()),
        }
    }
}

/// Sets the leases of this opening apart from those of every other.
fn random() -> Result<u64, StoreError> {
    getrandom::u64().map_err(|error| engine(error.to_string()))
}

/// A store in a folder of its own, open in one process at a time.
///
/// [`Store::close`] it before the process ends: dropping it loses nothing that was acknowledged, but does not wait.
pub struct SledStore {
    shared: Arc<Shared>,
    requests: mpsc::Sender<Request>,
    committer: Mutex<Option<JoinHandle<()>>>,
    folder: Arc<Folder>,
    reserve_bytes: u64,
}

impl SledStore {
    /// Opens the store in `folder`, and makes it when there is none and none must be. Blocks while every row is read and checked: about
    /// half a second for 100,000 rows of 2 KiB.
    ///
    /// A damaged store, one that opens with less than it is known to have held included, is [`StoreError::Damaged`].
    pub fn open(folder: &Path, options: Options) -> Result<Self, OpenError> {
        if options.must_exist && !Folder::holds_a_store(folder) {
            return Err(OpenError::Missing(folder.into()));
        }
        let opened = opening::open(folder, options.cache_bytes)?;
        Self::start(opened, options).map_err(|source| OpenError::Store { folder: folder.into(), source })
    }

    fn start(opened: Opened, options: Options) -> Result<Self, StoreError> {
        let Opened { db, folder, meta } = opened;
        let (requests, received) = mpsc::channel(QUEUE_REQUESTS);
        let running = Running { db, live: broadcast::channel(LIVE_COMMITS).0 };
        let shared = Arc::new(Shared::new(running.clone(), &meta));
        let marker =
            Marker::start(shared.clone(), folder.clone(), meta.identity, meta.revision).map_err(engine)?;
        let committer = Committer {
            shared: shared.clone(),
            running,
            file: folder.data_file()?,
            folder: folder.clone(),
            marker,
            meta,
            leases: Leases::new(options.clock, random()?),
            bounds: Bounds {
                history_commits: options.history_commits,
                history_bytes: options.history_bytes,
                reserve_bytes: options.reserve_bytes,
            },
            had_room: true,
            requests: received,
        };
        let thread =
            thread::Builder::new().name("store-commit".into()).spawn(|| committer.run()).map_err(engine)?;
        let reserve_bytes = options.reserve_bytes;
        Ok(Self { shared, requests, committer: Mutex::new(Some(thread)), folder, reserve_bytes })
    }

    /// Whether commits are taken: the committer lives and the disk has room. Readiness asks this.
    pub fn healthy(&self) -> bool {
        self.shared.is_open() && !self.requests.is_closed() && self.folder.has_room(self.reserve_bytes)
    }

    /// Asks the committer and waits for its answer.
    async fn ask<T>(&self, request: impl FnOnce(oneshot::Sender<T>) -> Request) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.requests.send(request(answer)).await.ok()?;
        answered.await.ok()
    }

    /// Why the committer does not answer.
    fn stopped(&self) -> StoreError {
        let without_error = || engine("the store takes no writes any more; restart it");
        self.shared.running().err().unwrap_or_else(without_error)
    }

    /// A commit that was not answered was never begun, unless the committer died without a word.
    fn unanswered(&self) -> CommitError {
        match self.shared.running() {
            Err(error) => error.into(),
            Ok(_) if self.shared.is_full() => CommitError::Full,
            Ok(_) => CommitError::Unknown("the committer died".into()),
        }
    }
}

impl fmt::Debug for SledStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SledStore").field("folder", &self.folder.path()).finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for SledStore {
    async fn get(&self, key: &[u8]) -> Result<Option<Row>, StoreError> {
        let db = self.shared.running()?.db;
        guarded(|| read::get(&self.shared, &db, key))
    }

    async fn scan(&self, range: &KeyRange, limit: NonZeroUsize) -> Result<ScanPage, StoreError> {
        let (db, shared, range) = (self.shared.running()?.db, self.shared.clone(), range.clone());
        let scan = move || guarded(|| read::scan(&shared, &db, &range, limit));
        if limit.get() <= INLINE_SCAN_ROWS {
            scan()
        } else {
            task::spawn_blocking(scan).await.map_err(engine)?
        }
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        commit.check()?;
        let answer = self.ask(|answer| Request::Commit(commit, answer)).await;
        answer.unwrap_or_else(|| Err(self.unanswered()))
    }

    async fn watch(&self, range: KeyRange, after: Revision) -> Result<Watch, WatchError> {
        let live = self.shared.running()?.live.subscribe();
        let oldest = self.shared.oldest();
        if after < oldest {
            return Err(WatchError::Compacted { oldest });
        }
        Ok(tail::follow(self.shared.clone(), live, range, after))
    }

    async fn revision(&self) -> Result<Revision, StoreError> {
        self.shared.running()?;
        Ok(self.shared.revision())
    }

    async fn hold(&self, name: &HoldName, ttl: Duration) -> Result<Option<Hold>, StoreError> {
        self.ask(|answer| Request::Hold(name.clone(), ttl, answer)).await.ok_or_else(|| self.stopped())
    }

    async fn renew(&self, hold: &Hold, ttl: Duration) -> Result<bool, StoreError> {
        self.ask(|answer| Request::Renew(hold.clone(), ttl, answer)).await.ok_or_else(|| self.stopped())
    }

    async fn release(&self, hold: Hold) -> Result<(), StoreError> {
        self.ask(|answer| Request::Release(hold, answer)).await.ok_or_else(|| self.stopped())
    }

    async fn close(&self) -> Result<(), StoreError> {
        let mut committer = self.committer.lock().await;
        let Some(thread) = committer.take() else { return Ok(()) };
        // A committer that has stopped already takes no request.
        drop(self.requests.send(Request::Close).await);
        let ended = task::spawn_blocking(|| thread.join()).await.map_err(engine)?;
        self.shared.stop(Stop::Closed);
        self.folder.unlock();
        ended.map_err(|_| engine("the committer died"))
    }
}
