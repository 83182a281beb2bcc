use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use bytes::Bytes;

use crate::{Fence, Hold, HoldName};

/// Monotonic time since a start of its own choosing. Never steps back, whatever the wall clock does.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// The leases of an engine that lives in one process: they end with it.
///
/// Whoever owns the table must ask it in the order of the commits, so that a commit is judged by who held the lease then.
pub struct Leases {
    clock: Clock,
    held: BTreeMap<HoldName, Holding>,
    last_holding: u64,
}

struct Holding {
    number: u64,
    until: Duration,
}

impl Leases {
    /// No lease is held. Holdings are numbered from after `last_holding`: an engine that outlives its leases gives a number
    /// that it never gave before, so that a fence of before a restart opens nothing.
    pub fn new(clock: Clock, last_holding: u64) -> Self {
        Self { clock, held: BTreeMap::new(), last_holding }
    }

    /// See [`crate::Store::hold`].
    pub fn take(&mut self, name: &HoldName, ttl: Duration) -> Option<Hold> {
        let now = (self.clock)();
        self.held.retain(|_, holding| holding.until > now);
        if self.held.contains_key(name) {
            return None;
        }
        self.last_holding = self.last_holding.wrapping_add(1);
        let number = self.last_holding;
        self.held.insert(name.clone(), Holding { number, until: now.saturating_add(ttl) });
        let key = Bytes::copy_from_slice(name.0.as_bytes());
        Some(Hold { name: name.clone(), fence: Fence { key, holding: number } })
    }

    /// See [`crate::Store::renew`].
    pub fn renew(&mut self, hold: &Hold, ttl: Duration) -> bool {
        let now = (self.clock)();
        let Some(holding) = self.held.get_mut(&hold.name) else { return false };
        if holding.number != hold.fence.holding || holding.until <= now {
            return false;
        }
        holding.until = now.saturating_add(ttl);
        true
    }

    /// See [`crate::Store::release`].
    pub fn release(&mut self, hold: &Hold) {
        if self.held.get(&hold.name).is_some_and(|holding| holding.number == hold.fence.holding) {
            self.held.remove(&hold.name);
        }
    }

    /// Whether the holding that `fence` belongs to goes on.
    pub fn is_held(&self, fence: &Fence) -> bool {
        let now = (self.clock)();
        let of_fence = |(name, holding): (&HoldName, &Holding)| {
            name.0.as_bytes() == fence.key.as_ref() && holding.number == fence.holding && holding.until > now
        };
        self.held.iter().any(of_fence)
    }
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.held.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_of_before_a_restart_is_not_held() {
        let clock = || -> Clock { Arc::new(|| Duration::ZERO) };
        let (mut before, mut after) = (Leases::new(clock(), 1), Leases::new(clock(), 500));
        let name = HoldName("sync".into());
        let ttl = Duration::from_secs(1);
        let [old, new] = [&mut before, &mut after].map(|leases| leases.take(&name, ttl).unwrap());
        assert!(after.is_held(&new.fence) && !after.is_held(&old.fence));
        assert!(!after.renew(&old, ttl));
    }
}
