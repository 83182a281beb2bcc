//! What is counted, for whoever scrapes the admin address. No label tells anything of one client, upstream or tool (law 10):
//! methods, routes and codes are ours, and few.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{
    Router,
    extract::{MatchedPath, Request, State},
    http::{StatusCode, header::CONTENT_TYPE},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use prometheus::{
    HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry, TextEncoder, core::Collector,
    proto::MetricFamily,
};
use tonic::Code;
use toolgate_catalog::sync::SyncTally;

/// Stands for every method and route that is not served: their names are whatever the caller wrote.
const UNKNOWN: &str = "unknown";

const TOOLS_CALL: &str = "tools/call";
/// Upper bounds of durations that are counted together; those of the conventions, and finer ones below.
const SECONDS: [f64; 18] = [
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0,
    300.0,
];

/// The counters of this process. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    registry: Registry,
    calls: IntCounterVec,
    requests: IntCounterVec,
    tool_calls: HistogramVec,
    upstream_calls: HistogramVec,
    syncs: Arc<OnceLock<Arc<SyncTally>>>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let calls = counters(
            "toolgate_grpc_calls_total",
            "gRPC calls that ended, streams included.",
            &["service", "method", "code"],
        );
        let requests = counters(
            "toolgate_http_requests_total",
            "HTTP requests that were answered.",
            &["route", "status"],
        );
        let tool_calls = durations(
            "mcp_server_operation_duration_seconds",
            "Time from a call of a tool to its end, whatever came of it.",
        );
        let upstream_calls = durations(
            "mcp_client_operation_duration_seconds",
            "Time that tool servers took for the calls that were sent to them.",
        );
        let registry = Registry::new();
        for durations in [&tool_calls, &upstream_calls] {
            registry.register(Box::new(durations.clone())).expect("no two histograms share a name");
        }
        for counters in [&calls, &requests] {
            registry.register(Box::new(counters.clone())).expect("no two counters share a name");
        }
        Self { registry, calls, requests, tool_calls, upstream_calls, syncs: Arc::default() }
    }

    /// Shows `tally` too, from now on.
    pub(crate) fn show_syncs(&self, tally: Arc<SyncTally>) {
        // A second one would be of another set of syncs, which this process does not have.
        let _ = self.syncs.set(tally);
    }

    /// A call of a method that is served, or of another, ended.
    pub(crate) fn call_ended(&self, method: Option<(&'static str, &'static str)>, code: Code) {
        let (service, method) = method.unwrap_or((UNKNOWN, UNKNOWN));
        self.calls.with_label_values(&[service, method, code_name(code)]).inc();
    }

    /// A call of a tool ended; `error_type` is empty where it brought a result.
    pub(crate) fn tool_called(&self, error_type: &'static str, took: Duration) {
        self.tool_calls.with_label_values(&[TOOLS_CALL, error_type]).observe(took.as_secs_f64());
    }

    /// A tool server took so long for a call.
    pub(crate) fn upstream_called(&self, error_type: &'static str, took: Duration) {
        self.upstream_calls.with_label_values(&[TOOLS_CALL, error_type]).observe(took.as_secs_f64());
    }

    fn families(&self) -> Vec<MetricFamily> {
        // The default registry holds what the library tells of the process, where the platform lets it.
        let mut families = prometheus::gather();
        families.extend(self.registry.gather());
        families.extend(self.syncs.get().map(|tally| syncs(tally)).unwrap_or_default());
        families
    }
}

/// How syncs ended, as they are now.
fn syncs(tally: &SyncTally) -> Vec<MetricFamily> {
    let ended = counters("toolgate_syncs_total", "Syncs that ended, over all upstreams.", &["health"]);
    for (health, count) in tally.counts() {
        ended.with_label_values(&[health]).inc_by(count);
    }
    ended.collect()
}

/// By OpenTelemetry's conventions for MCP, as Prometheus spells them.
fn durations(name: &str, help: &str) -> HistogramVec {
    let options = HistogramOpts::new(name, help).buckets(SECONDS.to_vec());
    HistogramVec::new(options, &["mcp_method_name", "error_type"])
        .expect("names and labels are of allowed characters")
}

fn counters(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    IntCounterVec::new(Opts::new(name, help), labels).expect("names and labels are of allowed characters")
}

/// `/metrics`, in Prometheus's text format.
pub(crate) fn router(metrics: Metrics) -> Router {
    Router::new().route("/metrics", get(scrape)).with_state(metrics)
}

async fn scrape(State(metrics): State<Metrics>) -> Result<impl IntoResponse, StatusCode> {
    let encoder = TextEncoder::new();
    let text = encoder.encode_to_string(&metrics.families()).map_err(|error| {
        tracing::error!(%error, "the metrics cannot be written: {error}");
        StatusCode::INTERNAL_SERVER_ERROR
    })?;
    Ok(([(CONTENT_TYPE, prometheus::TEXT_FORMAT)], text))
}

/// `router` with its answers counted.
pub(crate) fn counted(router: Router, metrics: Metrics) -> Router {
    router.layer(from_fn_with_state(metrics, count))
}

async fn count(State(metrics): State<Metrics>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = route.as_ref().map_or(UNKNOWN, MatchedPath::as_str);
    metrics.requests.with_label_values(&[route, response.status().as_str()]).inc();
    response
}

fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}
