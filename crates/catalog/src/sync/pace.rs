//! When an upstream is synced again.

use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use toolgate_domain::UpstreamId;

use super::limits::{FIRST_RETRY, MIN_TTL, NOTICE_GAP, NOTICE_SETTLES};

/// Time to the next sync: the interval, or sooner where the server says that its list is fresh for less; give or take a
/// tenth that an upstream's id decides, so that many of them spread; sooner after a failure.
pub(super) fn pause(
    interval: Duration,
    upstream: UpstreamId,
    failures: u32,
    ttl: Option<Duration>,
) -> Duration {
    let spread = f64::from(upstream.bytes()[15]) / 255.0 * 0.2 + 0.9;
    let fresh = ttl.map_or(interval, |ttl| ttl.max(MIN_TTL).min(interval));
    let regular = fresh.mul_f64(spread);
    match failures {
        0 => regular,
        n => FIRST_RETRY.mul_f64(spread).saturating_mul(1 << (n - 1).min(16)).min(regular),
    }
}

/// Ends when a notice of change has settled, and the last sync for one is long enough ago. However many come, they lead
/// to one sync after another, never to one each.
pub(super) async fn noticed(notices: &Notify, last: Option<Instant>) {
    notices.notified().await;
    let settled = Instant::now() + NOTICE_SETTLES;
    sleep_until(last.map_or(settled, |last| settled.max(last + NOTICE_GAP))).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_upstream_is_tried_again_sooner_and_then_ever_more_rarely() {
        let id = UpstreamId::from_bytes([0x80; 16]);
        let at = |failures| pause(Duration::from_secs(300), id, failures, None).as_secs();
        assert_eq!((at(1), at(2), at(3)), (5, 10, 20));
        assert_eq!((at(0), at(9), at(u32::MAX)), (300, 300, 300));
    }

    #[test]
    fn how_long_a_list_is_fresh_is_the_servers_word_within_bounds() {
        let id = UpstreamId::from_bytes([0x80; 16]);
        let after =
            |ttl_ms| pause(Duration::from_secs(300), id, 0, Some(Duration::from_millis(ttl_ms))).as_secs();
        assert_eq!((after(60_000), after(1), after(u64::MAX)), (60, 10, 300));
    }
}
