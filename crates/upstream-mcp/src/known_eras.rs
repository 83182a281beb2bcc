use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolgate_upstream::Endpoint;

use crate::eras::Known;
use crate::limits::MAX_KNOWN_ERAS;

/// What was found out about endpoints, so that it is asked once.
///
/// An endpoint is known by a keyed hash of all of it, so no secret is kept, and what one credential met says nothing about
/// another. Two endpoints of one hash would cost a failed listing and another probe.
#[derive(Debug, Default)]
pub(crate) struct KnownEras {
    hasher: RandomState,
    eras: Mutex<HashMap<u64, Known>>,
}

impl KnownEras {
    pub(crate) fn get(&self, endpoint: &Endpoint) -> Option<Known> {
        self.lock().get(&self.key(endpoint)).copied()
    }

    /// Remembers what held; where there is no room, something else is forgotten for it.
    pub(crate) fn remember(&self, endpoint: &Endpoint, known: Known) {
        let key = self.key(endpoint);
        let mut eras = self.lock();
        if eras.len() >= MAX_KNOWN_ERAS
            && !eras.contains_key(&key)
            && let Some(other) = eras.keys().next().copied()
        {
            eras.remove(&other);
        }
        eras.insert(key, known);
    }

    /// Forgets what may no longer hold.
    pub(crate) fn forget(&self, endpoint: &Endpoint) {
        self.lock().remove(&self.key(endpoint));
    }

    fn key(&self, endpoint: &Endpoint) -> u64 {
        self.hasher.hash_one(endpoint)
    }

    /// The map is whole even where a holder of the lock panicked.
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Known>> {
        self.eras.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use toolgate_upstream::Secret;

    use super::*;
    use crate::eras::Era;

    const OLDER: Known = Known { era: Era::Session, tells_changes: false };

    fn endpoint(url: &str, secret: &str) -> Endpoint {
        let headers = vec![("authorization".to_owned(), Secret::new(secret))];
        Endpoint::Http { url: url.into(), headers, allow_private: false }
    }

    #[test]
    fn a_finding_belongs_to_one_endpoint_with_one_credential() {
        let known = KnownEras::default();
        known.remember(&endpoint("http://a", "1"), OLDER);
        assert_eq!(known.get(&endpoint("http://a", "1")), Some(OLDER));
        assert_eq!(
            (known.get(&endpoint("http://a", "2")), known.get(&endpoint("http://b", "1"))),
            (None, None)
        );
        known.forget(&endpoint("http://a", "1"));
        assert_eq!(known.get(&endpoint("http://a", "1")), None);
    }

    #[test]
    fn only_so_many_are_remembered_and_the_newest_always_is() {
        let known = KnownEras::default();
        for number in 0..=MAX_KNOWN_ERAS {
            known.remember(&endpoint(&number.to_string(), ""), OLDER);
        }
        assert_eq!(known.lock().len(), MAX_KNOWN_ERAS);
        assert_eq!(known.get(&endpoint(&MAX_KNOWN_ERAS.to_string(), "")), Some(OLDER));
    }
}
