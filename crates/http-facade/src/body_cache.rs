//! Rendered bodies, kept to be sent again while the service says that they are still good.
//!
//! A body is found only under the digest of the credential and the request that it was rendered for, and is sent only
//! after the service, asked under that very credential, answered that its tag still holds. So it can outlive neither a
//! right nor a change, and cannot cross to another caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::HeaderValue;
use sha2::{Digest, Sha256};

use crate::coding::Coding;

/// The digest of everything that a body depends on besides the catalogue. The credential itself is not kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BodyKey([u8; 32]);

/// A body with the tag that the service gave it.
#[derive(Debug, Clone)]
pub(crate) struct TaggedBody {
    pub(crate) etag: Arc<str>,
    pub(crate) bytes: Bytes,
}

/// Bounded in bytes and in number; the body that was asked for longest ago goes first.
pub(crate) struct BodyCache {
    max_bytes: usize,
    max_bodies: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    bodies: HashMap<BodyKey, Entry>,
    bytes: usize,
    asks: u64,
}

struct Entry {
    body: TaggedBody,
    last_ask: u64,
}

impl BodyKey {
    /// Of a route, the credential it was asked with, its one parameter and the coding.
    pub(crate) fn new(
        route: &str,
        authorization: Option<&HeaderValue>,
        parameter: &str,
        coding: Coding,
    ) -> Self {
        let credential = authorization.map(HeaderValue::as_bytes);
        let mut digest = Sha256::new();
        digest.update([u8::from(credential.is_some()), u8::from(coding == Coding::Gzip)]);
        for part in [route.as_bytes(), credential.unwrap_or_default(), parameter.as_bytes()] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        Self(digest.finalize().into())
    }
}

impl BodyCache {
    pub(crate) fn new(max_bytes: usize, max_bodies: usize) -> Self {
        Self { max_bytes, max_bodies, kept: Mutex::default() }
    }

    pub(crate) fn get(&self, key: &BodyKey) -> Option<TaggedBody> {
        let mut kept = self.lock();
        kept.asks += 1;
        let last_ask = kept.asks;
        let entry = kept.bodies.get_mut(key)?;
        entry.last_ask = last_ask;
        Some(entry.body.clone())
    }

    /// Keeps `body` in place of the one before it. One that is larger than the whole bound is not kept.
    pub(crate) fn put(&self, key: BodyKey, body: TaggedBody) {
        let mut kept = self.lock();
        kept.remove(&key);
        if body.bytes.len() > self.max_bytes {
            return;
        }
        while kept.bodies.len() >= self.max_bodies || kept.bytes + body.bytes.len() > self.max_bytes {
            let Some(oldest) = kept.oldest() else { return };
            kept.remove(&oldest);
        }
        kept.insert(key, body);
    }

    /// The map is whole after every single step, so a panic elsewhere does not make it unfit.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn insert(&mut self, key: BodyKey, body: TaggedBody) {
        self.asks += 1;
        self.bytes += body.bytes.len();
        self.bodies.insert(key, Entry { body, last_ask: self.asks });
    }

    fn remove(&mut self, key: &BodyKey) {
        if let Some(entry) = self.bodies.remove(key) {
            self.bytes -= entry.body.bytes.len();
        }
    }

    /// A walk over all, which their bounded number keeps short.
    fn oldest(&self) -> Option<BodyKey> {
        self.bodies.iter().min_by_key(|(_, entry)| entry.last_ask).map(|(key, _)| *key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(parameter: &str) -> BodyKey {
        BodyKey::new("/", None, parameter, Coding::Identity)
    }

    fn body(bytes: usize) -> TaggedBody {
        TaggedBody { etag: "e".into(), bytes: vec![b'x'; bytes].into() }
    }

    #[test]
    fn the_body_asked_for_longest_ago_gives_way() {
        let cache = BodyCache::new(10, 10);
        cache.put(key("a"), body(4));
        cache.put(key("b"), body(4));
        assert!(cache.get(&key("a")).is_some());
        cache.put(key("c"), body(4));
        assert!(cache.get(&key("a")).is_some() && cache.get(&key("c")).is_some());
        assert!(cache.get(&key("b")).is_none());
    }

    #[test]
    fn neither_bound_is_exceeded() {
        let cache = BodyCache::new(100, 3);
        for step in 0..20_usize {
            cache.put(key(&(step % 7).to_string()), body(step * 3));
            let kept = cache.lock();
            let total: usize = kept.bodies.values().map(|entry| entry.body.bytes.len()).sum();
            assert_eq!(total, kept.bytes);
            assert!(total <= 100 && kept.bodies.len() <= 3);
        }
    }

    #[test]
    fn a_body_larger_than_the_bound_displaces_only_the_one_before_it() {
        let cache = BodyCache::new(10, 10);
        cache.put(key("a"), body(1));
        cache.put(key("b"), body(1));
        cache.put(key("b"), body(11));
        assert!(cache.get(&key("a")).is_some());
        assert!(cache.get(&key("b")).is_none());
    }

    #[test]
    fn every_part_of_a_key_counts() {
        let credential = |text| Some(HeaderValue::from_static(text));
        let keys = [
            BodyKey::new("/a", None, "", Coding::Identity),
            BodyKey::new("/a", credential("").as_ref(), "", Coding::Identity),
            BodyKey::new("/a", credential("b").as_ref(), "", Coding::Identity),
            BodyKey::new("/a", credential("b").as_ref(), "", Coding::Gzip),
            BodyKey::new("/a", credential("b").as_ref(), "c", Coding::Identity),
            BodyKey::new("/a", credential("bc").as_ref(), "", Coding::Identity),
            BodyKey::new("/ab", None, "", Coding::Identity),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "{index}");
        }
    }
}
