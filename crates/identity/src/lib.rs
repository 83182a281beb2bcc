//! From what a caller presents to a caller: API keys as bearer tokens.
//!
//! The answer to a bad credential is always the same, whatever is wrong with it.
//!
//! This crate must never know a transport: it is given the text of a credential, not a request.
//!
//! Start reading at [`Authenticator::authenticate`]; what is open longer than a call ends with
//! [`Authenticator::until_lost`].

mod endings;

use std::{sync::Arc, time::Duration};

use toolgate_domain::{Caller, Clock, Fault, KeyId, credential::ApiKey};
use toolgate_records::{Key, Record};
use toolgate_sealing::{Sealer, parse_api_key};
use toolgate_store::{SharedStore, StoreError};

use endings::Endings;

/// Longest credential that is looked at, in bytes.
pub const MAX_CREDENTIAL_BYTES: usize = 4096;
/// How often the clock is asked about a key that will expire, and the store after it could not be read.
const ASK_EVERY: Duration = Duration::from_millis(500);
/// How often a key is looked at that nobody said anything of.
const ASK_AT_LEAST_EVERY: Duration = Duration::from_secs(60);

/// Knows who holds which key. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Authenticator {
    store: SharedStore,
    sealer: Arc<Sealer>,
    clock: Arc<dyn Clock>,
    endings: Arc<Endings>,
}

impl Authenticator {
    /// Over the keys in `store`, in force by `clock`.
    pub fn new(store: SharedStore, sealer: Arc<Sealer>, clock: Arc<dyn Clock>) -> Self {
        Self { store, sealer, clock, endings: Arc::default() }
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
        if !key.is_in_force(self.clock.now()) {
            return Err(Fault::CredentialInvalid);
        }
        let subject = key.subject();
        let ApiKey { id, client, operator, scopes, agent, expires_at, .. } = key;
        Ok(Caller { client, operator, scopes, agent, subject, key: id, expires_at })
    }

    /// Comes back when the caller's credential is no longer accepted, well within a second of that. What cannot be read
    /// from the store ends nothing: it is asked again.
    pub async fn until_lost(&self, caller: &Caller) {
        let mut endings = self.endings.follow(&self.store);
        loop {
            endings.borrow_and_update();
            let pause = match self.by_id(caller.key).await {
                Ok(Some(key)) if key.is_in_force(self.clock.now()) => match key.expires_at {
                    Some(_) => ASK_EVERY,
                    None => ASK_AT_LEAST_EVERY,
                },
                Ok(_) => return,
                Err(_) => ASK_EVERY,
            };
            // An end is as good as a time-out here: both lead to another look.
            let _ = tokio::time::timeout(pause, endings.changed()).await;
        }
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
        let Some(Record::ApiKey(key)) = self.read(&Key::ApiKey(client, id)).await? else { return Ok(None) };
        // Keys end with their client and with their agent, whatever their own rows say.
        let client_row = self.read(&Key::Client(client)).await?;
        let agent_row = match key.agent {
            Some(agent) => self.read(&Key::Agent(client, agent)).await?,
            None => client_row.clone(),
        };
        Ok(client_row.and(agent_row).map(|_| key))
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
    use toolgate_domain::{Agent, AgentId, ClientId, Moment, Scopes};
    use toolgate_sealing::{MasterKey, format_api_key, new_secret};
    use toolgate_store::Commit;
    use toolgate_store_memory::MemoryStore;

    use super::*;

    const CLIENT: ClientId = ClientId::from_bytes([1; 16]);
    const KEY: KeyId = KeyId::from_bytes([2; 16]);
    const MADE_UP: &str = "an operator's own key of more than 32 characters";

    #[derive(Debug)]
    struct Still;

    impl Clock for Still {
        fn now(&self) -> Moment {
            Moment::from_unix_ms(1_000)
        }
    }

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
            agent: None,
            digest: sealer.key_digest(secret),
            created_at: Moment::default(),
            expires_at: None,
            revoked_at: None,
        };
        let other = KeyId::from_bytes([3; 16]);
        let mut records = vec![
            Record::Client(CLIENT, "acme".into(), Moment::default()),
            Record::ClientName("acme".into(), CLIENT),
            Record::ApiKey(key(KEY, secret)),
            Record::ApiKeyOwner(KEY, CLIENT),
        ];
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
        Authenticator::new(store, sealer, Arc::new(Still))
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

