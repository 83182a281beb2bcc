//! Requests as parts of traces: both faces join the caller's trace, and each gRPC call gets a span and a correlation id.
//! The HTTP face makes its spans itself.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    Router,
    body::{Body, HttpBody},
    extract::Request,
    http::{HeaderMap, HeaderValue},
    middleware::{Next, from_fn},
    response::Response,
};
use hyper::body::{Bytes, Frame, SizeHint};
use tonic::Code;
use toolgate_grpc_api::rpc::known_method;
use toolgate_http_facade::{X_CORRELATION_ID, correlation_id};
use toolgate_telemetry::CallersTrace;
use tracing::{Instrument, Span, field::Empty};

use crate::compose::random;

/// `router` with each request in its caller's trace.
pub(crate) fn in_callers_trace(router: Router) -> Router {
    router.layer(from_fn(async |request: Request, next: Next| {
        let trace = CallersTrace::of(request.headers());
        trace.run(next.run(request)).await
    }))
}

/// `services` with a span and a correlation id for each call.
pub(crate) fn in_call_spans(services: Router) -> Router {
    services.layer(from_fn(answer_call))
}

async fn answer_call(request: Request, next: Next) -> Response {
    let id = correlation_id(request.headers(), &random);
    let span = call_span(request.uri().path(), &id);
    let mut response = next.run(request).instrument(span.clone()).await;
    // Without a body the status stands among the headers.
    note_status(&span, response.headers());
    response.headers_mut().insert(X_CORRELATION_ID, id);
    response.map(|body| Body::new(Spanned { body, span }))
}

/// By OpenTelemetry's conventions for gRPC servers. Of a method that is not served nothing is noted: its name is whatever
/// the caller wrote.
fn call_span(path: &str, id: &HeaderValue) -> Span {
    let (service, method) = known_method(path).unzip();
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

fn note_status(span: &Span, headers: &HeaderMap) {
    let Some(status) = headers.get("grpc-status") else { return };
    let code = Code::from_bytes(status.as_bytes());
    span.record("rpc.grpc.status_code", code as i32);
    if is_fault_of_the_server(code) {
        span.record("otel.status_code", "ERROR");
    }
    span.in_scope(|| tracing::debug!(code = ?code, "call answered with {code:?}"));
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

/// An answer that is sent within its span; the span ends with the last byte, or when the caller goes away.
struct Spanned {
    body: Body,
    span: Span,
}

impl HttpBody for Spanned {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, span } = self.get_mut();
        let polled = span.in_scope(|| Pin::new(body).poll_frame(context));
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(trailers) = frame.trailers_ref()
        {
            note_status(span, trailers);
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
