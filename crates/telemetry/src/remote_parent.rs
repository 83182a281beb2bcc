//! The trace that a caller is in (W3C Trace Context).

use http::HeaderMap;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::{Context, trace::FutureExt};
use opentelemetry_sdk::propagation::TraceContextPropagator;

/// The trace that a request belongs to.
#[derive(Debug, Clone)]
pub struct CallersTrace(Context);

impl CallersTrace {
    /// The one that `headers` name in `traceparent` and `tracestate`. Where these are missing or malformed they name none,
    /// and a trace begins here.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        Self(TraceContextPropagator::new().extract_with_context(&Context::new(), &Headers(headers)))
    }

    /// Runs `work` as a part of the trace: its outermost spans become children of the caller's.
    pub fn run<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        work.with_context(self.0)
    }
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}
