//! What becomes of a service's error on these routes: the one place where that is decided.

use std::time::Duration;

use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use tonic::{Code, Status};
use tonic_types::{ErrorInfo, StatusExt};
use toolgate_api_proto::v1::ErrorReason;

use crate::envelope::Refusal;

/// The domain of the error details that the services publish; those of any other are not passed on.
const DOMAIN: &str = "toolgate.dev";

/// The error answer for `status`.
///
/// `details` holds the published reason and its metadata. A text of the service is passed on only where the caller's
/// request is at fault; where the server is, the text is ours.
pub(crate) fn refusal(status: &Status) -> Refusal {
    let info = status.get_details_error_info().filter(|info| info.domain == DOMAIN);
    let reason = info.as_ref().and_then(reason);
    let mut refusal = with_challenge(plain(status, reason), reason, info.as_ref());
    if let Some(wait) = status.get_details_retry_info().and_then(|retry| retry.retry_delay) {
        refusal = refusal.with_header(RETRY_AFTER, whole_seconds(wait));
    }
    if let Some(info) = info {
        refusal.body.details.extend(info.metadata);
        refusal.body.details.insert("reason".to_owned(), info.reason);
    }
    refusal
}

/// The published reason of an error.
pub(crate) fn reason_of(status: &Status) -> Option<ErrorReason> {
    status.get_details_error_info().filter(|info| info.domain == DOMAIN).as_ref().and_then(reason)
}

