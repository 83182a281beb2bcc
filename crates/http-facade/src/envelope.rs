//! The one form that every error of these routes has.

use std::collections::BTreeMap;

use axum::response::{IntoResponse, Response};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;

/// An error answer.
///
/// The codes are stable; the messages are for people and never hold a cause.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) body: Envelope,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

/// The body of an error answer.
#[derive(Debug, Serialize)]
pub(crate) struct Envelope {
    pub(crate) error: &'static str,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) details: BTreeMap<String, String>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, error: &'static str, message: impl Into<String>) -> Self {
        let body = Envelope { error, message: message.into(), details: BTreeMap::new() };
        Self { status, body, headers: Vec::new() }
    }

    /// A part of the request is wrong. `field` is named as the caller wrote it, `problem` says how to write it.
    pub(crate) fn invalid(field: &str, problem: &str) -> Self {
        let mut refusal =
            Self::new(StatusCode::BAD_REQUEST, "VALIDATION_ERROR", format!("{field}: {problem}"));
        refusal.body.details.insert("field".to_owned(), field.to_owned());
        refusal
    }

    pub(crate) fn malformed_host() -> Self {
        Self::invalid("host", "send exactly one, as a name or address with an optional port")
    }

    /// 421 and not 403: the request was meant for another server, and a client may try it on another connection
    /// (RFC 9110, 15.5.20).
    pub(crate) fn misdirected() -> Self {
        let message = "this server does not answer for that host; an operator can allow it";
        Self::new(StatusCode::MISDIRECTED_REQUEST, "MISDIRECTED_REQUEST", message)
    }

    pub(crate) fn foreign_origin() -> Self {
        Self::new(StatusCode::FORBIDDEN, "FORBIDDEN", "pages of that origin may not call this server")
    }

    pub(crate) fn no_such_route() -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", "no such route")
    }

    pub(crate) fn method_not_allowed(allow: &'static str) -> Self {
        let message = format!("this route takes {allow}");
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", message)
            .with_header(ALLOW, HeaderValue::from_static(allow))
    }

    pub(crate) fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", "a fault of the server")
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl IntoResponse for Refusal {
    /// `no-store`, since 404 and 405 may otherwise be cached by guess (RFC 9110, 15.1).
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.body).expect("strings are JSON");
        let mut headers = HeaderMap::from_iter(self.headers);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        (self.status, headers, body).into_response()
    }
}
