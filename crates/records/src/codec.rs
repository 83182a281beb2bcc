//! The envelope of a stored value: a format byte, a checksum, the payload.

use bytes::Bytes;
use prost::Message;

use crate::key::NotAKey;

/// The only format so far. A later one gets the next number, and a reader for each that came before.
const FORMAT: u8 = 1;
const HEADER_BYTES: usize = 5;

/// A stored value that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// The key is none of ours.
    #[error(transparent)]
    Key(#[from] NotAKey),
    /// Written by a later version, or damaged in its first byte.
    #[error("row {key}: format {format} is not known to this version")]
    Format {
        /// The key, printable.
        key: String,
        /// What stands there.
        format: u8,
    },
    /// The checksum over key and payload does not fit.
    #[error("row {key}: damaged (checksum)")]
    Checksum {
        /// The key, printable.
        key: String,
    },
    /// The payload lacks something or holds nonsense.
    #[error("row {key}: {field} {problem}")]
    Field {
        /// The key, printable.
        key: String,
        /// Path of the field in the payload.
        field: &'static str,
        /// What is wrong.
        problem: String,
    },
}

/// The stored value of `payload` at `key`.
pub(crate) fn encode(key: &[u8], payload: &impl Message) -> Bytes {
    let mut out = Vec::with_capacity(HEADER_BYTES + payload.encoded_len());
    out.extend_from_slice(&[FORMAT, 0, 0, 0, 0]);
    payload.encode_raw(&mut out);
    let sum = checksum(key, &out[HEADER_BYTES..]);
    out[1..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
    out.into()
}

/// The payload of the stored `value` at `key`.
pub(crate) fn decode<M: Message + Default>(key: &[u8], value: &[u8]) -> Result<M, RowError> {
    let name = || key.escape_ascii().to_string();
    let Some((header, payload)) = value.split_first_chunk::<HEADER_BYTES>() else {
        return Err(RowError::Checksum { key: name() });
    };
    let [format, sum @ ..] = header;
    if *format != FORMAT {
        return Err(RowError::Format { key: name(), format: *format });
    }
    if u32::from_le_bytes(*sum) != checksum(key, payload) {
        return Err(RowError::Checksum { key: name() });
    }
    M::decode(payload).map_err(|error| RowError::Field {
        key: name(),
        field: "payload",
        problem: error.to_string(),
    })
}

/// Over the key too, so that a value that ended up at another key is noticed.
fn checksum(key: &[u8], payload: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(key), payload)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stored;

    fn value(key: &[u8]) -> Bytes {
        encode(
            key,
            &stored::Definition { text: r#"{"name":"a","inputSchema":{}}"#.into(), ..Default::default() },
        )
    }

    proptest! {
        #[test]
        fn any_single_flipped_bit_of_a_row_is_noticed(at in 0usize..36, bit in 0u8..8) {
            let mut bytes = value(b"k").to_vec();
            prop_assume!(at < bytes.len());
            bytes[at] ^= 1 << bit;
            prop_assert!(decode::<stored::Definition>(b"k", &bytes).is_err());
        }

        #[test]
        fn a_row_cut_short_is_noticed(len in 0usize..30) {
            let bytes = value(b"k");
            prop_assert!(decode::<stored::Definition>(b"k", &bytes[..len]).is_err());
        }
    }

    #[test]
    fn a_value_at_another_key_is_noticed() {
        assert!(decode::<stored::Definition>(b"k", &value(b"k")).is_ok());
        assert!(matches!(decode::<stored::Definition>(b"l", &value(b"k")), Err(RowError::Checksum { .. })));
    }
}
