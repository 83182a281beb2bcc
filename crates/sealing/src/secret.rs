//! Secrets at rest: envelope encryption, bound to the place where the secret belongs.
//!
//! Layout of a sealed secret, version 1:
//!
//! | Bytes | What |
//! |---|---|
//! | 1 | version, 1 |
//! | 12 | random nonce of the wrapping |
//! | 48 | the data key (32 random bytes, one for each sealing), sealed under the key derived from the master key |
//! | n + 16 | the secret, sealed under the data key with a nonce of zeros (a data key seals once) |
//!
//! Both layers are AES-256-GCM-SIV (RFC 8452); the associated data of both is the version and the context. A
//! new master key means sealing the data keys again, not the secrets.

use aes_gcm_siv::aead::{Aead, Payload};
use aes_gcm_siv::{Aes256GcmSiv, KeyInit, Nonce};
use zeroize::Zeroizing;

use crate::master_key::{KEY_BYTES, fill_random};
use crate::sealer::Sealer;

const VERSION: u8 = 1;
const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;
const WRAPPED_KEY_BYTES: usize = KEY_BYTES + TAG_BYTES;

/// Where a secret belongs. A sealed secret opens only under the very context it was sealed in, so that a blob
/// copied to another row, client or field is of no use there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretContext<'a> {
    /// The client's id.
    pub client: [u8; 16],
    /// The id of what the secret belongs to: an upstream, a credential, a pending call.
    pub owner: [u8; 16],
    /// Which secret of the owner, for example `headers`.
    pub field: &'a str,
}

impl SecretContext<'_> {
    /// Unambiguous, for only the last part varies in length.
    fn associated_data(&self) -> Vec<u8> {
        [&[VERSION], self.client.as_slice(), &self.owner, self.field.as_bytes()].concat()
    }
}

/// Why a sealed secret did not open. Says nothing of the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The first byte names a layout that this version does not know, or the blob is empty.
    #[error("sealed secret: unknown format: it was written by a newer version, or is damaged")]
    UnknownFormat,
    /// Another master key, another context, or altered bytes; which of them cannot be known.
    #[error(
        "sealed secret: does not open: it was sealed under another master key or in another place, or is damaged"
    )]
    Refused,
}

impl Sealer {
    /// Seals `plain` for storage in `context`. Two sealings of the same secret differ in every byte but the
    /// first.
    ///
    /// # Panics
    /// When the operating system gives no randomness, which a running system always does.
    #[must_use]
    pub fn seal_secret(&self, context: &SecretContext<'_>, plain: &[u8]) -> Vec<u8> {
        let aad = context.associated_data();
        let mut nonce = [0; NONCE_BYTES];
        fill_random(&mut nonce);
        let mut data_key = Zeroizing::new([0; KEY_BYTES]);
        fill_random(data_key.as_mut_slice());
        let wrapped = encrypt(&self.data_keys, nonce, data_key.as_slice(), &aad);
        let sealed = encrypt(&cipher(&data_key), [0; NONCE_BYTES], plain, &aad);
        [&[VERSION], nonce.as_slice(), &wrapped, &sealed].concat()
    }

    /// Gives back what was sealed in the same `context`.
    ///
    /// # Errors
    /// [`SecretError`] when the blob was altered, moved, or sealed under another master key.
    pub fn open_secret(
        &self,
        context: &SecretContext<'_>,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, SecretError> {
        let (&version, rest) = sealed.split_first().ok_or(SecretError::UnknownFormat)?;
        if version != VERSION {
            return Err(SecretError::UnknownFormat);
        }
        let (nonce, rest) = rest.split_first_chunk().ok_or(SecretError::Refused)?;
        let (wrapped, body) = rest.split_first_chunk::<WRAPPED_KEY_BYTES>().ok_or(SecretError::Refused)?;
        let aad = context.associated_data();
        let unwrapped = decrypt(&self.data_keys, *nonce, wrapped, &aad)?;
        let mut data_key = Zeroizing::new([0; KEY_BYTES]);
        data_key.copy_from_slice(&unwrapped);
        decrypt(&cipher(&data_key), [0; NONCE_BYTES], body, &aad)
    }
}

fn cipher(key: &Zeroizing<[u8; KEY_BYTES]>) -> Aes256GcmSiv {
    Aes256GcmSiv::new_from_slice(key.as_slice()).expect("a data key has 32 bytes")
}

fn encrypt(cipher: &Aes256GcmSiv, nonce: [u8; NONCE_BYTES], plain: &[u8], aad: &[u8]) -> Vec<u8> {
    cipher.encrypt(&Nonce::from(nonce), Payload { msg: plain, aad }).expect("a secret is shorter than 64 GiB")
}

