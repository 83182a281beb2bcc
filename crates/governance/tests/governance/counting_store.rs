//! A store that counts the rows it gives out: nobody can decode more.

use std::{
    fmt,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures::StreamExt;
use toolgate_store::{
    Commit, CommitError, Hold, HoldName, KeyRange, Revision, Row, ScanPage, SharedStore, Store, StoreError,
    Watch, WatchError,
};

pub(crate) struct CountingStore {
    inner: SharedStore,
    given: Arc<AtomicUsize>,
}

impl CountingStore {
    pub(crate) fn new(inner: SharedStore) -> Self {
        Self { inner, given: Arc::default() }
    }

    /// Rows given out since this was asked last, by reads and by watches.
    pub(crate) fn rows_given(&self) -> usize {
        self.given.swap(0, Ordering::SeqCst)
    }

    fn count(&self, rows: usize) {
        self.given.fetch_add(rows, Ordering::SeqCst);
    }
}

impl fmt::Debug for CountingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CountingStore")
    }
}

#[async_trait]
impl Store for CountingStore {
    async fn get(&self, key: &[u8]) -> Result<Option<Row>, StoreError> {
        let row = self.inner.get(key).await?;
        self.count(usize::from(row.is_some()));
        Ok(row)
    }

    async fn scan(&self, range: &KeyRange, limit: NonZeroUsize) -> Result<ScanPage, StoreError> {
        let page = self.inner.scan(range, limit).await?;
        self.count(page.rows.len());
        Ok(page)
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        self.inner.commit(commit).await
    }

    async fn watch(&self, range: KeyRange, after: Revision) -> Result<Watch, WatchError> {
        let given = Arc::clone(&self.given);
        let counted = self.inner.watch(range, after).await?.inspect(move |events| {
            let changes = events.as_ref().map_or(0, |events| events.changes.len());
            given.fetch_add(changes, Ordering::SeqCst);
        });
        Ok(Box::pin(counted))
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
