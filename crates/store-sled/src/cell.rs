//! The stored form of anything: a head with the place and a checksum, then the content, or nothing when the content is
//! large enough to be cut into pieces of its own.
//!
//! ```text
//! format 1 | revision 8 | index 1 | content length 4 | crc32c 4 | content, unless longer than a piece
//! ```
//!
//! The checksum covers the key that the cell was written for, the head before it and the whole content, so a flipped bit,
//! a lost piece and a cell at the wrong key are all noticed.

use bytes::Bytes;
use sled::IVec;
use toolgate_store::{Revision, StoreError};

use crate::{
    error::{damaged_key, of_sled},
    layout::{self, Place},
    limits::PIECE_BYTES,
};

const FORMAT: u8 = 1;
const SUMMED_BYTES: usize = 14;
const HEAD_BYTES: usize = 18;

/// Where cells and pieces are read from: the tree, or the tree under what is about to be written.
pub(crate) trait Source {
    fn raw(&self, key: &[u8]) -> Result<Option<IVec>, StoreError>;
}

impl Source for sled::Db {
    fn raw(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        self.get(key).map_err(of_sled)
    }
}

/// What stands before the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) place: Place,
    /// Bytes of the content.
    pub(crate) len: u32,
    crc: u32,
}

impl Head {
    /// `key` is named in the error alone.
    pub(crate) fn read(key: &[u8], raw: &[u8]) -> Result<Self, StoreError> {
        let Some((head, _)) = raw.split_first_chunk::<HEAD_BYTES>() else {
            return Err(damaged_key(key, "it is too short"));
        };
        let [format, r0, r1, r2, r3, r4, r5, r6, r7, index, l0, l1, l2, l3, c0, c1, c2, c3] = *head;
        if format != FORMAT {
            return Err(damaged_key(key, "its format is unknown to this version"));
        }
        let revision = Revision(u64::from_be_bytes([r0, r1, r2, r3, r4, r5, r6, r7]));
        let len = u32::from_be_bytes([l0, l1, l2, l3]);
        Ok(Self { place: Place { revision, index }, len, crc: u32::from_be_bytes([c0, c1, c2, c3]) })
    }

    /// The keys of the pieces, none when the content stands in the cell.
    pub(crate) fn pieces(self) -> impl Iterator<Item = Vec<u8>> {
        let len = self.len as usize;
        let count = if len > PIECE_BYTES { len.div_ceil(PIECE_BYTES) } else { 0 };
        (0..=u16::MAX).take(count).map(move |number| layout::piece(self.place, number))
    }

    /// Bytes that the cell and its pieces take.
    pub(crate) fn stored_bytes(self) -> u64 {
        HEAD_BYTES as u64 + u64::from(self.len)
    }
}

/// The cell of `content`, and its pieces in order.
pub(crate) fn seal<'a>(
    key: &[u8],
    place: Place,
    content: &'a [u8],
) -> (Vec<u8>, impl Iterator<Item = &'a [u8]>) {
    let whole = content.len() <= PIECE_BYTES;
    let mut cell = Vec::with_capacity(HEAD_BYTES + if whole { content.len() } else { 0 });
    cell.push(FORMAT);
    cell.extend_from_slice(&place.revision.0.to_be_bytes());
    cell.push(place.index);
    let len = u32::try_from(content.len()).expect("a commit is smaller than 4 GiB");
    cell.extend_from_slice(&len.to_be_bytes());
    let crc = checksum(key, &cell, content);
    cell.extend_from_slice(&crc.to_be_bytes());
    let (inside, outside) = if whole { (content, &[][..]) } else { (&[][..], content) };
    cell.extend_from_slice(inside);
    (cell, outside.chunks(PIECE_BYTES))
}

/// The content of the cell `raw`, which was written for `key`; `None` when a piece is missing: it was damaged, or has just
/// been overwritten.
pub(crate) fn content(source: &impl Source, key: &[u8], raw: &[u8]) -> Result<Option<Bytes>, StoreError> {
    let head = Head::read(key, raw)?;
    let mut pieces = Vec::new();
    for piece in head.pieces() {
        let Some(piece) = source.raw(&piece)? else { return Ok(None) };
        pieces.push(piece);
    }
    let content =
        if pieces.is_empty() { Bytes::copy_from_slice(&raw[HEAD_BYTES..]) } else { pieces.concat().into() };
    if content.len() != head.len as usize || checksum(key, &raw[..SUMMED_BYTES], &content) != head.crc {
        return Err(damaged_key(key, "its checksum does not match its bytes"));
    }
    Ok(Some(content))
}

fn checksum(key: &[u8], head: &[u8], content: &[u8]) -> u32 {
    [key, head, content].into_iter().fold(0, crc32c::crc32c_append)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::{collection::vec, prelude::*};

    use super::*;

    impl Source for HashMap<Vec<u8>, Vec<u8>> {
        fn raw(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
            Ok(self.get(key).map(|value| value.as_slice().into()))
        }
    }

    const PLACE: Place = Place { revision: Revision(7), index: 3 };

    fn stored(key: &[u8], content: &[u8]) -> (Vec<u8>, HashMap<Vec<u8>, Vec<u8>>) {
        let (cell, pieces) = seal(key, PLACE, content);
        let at = (0..).map(|number| layout::piece(PLACE, number));
        (cell, at.zip(pieces.map(<[u8]>::to_vec)).collect())
    }

    #[test]
    fn content_of_any_length_comes_back_and_nothing_stored_is_larger_than_a_piece() {
        for len in [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, 1024 * 1024] {
            let value: Vec<u8> = (0..=255).cycle().take(len).collect();
            let (cell, pieces) = stored(b"key", &value);
            assert!(
                cell.len() <= PIECE_BYTES + HEAD_BYTES
                    && pieces.values().all(|piece| piece.len() <= PIECE_BYTES)
            );
            assert_eq!(Head::read(b"key", &cell).unwrap().pieces().count(), pieces.len());
            assert_eq!(content(&pieces, b"key", &cell).unwrap().unwrap(), value);
        }
    }

    #[test]
    fn a_missing_piece_a_wrong_key_and_a_cut_are_noticed() {
        let (cell, mut pieces) = stored(b"key", &[1; 100_000]);
        assert!(content(&pieces, b"other", &cell).is_err());
        pieces.remove(&layout::piece(PLACE, 1));
        assert_eq!(content(&pieces, b"key", &cell).unwrap(), None);
        let (cell, pieces) = stored(b"key", b"value");
        assert!((0..cell.len()).all(|len| content(&pieces, b"key", &cell[..len]).is_err()));
    }

    proptest! {
        #[test]
        fn a_flipped_bit_is_noticed(value in vec(any::<u8>(), 0..64), bit in any::<prop::sample::Index>()) {
            let (mut cell, pieces) = stored(b"key", &value);
            let bit = bit.index(cell.len() * 8);
            cell[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!matches!(content(&pieces, b"key", &cell), Ok(Some(_))));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(raw in vec(any::<u8>(), 0..64)) {
            let _ = content(&HashMap::new(), b"key", &raw);
        }
    }
}
