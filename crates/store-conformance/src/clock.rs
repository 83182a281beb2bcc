use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use toolgate_store::Clock;

/// A clock that moves when it is told to. Clones are one clock.
#[derive(Debug, Clone, Default)]
pub struct SteppedClock {
    now_ms: Arc<AtomicU64>,
}

impl SteppedClock {
    /// What an engine under test is given.
    pub fn clock(&self) -> Clock {
        let now_ms = self.now_ms.clone();
        Arc::new(move || Duration::from_millis(now_ms.load(Ordering::SeqCst)))
    }

    /// Moves on by whole milliseconds.
    pub fn step(&self, time: Duration) {
        let time_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.now_ms.fetch_add(time_ms, Ordering::SeqCst);
    }
}
