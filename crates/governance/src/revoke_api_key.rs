//! Use case: ending an API key.

use toolgate_catalog::{from_commit_error, from_row_error, from_store_error};
use toolgate_domain::{Caller, ClientId, Fault, KeyId, credential::ApiKey};
use toolgate_records::{Key, Record};
use toolgate_store::{Commit, CommitError, Condition, Revision, scan_all};

use crate::{Governance, rows::read};

/// How often a revocation that met another writer is judged anew.
const MAX_ATTEMPTS: usize = 16;

/// Which key to end.
#[derive(Debug, Clone, Copy)]
pub struct RevokeApiKey {
    /// The tenant that it acts for.
    pub client: ClientId,
    /// The key.
    pub key: KeyId,
    /// Check everything, write nothing.
    pub validate_only: bool,
}

impl Governance {
    /// Ends a key: no later call with it is accepted. One that was ended before stays as it is.
    ///
    /// # Errors
    /// [`Fault::ApiKeyNotFound`]; [`Fault::OperatorRequired`] for an operator key; [`Fault::LastOperatorKey`];
    /// [`Fault::ClientNotFound`]; failures of the store.
    pub async fn revoke_api_key(&self, caller: &Caller, wanted: RevokeApiKey) -> Result<ApiKey, Fault> {
        self.catalog.snapshot(wanted.client, None).await?;
        for _ in 0..MAX_ATTEMPTS {
            let (record, version) = read(self.store(), &Key::ApiKey(wanted.client, wanted.key)).await?;
            let Some(Record::ApiKey(mut key)) = record else { return Err(Fault::ApiKeyNotFound) };
            if key.operator {
                caller.require_operator()?;
            }
            if key.revoked_at.is_some() {
                return Ok(key);
            }
            let heir = if key.operator { Some(self.another_operator_key(&key).await?) } else { None };
            key.revoked_at = Some(self.clock.now());
            if wanted.validate_only {
                return Ok(key);
            }
            match self.store().commit(ending(&key, version, heir)).await {
                Ok(_) => return Ok(key),
                Err(CommitError::Conflict(0)) => return Err(Fault::ClientNotFound),
                Err(CommitError::Conflict(_)) => {}
                Err(error) => return Err(from_commit_error(&error)),
            }
        }
        let cause = "other writers kept coming between".into();
        Err(Fault::StoreUnavailable { outcome_unknown: false, cause })
    }

    /// An operator key that stays in force without end, with the version of its row. All are of one client.
    async fn another_operator_key(&self, than: &ApiKey) -> Result<(KeyId, Revision), Fault> {
        let (rows, _) = scan_all(self.store(), &Key::api_keys_of(than.client))
            .await
            .map_err(|error| from_store_error(&error))?;
        for row in &rows {
            let record = Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))?;
            if let Record::ApiKey(key) = record
                && key.operator
                && key.id != than.id
                && key.revoked_at.is_none()
                && key.expires_at.is_none()
            {
                return Ok((key.id, row.version));
            }
        }
        Err(Fault::LastOperatorKey)
    }
}

/// The key's row stays for those who read the rulings made with it. That nobody owns it ends it.
fn ending(key: &ApiKey, version: Revision, heir: Option<(KeyId, Revision)>) -> Commit {
    let (at, value) = Record::ApiKey(key.clone()).encode();
    let commit = Commit::new()
        .when(Condition::Present(Key::Client(key.client).encode()))
        .when(Condition::Equals(at.clone(), version))
        .put(at, value)
        .delete(Key::ApiKeyOwner(key.id).encode());
    match heir {
        Some((id, version)) => commit.when(Condition::Equals(Key::ApiKey(key.client, id).encode(), version)),
        None => commit,
    }
}
