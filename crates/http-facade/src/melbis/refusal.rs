//! The one line of text that every error of this route is.

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tonic::{Code, Status};
use toolgate_tool_list as tool_list;

use crate::envelope::Refusal;
use crate::mapping;

pub(super) struct MelbisRefusal {
    status: StatusCode,
    text: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// What becomes of the service's `status` where `unit` was asked for.
pub(super) fn of(status: &Status, unit: &str) -> MelbisRefusal {
    let plain = mapping::refusal(status);
    let text = match status.code() {
        Code::PermissionDenied => tool_list::NO_RIGHT.to_owned(),
        Code::NotFound if !unit.is_empty() => tool_list::no_such_tool(unit),
        _ => return plain.into(),
    };
    MelbisRefusal { status: StatusCode::FORBIDDEN, text, headers: plain.headers }
}

impl From<Refusal> for MelbisRefusal {
    /// `CODE: explanation`.
    fn from(refusal: Refusal) -> Self {
        let Refusal { status, body, headers } = refusal;
        Self { status, text: format!("{}: {}", body.error, body.message), headers }
    }
}

impl IntoResponse for MelbisRefusal {
    /// A line may repeat what the caller sent, so nobody shall take it for anything but text.
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::from_iter(self.headers);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        (self.status, headers, self.text).into_response()
    }
}
