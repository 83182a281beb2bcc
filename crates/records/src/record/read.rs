//! Reading a payload, with errors that name the row and the field.

use prost::Message;
use toolgate_definition::Fingerprint;
use toolgate_domain::Moment;

use crate::{RowError, codec, stored};

pub(super) struct Reader<'a> {
    pub(super) key: &'a [u8],
    pub(super) value: &'a [u8],
}

impl Reader<'_> {
    pub(super) fn payload<M: Message + Default>(&self) -> Result<M, RowError> {
        codec::decode(self.key, self.value)
    }

    pub(super) fn wrong(&self, field: &'static str, problem: impl Into<String>) -> RowError {
        RowError::Field { row: codec::row_at(self.key), field, problem: problem.into() }
    }

    pub(super) fn fixed<const N: usize>(
        &self,
        field: &'static str,
        bytes: &[u8],
    ) -> Result<[u8; N], RowError> {
        bytes.try_into().map_err(|_| self.wrong(field, format!("has {} bytes, not {N}", bytes.len())))
    }

    pub(super) fn fingerprint(&self, field: &'static str, bytes: &[u8]) -> Result<Fingerprint, RowError> {
        self.fixed(field, bytes).map(Fingerprint::from_bytes)
    }

    pub(super) fn reference(&self) -> Result<[u8; 16], RowError> {
        let payload: stored::Reference = self.payload()?;
        self.fixed("id", &payload.id)
    }
}

pub(super) fn moment(ms: i64) -> Moment {
    Moment::from_unix_ms(ms)
}