fn plain(status: &Status, reason: Option<ErrorReason>) -> Refusal {
    let theirs = status.message();
    let (http, code, message) = match status.code() {
        Code::InvalidArgument | Code::OutOfRange => (StatusCode::BAD_REQUEST, "VALIDATION_ERROR", theirs),
        Code::Unauthenticated => {
            (StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "send a valid key as `authorization: Bearer`")
        }
        Code::PermissionDenied => (StatusCode::FORBIDDEN, "FORBIDDEN", theirs),
        Code::NotFound if reason == Some(ErrorReason::UpstreamNotFound) => {
            (StatusCode::NOT_FOUND, "NOT_FOUND", "No such tool server")
        }
        Code::NotFound => (StatusCode::NOT_FOUND, "NOT_FOUND", theirs),
        Code::Aborted | Code::AlreadyExists => (StatusCode::CONFLICT, "CONFLICT", theirs),
        Code::FailedPrecondition => (StatusCode::CONFLICT, "INVALID_STATE", theirs),
        Code::ResourceExhausted => (StatusCode::TOO_MANY_REQUESTS, "LIMIT_EXCEEDED", theirs),
        Code::Unavailable | Code::Cancelled => {
            (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", "cannot be answered now; try again")
        }
        Code::DeadlineExceeded => {
            (StatusCode::GATEWAY_TIMEOUT, "DEADLINE_EXCEEDED", "not answered in time; try again")
        }
        Code::Unimplemented => (StatusCode::NOT_IMPLEMENTED, "NOT_IMPLEMENTED", "not offered by this server"),
        Code::Ok | Code::Unknown | Code::Internal | Code::DataLoss => return Refusal::internal(),
    };
    Refusal::new(http, code, message)
}

/// RFC 6750, section 3: a challenge has at least one parameter, an `error` only when a credential was sent, and says
/// which scope is lacking.
fn with_challenge(refusal: Refusal, reason: Option<ErrorReason>, info: Option<&ErrorInfo>) -> Refusal {
    let challenge = match (refusal.status, reason) {
        (StatusCode::UNAUTHORIZED, Some(ErrorReason::CredentialInvalid)) => {
            HeaderValue::from_static(r#"Bearer realm="toolgate", error="invalid_token""#)
        }
        (StatusCode::UNAUTHORIZED, _) => HeaderValue::from_static(r#"Bearer realm="toolgate""#),
        (StatusCode::FORBIDDEN, Some(ErrorReason::ScopeMissing)) => insufficient_scope(info),
        _ => return refusal,
    };
    refusal.with_header(WWW_AUTHENTICATE, challenge)
}

fn insufficient_scope(info: Option<&ErrorInfo>) -> HeaderValue {
    let scope = info.and_then(|info| info.metadata.get("scope")).filter(|scope| is_quotable(scope));
    scope
        .and_then(|scope| {
            HeaderValue::try_from(format!(r#"Bearer error="insufficient_scope", scope="{scope}""#)).ok()
        })
        .unwrap_or_else(|| HeaderValue::from_static(r#"Bearer error="insufficient_scope""#))
}

fn is_quotable(scope: &str) -> bool {
    scope.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\')
}

fn reason(info: &ErrorInfo) -> Option<ErrorReason> {
    ErrorReason::from_str_name(&format!("ERROR_REASON_{}", info.reason))
}

/// Rounded up, so that nobody comes back too early.
fn whole_seconds(wait: Duration) -> HeaderValue {
    HeaderValue::from(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use http::HeaderName;
    use tonic_types::ErrorDetails;

    use super::*;

    fn status(code: Code, reason: &str, metadata: &[(&str, &str)]) -> Status {
        let metadata: HashMap<_, _> =
            metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let details = ErrorDetails::with_error_info(reason, DOMAIN, metadata);
        Status::with_error_details(code, "the service's own words", details)
    }

    fn header(status: &Status, name: &HeaderName) -> Option<HeaderValue> {
        refusal(status).headers.into_iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }

    #[test]
    fn every_status_code_has_its_http_status_and_code() {
        let expected = [
            (Code::Ok, 500, "INTERNAL"),
            (Code::Cancelled, 503, "UNAVAILABLE"),
            (Code::Unknown, 500, "INTERNAL"),
            (Code::InvalidArgument, 400, "VALIDATION_ERROR"),
            (Code::DeadlineExceeded, 504, "DEADLINE_EXCEEDED"),
            (Code::NotFound, 404, "NOT_FOUND"),
            (Code::AlreadyExists, 409, "CONFLICT"),
            (Code::PermissionDenied, 403, "FORBIDDEN"),
            (Code::ResourceExhausted, 429, "LIMIT_EXCEEDED"),
            (Code::FailedPrecondition, 409, "INVALID_STATE"),
            (Code::Aborted, 409, "CONFLICT"),
            (Code::OutOfRange, 400, "VALIDATION_ERROR"),
            (Code::Unimplemented, 501, "NOT_IMPLEMENTED"),
            (Code::Internal, 500, "INTERNAL"),
            (Code::Unavailable, 503, "UNAVAILABLE"),
            (Code::DataLoss, 500, "INTERNAL"),
            (Code::Unauthenticated, 401, "UNAUTHORIZED"),
        ];
        for (code, http, error) in expected {
            let refusal = refusal(&Status::new(code, "x"));
            assert_eq!((refusal.status.as_u16(), refusal.body.error), (http, error), "{code:?}");
        }
    }

    #[test]
    fn words_of_the_service_are_kept_back_where_the_server_is_at_fault() {
        for code in [Code::Internal, Code::Unknown, Code::DataLoss, Code::Unavailable, Code::DeadlineExceeded]
        {
            let refusal = refusal(&Status::new(code, "connect to 10.1.2.3: refused"));
            assert!(!refusal.body.message.contains("10.1.2.3"), "{code:?}");
            assert!(refusal.body.details.is_empty());
        }
    }

    #[test]
    fn reason_and_metadata_are_details() {
        let status = status(Code::Aborted, "DEFINITION_CHANGED", &[("current_hash", "sha256:2")]);
        let details = refusal(&status).body.details;
        let expected = [("current_hash", "sha256:2"), ("reason", "DEFINITION_CHANGED")];
        assert!(details.iter().map(|(k, v)| (k.as_str(), v.as_str())).eq(expected));
    }

    #[test]
    fn details_of_another_domain_are_not_passed_on() {
        let details = ErrorDetails::with_error_info(
            "UPSTREAM_NOT_FOUND",
            "elsewhere.example",
            [("host".to_owned(), "db-1".to_owned())],
        );
        let refusal = refusal(&Status::with_error_details(Code::NotFound, "no", details));
        assert!(refusal.body.details.is_empty());
        assert_eq!(refusal.body.message, "no");
    }

    #[test]
    fn a_challenge_names_what_is_lacking() {
        let challenge = |status: &Status| header(status, &WWW_AUTHENTICATE);
        let expected = [
            (status(Code::Unauthenticated, "CREDENTIAL_MISSING", &[]), r#"Bearer realm="toolgate""#),
            (
                status(Code::Unauthenticated, "CREDENTIAL_INVALID", &[]),
                r#"Bearer realm="toolgate", error="invalid_token""#,
            ),
            (
                status(Code::PermissionDenied, "SCOPE_MISSING", &[("scope", "mcp:read")]),
                r#"Bearer error="insufficient_scope", scope="mcp:read""#,
            ),
            (
                status(Code::PermissionDenied, "SCOPE_MISSING", &[("scope", "a\", b=\"c")]),
                r#"Bearer error="insufficient_scope""#,
            ),
        ];
        for (status, header) in expected {
            assert_eq!(challenge(&status).expect("a challenge"), header);
        }
        assert_eq!(challenge(&Status::permission_denied("not yours")), None);
    }

    #[test]
    fn the_time_to_wait_is_rounded_up() {
        let details = ErrorDetails::with_retry_info(Some(Duration::from_millis(1200)));
        let status = Status::with_error_details(Code::Unavailable, "x", details);
        assert_eq!(header(&status, &RETRY_AFTER).expect("a time"), "2");
    }
}