fn decrypt(
    cipher: &Aes256GcmSiv,
    nonce: [u8; NONCE_BYTES],
    sealed: &[u8],
    aad: &[u8],
) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    let opened = cipher.decrypt(&Nonce::from(nonce), Payload { msg: sealed, aad });
    opened.map(Zeroizing::new).map_err(|_| SecretError::Refused)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::MasterKey;

    const HERE: SecretContext<'_> = SecretContext { client: [1; 16], owner: [2; 16], field: "headers" };

    fn sealer(byte: u8) -> Sealer {
        Sealer::new(&MasterKey::from_bytes(&[byte; KEY_BYTES]))
    }

    /// Made by this crate and checked with another implementation of RFC 5869 and RFC 8452. A change of the
    /// format must take a new version and go on opening this.
    #[test]
    fn a_secret_sealed_by_the_first_version_still_opens() {
        let master: [u8; KEY_BYTES] = std::array::from_fn(|index| u8::try_from(index).unwrap());
        let sealer = Sealer::new(&MasterKey::from_bytes(&master));
        let mut sealed = [0; 87];
        assert!(crate::hex::decode_into(GOLDEN.as_bytes(), &mut sealed));
        let opened = sealer.open_secret(&HERE, &sealed).unwrap();
        assert_eq!(opened.as_slice(), b"hunter2 :)");
    }

    const GOLDEN: &str = "01202122232425262728292a2be2e2ba710ab2e394cec7b26bf4ad0b5000ed580c0707e1a11b0b19029a9afbd669a85ea307b7d876e9cc71c78eb5ba1ae1fd71d17a285ff69c20f9946105c93c79a5373af8068c87c7e2";

    #[test]
    fn a_blob_moved_to_another_place_does_not_open() {
        let sealed = sealer(1).seal_secret(&HERE, b"bearer of all");
        let elsewhere = [
            SecretContext { client: [9; 16], ..HERE },
            SecretContext { owner: [9; 16], ..HERE },
            SecretContext { field: "header", ..HERE },
            SecretContext { field: "headers2", ..HERE },
        ];
        for context in elsewhere {
            assert_eq!(sealer(1).open_secret(&context, &sealed), Err(SecretError::Refused));
        }
        assert!(sealer(1).open_secret(&HERE, &sealed).is_ok());
    }

    #[test]
    fn another_master_key_does_not_open() {
        let sealed = sealer(1).seal_secret(&HERE, b"bearer of all");
        assert_eq!(sealer(2).open_secret(&HERE, &sealed), Err(SecretError::Refused));
    }

    #[test]
    fn parts_of_two_sealings_do_not_combine() {
        let sealer = sealer(1);
        let (first, second) = (sealer.seal_secret(&HERE, b"old"), sealer.seal_secret(&HERE, b"new"));
        let head = 1 + NONCE_BYTES + WRAPPED_KEY_BYTES;
        let spliced = [&first[..head], &second[head..]].concat();
        assert_eq!(sealer.open_secret(&HERE, &spliced), Err(SecretError::Refused));
    }

    #[test]
    fn an_unknown_version_says_so() {
        let mut sealed = sealer(1).seal_secret(&HERE, b"x");
        sealed[0] = 2;
        assert_eq!(sealer(1).open_secret(&HERE, &sealed), Err(SecretError::UnknownFormat));
        assert_eq!(sealer(1).open_secret(&HERE, &[]), Err(SecretError::UnknownFormat));
    }

    proptest! {
        #[test]
        fn what_was_sealed_is_given_back(plain: Vec<u8>) {
            let sealer = sealer(1);
            let sealed = sealer.seal_secret(&HERE, &plain);
            prop_assert_ne!(&sealed, &sealer.seal_secret(&HERE, &plain));
            prop_assert_eq!(sealer.open_secret(&HERE, &sealed).unwrap().to_vec(), plain);
        }

        #[test]
        fn no_altered_or_cut_blob_opens(plain: Vec<u8>, at: prop::sample::Index, flip in 1..=255_u8) {
            let sealed = sealer(1).seal_secret(&HERE, &plain);
            let at = at.index(sealed.len());
            let mut altered = sealed.clone();
            altered[at] ^= flip;
            prop_assert!(sealer(1).open_secret(&HERE, &altered).is_err());
            prop_assert!(sealer(1).open_secret(&HERE, &sealed[..at]).is_err());
        }

        #[test]
        fn any_bytes_are_refused_without_harm(bytes: Vec<u8>) {
            prop_assert!(sealer(1).open_secret(&HERE, &bytes).is_err());
        }
    }
}
