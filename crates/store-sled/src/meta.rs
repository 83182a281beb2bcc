use sled::IVec;
use toolgate_store::{Revision, StoreError};

use crate::{
    cell::{self, Head, Source},
    error::damaged_key,
    layout::{META, Place},
};

/// Tells one store from every other.
pub(crate) type Identity = [u8; 16];

/// What is true of the store as a whole; written with every batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) identity: Identity,
    /// Of the newest commit.
    pub(crate) revision: Revision,
    /// The oldest revision that a watch may start after.
    pub(crate) oldest: Revision,
    /// Rows that are there.
    pub(crate) rows: u64,
    /// Bytes of the change log and of the former rows that it needs.
    pub(crate) history_bytes: u64,
}

impl Meta {
    pub(crate) fn new(identity: Identity) -> Self {
        Self { identity, revision: Revision::ZERO, oldest: Revision::ZERO, rows: 0, history_bytes: 0 }
    }

    /// `None` for a tree that was never written to.
    pub(crate) fn load(source: &impl Source) -> Result<Option<Self>, StoreError> {
        let Some(raw) = source.raw(META)? else { return Ok(None) };
        let revision = Head::read(META, &raw)?.place.revision;
        let content = cell::content(source, META, &raw)?.unwrap_or_default();
        Self::decode(revision, &content).map(Some).ok_or_else(|| damaged_key(META, "it is too short"))
    }

    fn decode(revision: Revision, content: &[u8]) -> Option<Self> {
        let (identity, numbers) = content.split_first_chunk::<16>()?;
        let (oldest, numbers) = numbers.split_first_chunk::<8>()?;
        let (rows, numbers) = numbers.split_first_chunk::<8>()?;
        let (history_bytes, _) = numbers.split_first_chunk::<8>()?;
        Some(Self {
            identity: *identity,
            revision,
            oldest: Revision(u64::from_be_bytes(*oldest)),
            rows: u64::from_be_bytes(*rows),
            history_bytes: u64::from_be_bytes(*history_bytes),
        })
    }

    pub(crate) fn encode(&self) -> IVec {
        let mut content = self.identity.to_vec();
        for number in [self.oldest.0, self.rows, self.history_bytes] {
            content.extend_from_slice(&number.to_be_bytes());
        }
        let (cell, _) = cell::seal(META, Place::of_meta(self.revision), &content);
        cell.into()
    }
}
