//! Waiting for a condition, never for a time.

use std::time::{Duration, Instant};

/// How long a condition may take to come true, on a machine that does much else.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two looks.
const EVERY: Duration = Duration::from_millis(20);

/// Looks again and again until there is something to see, and answers it.
///
/// # Panics
/// When `what` has not come true within [`PATIENCE`].
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(begun.elapsed() < PATIENCE, "not so after {} s: {what}", PATIENCE.as_secs());
        tokio::time::sleep(EVERY).await;
    }
}
