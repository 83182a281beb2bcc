//! A store that is not left alone: others write, or the process dies, at the very moment that a test names.

use std::{
    fmt,
    future::Future,
    num::NonZeroUsize,
    pin::Pin,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures::StreamExt;
use tokio::sync::watch;
use toolgate_store::{
    Commit, CommitError, Hold, HoldName, KeyRange, Revision, Row, ScanPage, SharedStore, Store, StoreError,
    Watch, WatchError,
};

type Act = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What happens at the next commit.
enum Trouble {
    /// Somebody acts after the commit was thought out and before it is made.
    Before(Act),
    /// There is no room.
    Full,
    /// It is made, and the answer is lost.
    AnswerLost,
    /// The task that wants it panics.
    Panic,
}

/// What becomes of what watches have to tell.
#[derive(Clone, Copy)]
struct Watches {
    flow: bool,
    /// How often all that were open were cut off.
    cuts: u32,
}

pub(crate) struct TroubledStore {
    inner: SharedStore,
    trouble: Mutex<Option<Trouble>>,
    commits_left: AtomicUsize,
    met_death: AtomicBool,
    watches: watch::Sender<Watches>,
    hold: watch::Sender<bool>,
    held: AtomicUsize,
}

impl TroubledStore {
    pub(crate) fn new(inner: SharedStore) -> Self {
        Self {
            inner,
            trouble: Mutex::new(None),
            commits_left: AtomicUsize::new(usize::MAX),
            met_death: AtomicBool::new(false),
            watches: watch::Sender::new(Watches { flow: true, cuts: 0 }),
            hold: watch::Sender::new(false),
            held: AtomicUsize::new(0),
        }
    }

    pub(crate) fn before_next_commit(&self, act: impl Future<Output = ()> + Send + 'static) {
        self.plan(Trouble::Before(Box::pin(act)));
    }

    pub(crate) fn full_at_next_commit(&self) {
        self.plan(Trouble::Full);
    }

    pub(crate) fn loses_next_answer(&self) {
        self.plan(Trouble::AnswerLost);
    }

    pub(crate) fn panics_at_next_commit(&self) {
        self.plan(Trouble::Panic);
    }

    /// As if the process were killed after so many more commits.
    pub(crate) fn dies_after(&self, commits: usize) {
        self.commits_left.store(commits, Ordering::SeqCst);
    }

    /// Whether that has happened, and somebody has met it.
    pub(crate) fn is_dead(&self) -> bool {
        self.met_death.load(Ordering::SeqCst)
    }

    /// Whether commits wait.
    pub(crate) fn hold_commits(&self, hold: bool) {
        self.hold.send_replace(hold);
    }

    /// Commits that wait now.
    pub(crate) fn commits_held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }

    /// Whether watches tell what they know, or fall ever further behind.
    pub(crate) fn let_watches_flow(&self, flow: bool) {
        self.watches.send_modify(|watches| watches.flow = flow);
    }

    /// Every watch that is open ends at its next word, as if what it had to tell were compacted.
    pub(crate) fn cuts_watches(&self) {
        self.watches.send_modify(|watches| watches.cuts += 1);
    }

    fn plan(&self, trouble: Trouble) {
        *self.trouble.lock().unwrap() = Some(trouble);
    }
}

impl fmt::Debug for TroubledStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TroubledStore")
    }
}

#[async_trait]
impl Store for TroubledStore {
    async fn get(&self, key: &[u8]) -> Result<Option<Row>, StoreError> {
        self.inner.get(key).await
    }

    async fn scan(&self, range: &KeyRange, limit: NonZeroUsize) -> Result<ScanPage, StoreError> {
        self.inner.scan(range, limit).await
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        self.held.fetch_add(1, Ordering::SeqCst);
        self.hold.subscribe().wait_for(|hold| !hold).await.expect("the store is there");
        self.held.fetch_sub(1, Ordering::SeqCst);
        let left = |left: usize| left.checked_sub(1);
        if self.commits_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_err() {
            self.met_death.store(true, Ordering::SeqCst);
            return Err(StoreError::Closed.into());
        }
        let trouble = self.trouble.lock().unwrap().take();
        match trouble {
            None => {}
            Some(Trouble::Before(act)) => act.await,
            Some(Trouble::Panic) => panic!("as the test wants it"),
            Some(Trouble::Full) => return Err(CommitError::Full),
            Some(Trouble::AnswerLost) => {
                self.inner.commit(commit).await?;
                return Err(CommitError::Unknown("the connection broke".into()));
            }
        }
        self.inner.commit(commit).await
    }

    async fn watch(&self, range: KeyRange, after: Revision) -> Result<Watch, WatchError> {
        let watches = self.watches.subscribe();
        let cuts = watches.borrow().cuts;
        let held_back = move |events| {
            let mut watches = watches.clone();
            async move {
                let now = *watches.wait_for(|now| now.flow || now.cuts > cuts).await.unwrap();
                if now.cuts > cuts { Err(WatchError::Compacted { oldest: Revision::ZERO }) } else { events }
            }
        };
        Ok(Box::pin(self.inner.watch(range, after).await?.then(held_back)))
    }

    async fn revision(&self) -> Result<Revision, StoreError> {
        self.inner.revision().await
    }

    async fn hold(&self, name: &HoldName, ttl: Duration) -> Result<Option<Hold>, StoreError> {
        self.inner.hold(name, ttl).await
    }

    async fn renew(&self, hold: &Hold, ttl: Duration) -> Result<bool, StoreError> {
        self.inner.renew(hold, ttl).await
    }

    async fn release(&self, hold: Hold) -> Result<(), StoreError> {
        self.inner.release(hold).await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.inner.close().await
    }
}
