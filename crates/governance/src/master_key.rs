//! Use case: noticing at the start that the master key is of other data.

use toolgate_catalog::from_commit_error;
use toolgate_domain::{Fault, upstream::Sealed};
use toolgate_records::{Key, Record};
use toolgate_sealing::{SecretContext, SecretError};
use toolgate_store::{Commit, CommitError, Condition};

use crate::{Governance, rows::read};

/// Belongs to no client and to no row but its own.
const CONTEXT: SecretContext<'_> = SecretContext { client: [0; 16], owner: [0; 16], field: "key-check" };
const KNOWN_TEXT: &[u8] = b"sealed under the master key of this data";

impl Governance {
    /// Whether the master key is the one that this store was begun with. The first start seals a known text under its
    /// key, and every later one must be able to open it; a store from before that row takes the key it is given.
    ///
    /// # Errors
    /// Failures of the store.
    pub async fn is_under_this_master_key(&self) -> Result<bool, Fault> {
        if let Some(known) = self.opens_key_check().await? {
            return Ok(known);
        }
        let (at, value) = Record::KeyCheck(Sealed(self.sealer.seal_secret(&CONTEXT, KNOWN_TEXT))).encode();
        let commit = Commit::new().when(Condition::Absent(at.clone())).put(at, value);
        match self.store().commit(commit).await {
            Ok(_) => Ok(true),
            // A replica that starts at the same time was first.
            Err(CommitError::Conflict(_)) => Ok(self.opens_key_check().await?.unwrap_or(false)),
            Err(error) => Err(from_commit_error(&error)),
        }
    }

    /// `None` where there is no such row yet.
    async fn opens_key_check(&self) -> Result<Option<bool>, Fault> {
        let (Some(Record::KeyCheck(sealed)), _) = read(self.store(), &Key::KeyCheck).await? else {
            return Ok(None);
        };
        match self.sealer.open_secret(&CONTEXT, &sealed.0) {
            Ok(text) => Ok(Some(text.as_slice() == KNOWN_TEXT)),
            Err(SecretError::Refused) => Ok(Some(false)),
            Err(error @ SecretError::UnknownFormat) => {
                Err(Fault::Internal { cause: format!("the check of the master key: {error}") })
            }
        }
    }
}
