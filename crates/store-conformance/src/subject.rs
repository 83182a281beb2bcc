use std::{num::NonZeroUsize, time::Duration};

use async_trait::async_trait;
use toolgate_store::{Commit, SharedStore};

use crate::Outcome;

/// Commits of history that an engine under test keeps at least. No promise but those of compaction makes more.
pub const HISTORY_COMMITS: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// A store under test.
#[async_trait]
pub trait Subject: Send {
    /// The store, open, and empty when the test begins.
    fn store(&self) -> SharedStore;

    /// Stops the store and opens it again on what it kept. Asked by `durability` alone.
    async fn reopen(&mut self) -> Outcome;

    /// Makes the store forget the history of every commit so far, of the newest one too if it must.
    async fn forget_history(&mut self) -> Outcome;

    /// Lets `time` pass for the store's leases: steps the clock where the engine is given one, else waits.
    async fn let_pass(&mut self, time: Duration);
}

/// A [`Subject::forget_history`] for engines that keep [`HISTORY_COMMITS`]: commits to a key of its own until the earlier
/// history is gone.
pub async fn overwrite_history(store: &SharedStore) -> Outcome {
    for _ in 0..=HISTORY_COMMITS.get() {
        store.commit(Commit::new().put("conformance/overwrite", "")).await?;
    }
    Ok(())
}
