//! One row of any kind, in the product's own words, and the way to the store and back.

use bytes::Bytes;
use toolgate_definition::Fingerprint;
use toolgate_domain::{
    Agent, AgentId, ClientId, KeyId, Moment, Upstream, UpstreamId,
    credential::ApiKey,
    sync_status::{LastListing, SyncStatus},
    tool::{Observed, Ruled, SeenDefinition},
    upstream::{Sealed, Tombstone},
};

use crate::{
    Key, RowError, codec,
    stored::{self},
};

mod agent;
mod catalogue;
mod credential;
mod ledger;
mod read;

pub(crate) use ledger::ruling_bytes;
pub use ledger::{ChainHead, ChainedRuling};
use read::Reader;

/// Who holds a served name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameHolder {
    /// The tool's upstream.
    pub upstream: UpstreamId,
    /// That upstream's own name for it.
    pub tool_name: String,
}

/// What is left of a tenant that was deleted, beside its texts and its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedClient {
    /// The name that it had, which may be another's by now.
    pub name: String,
    /// When it was made.
    pub created_at: Moment,
    /// When it was deleted. The last row of its log says by whom.
    pub deleted_at: Moment,
    /// Whether its rows are gone as well.
    pub is_swept: bool,
}

/// A row with the parts of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// Declared: a tenant with its name.
    Client(ClientId, String, Moment),
    /// Declared: a tool server.
    Upstream(Upstream),
    /// Claim: who holds a folded slug.
    SlugClaim(ClientId, String, UpstreamId),
    /// Claim: who holds a served name; `None` for one that was given up.
    NameClaim(ClientId, String, Option<NameHolder>),
    /// Declared: that a tool server was deleted. Stays for good.
    UpstreamTombstone(ClientId, UpstreamId, Tombstone),
    /// Whether all rows of a deleted tool server are swept. Written with each that goes, so that the newest row of the
    /// catalogue is never older than its newest commit.
    UpstreamSweep(ClientId, UpstreamId, bool),
    /// Declared: a consumer of tools.
    Agent(Agent),
    /// Claim: which agent has a name.
    AgentName(ClientId, String, AgentId),
    /// How many agents were deleted. Written with each that goes, so that the newest row of the catalogue is never older than
    /// its newest commit.
    AgentDeletions(ClientId, u64),
    /// Observed: the last listing that was read.
    Listing(ClientId, UpstreamId, LastListing),
    /// Observed: a tool.
    Observed(ClientId, UpstreamId, String, Observed),
    /// Observed: a definition of a tool, with the exact text first seen under its fingerprint.
    Definition(ClientId, UpstreamId, String, Fingerprint, SeenDefinition),
    /// Ruled: how a tool stands.
    Ruled(ClientId, UpstreamId, String, Ruled),
    /// Ruled: a row of the log.
    Ruling(ClientId, ChainedRuling),
    /// Ruled: the end of the log.
    ChainHead(ClientId, ChainHead),
    /// Declared: an API key.
    ApiKey(ApiKey),
    /// Status of an upstream.
    Status(ClientId, UpstreamId, SyncStatus),
    /// Whose an API key is.
    ApiKeyOwner(KeyId, ClientId),
    /// Which client has a name.
    ClientName(String, ClientId),
    /// Which API key the bootstrap made.
    Bootstrap(KeyId),
    /// The tombstone of a tenant.
    DeletedClient(ClientId, DeletedClient),
    /// What tells whether a master key is the one of this data.
    KeyCheck(Sealed),
}

