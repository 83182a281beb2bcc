//! From what a caller presents to a caller: API keys as bearer tokens.
//!
//! The answer to a bad credential is always the same, whatever is wrong with it.
//!
//! This crate must never know a transport: it is given the text of a credential, not a request.
//!
//! Start reading at [`Authenticator::authenticate`].

use std::sync::Arc;

use toolgate_domain::{Caller, Fault, KeyId, credential::ApiKey};
use toolgate_records::{Key, Record};
use toolgate_sealing::{Sealer, parse_api_key};
use toolgate_store::{SharedStore, StoreError};

/// Longest credential that is looked at, in bytes.
pub const MAX_CREDENTIAL_BYTES: usize = 4096;

/// Knows who holds which key. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Authenticator {
    store: SharedStore,
    sealer: Arc<Sealer>,
}

impl Authenticator {
    /// Over the keys in `store`.
    pub fn new(store: SharedStore, sealer: Arc<Sealer>) -> Self {
        Self { store, sealer }
    }

    /// The caller behind the value of an `Authorization` header (RFC 6750 section 2.1; the scheme in any case).
    ///
    /// # Errors
    /// [`Fault::CredentialMissing`] without one; [`Fault::CredentialInvalid`] for one that is not accepted; failures of
    /// the store.
    pub async fn authenticate(&self, authorization: Option<&str>) -> Result<Caller, Fault> {
        let value = authorization.ok_or(Fault::CredentialMissing)?;
        let token = bearer_token(value).ok_or(Fault::CredentialInvalid)?;
        let key = self.key(token).await?.ok_or(Fault::CredentialInvalid)?;
        let subject = key.subject();
        Ok(Caller { client: key.client, operator: key.operator, scopes: key.scopes, subject })
    }

    /// A key in our own form is found by its id; the bootstrap key, which an operator may have made up, is the only other.
    async fn key(&self, token: &str) -> Result<Option<ApiKey>, Fault> {
        if let Some(parts) = parse_api_key(token)
            && let Some(key) = self.by_id(KeyId::from_bytes(parts.id)).await?
        {
            return Ok(Some(key).filter(|key| self.sealer.verify_key(parts.secret, &key.digest)));
        }
        let Some(Record::Bootstrap(id)) = self.read(&Key::Bootstrap).await? else { return Ok(None) };
        Ok(self.by_id(id).await?.filter(|key| self.sealer.verify_key(token, &key.digest)))
    }

    async fn by_id(&self, id: KeyId) -> Result<Option<ApiKey>, Fault> {
        let Some(Record::ApiKeyOwner(_, client)) = self.read(&Key::ApiKeyOwner(id)).await? else {
            return Ok(None);
        };
        match self.read(&Key::ApiKey(client, id)).await? {
            Some(Record::ApiKey(key)) => Ok(Some(key)),
            _ => Ok(None),
        }
    }

    async fn read(&self, key: &Key) -> Result<Option<Record>, Fault> {
        let row = self.store.get(&key.encode()).await.map_err(|error| match error {
            StoreError::Closed => Fault::Draining,
            error => Fault::StoreUnavailable { outcome_unknown: false, cause: error.to_string() },
        })?;
        let record = row.map(|row| Record::decode(&row.key, &row.value)).transpose();
        record.map_err(|error| Fault::Internal { cause: error.to_string() })
    }
}

fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim_matches(' ');
    let fits = !token.is_empty() && token.len() <= MAX_CREDENTIAL_BYTES;
    (scheme.eq_ignore_ascii_case("bearer") && fits).then_some(token)
}

#[cfg(test)]
mod tests {
    use toolgate_domain::{ClientId, Moment, Scopes};
    use toolgate_sealing::{MasterKey, format_api_key, new_secret};
    use toolgate_store::Commit;
    use toolgate_store_memory::MemoryStore;

    use super::*;

    const CLIENT: ClientId = ClientId::from_bytes([1; 16]);
    const KEY: KeyId = KeyId::from_bytes([2; 16]);
    const MADE_UP: &str = "an operator's own key of more than 32 characters";

    /// A store with one key in our own form; `bootstrap` adds one that an operator made up.
    async fn authenticator(secret: &str, bootstrap: bool) -> Authenticator {
        let sealer = Arc::new(Sealer::new(&MasterKey::ephemeral()));
        let store = Arc::new(MemoryStore::new());
        let key = |id, secret: &str| ApiKey {
            id,
            client: CLIENT,
            display_name: String::new(),
            scopes: Scopes::all(),
            operator: false,
            digest: sealer.key_digest(secret),
            created_at: Moment::default(),
        };
        let other = KeyId::from_bytes([3; 16]);
        let mut records = vec![Record::ApiKey(key(KEY, secret)), Record::ApiKeyOwner(KEY, CLIENT)];
        if bootstrap {
            records.extend([Record::ApiKey(key(other, MADE_UP)), Record::ApiKeyOwner(other, CLIENT)]);
            records.push(Record::Bootstrap(other));
        }
        let put = |commit: Commit, record: &Record| {
            let (key, value) = record.encode();
            commit.put(key, value)
        };
        let store: SharedStore = store;
        store.commit(records.iter().fold(Commit::new(), put)).await.unwrap();
        Authenticator::new(store, sealer)
    }

    #[tokio::test]
    async fn a_key_names_its_client_and_its_subject() {
        let secret = new_secret();
        let text = format_api_key(KEY.bytes(), &secret);
        let known = authenticator(&secret, true).await;
        for scheme in ["Bearer", "bearer", "BEARER"] {
            let caller = known.authenticate(Some(&format!("{scheme} {}", *text))).await.unwrap();
            assert_eq!((caller.client, caller.subject), (CLIENT, format!("key:{KEY}")));
        }
        assert!(known.authenticate(Some(&format!("Bearer {MADE_UP}"))).await.is_ok());
    }

    #[tokio::test]
    async fn every_bad_credential_gets_the_same_answer() {
        let secret = new_secret();
        let right = format_api_key(KEY.bytes(), &secret);
        let wrong_secret = format_api_key(KEY.bytes(), &new_secret());
        let unknown_id = format_api_key(&[9; 16], &secret);
        for known in [authenticator(&secret, true).await, authenticator(&secret, false).await] {
            for bad in [
                format!("Bearer {}", *wrong_secret),
                format!("Bearer {}", *unknown_id),
                format!("Bearer {MADE_UP}!"),
                format!("Bearer {}", *secret),
                format!("Basic {}", *right),
                right.to_string(),
                "Bearer ".to_owned(),
                String::new(),
                format!("Bearer {}", "x".repeat(MAX_CREDENTIAL_BYTES + 1)),
            ] {
                assert_eq!(known.authenticate(Some(&bad)).await, Err(Fault::CredentialInvalid), "{bad}");
            }
        }
        assert_eq!(
            authenticator(&secret, true).await.authenticate(None).await,
            Err(Fault::CredentialMissing)
        );
    }
}
