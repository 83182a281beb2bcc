use std::{fs, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use tempfile::TempDir;
use toolgate_store::SharedStore;
use toolgate_store_conformance::{HISTORY_COMMITS, Outcome, SteppedClock, Subject, overwrite_history};
use toolgate_store_sled::{Options, SledStore};

/// A store in a folder that goes with it.
struct OnSled {
    store: SharedStore,
    clock: SteppedClock,
    folder: TempDir,
}

impl OnSled {
    fn options(clock: &SteppedClock) -> Options {
        let history_commits = HISTORY_COMMITS.get() as u64;
        Options { history_commits, clock: clock.clock(), ..Options::default() }
    }
}

#[async_trait]
impl Subject for OnSled {
    fn store(&self) -> SharedStore {
        self.store.clone()
    }

    async fn reopen(&mut self) -> Outcome {
        self.store.close().await?;
        self.store = Arc::new(SledStore::open(self.folder.path(), Self::options(&self.clock))?);
        Ok(())
    }

    async fn forget_history(&mut self) -> Outcome {
        overwrite_history(&self.store).await
    }

    async fn let_pass(&mut self, time: Duration) {
        self.clock.step(time);
    }
}

impl Drop for OnSled {
    /// sled puts what is too large for its log into files that it never syncs; no test may make one.
    fn drop(&mut self) {
        assert_no_blobs(self.folder.path());
    }
}

pub(crate) fn assert_no_blobs(folder: &Path) {
    let blobs = fs::read_dir(folder.join("blobs")).unwrap().count();
    assert_eq!(blobs, 0, "files outside the log, which are never synced");
}

pub(crate) async fn sled() -> Box<dyn Subject> {
    let folder = tempfile::tempdir().unwrap();
    let clock = SteppedClock::default();
    let store = SledStore::open(folder.path(), OnSled::options(&clock)).unwrap();
    Box::new(OnSled { store: Arc::new(store), clock, folder })
}