impl Record {
    /// Where it is kept.
    pub fn key(&self) -> Key {
        match self {
            Self::Client(client, ..) => Key::Client(*client),
            Self::Upstream(upstream) => Key::Upstream(upstream.client, upstream.id),
            Self::SlugClaim(client, slug, _) => Key::SlugClaim(*client, slug.clone()),
            Self::NameClaim(client, name, _) => Key::NameClaim(*client, name.clone()),
            Self::UpstreamTombstone(client, upstream, _) => Key::UpstreamTombstone(*client, *upstream),
            Self::UpstreamSweep(client, upstream, _) => Key::UpstreamSweep(*client, *upstream),
            Self::Agent(agent) => Key::Agent(agent.client, agent.id),
            Self::AgentName(client, name, _) => Key::AgentName(*client, name.clone()),
            Self::AgentDeletions(client, _) => Key::AgentDeletions(*client),
            Self::Listing(client, upstream, _) => Key::Listing(*client, *upstream),
            Self::Observed(client, upstream, name, _) => Key::Observed(*client, *upstream, name.clone()),
            Self::Definition(client, upstream, name, fingerprint, _) => {
                Key::Definition(*client, *upstream, name.clone(), *fingerprint)
            }
            Self::Ruled(client, upstream, name, _) => Key::Ruled(*client, *upstream, name.clone()),
            Self::Ruling(client, chained) => Key::Ruling(*client, chained.ruling.sequence),
            Self::ChainHead(client, _) => Key::ChainHead(*client),
            Self::ApiKey(key) => Key::ApiKey(key.client, key.id),
            Self::Status(client, upstream, _) => Key::Status(*client, *upstream),
            Self::ApiKeyOwner(id, _) => Key::ApiKeyOwner(*id),
            Self::ClientName(name, _) => Key::ClientName(name.clone()),
            Self::Bootstrap(_) => Key::Bootstrap,
            Self::DeletedClient(client, _) => Key::DeletedClient(*client),
            Self::KeyCheck(_) => Key::KeyCheck,
        }
    }

    /// The key and the value to put.
    pub fn encode(&self) -> (Bytes, Bytes) {
        let key = self.key().encode();
        let value = match self {
            Self::Client(_, name, created_at) => {
                let row = stored::Client { name: name.clone(), created_at_ms: created_at.unix_ms() };
                codec::encode(&key, &row)
            }
            Self::Upstream(upstream) => codec::encode(&key, &catalogue::upstream_row(upstream)),
            Self::SlugClaim(_, _, upstream) => codec::encode(&key, &catalogue::slug_claim_row(*upstream)),
            Self::NameClaim(_, _, holder) => codec::encode(&key, &catalogue::name_claim_row(holder.as_ref())),
            Self::UpstreamTombstone(_, _, tombstone) => {
                codec::encode(&key, &catalogue::tombstone_row(tombstone))
            }
            Self::UpstreamSweep(_, _, done) => codec::encode(&key, &stored::Sweep { done: *done }),
            Self::Agent(agent) => codec::encode(&key, &agent::agent_row(agent)),
            Self::AgentName(_, _, agent) => codec::encode(&key, &reference(agent.bytes())),
            Self::AgentDeletions(_, count) => codec::encode(&key, &stored::AgentDeletions { count: *count }),
            Self::Listing(_, _, listing) => codec::encode(&key, &catalogue::listing_row(listing)),
            Self::Observed(_, _, _, observed) => codec::encode(&key, &catalogue::observed_row(observed)),
            Self::Definition(.., seen) => codec::encode(&key, &catalogue::definition_row(seen)),
            Self::Ruled(_, _, _, ruled) => codec::encode(&key, &catalogue::ruled_row(ruled)),
            Self::Ruling(_, chained) => codec::encode(&key, &ledger::chained_row(chained)),
            Self::ChainHead(_, head) => codec::encode(&key, &ledger::head_row(head)),
            Self::ApiKey(api_key) => codec::encode(&key, &credential::api_key_row(api_key)),
            Self::Status(_, _, status) => codec::encode(&key, &catalogue::status_row(status)),
            Self::ApiKeyOwner(_, client) => codec::encode(&key, &reference(client.bytes())),
            Self::ClientName(_, client) => codec::encode(&key, &reference(client.bytes())),
            Self::Bootstrap(id) => codec::encode(&key, &reference(id.bytes())),
            Self::DeletedClient(_, deleted) => codec::encode(&key, &deleted_client_row(deleted)),
            Self::KeyCheck(sealed) => codec::encode(&key, &stored::KeyCheck { sealed: sealed.0.clone() }),
        };
        (key, value)
    }

