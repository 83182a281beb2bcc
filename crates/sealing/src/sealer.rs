//! The keys in use, derived once.

use std::fmt;

use aes_gcm_siv::{Aes256GcmSiv, KeyInit};
use hmac::Hmac;
use sha2::Sha256;

use crate::master_key::{MasterKey, Purpose};

/// Seals and opens under one master key. Cheap to share by reference; every method is synchronous and pure
/// but for the randomness that [`Sealer::seal_secret`] draws.
pub struct Sealer {
    pub(crate) data_keys: Aes256GcmSiv,
    pub(crate) tokens: Aes256GcmSiv,
    pub(crate) api_keys: Hmac<Sha256>,
}

impl Sealer {
    /// Derives the working keys. The master key is not kept.
    #[must_use]
    pub fn new(master: &MasterKey) -> Self {
        let cipher = |purpose| {
            Aes256GcmSiv::new_from_slice(master.derive(purpose).as_slice())
                .expect("a derived key has 32 bytes")
        };
        let api_keys = Hmac::new_from_slice(master.derive(Purpose::DigestApiKeys).as_slice());
        Self {
            data_keys: cipher(Purpose::WrapDataKeys),
            tokens: cipher(Purpose::SealTokens),
            api_keys: api_keys.expect("HMAC takes a key of any length"),
        }
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer(hidden)")
    }
}
