//! Calls of tools as spans and durations, by OpenTelemetry's conventions for MCP and GenAI. The labels of durations are
//! words of ours, and few (law 10); a span has the tool's name and nothing that was sent.

use std::sync::Arc;
use std::time::Instant;

use toolgate_call_log::CallLog;
use toolgate_definition::arguments::Arguments;
use toolgate_domain::{CallOutcome, CallRecord, CallRefusal};
use toolgate_gateway::{CallRecords, CannotRecord};
use toolgate_telemetry::{COLLECTORS_TARGET, OutgoingTrace, outgoing_trace};
use toolgate_upstream::{
    CallAnswer, CallBounds, CallError, CallNotice, Endpoint, ListingError, ToolCall, ToolCalls, TraceContext,
};
use tracing::{Instrument, Span, field::Empty};

use crate::metrics::Metrics;

/// Tool servers, each call of which is a span and joins the server to the trace.
#[derive(Debug)]
pub(crate) struct ObservedServers {
    pub(crate) servers: Arc<dyn ToolCalls>,
    pub(crate) metrics: Metrics,
}

/// The log of calls, what it is told of counted by how it ended.
#[derive(Debug)]
pub(crate) struct ObservedLog {
    pub(crate) log: Arc<CallLog>,
    pub(crate) metrics: Metrics,
}

#[tonic::async_trait]
impl ToolCalls for ObservedServers {
    async fn call_tool(
        &self,
        endpoint: &Endpoint,
        call: &ToolCall<'_>,
        bounds: &CallBounds,
        told: &(dyn Fn(CallNotice) + Send + Sync),
    ) -> Result<CallAnswer, CallError> {
        let span = span(endpoint, call.name);
        let trace = span.in_scope(outgoing_trace);
        let trace = trace.as_ref().map(|OutgoingTrace { traceparent, tracestate }| TraceContext {
            traceparent,
            tracestate: tracestate.as_deref(),
        });
        let call = ToolCall { trace, ..*call };
        let began = Instant::now();
        let called = self.servers.call_tool(endpoint, &call, bounds, told).instrument(span.clone()).await;
        let error = called.as_ref().err().map(error_type);
        note(&span, error, called.as_ref().err());
        self.metrics.upstream_called(error.unwrap_or_default(), began.elapsed());
        called
    }
}

#[tonic::async_trait]
impl CallRecords for ObservedLog {
    fn record(&self, record: CallRecord, arguments: Arguments) {
        let duration = std::time::Duration::from_micros(record.duration_us);
        self.metrics.tool_called(outcome_type(record.outcome), duration);
        self.log.record(record, arguments);
    }

    fn are_first(&self) -> bool {
        self.log.are_first()
    }

    async fn record_first(&self, record: CallRecord, arguments: Arguments) -> Result<u64, CannotRecord> {
        self.log.record_first(record, arguments).await
    }
}

fn span(endpoint: &Endpoint, tool: &str) -> Span {
    let transport = match endpoint {
        Endpoint::Http { .. } | Endpoint::Oxp { .. } => "tcp",
        Endpoint::Stdio { .. } => "pipe",
    };
    let span = tracing::trace_span!(
        target: COLLECTORS_TARGET,
        "tool_call",
        otel.name = Empty,
        otel.kind = "client",
        otel.status_code = Empty,
        mcp.method.name = "tools/call",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool,
        network.transport = transport,
        error.r#type = Empty,
        rpc.response.status_code = Empty,
    );
    if !span.is_disabled() {
        span.record("otel.name", format!("tools/call {tool}"));
    }
    span
}

fn note(span: &Span, error_type: Option<&'static str>, error: Option<&CallError>) {
    let Some(error_type) = error_type else { return };
    span.record("error.type", error_type);
    span.record("otel.status_code", "ERROR");
    if let Some(CallError { error: ListingError::Rpc { code, .. }, .. }) = error {
        span.record("rpc.response.status_code", *code);
    }
}

fn error_type(error: &CallError) -> &'static str {
    match error.error {
        ListingError::Refused(_) => "refused",
        ListingError::Connect(_) => "connect",
        ListingError::Timeout(_) => "timeout",
        ListingError::Unauthorized { .. } => "unauthorized",
        ListingError::Status(_) => "http_status",
        ListingError::Rpc { .. } => "jsonrpc_error",
        ListingError::MissingCapability { .. } => "missing_capability",
        ListingError::Protocol(_) => "protocol",
        ListingError::TooLarge(_) => "too_large",
    }
}

/// What a caller met; empty where it got a result, or a question.
fn outcome_type(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Answered { is_error: false, .. } | CallOutcome::Asked | CallOutcome::Forwarded => "",
        CallOutcome::Answered { is_error: true, .. } => "tool_error",
        CallOutcome::UpstreamRefused { .. } => "upstream_refused",
        CallOutcome::UpstreamFailed { .. } => "upstream_failed",
        CallOutcome::Cancelled { .. } => "cancelled",
        CallOutcome::Refused(refusal) => match refusal {
            CallRefusal::NotFound => "tool_not_found",
            CallRefusal::NotServed(_) => "tool_not_served",
            CallRefusal::ArgumentsMisfit => "arguments_misfit",
            CallRefusal::Stale => "listing_stale",
            CallRefusal::TooMany => "limit_exceeded",
            CallRefusal::Undecided => "undecided",
        },
    }
}
