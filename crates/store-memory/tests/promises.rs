//! The store in memory keeps every promise of the port but durability.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use toolgate_store::SharedStore;
use toolgate_store_conformance::{
    Failed, HISTORY_COMMITS, Outcome, SteppedClock, Subject, overwrite_history, promise_tests,
};
use toolgate_store_memory::{MemoryStore, Options};

struct Memory {
    store: SharedStore,
    clock: SteppedClock,
}

#[async_trait]
impl Subject for Memory {
    fn store(&self) -> SharedStore {
        self.store.clone()
    }

    async fn reopen(&mut self) -> Outcome {
        Err(Failed("a store in memory keeps nothing".into()).into())
    }

    async fn forget_history(&mut self) -> Outcome {
        overwrite_history(&self.store).await
    }

    async fn let_pass(&mut self, time: Duration) {
        self.clock.step(time);
    }
}

async fn memory() -> Box<dyn Subject> {
    let clock = SteppedClock::default();
    let options = Options { history_commits: HISTORY_COMMITS, clock: clock.clock() };
    Box::new(Memory { store: Arc::new(MemoryStore::with(options)), clock })
}

promise_tests!(memory; reads, commits, limits, watches, holds, closing);
