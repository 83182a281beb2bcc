//! The port to the store: an ordered map from bytes to versioned bytes, with conditional commits, a resumable watch and
//! leases.
//!
//! Keys, rows and codecs are written once on top of it (`toolgate-records`); an engine (`toolgate-store-memory`,
//! `toolgate-store-sled`) only keeps the promises written here, and `toolgate-store-conformance` tests every one of them.
//!
//! This crate must never know a tenant, a tool, a codec, a database or a transport.
//!
//! Start reading at [`Store`], then [`Commit`] and [`Watch`].

mod commit;
mod error;
mod hold;
mod lease;
pub mod limits;
mod range;
mod row;
mod watch;

pub use commit::{Commit, Condition, Write};
pub use error::{CommitError, StoreError, WatchError};
pub use hold::{Fence, Hold, HoldName};
pub use lease::{Clock, Leases};
pub use range::KeyRange;
pub use row::{Revision, Row, ScanPage};
pub use watch::{Change, CommitEvents, Watch};

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use async_trait::async_trait;

/// A shared handle to any engine.
pub type SharedStore = Arc<dyn Store>;

/// What every engine promises.
///
/// * **Order.** Keys are ordered as byte strings.
/// * **Versions.** A key's version is the revision of its last write. An absent key has version 0. Revisions grow by at
///   least one with each commit and never repeat, over restarts too.
/// * **Atomic.** A commit happens whole or not at all; nobody ever sees half of one.
/// * **Durable.** When [`Store::commit`] has answered `Ok`, a kill of the process at any instant loses nothing of it (an
///   engine that keeps nothing on disk says so).
/// * **Gapless.** A watch from revision `r` delivers every commit after `r` that touches its range, once, in order.
#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug + 'static {
    /// The row at `key`, or `None`.
    async fn get(&self, key: &[u8]) -> Result<Option<Row>, StoreError>;

    /// Up to `limit` rows of `range` in key order.
    ///
    /// A scan is not a snapshot: pages, and even the rows of one page, may be of different moments. The page's revision is
    /// the one at its *start*, so a scan followed by a watch from the revision of its **first** page converges.
    async fn scan(&self, range: &KeyRange, limit: NonZeroUsize) -> Result<ScanPage, StoreError>;

    /// Applies all writes if all conditions hold, and answers the revision of the commit.
    ///
    /// [`limits`] bounds a commit. A commit beyond them is refused before anything happens.
    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError>;

    /// Follows `range` from the first commit after `after`.
    ///
    /// Fails with [`WatchError::Compacted`] when commits after `after` are no longer kept. `after` beyond the newest
    /// revision is allowed and waits.
    async fn watch(&self, range: KeyRange, after: Revision) -> Result<Watch, WatchError>;

    /// The revision of the newest commit, 0 for a store never written to.
    async fn revision(&self) -> Result<Revision, StoreError>;

    /// Takes the lease `name` for `ttl`, or answers `None` while another holder has it.
    ///
    /// The lease's [`Fence`] can be a condition of a commit: once the lease ran out, was released or passed to another
    /// holder, such a commit fails, so a former holder that does not know yet cannot write.
    async fn hold(&self, name: &HoldName, ttl: Duration) -> Result<Option<Hold>, StoreError>;

    /// Prolongs a lease by `ttl` from now; `false` when it was lost.
    async fn renew(&self, hold: &Hold, ttl: Duration) -> Result<bool, StoreError>;

    /// Ends a lease at once. Ending a lost lease is no error.
    async fn release(&self, hold: Hold) -> Result<(), StoreError>;

    /// Stops the engine after everything acknowledged is on disk. Later calls fail with [`StoreError::Closed`], and so does
    /// every open watch.
    async fn close(&self) -> Result<(), StoreError>;
}

/// Every row of `range`, page by page, with the revision at the start of the first page.
pub async fn scan_all(store: &dyn Store, range: &KeyRange) -> Result<(Vec<Row>, Revision), StoreError> {
    let mut page = store.scan(range, limits::SCAN_PAGE_ROWS).await?;
    let revision = page.revision;
    let mut rows = std::mem::take(&mut page.rows);
    while let Some(next) = page.next.take() {
        let rest = KeyRange { start: next, end: range.end.clone() };
        page = store.scan(&rest, limits::SCAN_PAGE_ROWS).await?;
        rows.append(&mut page.rows);
    }
    Ok((rows, revision))
}
