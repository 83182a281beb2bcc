//! The one secret that everything else hangs on, and the keys derived from it.

use std::fmt;

use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// Length of the master key and of every key derived from it.
pub(crate) const KEY_BYTES: usize = 32;

/// A key of 256 bits; erased from memory when dropped, never shown.
#[derive(ZeroizeOnDrop)]
pub struct MasterKey([u8; KEY_BYTES]);

/// What a derived key is for. The labels are part of the format of everything stored: never change one.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    WrapDataKeys,
    SealTokens,
    DigestApiKeys,
    DigestArguments,
}

impl Purpose {
    fn label(self) -> &'static [u8] {
        match self {
            Self::WrapDataKeys => b"toolgate/1/wrap-data-keys",
            Self::SealTokens => b"toolgate/1/seal-tokens",
            Self::DigestApiKeys => b"toolgate/1/digest-api-keys",
            Self::DigestArguments => b"toolgate/1/digest-arguments",
        }
    }
}

impl MasterKey {
    /// A fresh key that is kept nowhere: for a store that forgets as well.
    ///
    /// # Panics
    /// When the operating system gives no randomness, which a running system always does.
    #[must_use]
    pub fn ephemeral() -> Self {
        let mut key = Self([0; KEY_BYTES]);
        fill_random(&mut key.0);
        key
    }

    pub(crate) fn from_bytes(bytes: &[u8; KEY_BYTES]) -> Self {
        Self(*bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// HKDF-SHA256 (RFC 5869) without salt; the purpose is its `info`.
    pub(crate) fn derive(&self, purpose: Purpose) -> Zeroizing<[u8; KEY_BYTES]> {
        let mut derived = Zeroizing::new([0; KEY_BYTES]);
        Hkdf::<Sha256>::new(None, &self.0)
            .expand(purpose.label(), derived.as_mut_slice())
            .expect("HKDF-SHA256 gives up to 8,160 bytes");
        derived
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey(hidden)")
    }
}

/// Fills `bytes` from the operating system's generator.
pub(crate) fn fill_random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system gives randomness");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_hides_the_key() {
        assert_eq!(format!("{:?}", MasterKey::from_bytes(&[0xab; KEY_BYTES])), "MasterKey(hidden)");
    }

    #[test]
    fn every_purpose_has_a_key_of_its_own() {
        let key = MasterKey::from_bytes(&[7; KEY_BYTES]);
        let wrap = key.derive(Purpose::WrapDataKeys);
        let seal = key.derive(Purpose::SealTokens);
        let digest = key.derive(Purpose::DigestApiKeys);
        assert!(wrap != seal && seal != digest && wrap != digest);
    }
}
