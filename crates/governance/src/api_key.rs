//! Use case: making an API key.

use toolgate_catalog::from_commit_error;
use toolgate_domain::{Caller, ClientId, Fault, KeyId, Scopes, credential::ApiKey, limits};
use toolgate_records::{Key, Record};
use toolgate_sealing::{format_api_key, new_secret};
use toolgate_store::{Commit, CommitError, Condition};
use zeroize::Zeroizing;

use crate::Governance;

/// What to make.
#[derive(Debug, Clone)]
pub struct CreateApiKey {
    /// The tenant that it will act for.
    pub client: ClientId,
    /// Free text for people, unchecked.
    pub display_name: String,
    /// What it may do. At least one.
    pub scopes: Scopes,
    /// Check everything, make nothing.
    pub validate_only: bool,
}

/// A new key.
pub struct CreatedApiKey {
    /// As kept.
    pub key: ApiKey,
    /// Its text form, which cannot be read again; `None` with [`CreateApiKey::validate_only`].
    pub secret: Option<Zeroizing<String>>,
}

impl std::fmt::Debug for CreatedApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreatedApiKey").field("key", &self.key.id).finish_non_exhaustive()
    }
}

impl Governance {
    /// Makes a key. Nobody can grant a scope that they lack.
    ///
    /// # Errors
    /// [`Fault::Invalid`]; [`Fault::ScopeMissing`] for a scope that the caller lacks; [`Fault::ClientNotFound`]; failures
    /// of the store.
    pub async fn create_api_key(
        &self,
        caller: &Caller,
        wanted: CreateApiKey,
    ) -> Result<CreatedApiKey, Fault> {
        if wanted.display_name.len() > limits::MAX_DISPLAY_NAME_BYTES {
            let problem = format!("is longer than {} bytes", limits::MAX_DISPLAY_NAME_BYTES);
            return Err(Fault::invalid("display_name", problem));
        }
        if wanted.scopes == Scopes::default() {
            return Err(Fault::invalid("scopes", "is empty; name at least one scope"));
        }
        wanted.scopes.iter().try_for_each(|scope| caller.require(scope))?;
        self.catalog.snapshot(wanted.client, None).await?;
        let secret = new_secret();
        let created_at = self.clock.now();
        let key = ApiKey {
            id: KeyId::new(created_at, self.entropy.ten_bytes()),
            client: wanted.client,
            display_name: wanted.display_name,
            scopes: wanted.scopes,
            operator: false,
            digest: self.sealer.key_digest(&secret),
            created_at,
        };
        if wanted.validate_only {
            return Ok(CreatedApiKey { key, secret: None });
        }
        self.keep(&key).await?;
        let secret = format_api_key(key.id.bytes(), &secret);
        Ok(CreatedApiKey { key, secret: Some(secret) })
    }

    async fn keep(&self, key: &ApiKey) -> Result<(), Fault> {
        let mut commit = Commit::new()
            .when(Condition::Present(Key::Client(key.client).encode()))
            .when(Condition::Absent(Key::ApiKeyOwner(key.id).encode()));
        for record in [Record::ApiKey(key.clone()), Record::ApiKeyOwner(key.id, key.client)] {
            let (at, value) = record.encode();
            commit = commit.put(at, value);
        }
        self.catalog.store().commit(commit).await.map(|_| ()).map_err(|error| match error {
            CommitError::Conflict(0) => Fault::ClientNotFound,
            error => from_commit_error(&error),
        })
    }
}
