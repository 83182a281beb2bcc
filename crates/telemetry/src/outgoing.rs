//! The trace that the next server is told of (W3C Trace Context).

use opentelemetry::{
    Context,
    propagation::{Injector, TextMapPropagator},
    trace::TraceContextExt,
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// A span by its identity in its trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutgoingTrace {
    /// `traceparent`.
    pub traceparent: String,
    /// `tracestate`, where there is one.
    pub tracestate: Option<String>,
}

/// The present span, where spans are recorded; else what the caller sent, so that a trace goes on through here either way.
#[must_use]
pub fn outgoing_trace() -> Option<OutgoingTrace> {
    let recorded = tracing::Span::current().context();
    let context = if recorded.span().span_context().is_valid() { recorded } else { Context::current() };
    if !context.span().span_context().is_valid() {
        return None;
    }
    let mut trace = OutgoingTrace::default();
    TraceContextPropagator::new().inject_context(&context, &mut trace);
    Some(trace)
}

impl Injector for OutgoingTrace {
    fn set(&mut self, key: &str, value: String) {
        match key {
            "traceparent" => self.traceparent = value,
            "tracestate" => self.tracestate = Some(value).filter(|value| !value.is_empty()),
            _ => {}
        }
    }
}
