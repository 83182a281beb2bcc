//! One id on a request, its answer and everything logged in between.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue};
use tracing::Instrument;

use crate::limits::MAX_CORRELATION_ID_BYTES;
use crate::request_span;

/// Carries the id on requests and answers.
pub const X_CORRELATION_ID: HeaderName = HeaderName::from_static("x-correlation-id");

/// Gives the answer the caller's correlation id, or a new one when the caller's is missing or not fit to be logged, and
/// puts the request into a span of its own.
pub(crate) async fn mark(
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
    request: Request,
    next: Next,
) -> Response {
    let id = correlation_id(request.headers(), &*random);
    let span = request_span::begin(&request, &id);
    let answered = async {
        let mut response = next.run(request).await;
        request_span::end(&response);
        response.headers_mut().insert(X_CORRELATION_ID, id);
        response
    };
    answered.instrument(span).await
}

/// The correlation id of a request on any face: what it brought in [`X_CORRELATION_ID`], or one made of a random number
/// when that is missing or not fit to be logged.
pub fn correlation_id(headers: &HeaderMap, random: &dyn Fn() -> u64) -> HeaderValue {
    brought(headers).unwrap_or_else(|| made(random()))
}

fn brought(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(X_CORRELATION_ID).filter(|id| is_sane(id.as_bytes())).cloned()
}

fn is_sane(id: &[u8]) -> bool {
    (1..=MAX_CORRELATION_ID_BYTES).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic)
}

fn made(random: u64) -> HeaderValue {
    HeaderValue::try_from(format!("{random:016x}")).expect("hexadecimal digits are a header value")
}
