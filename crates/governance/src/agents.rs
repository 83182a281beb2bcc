//! Use cases: making and deleting agents.

use std::sync::Arc;

use toolgate_catalog::{
    AgentEntry, Revision, Snapshot, agents::AgentRef, from_commit_error, from_row_error, from_store_error,
};
use toolgate_definition::names::Slug;
use toolgate_domain::{
    Agent, AgentId, Caller, ClientId, Fault, Violation,
    credential::ApiKey,
    free_text::display_name_violation,
    limits,
    ruling::{Act, AgentAct},
};
use toolgate_records::{Key, Record};
use toolgate_store::{Commit, CommitError, Condition, Store, scan_all};

use crate::{
    Governance,
    logged::{MAX_ATTEMPTS, outrun, put_all},
    rows::read,
};

/// Keys of an agent that end in one commit with it, or after it. Each takes two writes and a condition.
const KEYS_A_COMMIT: usize = 40;

/// What to make.
#[derive(Debug, Clone)]
pub struct CreateAgent {
    /// The tenant.
    pub client: ClientId,
    /// Unique in it, unchecked.
    pub name: String,
    /// Free text for people, unchecked.
    pub display_name: String,
    /// Check everything, write nothing.
    pub validate_only: bool,
}

/// Which agent to delete.
#[derive(Debug, Clone)]
pub struct DeleteAgent {
    /// The tenant.
    pub client: ClientId,
    /// The agent.
    pub agent: AgentRef,
    /// The agent's last change that the deletion is based on; anything newer refuses it.
    pub based_on: Option<Revision>,
    /// Check everything, write nothing.
    pub validate_only: bool,
}

/// An agent after an act.
#[derive(Debug, Clone)]
pub struct StoredAgent {
    /// As it stands; where nothing was to be written, as it would.
    pub entry: Arc<AgentEntry>,
    /// Where it was taken from.
    pub snapshot: Arc<Snapshot>,
}

/// An agent that was deleted, and what went with it.
#[derive(Debug, Clone)]
pub struct AgentDeletion {
    /// As it was, and where it was taken from.
    pub was: StoredAgent,
    /// Keys that were in force.
    pub api_key_count: usize,
    /// The catalogue without it; as it is where nothing was to be written.
    pub snapshot: Arc<Snapshot>,
}

impl Governance {
    /// Makes an agent, if none of the client has its name.
    ///
    /// # Errors
    /// [`Fault::Invalid`]; [`Fault::AgentNameTaken`]; [`Fault::LimitExceeded`]; [`Fault::ClientNotFound`]; failures of the
    /// store.
    pub async fn create_agent(&self, caller: &Caller, wanted: CreateAgent) -> Result<StoredAgent, Fault> {
        let name = checked(&wanted)?;
        let snapshot = self.catalog.snapshot(wanted.client, None).await?;
        if snapshot.agent_count() >= limits::MAX_AGENTS_PER_CLIENT {
            let value = limits::MAX_AGENTS_PER_CLIENT as u64;
            let remedy = "delete agents that nobody uses any more";
            return Err(Fault::LimitExceeded { limit: "MAX_AGENTS_PER_CLIENT", value, remedy });
        }
        let created_at = self.clock.now();
        let agent = Agent {
            id: AgentId::new(created_at, self.entropy.ten_bytes()),
            client: wanted.client,
            name,
            display_name: wanted.display_name,
            created_at,
            updated_at: created_at,
            attachments: Vec::new(),
        };
        for _ in 0..MAX_ATTEMPTS {
            let claim = Record::AgentName(agent.client, agent.name.to_string(), agent.id);
            if read(self.store(), &claim.key()).await?.0.is_some() {
                return Err(Fault::AgentNameTaken { name: agent.name.to_string() });
            }
            if wanted.validate_only {
                return Ok(StoredAgent { entry: would_be(agent), snapshot });
            }
            let commit = Commit::new().when(Condition::Absent(claim.key().encode()));
            let commit = put_all(commit, [Record::Agent(agent.clone()), claim]);
            let act = AgentAct::Create { display_name: agent.display_name.clone() };
            if let Some(revision) = self.commit_about(&agent, &caller.subject, act, commit).await? {
                return self.stored(&agent, revision).await;
            }
        }
        Err(outrun())
    }

    /// Deletes an agent with its attachments, and ends its keys. From the commit on, none of them is accepted, because there
    /// is no such agent any more; their rows say so a moment later where there are very many.
    ///
    /// # Errors
    /// [`Fault::AgentNotFound`]; [`Fault::EtagMismatch`] with an empty `current`; [`Fault::ClientNotFound`]; failures of the
    /// store.
    pub async fn delete_agent(&self, caller: &Caller, wanted: DeleteAgent) -> Result<AgentDeletion, Fault> {
        for _ in 0..MAX_ATTEMPTS {
            let (was, version) = self.present(wanted.client, &wanted.agent, wanted.based_on).await?;
            let mut keys = self.keys_of(&was.entry.agent).await?;
            let api_key_count = keys.len();
            let snapshot = Arc::clone(&was.snapshot);
            if wanted.validate_only {
                return Ok(AgentDeletion { was, api_key_count, snapshot });
            }
            let later = keys.split_off(api_key_count.min(KEYS_A_COMMIT));
            let commit = self.without_agent(&was.entry.agent, version).await?;
            let commit = self.without_keys(commit, keys);
            let agent = &was.entry.agent;
            if let Some(revision) =
                self.commit_about(agent, &caller.subject, AgentAct::Delete, commit).await?
            {
                self.end_keys(later).await?;
                let snapshot = self.catalog.snapshot(wanted.client, Some(revision)).await?;
                return Ok(AgentDeletion { was, api_key_count, snapshot });
            }
        }
        Err(outrun())
    }

