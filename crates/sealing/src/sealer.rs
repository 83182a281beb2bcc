//! The keys in use, derived once.

use std::fmt;

use aes_gcm_siv::{Aes256GcmSiv, KeyInit};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::master_key::{MasterKey, Purpose};

/// Seals and opens under one master key. Cheap to share by reference; every method is synchronous and pure
/// but for the randomness that [`Sealer::seal_secret`] draws.
pub struct Sealer {
    pub(crate) data_keys: Aes256GcmSiv,
    pub(crate) tokens: Aes256GcmSiv,
    pub(crate) api_keys: Hmac<Sha256>,
    arguments: Hmac<Sha256>,
}

impl Sealer {
    /// Derives the working keys. The master key is not kept.
    #[must_use]
    pub fn new(master: &MasterKey) -> Self {
        let cipher = |purpose| {
            Aes256GcmSiv::new_from_slice(master.derive(purpose).as_slice())
                .expect("a derived key has 32 bytes")
        };
        let hmac = |purpose| {
            Hmac::new_from_slice(master.derive(purpose).as_slice()).expect("HMAC takes a key of any length")
        };
        Self {
            data_keys: cipher(Purpose::WrapDataKeys),
            tokens: cipher(Purpose::SealTokens),
            api_keys: hmac(Purpose::DigestApiKeys),
            arguments: hmac(Purpose::DigestArguments),
        }
    }

    /// What may be kept of the arguments of a call: equal for equal texts of one client, and nothing that can be guessed
    /// from or compared with another's.
    #[must_use]
    pub fn arguments_digest(&self, client: &[u8; 16], text: &str) -> [u8; 32] {
        let mut hmac = self.arguments.clone();
        hmac.update(client);
        hmac.update(text.as_bytes());
        hmac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer(hidden)")
    }
}
