//! The documented HTTP shapes over the generated service traits.
//!
//! One HTTP request becomes one call of a service in this process, and its answer is written out in the shape that the
//! route documents. Nothing is decided here: the `Authorization` header travels in the call's metadata and the service
//! authorises; which tools exist, in which state, and what they look like is the service's word.
//!
//! What this crate does own is HTTP: methods, hosts and origins, validators and `304`, codings, the error envelope.
//!
//! This crate must never know the domain, the catalogue or a store, and never makes a second query for one request.
//!
//! Start reading at [`router`] and [`Route`]; then `roar` for the route as a whole, `roar::shape` for its body, and `mapping` for what
//! becomes of a service's error. Each documented shape has a module of its own, named after the system it comes from;
//! `openapi.json` beside the sources describes them all, for callers.

mod limits;
mod settings;

mod correlation;
mod hosts;
mod request_span;

mod envelope;
mod mapping;

mod answer;
mod body_cache;
mod coding;
mod conditional;
mod json;
mod request;
mod timestamp;

mod document;
mod melbis;
mod oxp;
mod prisme;
mod roar;

mod route;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tonic::codegen::BoxStream;
use toolgate_api_proto::v1::CallToolResponse;
use toolgate_api_proto::v1::{tool_catalog_server::ToolCatalog, tool_gateway_server::ToolGateway};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::RequestBodyDeadlineLayer;

pub use correlation::{X_CORRELATION_ID, correlation_id};
pub use limits::{
    BODY_DEADLINE_SECONDS, MAX_CACHED_BODIES, MAX_CACHED_BYTES, MAX_CALL_BODY_BYTES,
    MAX_CORRELATION_ID_BYTES, MAX_LIST_BODY_BYTES,
};
pub use route::Route;
pub use settings::FacadeSettings;

use body_cache::BodyCache;
use envelope::Refusal;
use hosts::AllowedHosts;

/// The routes of every documented shape, answered by `catalog` and, for calls, by `gateway`, and those of `beside`: another face on the same listener.
///
/// All of them stand behind one guard. Every answer, whatever its status, carries `x-correlation-id`; every error has the envelope
/// `{"error": CODE, "message": text, "details"?: {…}}`, unless another face answered it or the route documents its own.
pub fn router<C: ToolCatalog>(
    catalog: Arc<C>,
    gateway: Arc<dyn ToolGateway<CallToolStream = BoxStream<CallToolResponse>>>,
    settings: FacadeSettings,
    beside: Router,
) -> Router {
    let bodies = Arc::new(BodyCache::new(MAX_CACHED_BYTES, MAX_CACHED_BODIES));
    let add = |router: Router, route: &Route| {
        router.route(route.path(), route.methods(&catalog, &gateway, &bodies, &settings))
    };
    let routes = Route::ALL.iter().fold(beside, add);
    routes
        .fallback(async || Refusal::no_such_route())
        .layer(RequestBodyDeadlineLayer::new(Duration::from_secs(BODY_DEADLINE_SECONDS)))
        .layer(from_fn_with_state(AllowedHosts::new(settings.allowed_hosts), hosts::guard))
        .layer(CatchPanicLayer::custom(after_panic))
        .layer(from_fn(move |request, next| correlation::mark(settings.random.clone(), request, next)))
}

/// The panic hook has already reported the panic itself.
fn after_panic(_: Box<dyn std::any::Any + Send>) -> Response<Body> {
    tracing::error!("a request ended in a panic");
    Refusal::internal().into_response()
}
