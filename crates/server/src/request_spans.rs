//! Requests as parts of traces: both faces join the caller's trace, and each gRPC call gets a span and a correlation id and
//! is counted. The HTTP face makes its spans itself.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    Router,
    body::{Body, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue},
    middleware::{Next, from_fn, from_fn_with_state},
    response::Response,
};
use hyper::body::{Bytes, Frame, SizeHint};
use tonic::Code;
use toolgate_grpc_api::rpc::known_method;
use toolgate_http_facade::{X_CORRELATION_ID, correlation_id};
use toolgate_telemetry::CallersTrace;
use tracing::{Instrument, Span, field::Empty};

use crate::{compose::random, metrics::Metrics};

/// `router` with each request in its caller's trace.
pub(crate) fn in_callers_trace(router: Router) -> Router {
    router.layer(from_fn(async |request: Request, next: Next| {
        let trace = CallersTrace::of(request.headers());
        trace.run(next.run(request)).await
    }))
}

/// `services` with a span and a correlation id for each call, which is counted when it ends.
pub(crate) fn in_call_spans(services: Router, metrics: Metrics) -> Router {
    services.layer(from_fn_with_state(metrics, answer_call))
}

async fn answer_call(State(metrics): State<Metrics>, request: Request, next: Next) -> Response {
    let id = correlation_id(request.headers(), &random);
    let method = known_method(request.uri().path());
    let mut call = Call { span: call_span(method, &id), method, code: Code::Cancelled, metrics };
    let mut response = next.run(request).instrument(call.span.clone()).await;
    // Without a body the status stands among the headers.
    call.note_status(response.headers());
    response.headers_mut().insert(X_CORRELATION_ID, id);
    response.map(|body| Body::new(Spanned { body, call }))
}

/// By OpenTelemetry's conventions for gRPC servers. Of a method that is not served nothing is noted: its name is whatever
/// the caller wrote.
fn call_span(method: Option<(&'static str, &'static str)>, id: &HeaderValue) -> Span {
    let (service, method) = method.unzip();
    let span = tracing::info_span!(
        "grpc_call",
        otel.name = Empty,
        otel.kind = "server",
        otel.status_code = Empty,
        rpc.system = "grpc",
        rpc.service = service,
        rpc.method = method,
        rpc.grpc.status_code = Empty,
        correlation_id = id.to_str().unwrap_or_default(),
    );
    match service.zip(method) {
        Some((service, method)) => span.record("otel.name", format!("{service}/{method}")),
        None => span.record("otel.name", "unknown method"),
    };
    span
}

/// A call from its first byte to its last, or to where the caller goes away.
struct Call {
    span: Span,
    method: Option<(&'static str, &'static str)>,
    /// Cancelled until it is answered.
    code: Code,
    metrics: Metrics,
}

impl Call {
    fn note_status(&mut self, headers: &HeaderMap) {
        let Some(status) = headers.get("grpc-status") else { return };
        let code = Code::from_bytes(status.as_bytes());
        self.code = code;
        self.span.record("rpc.grpc.status_code", code as i32);
        if is_fault_of_the_server(code) {
            self.span.record("otel.status_code", "ERROR");
        }
        self.span.in_scope(|| tracing::debug!(code = ?code, "call answered with {code:?}"));
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.metrics.call_ended(self.method, self.code);
    }
}

fn is_fault_of_the_server(code: Code) -> bool {
    matches!(
        code,
        Code::Unknown
            | Code::DeadlineExceeded
            | Code::Unimplemented
            | Code::Internal
            | Code::Unavailable
            | Code::DataLoss
    )
}

/// An answer that is sent within the span of its call.
struct Spanned {
    body: Body,
    call: Call,
}

impl HttpBody for Spanned {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, call } = self.get_mut();
        let polled = call.span.in_scope(|| Pin::new(body).poll_frame(context));
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(trailers) = frame.trailers_ref()
        {
            call.note_status(trailers);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
