//! The keys of the one tree. The first byte tells the kind; numbers are big-endian, so that they sort.

use toolgate_store::Revision;

/// What is true of the store as a whole, in one cell.
pub(crate) const META: &[u8] = &[0];
const LOG: u8 = 1;
const FORMER: u8 = 2;
const ROW: u8 = 3;
const PIECE: u8 = 4;

/// Where a cell was written: no two cells ever have the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) revision: Revision,
    /// The write of the commit, counted from 0.
    pub(crate) index: u8,
}

impl Place {
    /// The place of a commit's record in the change log. A commit has fewer writes than this.
    pub(crate) fn of_record(revision: Revision) -> Self {
        Self { revision, index: u8::MAX }
    }

    /// The place of the meta cell, which is never cut into pieces.
    pub(crate) fn of_meta(revision: Revision) -> Self {
        Self { revision, index: u8::MAX - 1 }
    }
}

/// The change log's record of a commit.
pub(crate) fn log(revision: Revision) -> Vec<u8> {
    numbered(LOG, revision)
}

/// A row that was written at `place` and has been overwritten or deleted since.
pub(crate) fn former(place: Place) -> Vec<u8> {
    let mut key = numbered(FORMER, place.revision);
    key.push(place.index);
    key
}

/// The row at a key of the port.
pub(crate) fn row(key: &[u8]) -> Vec<u8> {
    [&[ROW], key].concat()
}

/// The key of the port that a row stands at.
pub(crate) fn key_of_row(row: &[u8]) -> &[u8] {
    row.get(1..).unwrap_or_default()
}

/// The first key past all rows.
pub(crate) const ROWS_END: &[u8] = &[ROW + 1];

/// A part of the content of the cell written at `place`.
pub(crate) fn piece(place: Place, number: u16) -> Vec<u8> {
    let mut key = numbered(PIECE, place.revision);
    key.push(place.index);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

fn numbered(kind: u8, revision: Revision) -> Vec<u8> {
    let mut key = Vec::with_capacity(12);
    key.push(kind);
    key.extend_from_slice(&revision.0.to_be_bytes());
    key
}
