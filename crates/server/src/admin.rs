//! What the platform asks: is the process alive, does it take work.

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header::CONTENT_TYPE},
    response::IntoResponse,
    routing::get,
};
use serde_json::json;
use toolgate_lifecycle::{Phase, Readiness};

/// `/livez` and `/readyz`.
pub(crate) fn router(readiness: Readiness) -> Router {
    Router::new().route("/livez", get(async || "ok")).route("/readyz", get(readyz)).with_state(readiness)
}

/// 200 while work is taken, degraded or not; 503 before and after.
async fn readyz(State(readiness): State<Readiness>) -> impl IntoResponse {
    let state = readiness.state();
    let status = if state.takes_work() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let phase = match state.phase {
        Phase::Starting => "starting",
        Phase::Ready => "ready",
        Phase::Draining => "draining",
    };
    let body = json!({"phase": phase, "degraded": state.degraded}).to_string();
    (status, [(CONTENT_TYPE, "application/json")], body)
}