    /// Commits with the act as a row of the log.
    pub(crate) async fn commit_about(
        &self,
        agent: &Agent,
        subject: &str,
        act: AgentAct,
        commit: Commit,
    ) -> Result<Option<Revision>, Fault> {
        let act = Act::Agent { agent: agent.id, name: agent.name.to_string(), act };
        self.commit_logged(agent.client, subject, act, commit).await
    }

    /// The agent as it is in the store, with its row's version and a snapshot that has it.
    pub(crate) async fn present(
        &self,
        client: ClientId,
        name: &AgentRef,
        based_on: Option<Revision>,
    ) -> Result<(StoredAgent, Revision), Fault> {
        // An etag of another replica may be ahead of this one.
        let snapshot = self.catalog.snapshot(client, based_on).await?;
        let id = name.find(&snapshot)?.agent.id;
        let (Some(Record::Agent(agent)), version) = read(self.store(), &Key::Agent(client, id)).await? else {
            return Err(Fault::AgentNotFound);
        };
        if based_on.is_some_and(|based_on| based_on != version) {
            return Err(Fault::EtagMismatch { current: String::new() });
        }
        let snapshot = self.catalog.snapshot(client, Some(version)).await?;
        Ok((StoredAgent { entry: Arc::new(AgentEntry::new(agent, version)), snapshot }, version))
    }

    /// The agent in a snapshot that has reached `revision`.
    pub(crate) async fn stored(&self, agent: &Agent, revision: Revision) -> Result<StoredAgent, Fault> {
        let snapshot = self.catalog.snapshot(agent.client, Some(revision)).await?;
        let entry = Arc::clone(snapshot.agent(agent.id).ok_or(Fault::AgentNotFound)?);
        Ok(StoredAgent { entry, snapshot })
    }

    async fn without_agent(&self, agent: &Agent, version: Revision) -> Result<Commit, Fault> {
        let deletions = Key::AgentDeletions(agent.client);
        let (count, counted_at) = match read(self.store(), &deletions).await? {
            (Some(Record::AgentDeletions(_, count)), at) => (count, at),
            (_, at) => (0, at),
        };
        let row = Key::Agent(agent.client, agent.id).encode();
        let commit = Commit::new()
            .when(Condition::Equals(row.clone(), version))
            .when(Condition::Equals(deletions.encode(), counted_at))
            .delete(row)
            .delete(Key::AgentName(agent.client, agent.name.to_string()).encode());
        Ok(put_all(commit, [Record::AgentDeletions(agent.client, count + 1)]))
    }

    /// The keys in force that are bound to an agent, each with its row's version.
    async fn keys_of(&self, agent: &Agent) -> Result<Vec<(ApiKey, Revision)>, Fault> {
        let now = self.clock.now();
        let keys = keys(self.store(), agent.client).await?.into_iter();
        Ok(keys.filter(|(key, _)| key.agent == Some(agent.id) && key.is_in_force(now)).collect())
    }

    fn without_keys(&self, commit: Commit, keys: Vec<(ApiKey, Revision)>) -> Commit {
        let now = self.clock.now();
        keys.into_iter().fold(commit, |commit, (mut key, version)| {
            key.revoked_at = Some(now);
            let owner = Key::ApiKeyOwner(key.id).encode();
            let (at, value) = Record::ApiKey(key).encode();
            commit.when(Condition::Equals(at.clone(), version)).put(at, value).delete(owner)
        })
    }

    /// Nobody is let in by these any more; a key that somebody else ended meanwhile is left as it is.
    async fn end_keys(&self, keys: Vec<(ApiKey, Revision)>) -> Result<(), Fault> {
        for key in keys {
            match self.store().commit(self.without_keys(Commit::new(), vec![key])).await {
                Ok(_) | Err(CommitError::Conflict(_)) => {}
                Err(error) => return Err(from_commit_error(&error)),
            }
        }
        Ok(())
    }
}

async fn keys(store: &dyn Store, client: ClientId) -> Result<Vec<(ApiKey, Revision)>, Fault> {
    let (rows, _) =
        scan_all(store, &Key::api_keys_of(client)).await.map_err(|error| from_store_error(&error))?;
    let mut keys = Vec::with_capacity(rows.len());
    for row in &rows {
        let record = Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))?;
        if let Record::ApiKey(key) = record {
            keys.push((key, row.version));
        }
    }
    Ok(keys)
}

fn checked(wanted: &CreateAgent) -> Result<Slug, Fault> {
    let mut violations = Vec::new();
    let name: Result<Slug, _> = wanted.name.parse();
    if let Err(error) = &name {
        violations.push(Violation::new("name", error.to_string()));
    }
    violations.extend(display_name_violation(&wanted.display_name));
    match name {
        Ok(name) if violations.is_empty() => Ok(name),
        _ => Err(Fault::Invalid(violations)),
    }
}

/// Of a change that was not written: no commit has it.
pub(crate) fn would_be(agent: Agent) -> Arc<AgentEntry> {
    Arc::new(AgentEntry::new(agent, Revision::ZERO))
}
