//! `ServerErrorResponse`, the form that every error of these routes has.

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Serialize;

use crate::envelope::Refusal;

pub(super) struct OxpRefusal(Refusal);

/// The body of an error answer.
#[derive(Serialize)]
struct ServerErrorResponse<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    message: &'a str,
}

impl From<Refusal> for OxpRefusal {
    /// OXP knows neither 403 nor 404 and 409: a credential without the right is as none, and what is not there, or not as it
    /// would have to be, is a bad request.
    fn from(mut refusal: Refusal) -> Self {
        refusal.status = match refusal.status {
            StatusCode::FORBIDDEN => StatusCode::UNAUTHORIZED,
            StatusCode::NOT_FOUND | StatusCode::CONFLICT => StatusCode::BAD_REQUEST,
            status => status,
        };
        Self(refusal)
    }
}

impl IntoResponse for OxpRefusal {
    fn into_response(self) -> Response {
        let Refusal { status, body, headers } = self.0;
        let body = ServerErrorResponse { schema: super::SCHEMA, message: &body.message };
        let body = serde_json::to_vec(&body).expect("strings are JSON");
        let mut headers = HeaderMap::from_iter(headers);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        (status, headers, body).into_response()
    }
}
