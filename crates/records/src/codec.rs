//! The envelope of a stored value: a format byte, a checksum, the payload.

use bytes::Bytes;
use prost::Message;

use crate::key::{Key, NotAKey};

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
    #[error(
        "{row}: format {format} is not known to this version: run the version that wrote it, or restore the \
         store from a backup"
    )]
    Format {
        /// Kind and parts of the key.
        row: String,
        /// What stands there.
        format: u8,
    },
    /// The checksum over key and payload does not fit.
    #[error("{row}: damaged (checksum): restore the store from a backup")]
    Checksum {
        /// Kind and parts of the key.
        row: String,
    },
    /// The payload lacks something or holds nonsense.
    #[error("{row}: {field} {problem}: restore the store from a backup")]
    Field {
        /// Kind and parts of the key.
        row: String,
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
    let Some((header, payload)) = value.split_first_chunk::<HEADER_BYTES>() else {
        return Err(RowError::Checksum { row: row_at(key) });
    };
    let [format, sum @ ..] = header;
    if *format != FORMAT {
        return Err(RowError::Format { row: row_at(key), format: *format });
    }
    if u32::from_le_bytes(*sum) != checksum(key, payload) {
        return Err(RowError::Checksum { row: row_at(key) });
    }
    M::decode(payload).map_err(|error| RowError::Field {
        row: row_at(key),
        field: "payload",
        problem: error.to_string(),
    })
}

/// The row at `key` as an operator is told of it: its kind, then whose it is.
pub(crate) fn row_at(key: &[u8]) -> String {
    match Key::decode(key) {
        Ok(key) => format!("row {key:?}"),
        Err(error) => error.to_string(),
    }
}

/// Over the key too, so that a value that ended up at another key is noticed.
fn checksum(key: &[u8], payload: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(key), payload)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use toolgate_domain::ClientId;

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
    fn the_error_of_a_damaged_row_names_its_kind_and_the_remedy() {
        let client = ClientId::from_bytes([0x11; 16]);
        let damaged = decode::<stored::Definition>(&Key::Client(client).encode(), b"no row").unwrap_err();
        let expected = "row Client(ClientId(11111111-1111-1111-1111-111111111111)): format 110 is not known to this \
                        version: run the version that wrote it, or restore the store from a backup";
        assert_eq!(damaged.to_string(), expected);
        let damaged = decode::<stored::Definition>(&Key::Bootstrap.encode(), b"").unwrap_err().to_string();
        assert_eq!(damaged, "row Bootstrap: damaged (checksum): restore the store from a backup");
    }

    #[test]
    fn a_value_at_another_key_is_noticed() {
        assert!(decode::<stored::Definition>(b"k", &value(b"k")).is_ok());
        assert!(matches!(decode::<stored::Definition>(b"l", &value(b"k")), Err(RowError::Checksum { .. })));
    }
}