    #[tokio::test]
    async fn a_key_that_expired_or_was_revoked_is_refused_like_an_unknown_one() {
        let secret = new_secret();
        let text = format!("Bearer {}", *format_api_key(KEY.bytes(), &secret));
        let known = authenticator(&secret, false).await;
        let Some(Record::ApiKey(key)) = known.read(&Key::ApiKey(CLIENT, KEY)).await.unwrap() else {
            panic!("no key where it was put")
        };
        let at = |ms| Some(Moment::from_unix_ms(ms));
        for (expires_at, revoked_at, accepted) in
            [(at(1_001), None, true), (at(1_000), None, false), (None, at(2_000), false), (None, None, true)]
        {
            let (row, value) = Record::ApiKey(ApiKey { expires_at, revoked_at, ..key.clone() }).encode();
            known.store.commit(Commit::new().put(row, value)).await.unwrap();
            let answer = known.authenticate(Some(&text)).await;
            assert_eq!(answer.is_ok(), accepted, "{expires_at:?} {revoked_at:?}");
            assert!(accepted || answer == Err(Fault::CredentialInvalid));
        }
    }

    #[tokio::test]
    async fn a_key_ends_with_its_client_although_its_rows_are_still_there() {
        let secret = new_secret();
        let text = format!("Bearer {}", *format_api_key(KEY.bytes(), &secret));
        let known = authenticator(&secret, false).await;
        let caller = known.authenticate(Some(&text)).await.unwrap();
        let mut lost = Box::pin(known.until_lost(&caller));
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut lost).await.is_err());
        let deletion = Commit::new()
            .delete(Key::Client(CLIENT).encode())
            .delete(Key::ClientName("acme".into()).encode());
        known.store.commit(deletion).await.unwrap();
        assert_eq!(known.authenticate(Some(&text)).await, Err(Fault::CredentialInvalid));
        tokio::time::timeout(Duration::from_secs(1), lost).await.expect("heard within a second");
    }

    #[tokio::test]
    async fn a_key_of_an_agent_is_that_agent_and_nobody_once_it_is_gone() {
        let secret = new_secret();
        let text = format!("Bearer {}", *format_api_key(KEY.bytes(), &secret));
        let known = authenticator(&secret, false).await;
        let Some(Record::ApiKey(key)) = known.read(&Key::ApiKey(CLIENT, KEY)).await.unwrap() else {
            panic!("no key where it was put")
        };
        let agent = Agent {
            id: AgentId::from_bytes([5; 16]),
            client: CLIENT,
            name: "support".parse().unwrap(),
            display_name: String::new(),
            created_at: Moment::default(),
            updated_at: Moment::default(),
            attachments: Vec::new(),
        };
        let bound = Record::ApiKey(ApiKey { agent: Some(agent.id), ..key });
        for record in [&bound, &Record::Agent(agent.clone())] {
            let (row, value) = record.encode();
            known.store.commit(Commit::new().put(row, value)).await.unwrap();
        }
        assert_eq!(known.authenticate(Some(&text)).await.unwrap().agent, Some(agent.id));
        let gone = Commit::new().delete(Key::Agent(CLIENT, agent.id).encode());
        known.store.commit(gone).await.unwrap();
        assert_eq!(known.authenticate(Some(&text)).await, Err(Fault::CredentialInvalid));
    }

    #[tokio::test]
    async fn the_end_of_a_key_is_heard_by_who_waits_for_it_and_not_that_of_another() {
        let secret = new_secret();
        let known = authenticator(&secret, true).await;
        let ours = format!("Bearer {}", *format_api_key(KEY.bytes(), &secret));
        let ours = known.authenticate(Some(&ours)).await.unwrap();
        let theirs = known.authenticate(Some(&format!("Bearer {MADE_UP}"))).await.unwrap();
        let mut lost = Box::pin(known.until_lost(&ours));
        let mut kept = Box::pin(known.until_lost(&theirs));
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut lost).await.is_err());
        known.store.commit(Commit::new().delete(Key::ApiKeyOwner(KEY).encode())).await.unwrap();
        tokio::time::timeout(Duration::from_secs(1), lost).await.expect("heard within a second");
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut kept).await.is_err());
    }
}
