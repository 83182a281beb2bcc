//! Use case: the first client and the first operator key of an empty store.

use toolgate_catalog::from_commit_error;
use toolgate_domain::{ClientId, Fault, KeyId, Scopes, credential::ApiKey};
use toolgate_records::{Key, Record};
use toolgate_sealing::parse_api_key;
use toolgate_store::{Commit, CommitError, Condition};

use crate::{Governance, rows::read};

/// The name of the client that every store has.
pub const DEFAULT_CLIENT: &str = "default";

/// What the store has now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrapped {
    /// The client `default`.
    pub client: ClientId,
    /// The store had another operator key before, which stays in force.
    pub given_is_ignored: bool,
}

impl Governance {
    /// Whether the first client and key exist.
    ///
    /// # Errors
    /// Failures of the store.
    pub async fn is_bootstrapped(&self) -> Result<bool, Fault> {
        Ok(read(self.store(), &Key::Bootstrap).await?.0.is_some())
    }

    /// Makes sure that the client `default` and an operator key exist; `text` is the key where it does not yet. One
    /// conditional commit, so that replicas that start together agree.
    ///
    /// # Errors
    /// Failures of the store.
    pub async fn bootstrap(&self, text: &str) -> Result<Bootstrapped, Fault> {
        // A start on a disk that is full has nothing to write, and is not refused.
        if self.is_bootstrapped().await? {
            return self.bootstrapped(text).await;
        }
        let key = self.operator_key(text);
        let (id, client, name) = (key.id, key.client, DEFAULT_CLIENT.to_owned());
        let mut commit = Commit::new().when(Condition::Absent(Key::Bootstrap.encode()));
        for record in [
            Record::Client(client, name.clone(), key.created_at),
            Record::ClientName(name, client),
            Record::ApiKey(key),
            Record::ApiKeyOwner(id, client),
            Record::Bootstrap(id),
        ] {
            let (at, value) = record.encode();
            commit = commit.put(at, value);
        }
        match self.store().commit(commit).await {
            Ok(_) => Ok(Bootstrapped { client, given_is_ignored: false }),
            Err(CommitError::Conflict(_)) => self.bootstrapped(text).await,
            Err(error) => Err(from_commit_error(&error)),
        }
    }

    /// A key in our own form keeps the id in it; any other text is known by its digest alone.
    fn operator_key(&self, text: &str) -> ApiKey {
        let now = self.clock.now();
        let (id, secret) = match parse_api_key(text) {
            Some(parts) => (KeyId::from_bytes(parts.id), parts.secret),
            None => (KeyId::new(now, self.entropy.ten_bytes()), text),
        };
        ApiKey {
            id,
            client: ClientId::new(now, self.entropy.ten_bytes()),
            display_name: "bootstrap".into(),
            scopes: Scopes::all(),
            operator: true,
            agent: None,
            digest: self.sealer.key_digest(secret),
            created_at: now,
            expires_at: None,
            revoked_at: None,
        }
    }

    async fn bootstrapped(&self, text: &str) -> Result<Bootstrapped, Fault> {
        let missing = || Fault::Internal { cause: "the bootstrap row points nowhere".into() };
        let (Some(Record::Bootstrap(id)), _) = read(self.store(), &Key::Bootstrap).await? else {
            return Err(missing());
        };
        let name = Key::ClientName(DEFAULT_CLIENT.to_owned());
        let (Some(Record::ClientName(_, client)), _) = read(self.store(), &name).await? else {
            return Err(missing());
        };
        let (Some(Record::ApiKey(key)), _) = read(self.store(), &Key::ApiKey(client, id)).await? else {
            return Err(missing());
        };
        let secret = parse_api_key(text).map_or(text, |parts| parts.secret);
        let is_given = key.is_in_force(self.clock.now()) && self.sealer.verify_key(secret, &key.digest);
        Ok(Bootstrapped { client, given_is_ignored: !is_given })
    }
}
