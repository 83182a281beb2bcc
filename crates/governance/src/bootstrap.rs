//! Use case: the first client and the first operator key of an empty store.

use toolgate_catalog::from_commit_error;
use toolgate_domain::{ClientId, Fault, KeyId, Scopes, credential::ApiKey};
use toolgate_records::{Key, Record};
use toolgate_sealing::{format_api_key, new_secret};
use toolgate_store::{Commit, CommitError, Condition};
use zeroize::Zeroizing;

use crate::{Governance, governance::read};

/// The name of the client that every store has.
pub const DEFAULT_CLIENT: &str = "default";

/// What the store has now.
pub struct Bootstrapped {
    /// The client `default`.
    pub client: ClientId,
    /// The text form of a key that was made now because none was given; to be shown once.
    pub made: Option<Zeroizing<String>>,
    /// A key was given, and the store has another one, which stays in force.
    pub given_is_ignored: bool,
}

impl std::fmt::Debug for Bootstrapped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bootstrapped").field("client", &self.client).finish_non_exhaustive()
    }
}

impl Governance {
    /// Makes sure that the client `default` and an operator key exist. One conditional commit, so that replicas that start
    /// together agree.
    ///
    /// # Errors
    /// Failures of the store.
    pub async fn bootstrap(&self, given: Option<&str>) -> Result<Bootstrapped, Fault> {
        let secret = new_secret();
        let now = self.clock.now();
        let id = KeyId::new(now, self.entropy.ten_bytes());
        let client = ClientId::new(now, self.entropy.ten_bytes());
        let key = ApiKey {
            id,
            client,
            display_name: "bootstrap".into(),
            scopes: Scopes::all(),
            operator: true,
            digest: self.sealer.key_digest(given.unwrap_or(&secret)),
            created_at: now,
        };
        let name = DEFAULT_CLIENT.to_owned();
        let mut commit = Commit::new().when(Condition::Absent(Key::Bootstrap.encode()));
        for record in [
            Record::Client(client, name.clone(), now),
            Record::ClientName(name, client),
            Record::ApiKey(key),
            Record::ApiKeyOwner(id, client),
            Record::Bootstrap(id),
        ] {
            let (at, value) = record.encode();
            commit = commit.put(at, value);
        }
        match self.catalog.store().commit(commit).await {
            Ok(_) => {
                let made = given.is_none().then(|| format_api_key(id.bytes(), &secret));
                Ok(Bootstrapped { client, made, given_is_ignored: false })
            }
            Err(CommitError::Conflict(_)) => self.bootstrapped(given).await,
            Err(error) => Err(from_commit_error(&error)),
        }
    }

    async fn bootstrapped(&self, given: Option<&str>) -> Result<Bootstrapped, Fault> {
        let missing = || Fault::Internal { cause: "the bootstrap row points nowhere".into() };
        let (Some(Record::Bootstrap(id)), _) = read(self.store(), &Key::Bootstrap).await? else {
            return Err(missing());
        };
        let (Some(Record::ApiKeyOwner(_, client)), _) = read(self.store(), &Key::ApiKeyOwner(id)).await?
        else {
            return Err(missing());
        };
        let (Some(Record::ApiKey(key)), _) = read(self.store(), &Key::ApiKey(client, id)).await? else {
            return Err(missing());
        };
        let given_is_ignored = given.is_some_and(|text| !self.sealer.verify_key(text, &key.digest));
        Ok(Bootstrapped { client, made: None, given_is_ignored })
    }
}
