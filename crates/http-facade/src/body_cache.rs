//! Rendered bodies, kept to be sent again while the service says that they are still good.
//!
//! A body is found only under the digest of the credential and the request that it was rendered for, and is sent only
//! after the service, asked under that very credential, answered that its tag still holds. So it can outlive neither a
//! right nor a change, and cannot cross to another caller.

use http::HeaderValue;
use sha2::{Digest, Sha256};
use toolgate_answer_cache::AnswerCache;
pub(crate) use toolgate_answer_cache::TaggedAnswer as TaggedBody;

use crate::coding::Coding;

pub(crate) type BodyCache = AnswerCache<BodyKey>;

/// The digest of everything that a body depends on besides the catalogue. The credential itself is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BodyKey([u8; 32]);

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

#[cfg(test)]
mod tests {
    use super::*;

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
