//! Use cases of governance: clients, upstreams, rulings about tools, agents, keys.
//!
//! Every act is one conditional commit: it happens whole, with its row in the client's hash-chained log where it is a
//! ruling, or not at all. When it is acknowledged it is on disk, and the catalogue on this replica shows it.
//!
//! This crate must never know a transport, an engine or a wire format. What a caller may do by its scopes is checked by the
//! adapter that received the call; what depends on the request itself (a privileged upstream, a scope to grant) is checked
//! here.
//!
//! Start reading at [`Governance`], then [`rule`].

mod agents;
mod attachments;
mod bootstrap;
mod clients;
mod create_api_key;
mod create_upstream;
mod delete_client;
mod delete_upstream;
mod facts;
mod governance;
mod list_api_keys;
mod logged;
mod master_key;
mod matter;
mod revoke_api_key;
mod rows;
pub mod rule;
mod rulings;
mod sequencer;
mod sweep;
mod update_upstream;

pub use agents::{AgentDeletion, CreateAgent, DeleteAgent, StoredAgent};
pub use attachments::{AttachAgentTool, AttachedKind, DetachAgentTool};
pub use bootstrap::{Bootstrapped, DEFAULT_CLIENT};
pub use clients::{Client, ClientPage};
pub use create_api_key::{CreateApiKey, CreatedApiKey};
pub use create_upstream::{CreateUpstream, CreatedUpstream};
pub use delete_client::ClientDeletion;
pub use delete_upstream::{DeleteUpstream, DeletedUpstream};
pub use governance::Governance;
pub use list_api_keys::{ApiKeyPage, ListApiKeys};
pub use revoke_api_key::RevokeApiKey;
pub use rule::{Rule, Ruled, Wish};
pub use rulings::{ListRulings, LoggedRuling, RulingFilter, RulingPage, Verification};
pub use update_upstream::{UpdateUpstream, UpdatedUpstream};
