use std::sync::atomic::{AtomicU64, Ordering};

use toolgate_domain::{Fault, sync_status::Health};

use super::run::Report;

/// How syncs ended since the process began, over all upstreams of all clients: it tells nothing of any one of them.
#[derive(Debug, Default)]
pub struct SyncTally {
    ok: AtomicU64,
    incomplete: AtomicU64,
    unavailable: AtomicU64,
    failed: AtomicU64,
}

impl SyncTally {
    /// Each way to end with how often it was met. `failed` is this process's own fault, not the upstream's.
    pub fn counts(&self) -> [(&'static str, u64); 4] {
        let count = |ended: &AtomicU64| ended.load(Ordering::Relaxed);
        [
            ("ok", count(&self.ok)),
            ("incomplete", count(&self.incomplete)),
            ("unavailable", count(&self.unavailable)),
            ("failed", count(&self.failed)),
        ]
    }

    pub(super) fn count(&self, result: &Result<Report, Fault>) {
        let ended = match result {
            // One of them was deleted meanwhile.
            Err(Fault::ClientNotFound | Fault::UpstreamNotFound) => return,
            Err(_) => &self.failed,
            Ok(report) => match report.health {
                Health::Ok => &self.ok,
                Health::Incomplete => &self.incomplete,
                Health::Unavailable => &self.unavailable,
                Health::Unknown => return,
            },
        };
        ended.fetch_add(1, Ordering::Relaxed);
    }
}
