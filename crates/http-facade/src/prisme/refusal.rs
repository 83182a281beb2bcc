//! The codes that this route documents, where they are not those of the other routes.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, StatusCode};
use tonic::Status;

use crate::envelope::Refusal;
use crate::mapping;

/// The error answer for `status`. Whose service it came from is known by the published reason.
pub(super) fn refusal(status: &Status) -> Refusal {
    let mut refusal = mapping::refusal(status);
    match refusal.body.details.get("reason").map(String::as_str) {
        Some("AGENT_NOT_FOUND") => refusal.body.error = "AgentNotFound",
        Some("ATTACHMENT_NOT_FOUND") => refusal.body.error = "ToolNotFound",
        _ if refusal.status == StatusCode::UNAUTHORIZED => refusal.body.message = VALID_KEY.to_owned(),
        _ => {}
    }
    refusal
}

const VALID_KEY: &str = "send a valid key as `authorization: Bearer` or as `x-prismeai-api-key`";

/// A credential that is known to be bad before anybody is asked.
pub(super) fn unauthorized(message: &str) -> Refusal {
    Refusal::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", message).with_header(
        WWW_AUTHENTICATE,
        HeaderValue::from_static(r#"Bearer realm="toolgate", error="invalid_token""#),
    )
}
