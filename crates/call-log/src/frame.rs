//! How an entry stands in a segment: a format byte, the length, the payload, its hash.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

use crate::limits::MAX_PAYLOAD_BYTES;

/// The only format so far. A later one gets the next number, and a reader for each that came before.
const FORMAT: u8 = 1;
const HEADER_BYTES: usize = 5;
const HASH_BYTES: usize = 32;

/// Before the first entry of a chain, and before every payload that belongs to none.
pub(crate) const NOTHING_BEFORE: [u8; HASH_BYTES] = [0; HASH_BYTES];

/// A payload with its hash, as it was read. Whether the hash is right depends on the chain that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// A private protobuf.
    pub payload: Vec<u8>,
    /// SHA-256 of the hash before and the payload.
    pub hash: [u8; HASH_BYTES],
}

/// Bytes that are no frame.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// They end before the frame does: its writer was stopped in the middle of it.
    #[error("it ends in the middle of an entry")]
    Torn,
    /// They are of no format that this version knows.
    #[error("it is damaged, or was written by a later version")]
    Damaged,
    /// They cannot be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
}

impl Frame {
    /// Bytes that it takes in a segment.
    pub(crate) fn len_bytes(&self) -> u64 {
        (HEADER_BYTES + self.payload.len() + HASH_BYTES) as u64
    }
}

/// What ties a payload to what came before.
pub(crate) fn link(before: &[u8; HASH_BYTES], payload: &[u8]) -> [u8; HASH_BYTES] {
    Sha256::new().chain_update(before).chain_update(payload).finalize().into()
}

/// Appends a frame to `out`; its hash.
pub(crate) fn write_frame(out: &mut Vec<u8>, before: &[u8; HASH_BYTES], payload: &[u8]) -> [u8; HASH_BYTES] {
    let hash = link(before, payload);
    out.push(FORMAT);
    out.extend_from_slice(&u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(payload);
    out.extend_from_slice(&hash);
    hash
}

/// The next frame; `None` at the end.
///
/// # Errors
/// [`Broken`].
pub fn read_frame(from: &mut impl Read) -> Result<Option<Frame>, Broken> {
    let head = read_up_to(from, HEADER_BYTES)?;
    let Some((format, rest)) = head.split_first() else { return Ok(None) };
    if *format != FORMAT {
        return Err(Broken::Damaged);
    }
    let len = u32::from_le_bytes(rest.try_into().map_err(|_| Broken::Torn)?);
    if len > MAX_PAYLOAD_BYTES {
        return Err(Broken::Damaged);
    }
    let payload = read_up_to(from, len as usize)?;
    let hash = read_up_to(from, HASH_BYTES)?.try_into().map_err(|_| Broken::Torn)?;
    Ok(Some(Frame { payload, hash }))
}

/// Memory grows with what is there, not with what is claimed.
fn read_up_to(from: &mut impl Read, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len.min(4096));
    from.by_ref().take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_frame_reads_back_and_is_torn_at_every_cut(payload: Vec<u8>, before: [u8; 32]) {
            let mut bytes = Vec::new();
            let hash = write_frame(&mut bytes, &before, &payload);
            let frame = Frame { payload, hash };
            prop_assert_eq!(frame.len_bytes(), bytes.len() as u64);
            prop_assert_eq!(read_frame(&mut &bytes[..]).unwrap(), Some(frame));
            for cut in 1..bytes.len() {
                prop_assert!(matches!(read_frame(&mut &bytes[..cut]), Err(Broken::Torn)), "{}", cut);
            }
        }

        #[test]
        fn reading_any_bytes_does_no_harm(bytes: Vec<u8>) {
            let _ = read_frame(&mut &bytes[..]);
        }
    }
}
