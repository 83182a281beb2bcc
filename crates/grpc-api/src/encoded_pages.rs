//! Encoded answers to `ListTools`, kept to be sent again.
//!
//! An answer is found only under the client and the etag that was sealed for it, which stands for the whole request and for
//! the revision; so what is found is what would be made anew, and no client can meet another's.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use toolgate_domain::ClientId;

/// Bytes of encoded answers that are kept: about a dozen full pages.
pub const MAX_ENCODED_BYTES: usize = 32 * 1024 * 1024;
/// Encoded answers that are kept, so that many small ones cannot outgrow the bytes in bookkeeping.
pub const MAX_ENCODED_ANSWERS: usize = 1024;

/// Bounded in bytes and in number; the answer that was asked for longest ago goes first.
#[derive(Default)]
pub(crate) struct EncodedPages(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    answers: HashMap<(ClientId, String), Answer>,
    bytes: usize,
    asks: u64,
}

struct Answer {
    encoded: Bytes,
    last_ask: u64,
}

impl EncodedPages {
    pub(crate) fn get(&self, client: ClientId, etag: &str) -> Option<Bytes> {
        let mut kept = self.lock();
        kept.asks += 1;
        let last_ask = kept.asks;
        let answer = kept.answers.get_mut(&(client, etag.to_owned()))?;
        answer.last_ask = last_ask;
        Some(answer.encoded.clone())
    }

    pub(crate) fn put(&self, client: ClientId, etag: &str, encoded: Bytes) {
        self.lock().put((client, etag.to_owned()), encoded, MAX_ENCODED_BYTES);
    }

    /// The map is whole after every single step, so a panic elsewhere does not make it unfit.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// An answer that is larger than the whole bound is not kept.
    fn put(&mut self, key: (ClientId, String), encoded: Bytes, max_bytes: usize) {
        if encoded.len() > max_bytes {
            return;
        }
        self.remove(&key);
        while self.answers.len() >= MAX_ENCODED_ANSWERS || self.bytes + encoded.len() > max_bytes {
            // A walk over all, which their bounded number keeps short.
            let oldest = self.answers.iter().min_by_key(|(_, answer)| answer.last_ask);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
            self.remove(&oldest);
        }
        self.asks += 1;
        self.bytes += encoded.len();
        self.answers.insert(key, Answer { encoded, last_ask: self.asks });
    }

    fn remove(&mut self, key: &(ClientId, String)) {
        if let Some(answer) = self.answers.remove(key) {
            self.bytes -= answer.encoded.len();
        }
    }
}

impl fmt::Debug for EncodedPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncodedPages").field("bytes", &self.lock().bytes).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: ClientId = ClientId::from_bytes([1; 16]);

    fn key(etag: &str) -> (ClientId, String) {
        (OURS, etag.to_owned())
    }

    fn bytes(count: usize) -> Bytes {
        vec![b'x'; count].into()
    }

    #[test]
    fn law_10_an_answer_is_found_by_its_own_client_alone() {
        let pages = EncodedPages::default();
        pages.put(OURS, "etag", bytes(3));
        assert_eq!(pages.get(OURS, "etag"), Some(bytes(3)));
        assert_eq!(pages.get(ClientId::from_bytes([2; 16]), "etag"), None);
        assert_eq!(pages.get(OURS, "another"), None);
    }

    #[test]
    fn the_answer_asked_for_longest_ago_gives_way_and_the_bytes_stay_within_the_bound() {
        let pages = EncodedPages::default();
        pages.lock().put(key("a"), bytes(4), 10);
        pages.lock().put(key("b"), bytes(4), 10);
        assert!(pages.get(OURS, "a").is_some());
        pages.lock().put(key("c"), bytes(4), 10);
        assert!(pages.get(OURS, "a").is_some() && pages.get(OURS, "c").is_some());
        assert!(pages.get(OURS, "b").is_none());
        pages.lock().put(key("d"), bytes(11), 10);
        assert!(pages.get(OURS, "d").is_none() && pages.get(OURS, "a").is_some());
        assert_eq!(pages.lock().bytes, 8);
    }
}
