//! API keys: how their secret is made, how they are written, and what is kept of them.

use std::fmt;

use hmac::Mac;
use zeroize::Zeroizing;

use crate::hex;
use crate::master_key::fill_random;
use crate::sealer::Sealer;

/// Length of a generated secret: 43 characters of 62 are worth 256 bits.
pub const SECRET_CHARS: usize = 43;

const PREFIX: &str = "tg_";
const ID_BYTES: usize = 16;
const ID_DIGITS: usize = ID_BYTES * 2;
const KEY_CHARS: usize = PREFIX.len() + ID_DIGITS + 1 + SECRET_CHARS;
/// Letters and digits only: a double click selects the whole key, and `_` parts it at one place.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A fresh secret of [`SECRET_CHARS`] letters and digits, each equally likely.
///
/// # Panics
/// When the operating system gives no randomness, which a running system always does.
#[must_use]
pub fn new_secret() -> Zeroizing<String> {
    let mut secret = Zeroizing::new(String::with_capacity(SECRET_CHARS));
    let mut random = Zeroizing::new([0; 64]);
    while secret.len() < SECRET_CHARS {
        fill_random(random.as_mut_slice());
        // Six bits make an index; the two values past the alphabet are thrown away, so none is favoured.
        let drawn = random.iter().filter_map(|byte| ALPHABET.get(usize::from(byte & 63)));
        let missing = SECRET_CHARS - secret.len();
        secret.extend(drawn.take(missing).map(|&character| char::from(character)));
    }
    secret
}

/// The text of a key, `tg_<id>_<secret>`: the id as 32 lower-case hexadecimal digits.
#[must_use]
pub fn format_api_key(id: &[u8; 16], secret: &str) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + ID_DIGITS + 1 + secret.len()));
    text.push_str(PREFIX);
    hex::encode_into(id, &mut text);
    text.push('_');
    text.push_str(secret);
    text
}

/// The two parts of a key's text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ApiKeyParts<'a> {
    /// The id of the key's row.
    pub id: [u8; 16],
    /// The secret, to be compared by [`Sealer::verify_key`] alone.
    pub secret: &'a str,
}

impl fmt::Debug for ApiKeyParts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKeyParts(hidden)")
    }
}

/// Takes a key's text apart. `None` for any text that [`format_api_key`] does not make of an id and a secret
/// from [`new_secret`]; an operator's own bootstrap key is such a text, and is looked up by its digest.
#[must_use]
pub fn parse_api_key(text: &str) -> Option<ApiKeyParts<'_>> {
    if text.len() != KEY_CHARS {
        return None;
    }
    let (digits, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let is_lower_hex = digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let is_secret = secret.len() == SECRET_CHARS && secret.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let mut id = [0; ID_BYTES];
    (is_lower_hex && is_secret && hex::decode_into(digits.as_bytes(), &mut id))
        .then_some(ApiKeyParts { id, secret })
}

impl Sealer {
    /// What is stored of a key's secret: HMAC-SHA256 under a key derived from the master key. No slow hash is
    /// needed for 256 random bits; without the master key the digest tells nothing about a weaker secret
    /// either.
    #[must_use]
    pub fn key_digest(&self, secret: &str) -> [u8; 32] {
        let mut hmac = self.api_keys.clone();
        hmac.update(secret.as_bytes());
        hmac.finalize().into_bytes().into()
    }

    /// Whether `digest` is the one of `secret`; takes the same time wherever they differ.
    #[must_use]
    pub fn verify_key(&self, secret: &str, digest: &[u8; 32]) -> bool {
        let mut hmac = self.api_keys.clone();
        hmac.update(secret.as_bytes());
        hmac.verify_slice(digest).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::MasterKey;

    fn sealer(byte: u8) -> Sealer {
        Sealer::new(&MasterKey::from_bytes(&[byte; 32]))
    }

    #[test]
    fn secrets_are_43_letters_and_digits_and_never_the_same() {
        let secrets: HashSet<String> = (0..1_000).map(|_| new_secret().to_string()).collect();
        assert_eq!(secrets.len(), 1_000);
        assert!(secrets.iter().all(|secret| secret.len() == SECRET_CHARS));
        let seen: HashSet<u8> = secrets.iter().flat_map(|secret| secret.bytes()).collect();
        assert_eq!(
            seen,
            ALPHABET.iter().copied().collect(),
            "43,000 draws show the whole alphabet and no more"
        );
    }

    #[test]
    fn a_key_reads_tg_id_secret() {
        let secret = "a".repeat(SECRET_CHARS);
        let text = format_api_key(&[0xab; 16], &secret);
        assert_eq!(*text, format!("tg_{}_{secret}", "ab".repeat(16)));
    }

    #[test]
    fn no_other_text_is_a_key() {
        let good = format_api_key(&[0xab; 16], &new_secret()).to_string();
        assert!(parse_api_key(&good).is_some());
        let upper = good.replacen("ab", "AB", 1);
        let underscore = format!("{}_", &good[..good.len() - 1]);
        let shifted = good.replacen("ab_", "a_b", 1);
        let long = format!("{good}a");
        let accent = good.replacen("abab", "éé", 1);
        for text in [
            "",
            "tg_",
            "tg__",
            &good[1..],
            &good[..good.len() - 1],
            &upper,
            &underscore,
            &shifted,
            &long,
            &accent,
        ] {
            assert!(parse_api_key(text).is_none(), "{text}");
        }
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let text = format_api_key(&[1; 16], &new_secret());
        assert_eq!(format!("{:?}", parse_api_key(&text)), "Some(ApiKeyParts(hidden))");
    }

    /// Checked with another implementation of RFC 5869 and RFC 2104. A change here locks every caller out.
    #[test]
    fn the_digest_of_a_secret_stands_still() {
        let mut digest = [0; 32];
        assert!(hex::decode_into(
            b"44ffa9e971a8e03061dc15d2183e9f3034376589d9582b4eabe100f6efb7bacf",
            &mut digest
        ));
        assert_eq!(sealer(7).key_digest("correct horse battery staple"), digest);
        assert!(sealer(7).verify_key("correct horse battery staple", &digest));
    }

    proptest! {
        #[test]
        fn a_key_splits_into_what_it_was_made_of(id: [u8; 16]) {
            let secret = new_secret();
            let text = format_api_key(&id, &secret);
            let parts = parse_api_key(&text).unwrap();
            prop_assert_eq!((parts.id, parts.secret), (id, secret.as_str()));
        }

        #[test]
        fn only_the_same_secret_under_the_same_master_key_verifies(secret: String, other: String) {
            prop_assume!(secret != other);
            let digest = sealer(1).key_digest(&secret);
            prop_assert!(sealer(1).verify_key(&secret, &digest));
            prop_assert!(!sealer(1).verify_key(&other, &digest));
            prop_assert!(!sealer(2).verify_key(&secret, &digest));
        }

        #[test]
        fn parsing_any_text_does_no_harm(text: String) {
            let _ = parse_api_key(&text);
        }
    }
}
