//! Use cases of the catalogue: reading it, following it, and bringing it up to date by listing upstreams.
//!
//! Reads are answered from one immutable [`Snapshot`] of a client, held in memory and advanced by the store's watch; they
//! take no lock and touch no disk; only the past of a tool is read from the store ([`list_definitions`]), and what a server
//! lists at this moment from the server ([`server_tools`]). Syncs write to the store alone, and the snapshot follows.
//!
//! This crate must never know a transport, an engine, a wire format or a caller's scopes: whoever calls has judged those
//! already, and says which agent reads. What of the catalogue reaches that agent is decided here, by `domain` ([`Sight`]).
//!
//! Start reading at [`Catalog`], then [`snapshot`] and [`sync`].

pub mod agents;
mod catalog;
mod endpoint;
mod fault;
pub mod get_tool;
pub mod list_definitions;
pub mod list_tool_definitions;
pub mod list_tools;
mod read_model;
pub mod server_tools;
pub mod snapshot;
pub mod sync;
pub mod tool_units;
pub mod upstreams;
pub mod watch_tools;

pub use catalog::Catalog;
pub use endpoint::endpoint;
pub use fault::{from_commit_error, from_row_error, from_store_error, from_watch_error};
pub use snapshot::{AgentEntry, Sight, Snapshot, ToolEntry, ToolKey, UpstreamEntry, View};
/// The point in the store's history that a snapshot stands at.
pub use toolgate_store::Revision;
