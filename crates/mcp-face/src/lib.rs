//! The MCP server that agents connect to: `POST /mcp`.
//!
//! An adapter over the generated service traits, called in this process. The `Authorization` header travels in the call's
//! metadata and the service authorises; which tools an agent reads, and how, is the service's word. A definition is written
//! into an answer as the text that the service gave.
//!
//! What this crate does own is MCP over Streamable HTTP, in two eras on one endpoint: revision 2026-07-28, whose requests
//! each say everything about themselves, and the revisions from 2024-11-05 to 2025-11-25, which open a session first. Nothing
//! is remembered of a session: its id is a sealed token that any replica opens, for the credential that it was given to.
//!
//! One tool is the face's own: `tool_list` ([`toolgate_tool_list`]), which stands at the end of every list.
//!
//! This crate must never know the domain, the catalogue or a store, and makes no decision.
//!
//! Start reading at [`routes`], then `endpoint`; `message` is what comes in, `reply` what goes out, `methods` what can be
//! asked. What differs between the eras stands in `stateless_era` and `session_era`.

mod limits;
mod settings;

mod message;
mod refusal;
mod reply;

mod accepted;
mod caller;
mod service;

mod built_in;
mod call;
mod log_levels;
mod methods;
mod notices;
mod pages;
mod under_way;

mod session_era;
mod session_token;
mod stateless_era;

mod endpoint;
mod resource_metadata;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use toolgate_api_proto::v1::{tool_catalog_server::ToolCatalog, tool_gateway_server::ToolGateway};

pub use call::CallEvents;
pub use limits::{
    MAX_BATCH_MESSAGES, MAX_CACHED_BYTES, MAX_CACHED_PAGES, MAX_ID_BYTES, MAX_REQUEST_BYTES,
    MAX_REQUEST_DEPTH, NOTICE_PACE_MS,
};
pub use settings::McpSettings;

use endpoint::Face;

/// Path of the endpoint.
pub const PATH: &str = "/mcp";
/// Every path that is answered: the endpoint, and what RFC 9728 says of it in its two places.
pub const PATHS: [&str; 3] = [PATH, resource_metadata::PATH, resource_metadata::ROOT_PATH];

/// The endpoint and what RFC 9728 says of it, answered by `catalog` and, for calls, by `gateway`.
///
/// `Host` and `Origin` are not looked at here: the routes belong behind a guard that does.
pub fn routes<C: ToolCatalog>(
    catalog: Arc<C>,
    gateway: Arc<dyn ToolGateway<CallToolStream = CallEvents>>,
    settings: McpSettings,
) -> Router {
    let face = Arc::new(Face::new(catalog, gateway, settings));
    let endpoint = post(endpoint::post::<C>)
        .get(endpoint::get::<C>)
        .head(endpoint::other_method)
        .fallback(endpoint::other_method);
    let metadata = get(resource_metadata::document::<C>);
    let answered = PATHS.into_iter().zip([endpoint, metadata.clone(), metadata]);
    answered.fold(Router::new(), |router, (path, methods)| router.route(path, methods)).with_state(face)
}
