//! What becomes of a call that brings no result, in OXP's words.

use std::collections::BTreeMap;

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use tonic::Status;
use tonic_types::{FieldViolation, StatusExt};
use toolgate_api_proto::v1::ErrorReason;

use crate::answer::Fault;
use crate::envelope::Refusal;
use crate::mapping;
use crate::oxp::refusal::OxpRefusal;

/// The service's own name of `input`.
const INPUT: &str = "arguments_json";

pub(super) enum CallRefusal {
    Server(OxpRefusal),
    /// 422: the call is good, its input is not.
    Input(ValidationErrorResponse),
}

/// The body of a 422.
#[derive(Serialize)]
pub(super) struct ValidationErrorResponse {
    #[serde(rename = "$schema")]
    schema: &'static str,
    message: String,
    /// By the name of the parameter.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameter_errors: BTreeMap<String, String>,
}

impl CallRefusal {
    pub(super) fn of(status: &Status) -> Self {
        let violations = status.get_details_bad_request().map(|bad| bad.field_violations).unwrap_or_default();
        match (mapping::reason_of(status), violations.first()) {
            (Some(ErrorReason::ArgumentsMisfit), _) => Self::Input(misfit(&violations)),
            (Some(ErrorReason::FieldInvalid), Some(first)) if first.field == INPUT => {
                Self::Input(ValidationErrorResponse::new(format!("input: {}", first.description)))
            }
            (Some(ErrorReason::FieldInvalid), Some(FieldViolation { field, description, .. })) => {
                match field.as_str() {
                    "oxp_id" => Refusal::invalid("request.tool_id", description).into(),
                    "call_id" => Refusal::invalid("request.call_id", description).into(),
                    _ => mapping::refusal(status).into(),
                }
            }
            // Not to be tried again as it is: the caller has to know why, and whether the tool may have run.
            (
                Some(
                    ErrorReason::ToolNotServed
                    | ErrorReason::UpstreamRefused
                    | ErrorReason::UpstreamFailed
                    | ErrorReason::ClientCapabilityMissing,
                ),
                _,
            ) => Refusal::new(StatusCode::BAD_REQUEST, "INVALID_STATE", status.message()).into(),
            _ => mapping::refusal(status).into(),
        }
    }
}

/// Each problem stands with the parameter that it lies in; what concerns the whole stands in the message.
fn misfit(violations: &[FieldViolation]) -> ValidationErrorResponse {
    let mut message = "the input does not fit the tool's input schema".to_owned();
    let mut errors: BTreeMap<String, String> = BTreeMap::new();
    let (mut separator, add) = (": ", |text: &mut String, separator: &str, problem: &str| {
        text.push_str(separator);
        text.push_str(problem);
    });
    for FieldViolation { field, description, .. } in violations {
        match parameter(field) {
            None => add(&mut message, std::mem::replace(&mut separator, "; "), description),
            Some(name) => {
                let text = errors.entry(name).or_default();
                let separator = if text.is_empty() { "" } else { "; " };
                add(text, separator, description);
            }
        }
    }
    ValidationErrorResponse { parameter_errors: errors, ..ValidationErrorResponse::new(message) }
}

/// The parameter that a pointer leads into (RFC 6901).
fn parameter(field: &str) -> Option<String> {
    let name = field.strip_prefix(INPUT)?.strip_prefix('/')?.split('/').next()?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}

impl ValidationErrorResponse {
    fn new(message: String) -> Self {
        Self { schema: crate::oxp::SCHEMA, message, parameter_errors: BTreeMap::new() }
    }
}

impl From<Refusal> for CallRefusal {
    fn from(refusal: Refusal) -> Self {
        Self::Server(refusal.into())
    }
}

impl From<Fault> for CallRefusal {
    fn from(fault: Fault) -> Self {
        Refusal::from(fault).into()
    }
}

impl IntoResponse for CallRefusal {
    fn into_response(self) -> Response {
        match self {
            Self::Server(refusal) => refusal.into_response(),
            Self::Input(body) => {
                let body = serde_json::to_vec(&body).expect("strings are JSON");
                let headers = [
                    (CONTENT_TYPE, HeaderValue::from_static("application/json")),
                    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
                ];
                (StatusCode::UNPROCESSABLE_ENTITY, headers, body).into_response()
            }
        }
    }
}
