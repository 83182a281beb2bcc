use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;
use toolgate_upstream::{Endpoint, SessionKey};

use crate::limits::{IDLE_KEPT, MAX_KEPT};

/// What was opened for calls and can be gone on in: a session, a process. One for each endpoint with its credentials and
/// each [`SessionKey`].
///
/// Known by a keyed hash, so no secret is kept; of two endpoints with one hash the second would meet the first one's
/// session, for which the odds are 1 in 2^64 a pair.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    hasher: RandomState,
    slots: Mutex<HashMap<(u64, SessionKey), Slot<T>>>,
}

#[derive(Debug)]
struct Slot<T> {
    held: Held<T>,
    used: Instant,
}

/// The place of one thing. Its lock is held while the thing is opened, so that calls at once open it once.
pub(crate) type Held<T> = Arc<tokio::sync::Mutex<Option<T>>>;

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { hasher: RandomState::new(), slots: Mutex::default() }
    }
}

impl<T> Kept<T> {
    /// The place for calls of `shares` to `endpoint`. A new one takes the place of what was idle for too long, and of what
    /// was used least lately where there is no room.
    pub(crate) fn of(&self, endpoint: &Endpoint, shares: SessionKey, now: Instant) -> Held<T> {
        let key = (self.hasher.hash_one(endpoint), shares);
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get_mut(&key) {
            slot.used = now;
            return Arc::clone(&slot.held);
        }
        slots.retain(|_, slot| now.duration_since(slot.used) < IDLE_KEPT);
        if slots.len() >= MAX_KEPT
            && let Some(oldest) = slots.iter().min_by_key(|(_, slot)| slot.used).map(|(key, _)| *key)
        {
            slots.remove(&oldest);
        }
        let held = Held::default();
        slots.insert(key, Slot { held: Arc::clone(&held), used: now });
        held
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint::Http { url: url.into(), headers: Vec::new(), allow_private: false }
    }

    fn key(number: usize) -> SessionKey {
        SessionKey((number as u128).to_be_bytes())
    }

    #[test]
    fn each_endpoint_and_key_has_a_place_of_its_own_while_it_is_used() {
        let (kept, now) = (Kept::<u8>::default(), Instant::now());
        let place = kept.of(&endpoint("http://a"), key(1), now);
        assert!(Arc::ptr_eq(&place, &kept.of(&endpoint("http://a"), key(1), now)));
        assert!(!Arc::ptr_eq(&place, &kept.of(&endpoint("http://a"), key(2), now)));
        assert!(!Arc::ptr_eq(&place, &kept.of(&endpoint("http://b"), key(1), now)));
        kept.of(&endpoint("http://c"), key(1), now + IDLE_KEPT);
        let later = kept.of(&endpoint("http://a"), key(1), now + IDLE_KEPT);
        assert!(!Arc::ptr_eq(&place, &later), "it was idle");
    }

    #[test]
    fn only_so_many_are_kept_and_the_least_lately_used_goes() {
        let (kept, start) = (Kept::<u8>::default(), Instant::now());
        let at = |ms: usize| start + Duration::from_millis(ms as u64);
        let place = |number: usize, ms: usize| kept.of(&endpoint("http://a"), key(number), at(ms));
        let places: Vec<_> = (0..MAX_KEPT).map(|number| place(number, number)).collect();
        place(0, MAX_KEPT);
        place(MAX_KEPT, MAX_KEPT + 1);
        assert!(Arc::ptr_eq(&places[0], &place(0, MAX_KEPT + 2)));
        assert!(!Arc::ptr_eq(&places[1], &place(1, MAX_KEPT + 2)));
    }
}
