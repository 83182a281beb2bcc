//! MCP servers as upstreams: Streamable HTTP and stdio.
//!
//! [`McpServers`] turns an endpoint into a listing, and a call into a result. What a server sends is taken apart by brackets and quotes alone
//! (`toolgate_definition::scan`), so each entry keeps its exact text and one bad entry never sinks the rest. Every answer
//! is bounded in bytes while it is read and in time as a whole, and every wait belongs to one listing: servers share
//! nothing but the guard of outgoing connections.
//!
//! Each protocol era has a file of its own: `stateless_era` speaks 2026-07-28, in which each request stands for itself,
//! `session_era` the revisions that open with `initialize` (2024-11-05 to 2025-11-25); `eras` finds out which one a server
//! speaks, and `known_eras` remembers it. An era knows no transport and a transport (`http`, `stdio`) no era: they meet
//! in `conversation`.
//!
//! This crate must never know a tenant or a store, judge a definition, or log: header and environment values are
//! secrets, and every error text that leaves passes through `wording`.
//!
//! Start reading at [`McpServers`], then `eras`.

mod servers;

mod eras;
mod known_eras;
mod session_era;
mod stateless_era;

mod follow;

mod call;
mod channel;
mod kept;

mod conversation;
mod envelope;
mod pages;

mod http;
mod stdio;

pub mod limits;
mod meter;
mod rpc;
mod wording;

pub use servers::McpServers;
pub use stdio::{StdioAllow, StdioAllowError};
