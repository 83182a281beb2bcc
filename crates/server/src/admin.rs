//! What the platform asks: is the process alive, does it take work, what has it counted.

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header::CONTENT_TYPE},
    response::IntoResponse,
    routing::get,
};
use serde_json::json;
use toolgate_lifecycle::{Phase, Readiness};

use crate::metrics::{self, Metrics};

/// `/livez`, `/readyz` and `/metrics`.
pub(crate) fn router(readiness: Readiness, metrics: Metrics) -> Router {
    let router = Router::new().route("/livez", get(async || "ok")).route("/readyz", get(readyz));
    router.with_state(readiness).merge(metrics::router(metrics))
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
