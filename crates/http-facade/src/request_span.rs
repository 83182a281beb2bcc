//! The span of a request, named and described by OpenTelemetry's conventions for HTTP servers. What the caller chose
//! freely (the path, the query, headers) is left out: a trace leaves the machine.

use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use http::{HeaderValue, Method};
use tracing::{Span, field::Empty};

/// What the conventions want in place of a method that is none of the registered ones.
const OTHER_METHOD: &str = "_OTHER";

/// Begins the span of a request that was routed already.
pub(crate) fn begin(request: &Request, correlation_id: &HeaderValue) -> Span {
    let method = known(request.method());
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let span = tracing::info_span!(
        "http_request",
        otel.name = Empty,
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        correlation_id = correlation_id.to_str().unwrap_or_default(),
    );
    match (method, route) {
        (OTHER_METHOD, Some(route)) => span.record("otel.name", format!("HTTP {route}")),
        (OTHER_METHOD, None) => span.record("otel.name", "HTTP"),
        (method, Some(route)) => span.record("otel.name", format!("{method} {route}")),
        (method, None) => span.record("otel.name", method),
    };
    span
}

/// Notes in the present span how the request was answered.
pub(crate) fn end(response: &Response) {
    let (status, span) = (response.status(), Span::current());
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    tracing::debug!(status = status.as_u16(), "request answered with {}", status.as_u16());
}

fn known(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "CONNECT" => "CONNECT",
        "OPTIONS" => "OPTIONS",
        "TRACE" => "TRACE",
        "PATCH" => "PATCH",
        _ => OTHER_METHOD,
    }
}
