//! The gRPC adapter: converts, authorises, calls a use case, and maps what went wrong.
//!
//! Authorisation happens inside the service implementations, so that callers in this process pass it as well. Each RPC
//! stands in one table with what it takes and how long it may take ([`rpc`]); each fault of a use case is mapped to a
//! status in one place ([`status`]); revisions, page tokens and etags leave only sealed ([`tokens`]).
//!
//! This crate must never know an engine, a key layout or how a decision is made.
//!
//! Start reading at [`CatalogService`] and [`rpc::RULES`].

mod catalog_server;
mod catalog_service;
mod convert;
mod encoded_pages;
mod gate;
mod gateway_service;
mod governance_service;
mod health;
pub mod rpc;
mod status;
mod tokens;
mod watch_stream;

pub use catalog_server::CatalogServer;
pub use catalog_service::CatalogService;
pub use encoded_pages::{MAX_ENCODED_ANSWERS, MAX_ENCODED_BYTES};
pub use gate::Gate;
pub use gateway_service::GatewayService;
pub use governance_service::GovernanceService;
pub use health::{Health, reflection};

/// Bytes of a request that are taken; the largest, an upstream with all its secrets, is far below.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// Bytes of a request to call a tool that are taken: its arguments at most, and room for the rest.
pub const MAX_CALL_REQUEST_BYTES: usize = 1024 * 1024 + 64 * 1024;