    /// Reads a stored row back.
    pub fn decode(key: &[u8], value: &[u8]) -> Result<Self, RowError> {
        let row = Reader { key, value };
        Ok(match Key::decode(key)? {
            Key::Client(client) => {
                let payload: stored::Client = row.payload()?;
                Self::Client(client, payload.name, Moment::from_unix_ms(payload.created_at_ms))
            }
            Key::Upstream(client, id) => Self::Upstream(catalogue::read_upstream(&row, client, id)?),
            Key::SlugClaim(client, slug) => Self::SlugClaim(client, slug, catalogue::read_slug_claim(&row)?),
            Key::NameClaim(client, name) => Self::NameClaim(client, name, catalogue::read_name_claim(&row)?),
            Key::UpstreamTombstone(client, upstream) => {
                Self::UpstreamTombstone(client, upstream, catalogue::read_tombstone(&row)?)
            }
            Key::UpstreamSweep(client, upstream) => {
                let payload: stored::Sweep = row.payload()?;
                Self::UpstreamSweep(client, upstream, payload.done)
            }
            Key::Agent(client, id) => Self::Agent(agent::read_agent(&row, client, id)?),
            Key::AgentName(client, name) => {
                Self::AgentName(client, name, AgentId::from_bytes(row.reference()?))
            }
            Key::AgentDeletions(client) => {
                let payload: stored::AgentDeletions = row.payload()?;
                Self::AgentDeletions(client, payload.count)
            }
            Key::Listing(client, upstream) => Self::Listing(client, upstream, catalogue::read_listing(&row)?),
            Key::Observed(client, upstream, name) => {
                Self::Observed(client, upstream, name, catalogue::read_observed(&row)?)
            }
            Key::Definition(client, upstream, name, fingerprint) => {
                let seen = catalogue::read_definition(&row)?;
                Self::Definition(client, upstream, name, fingerprint, seen)
            }
            Key::Ruled(client, upstream, name) => {
                Self::Ruled(client, upstream, name, catalogue::read_ruled(&row)?)
            }
            Key::Ruling(client, sequence) => Self::Ruling(client, ledger::read_chained(&row, sequence)?),
            Key::ChainHead(client) => Self::ChainHead(client, ledger::read_head(&row)?),
            Key::ApiKey(client, id) => Self::ApiKey(credential::read_api_key(&row, client, id)?),
            Key::Status(client, upstream) => Self::Status(client, upstream, catalogue::read_status(&row)?),
            Key::ApiKeyOwner(id) => Self::ApiKeyOwner(id, ClientId::from_bytes(row.reference()?)),
            Key::ClientName(name) => Self::ClientName(name, ClientId::from_bytes(row.reference()?)),
            Key::Bootstrap => Self::Bootstrap(KeyId::from_bytes(row.reference()?)),
            Key::DeletedClient(client) => Self::DeletedClient(client, read_deleted_client(&row)?),
            Key::KeyCheck => {
                let payload: stored::KeyCheck = row.payload()?;
                Self::KeyCheck(Sealed(payload.sealed))
            }
        })
    }
}

fn deleted_client_row(deleted: &DeletedClient) -> stored::DeletedClient {
    stored::DeletedClient {
        name: deleted.name.clone(),
        created_at_ms: deleted.created_at.unix_ms(),
        deleted_at_ms: deleted.deleted_at.unix_ms(),
        is_swept: deleted.is_swept,
    }
}

fn read_deleted_client(row: &Reader<'_>) -> Result<DeletedClient, RowError> {
    let payload: stored::DeletedClient = row.payload()?;
    Ok(DeletedClient {
        name: payload.name,
        created_at: Moment::from_unix_ms(payload.created_at_ms),
        deleted_at: Moment::from_unix_ms(payload.deleted_at_ms),
        is_swept: payload.is_swept,
    })
}

fn reference(id: &[u8; 16]) -> stored::Reference {
    stored::Reference { id: id.to_vec() }
}

#[cfg(test)]
mod tests;
