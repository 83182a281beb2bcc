use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolgate_domain::{
    Fault, UpstreamId,
    limits::{MAX_CALLS, MAX_CALLS_PER_UPSTREAM},
};

/// The calls under way: of each upstream and of all. An upstream that hangs can only fill its own share (law 8).
#[derive(Debug, Default)]
pub(crate) struct Room {
    under_way: Mutex<UnderWay>,
}

#[derive(Debug, Default)]
struct UnderWay {
    all: usize,
    of: HashMap<UpstreamId, usize>,
}

/// The place of one call, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    room: &'a Room,
    upstream: UpstreamId,
}

impl Room {
    /// Takes a place at once.
    ///
    /// # Errors
    /// [`Fault::LimitExceeded`] where there is none.
    pub(crate) fn take(&self, upstream: UpstreamId) -> Result<Place<'_>, Fault> {
        let mut under_way = self.lock();
        let full = |limit, value: usize| Fault::LimitExceeded {
            limit,
            value: value as u64,
            remedy: "calls are under way that have to end first; try again in a moment",
        };
        let of = under_way.of.get(&upstream).copied().unwrap_or_default();
        if of >= MAX_CALLS_PER_UPSTREAM {
            return Err(full("MAX_CALLS_PER_UPSTREAM", MAX_CALLS_PER_UPSTREAM));
        }
        if under_way.all >= MAX_CALLS {
            return Err(full("MAX_CALLS", MAX_CALLS));
        }
        under_way.all += 1;
        under_way.of.insert(upstream, of + 1);
        Ok(Place { room: self, upstream })
    }

    /// The counts are whole even where a holder of the lock panicked.
    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut under_way = self.room.lock();
        under_way.all -= 1;
        let left = under_way.of.remove(&self.upstream).unwrap_or_default().saturating_sub(1);
        if left > 0 {
            under_way.of.insert(self.upstream, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn law_08_a_full_upstream_leaves_room_for_the_others() {
        let room = Room::default();
        let [busy, idle] = [1, 2].map(|id| UpstreamId::from_bytes([id; 16]));
        let mut places: Vec<_> = (0..MAX_CALLS_PER_UPSTREAM).map(|_| room.take(busy).unwrap()).collect();
        let refused = room.take(busy).unwrap_err();
        assert!(
            matches!(refused, Fault::LimitExceeded { limit: "MAX_CALLS_PER_UPSTREAM", .. }),
            "{refused:?}"
        );
        drop(room.take(idle).unwrap());
        places.pop();
        drop(room.take(busy).unwrap());
        places.clear();
        assert!(room.lock().of.is_empty() && room.lock().all == 0);
    }
}
