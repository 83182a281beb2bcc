//! A clock that moves when it is told to, and numbers that come in order.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use toolgate_domain::{Clock, Entropy, Moment};

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct MovableClock(AtomicI64);

impl Default for MovableClock {
    fn default() -> Self {
        Self(AtomicI64::new(1_796_000_000_000))
    }
}

impl MovableClock {
    /// Moves it, forwards or back.
    pub fn advance_ms(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for MovableClock {
    fn now(&self) -> Moment {
        Moment::from_unix_ms(self.0.load(Ordering::SeqCst))
    }
}

/// Never gives the same ten bytes twice.
#[derive(Debug, Default)]
pub struct CountingEntropy(AtomicU64);

impl Entropy for CountingEntropy {
    fn ten_bytes(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        bytes[2..].copy_from_slice(&self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        bytes
    }
}
