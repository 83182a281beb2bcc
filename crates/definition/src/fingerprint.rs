use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::canonical;
use crate::json::Document;

/// Names the scheme: SHA-256 over the canonical form of the whole definition, as `FINGERPRINT.md` states it. A later
/// scheme gets another prefix.
const PREFIX: &str = "sha256:";

/// The hash of a definition: what an approval names.
///
/// Two definitions have one fingerprint exactly when they are the same JSON value. Its text is `sha256:` and 64
/// lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of this value; a definition's covers every member.
    pub fn of(document: &Document<'_>) -> Self {
        let mut hasher = Sha256::new();
        canonical::write(document.root(), &mut |piece| hasher.update(piece));
        Self(hasher.finalize().into())
    }

    /// The hash itself, as it is kept in the store.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// From a hash that was kept in the store.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The text is no fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a fingerprint is `sha256:` followed by 64 lower-case hexadecimal digits")]
pub struct FingerprintSyntaxError;

impl FromStr for Fingerprint {
    type Err = FingerprintSyntaxError;

    /// Takes exactly what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, FingerprintSyntaxError> {
        let digits = text.strip_prefix(PREFIX).ok_or(FingerprintSyntaxError)?.as_bytes();
        if digits.len() != 64 {
            return Err(FingerprintSyntaxError);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = hex_value(pair[0])? << 4 | hex_value(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

fn hex_value(digit: u8) -> Result<u8, FingerprintSyntaxError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(FingerprintSyntaxError),
    }
}
