//! Rendered answers, kept within a bound to be sent again while the service says that they are still good.
//!
//! A face of the service asks it with the tag of what it holds. When the service answers that the tag is still good, the
//! rendered bytes are sent as they are. So what is kept can outlive neither a right nor a change, as long as its key stands
//! for everything that the answer depends on besides the catalogue, the credential included.
//!
//! This crate must never know what an answer is made of.
//!
//! Start reading at [`AnswerCache`].

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// An answer with the tag that the service gave it.
#[derive(Debug, Clone)]
pub struct TaggedAnswer {
    /// The service's own tag.
    pub etag: Arc<str>,
    /// What was rendered.
    pub bytes: Bytes,
}

/// Answers by their key. Bounded in bytes and in number; the answer that was asked for longest ago goes first.
#[derive(Debug)]
pub struct AnswerCache<K> {
    max_bytes: usize,
    max_answers: usize,
    kept: Mutex<Kept<K>>,
}

#[derive(Debug)]
struct Kept<K> {
    answers: HashMap<K, Entry>,
    bytes: usize,
    asks: u64,
}

#[derive(Debug)]
struct Entry {
    answer: TaggedAnswer,
    last_ask: u64,
}

impl<K: Copy + Eq + Hash> AnswerCache<K> {
    /// An empty one with its bounds.
    pub fn new(max_bytes: usize, max_answers: usize) -> Self {
        let kept = Kept { answers: HashMap::new(), bytes: 0, asks: 0 };
        Self { max_bytes, max_answers, kept: Mutex::new(kept) }
    }

    /// The answer under this key.
    pub fn get(&self, key: &K) -> Option<TaggedAnswer> {
        let mut kept = self.lock();
        kept.asks += 1;
        let last_ask = kept.asks;
        let entry = kept.answers.get_mut(key)?;
        entry.last_ask = last_ask;
        Some(entry.answer.clone())
    }

    /// Keeps `answer` in place of the one before it. One that is larger than the whole bound is not kept.
    pub fn put(&self, key: K, answer: TaggedAnswer) {
        let mut kept = self.lock();
        kept.remove(&key);
        if answer.bytes.len() > self.max_bytes {
            return;
        }
        while kept.answers.len() >= self.max_answers || kept.bytes + answer.bytes.len() > self.max_bytes {
            let Some(oldest) = kept.oldest() else { return };
            kept.remove(&oldest);
        }
        kept.insert(key, answer);
    }

    /// The map is whole after every single step, so a panic elsewhere does not make it unfit.
    fn lock(&self) -> MutexGuard<'_, Kept<K>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Eq + Hash> Kept<K> {
    fn insert(&mut self, key: K, answer: TaggedAnswer) {
        self.asks += 1;
        self.bytes += answer.bytes.len();
        self.answers.insert(key, Entry { answer, last_ask: self.asks });
    }

    fn remove(&mut self, key: &K) {
        if let Some(entry) = self.answers.remove(key) {
            self.bytes -= entry.answer.bytes.len();
        }
    }

    /// A walk over all, which their bounded number keeps short.
    fn oldest(&self) -> Option<K> {
        self.answers.iter().min_by_key(|(_, entry)| entry.last_ask).map(|(key, _)| *key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(bytes: usize) -> TaggedAnswer {
        TaggedAnswer { etag: "e".into(), bytes: vec![b'x'; bytes].into() }
    }

    #[test]
    fn the_answer_asked_for_longest_ago_gives_way() {
        let cache = AnswerCache::new(10, 10);
        cache.put("a", answer(4));
        cache.put("b", answer(4));
        assert!(cache.get(&"a").is_some());
        cache.put("c", answer(4));
        assert!(cache.get(&"a").is_some() && cache.get(&"c").is_some());
        assert!(cache.get(&"b").is_none());
    }

    #[test]
    fn neither_bound_is_exceeded() {
        let cache = AnswerCache::new(100, 3);
        for step in 0..20_usize {
            cache.put(step % 7, answer(step * 3));
            let kept = cache.lock();
            let total: usize = kept.answers.values().map(|entry| entry.answer.bytes.len()).sum();
            assert_eq!(total, kept.bytes);
            assert!(total <= 100 && kept.answers.len() <= 3);
        }
    }

    #[test]
    fn an_answer_larger_than_the_bound_displaces_only_the_one_before_it() {
        let cache = AnswerCache::new(10, 10);
        cache.put("a", answer(1));
        cache.put("b", answer(1));
        cache.put("b", answer(11));
        assert!(cache.get(&"a").is_some());
        assert!(cache.get(&"b").is_none());
    }
}
