//! What goes wrong, as JSON-RPC and HTTP say it.

use std::fmt::Write;

use http::{HeaderName, HeaderValue, StatusCode};
use toolgate_definition::json::{ParseError, ParseErrorKind};

use crate::limits::MAX_ECHO_CHARS;

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// The client cancelled the request. MCP gives no code for an answer that nobody waits for; this one is the Language Server
/// Protocol's, outside the ranges that JSON-RPC and MCP give out.
pub(crate) const CANCELLED: i64 = -32800;
/// `HeaderMismatch` (2026-07-28).
pub(crate) const HEADER_MISMATCH: i64 = -32020;
/// `MissingRequiredClientCapability` (2026-07-28).
pub(crate) const MISSING_CAPABILITY: i64 = -32021;
/// `UnsupportedProtocolVersion` (2026-07-28).
pub(crate) const UNSUPPORTED_REVISION: i64 = -32022;

/// An error answer.
///
/// A refusal of HTTP's own has its status as its code, since the codes of JSON-RPC have other meanings and those below them
/// are the protocol's to give out.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// As revision 2026-07-28 maps codes to statuses.
    pub(crate) status: StatusCode,
    pub(crate) code: i64,
    pub(crate) message: String,
    /// JSON text.
    pub(crate) data: Option<String>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// Whether these are the service's words, who has then judged the credential.
    pub(crate) is_the_services: bool,
}

impl Refusal {
    fn new(status: StatusCode, code: i64, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, code, message, data: None, headers: Vec::new(), is_the_services: false }
    }

    /// A refusal of HTTP's own.
    pub(crate) fn http(status: StatusCode, message: impl Into<String>) -> Self {
        Self::new(status, status.as_u16().into(), message)
    }

    /// The body is not JSON, or JSON that could be read in two ways.
    pub(crate) fn unreadable(error: &ParseError) -> Self {
        let code = match error.kind {
            ParseErrorKind::DuplicateKey | ParseErrorKind::TooDeep { .. } => INVALID_REQUEST,
            _ => PARSE_ERROR,
        };
        Self::new(StatusCode::BAD_REQUEST, code, error.to_string())
    }

    pub(crate) fn not_utf8() -> Self {
        Self::new(StatusCode::BAD_REQUEST, PARSE_ERROR, "the body is not UTF-8")
    }

    pub(crate) fn invalid_request(problem: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID_REQUEST, problem)
    }

    pub(crate) fn method_not_found(method: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, METHOD_NOT_FOUND, format!("method not found: {}", echo(method)))
    }

    pub(crate) fn invalid_params(problem: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, INVALID_PARAMS, problem)
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(StatusCode::BAD_REQUEST, CANCELLED, "the request was cancelled")
    }

    pub(crate) fn unknown_tool(name: &str) -> Self {
        Self::invalid_params(&format!("Unknown tool: {}", echo(name)))
    }

    pub(crate) fn header_mismatch(problem: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, HEADER_MISMATCH, problem)
    }

    pub(crate) fn unsupported_revision(requested: &str, supported: &[&str]) -> Self {
        let data = serde_json::json!({"supported": supported, "requested": echo(requested)});
        let refusal =
            Self::new(StatusCode::BAD_REQUEST, UNSUPPORTED_REVISION, "unsupported protocol version");
        Self { data: Some(data.to_string()), ..refusal }
    }

    /// `required` is JSON text.
    pub(crate) fn missing_capability(message: &str, required: &str) -> Self {
        let data = Some(format!(r#"{{"requiredCapabilities":{required}}}"#));
        Self { data, ..Self::new(StatusCode::BAD_REQUEST, MISSING_CAPABILITY, message) }
    }

    pub(crate) fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL_ERROR, "a fault of the server")
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Whether the whole HTTP request failed, and not one message in it.
    pub(crate) fn is_https(&self) -> bool {
        self.code > 0 || self.status.is_server_error()
    }

    /// The text of the JSON-RPC `error`.
    pub(crate) fn text(&self) -> String {
        let message = serde_json::Value::from(&*self.message);
        let mut text = format!(r#"{{"code":{},"message":{message}"#, self.code);
        if let Some(data) = &self.data {
            write!(text, r#","data":{data}"#).expect("a string takes every write");
        }
        text.push('}');
        text
    }
}

/// As much of a caller's text as is repeated to the caller.
fn echo(text: &str) -> String {
    text.chars().take(MAX_ECHO_CHARS).collect()
}
