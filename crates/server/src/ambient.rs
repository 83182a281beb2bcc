//! The real clock and the real source of randomness.

use std::time::UNIX_EPOCH;

use toolgate_domain::{Clock, Entropy, Moment};

/// The clock of the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
        let now = std::time::SystemTime::now();
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment::from_unix_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The randomness of the operating system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemEntropy;

impl SystemEntropy {
    pub(crate) fn fill(bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("a running system gives randomness");
    }
}

impl Entropy for SystemEntropy {
    fn ten_bytes(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        Self::fill(&mut bytes);
        bytes
    }
}
