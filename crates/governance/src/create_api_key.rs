//! Use case: making an API key.

use toolgate_catalog::{agents::AgentRef, from_commit_error};
use toolgate_domain::{
    Caller, ClientId, Fault, KeyId, Moment, Scope, Scopes, credential::ApiKey,
    free_text::display_name_violation, limits,
};
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
    /// How long it is accepted, in milliseconds; `None` for ever.
    pub ttl_ms: Option<i64>,
    /// Whether it may name other tenants.
    pub operator: bool,
    /// The agent that it is bound to; `None` for a key that sees its whole client.
    pub agent: Option<AgentRef>,
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
    /// Makes a key. Nobody can grant what they lack.
    ///
    /// # Errors
    /// [`Fault::Invalid`]; [`Fault::ScopeMissing`] for a scope that the caller lacks; [`Fault::OperatorRequired`] for an
    /// operator key; [`Fault::ClientNotFound`]; [`Fault::AgentNotFound`]; [`Fault::LimitExceeded`]; failures of the store.
    pub async fn create_api_key(
        &self,
        caller: &Caller,
        wanted: CreateApiKey,
    ) -> Result<CreatedApiKey, Fault> {
        grantable(caller, &wanted)?;
        let snapshot = self.catalog.snapshot(wanted.client, None).await?;
        let agent = wanted.agent.map(|name| name.find(&snapshot).map(|entry| entry.agent.id)).transpose()?;
        if self.count_api_keys(wanted.client).await? >= limits::MAX_API_KEYS_PER_CLIENT {
            let value = limits::MAX_API_KEYS_PER_CLIENT as u64;
            let remedy = "revoke keys that nobody uses any more";
            return Err(Fault::LimitExceeded { limit: "MAX_API_KEYS_PER_CLIENT", value, remedy });
        }
        let secret = new_secret();
        let created_at = self.clock.now();
        let key = ApiKey {
            id: KeyId::new(created_at, self.entropy.ten_bytes()),
            client: wanted.client,
            display_name: wanted.display_name,
            scopes: wanted.scopes,
            operator: wanted.operator,
            agent,
            digest: self.sealer.key_digest(&secret),
            created_at,
            expires_at: wanted
                .ttl_ms
                .map(|ttl| Moment::from_unix_ms(created_at.unix_ms().saturating_add(ttl))),
            revoked_at: None,
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
        if let Some(agent) = key.agent {
            commit = commit.when(Condition::Present(Key::Agent(key.client, agent).encode()));
        }
        for record in [Record::ApiKey(key.clone()), Record::ApiKeyOwner(key.id, key.client)] {
            let (at, value) = record.encode();
            commit = commit.put(at, value);
        }
        self.catalog.store().commit(commit).await.map(|_| ()).map_err(|error| match error {
            CommitError::Conflict(0) => Fault::ClientNotFound,
            CommitError::Conflict(2) => Fault::AgentNotFound,
            error => from_commit_error(&error),
        })
    }
}

/// An agent calls and does nothing else. Operator keys stay within one client, so that the last of them can be told.
fn grantable(caller: &Caller, wanted: &CreateApiKey) -> Result<(), Fault> {
    if let Some(violation) = display_name_violation(&wanted.display_name) {
        return Err(Fault::Invalid(vec![violation]));
    }
    if wanted.scopes == Scopes::default() {
        return Err(Fault::invalid("scopes", "is empty; name at least one scope"));
    }
    if wanted.ttl_ms.is_some_and(|ttl| ttl < limits::MIN_API_KEY_TTL_MS) {
        return Err(Fault::invalid("ttl", "is shorter than one second"));
    }
    if wanted.agent.is_some() && wanted.scopes.iter().any(|scope| scope != Scope::Call) {
        return Err(Fault::invalid("scopes", "of a key that is bound to an agent must be mcp:call alone"));
    }
    if wanted.agent.is_some() && wanted.operator {
        return Err(Fault::invalid("operator", "cannot be set together with agent_id"));
    }
    wanted.scopes.iter().try_for_each(|scope| caller.require(scope))?;
    if wanted.operator {
        caller.require_operator()?;
        if wanted.client != caller.client {
            return Err(Fault::invalid("client_id", "of an operator key must be empty or the caller's own"));
        }
    }
    Ok(())
}
