//! The one mapping from faults to statuses.

use std::{collections::HashMap, time::Duration};

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};
use toolgate_api_proto::v1::ErrorReason;
use toolgate_definition::arguments::Misfit;
use toolgate_domain::{Fault, Violation};

use crate::rpc::Rpc;

/// Domain of every `google.rpc.ErrorInfo`.
const DOMAIN: &str = "toolgate.dev";
/// When to try again where nothing better is known.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The status that a caller sees. `incident` is asked for an identifier where a cause goes into the log.
pub(crate) fn from_fault(rpc: Rpc, fault: &Fault, incident: impl FnOnce() -> String) -> Status {
    let message = fault.to_string();
    match fault {
        Fault::Invalid(violations) => invalid(message, violations),
        Fault::CredentialMissing => plain(Code::Unauthenticated, ErrorReason::CredentialMissing, message, []),
        Fault::CredentialInvalid => plain(Code::Unauthenticated, ErrorReason::CredentialInvalid, message, []),
        Fault::ScopeMissing(scope) => {
            let metadata = [("scope", scope.to_string())];
            plain(Code::PermissionDenied, ErrorReason::ScopeMissing, message, metadata)
        }
        Fault::OperatorRequired => plain(Code::PermissionDenied, ErrorReason::OperatorRequired, message, []),
        Fault::ClientNotFound => plain(Code::NotFound, ErrorReason::ClientNotFound, message, []),
        Fault::UpstreamNotFound => plain(Code::NotFound, ErrorReason::UpstreamNotFound, message, []),
        Fault::ToolNotFound => plain(Code::NotFound, ErrorReason::ToolNotFound, message, []),
        Fault::AgentNotFound => plain(Code::NotFound, ErrorReason::AgentNotFound, message, []),
        Fault::AttachmentNotFound => plain(Code::NotFound, ErrorReason::AttachmentNotFound, message, []),
        Fault::AttachmentNotMcp { kind } => {
            let metadata = [("type", (*kind).to_owned())];
            plain(Code::InvalidArgument, ErrorReason::AttachmentNotMcp, message, metadata)
        }
        Fault::ApiKeyNotFound => plain(Code::NotFound, ErrorReason::ApiKeyNotFound, message, []),
        Fault::LastOperatorKey => precondition(ErrorReason::LastOperatorKey, "api_key", message),
        Fault::DefaultClient => precondition(ErrorReason::DefaultClient, "client", message),
        Fault::ClientNameTaken { name } => {
            plain(Code::AlreadyExists, ErrorReason::ClientNameTaken, message, [("name", name.clone())])
        }
        Fault::SlugTaken { slug } => {
            plain(Code::AlreadyExists, ErrorReason::SlugTaken, message, [("slug", slug.clone())])
        }
        Fault::AgentNameTaken { name } => {
            plain(Code::AlreadyExists, ErrorReason::AgentNameTaken, message, [("name", name.clone())])
        }
        Fault::AttachmentNameTaken { name } => {
            plain(Code::AlreadyExists, ErrorReason::AttachmentNameTaken, message, [("name", name.clone())])
        }
        Fault::NameTaken { name } => {
            plain(Code::AlreadyExists, ErrorReason::NameTaken, message, [("name", name.clone())])
        }
        Fault::DefinitionChanged { reviewed, current } => {
            let metadata = [("reviewed_hash", reviewed.to_string()), ("current_hash", current.to_string())];
            plain(Code::Aborted, ErrorReason::DefinitionChanged, message, metadata)
        }
        Fault::EtagMismatch { current } => {
            plain(Code::Aborted, ErrorReason::EtagMismatch, message, [("current_etag", current.clone())])
        }
        Fault::ToolRemoved => precondition(ErrorReason::ToolRemoved, "tool", message),
        Fault::ToolNotListedYet => precondition(ErrorReason::ToolNotListedYet, "tool", message),
        Fault::ToolConflicted => precondition(ErrorReason::ToolConflicted, "tool", message),
        Fault::ToolNotServed { state, .. } => {
            let metadata = [("state", state.as_str().to_uppercase())];
            plain(Code::FailedPrecondition, ErrorReason::ToolNotServed, message, metadata)
        }
        Fault::ArgumentsMisfit(misfits) => misfitting(message, misfits),
        Fault::UpstreamRefused { code, message: theirs } => {
            let metadata = [("code", code.to_string()), ("message", theirs.clone())];
            plain(Code::FailedPrecondition, ErrorReason::UpstreamRefused, message, metadata)
        }
        Fault::ArgumentHeaderMismatch { header } => {
            let metadata = [("header", header.clone())];
            plain(Code::InvalidArgument, ErrorReason::ArgumentHeaderMismatch, message, metadata)
        }
        Fault::CapabilityMissing { capabilities_json } => {
            let metadata = [("required_capabilities", capabilities_json.clone())];
            plain(Code::FailedPrecondition, ErrorReason::ClientCapabilityMissing, message, metadata)
        }
        Fault::UpstreamFailed { may_have_run, .. } => {
            let outcome = if *may_have_run { "unknown" } else { "unchanged" };
            plain(Code::Unavailable, ErrorReason::UpstreamFailed, message, [("outcome", outcome.to_owned())])
        }
        Fault::ListingStale => retry(ErrorReason::ListingStale, message, []),
        Fault::LimitExceeded { limit, value, .. } => {
            let metadata = [("limit", (*limit).to_owned()), ("value", value.to_string())];
            plain(Code::ResourceExhausted, ErrorReason::LimitExceeded, message, metadata)
        }
        Fault::RevisionNotReached => retry(ErrorReason::RevisionNotReached, message, []),
        Fault::StoreUnavailable { outcome_unknown, cause } => {
            tracing::error!(rpc = rpc.rule().method, cause, "the store is not available");
            let outcome = if *outcome_unknown { "unknown" } else { "unchanged" };
            retry(ErrorReason::StoreUnavailable, message, [("outcome", outcome.to_owned())])
        }
        Fault::Draining => retry(ErrorReason::Draining, message, []),
        Fault::WatchLagged => retry(ErrorReason::WatchLagged, message, []),
        Fault::WatchExpired { oldest } => {
            let metadata = [("oldest_revision", oldest.clone())];
            plain(Code::OutOfRange, ErrorReason::WatchExpired, message, metadata)
        }
        Fault::Internal { cause } => {
            let incident = incident();
            tracing::error!(rpc = rpc.rule().method, incident, cause, "internal error {incident}");
            plain(Code::Internal, ErrorReason::Internal, message, [("incident", incident)])
        }
    }
}

/// The server's own deadline for a call passed.
pub(crate) fn deadline_exceeded(rpc: Rpc) -> Status {
    Status::deadline_exceeded(format!("{} took longer than it may", rpc.rule().method))
}

fn info<const N: usize>(reason: ErrorReason, metadata: [(&str, String); N]) -> ErrorDetails {
    let name = reason.as_str_name().trim_start_matches("ERROR_REASON_");
    let metadata: HashMap<String, String> =
        metadata.into_iter().map(|(key, value)| (key.into(), value)).collect();
    let mut details = ErrorDetails::new();
    details.set_error_info(name, DOMAIN, metadata);
    details
}

fn plain<const N: usize>(
    code: Code,
    reason: ErrorReason,
    message: String,
    metadata: [(&str, String); N],
) -> Status {
    Status::with_error_details(code, message, info(reason, metadata))
}

fn invalid(message: String, violations: &[Violation]) -> Status {
    let first = violations.first().map(|violation| violation.field.clone()).unwrap_or_default();
    let mut details = info(ErrorReason::FieldInvalid, [("field", first)]);
    for violation in violations {
        details.add_bad_request_violation(&violation.field, &violation.problem);
    }
    Status::with_error_details(Code::InvalidArgument, message, details)
}

fn misfitting(message: String, misfits: &[Misfit]) -> Status {
    let mut details = info(ErrorReason::ArgumentsMisfit, []);
    for Misfit { path, problem } in misfits {
        details.add_bad_request_violation(format!("arguments_json{path}"), problem);
    }
    Status::with_error_details(Code::InvalidArgument, message, details)
}

fn precondition(reason: ErrorReason, subject: &str, message: String) -> Status {
    let mut details = info(reason, []);
    let kind = reason.as_str_name().trim_start_matches("ERROR_REASON_");
    details.add_precondition_failure_violation(kind, subject, &message);
    Status::with_error_details(Code::FailedPrecondition, message, details)
}

fn retry<const N: usize>(reason: ErrorReason, message: String, metadata: [(&str, String); N]) -> Status {
    let mut details = info(reason, metadata);
    details.set_retry_info(Some(RETRY_AFTER));
    Status::with_error_details(Code::Unavailable, message, details)
}

#[cfg(test)]
mod tests {
    use toolgate_definition::Fingerprint;
    use toolgate_domain::{Scope, ToolState};

    use super::*;

    fn one_of_each() -> Vec<(Fault, Code, ErrorReason)> {
        let print = |byte| Fingerprint::from_bytes([byte; 32]);
        let secret = || "10.0.0.7 /var/lib".to_owned();
        vec![
            (Fault::invalid("slug", "is bad"), Code::InvalidArgument, ErrorReason::FieldInvalid),
            (Fault::CredentialMissing, Code::Unauthenticated, ErrorReason::CredentialMissing),
            (Fault::CredentialInvalid, Code::Unauthenticated, ErrorReason::CredentialInvalid),
            (Fault::ScopeMissing(Scope::Write), Code::PermissionDenied, ErrorReason::ScopeMissing),
            (Fault::ClientNotFound, Code::NotFound, ErrorReason::ClientNotFound),
            (Fault::UpstreamNotFound, Code::NotFound, ErrorReason::UpstreamNotFound),
            (Fault::ToolNotFound, Code::NotFound, ErrorReason::ToolNotFound),
            (Fault::ClientNameTaken { name: "a".into() }, Code::AlreadyExists, ErrorReason::ClientNameTaken),
            (Fault::OperatorRequired, Code::PermissionDenied, ErrorReason::OperatorRequired),
            (Fault::AgentNotFound, Code::NotFound, ErrorReason::AgentNotFound),
            (Fault::AttachmentNotFound, Code::NotFound, ErrorReason::AttachmentNotFound),
            (Fault::AgentNameTaken { name: "a".into() }, Code::AlreadyExists, ErrorReason::AgentNameTaken),
            (
                Fault::AttachmentNameTaken { name: "a".into() },
                Code::AlreadyExists,
                ErrorReason::AttachmentNameTaken,
            ),
            (
                Fault::AttachmentNotMcp { kind: "function" },
                Code::InvalidArgument,
                ErrorReason::AttachmentNotMcp,
            ),
            (Fault::ApiKeyNotFound, Code::NotFound, ErrorReason::ApiKeyNotFound),
            (Fault::DefaultClient, Code::FailedPrecondition, ErrorReason::DefaultClient),
            (Fault::LastOperatorKey, Code::FailedPrecondition, ErrorReason::LastOperatorKey),
            (Fault::SlugTaken { slug: "a".into() }, Code::AlreadyExists, ErrorReason::SlugTaken),
            (Fault::NameTaken { name: "a".into() }, Code::AlreadyExists, ErrorReason::NameTaken),
            (
                Fault::DefinitionChanged { reviewed: print(1), current: print(2) },
                Code::Aborted,
                ErrorReason::DefinitionChanged,
            ),
            (Fault::EtagMismatch { current: "e".into() }, Code::Aborted, ErrorReason::EtagMismatch),
            (Fault::ToolRemoved, Code::FailedPrecondition, ErrorReason::ToolRemoved),
            (Fault::ToolNotListedYet, Code::FailedPrecondition, ErrorReason::ToolNotListedYet),
            (Fault::ToolConflicted, Code::FailedPrecondition, ErrorReason::ToolConflicted),
            (
                Fault::LimitExceeded { limit: "L", value: 1, remedy: "wait" },
                Code::ResourceExhausted,
                ErrorReason::LimitExceeded,
            ),
            (
                Fault::ToolNotServed { state: ToolState::Drifted, remedy: "Review it." },
                Code::FailedPrecondition,
                ErrorReason::ToolNotServed,
            ),
            (
                Fault::ArgumentsMisfit(vec![Misfit { path: "/a".into(), problem: "is bad".into() }]),
                Code::InvalidArgument,
                ErrorReason::ArgumentsMisfit,
            ),
            (
                Fault::UpstreamRefused { code: -32603, message: "no".into() },
                Code::FailedPrecondition,
                ErrorReason::UpstreamRefused,
            ),
            (
                Fault::UpstreamFailed { problem: "timed out".into(), may_have_run: true },
                Code::Unavailable,
                ErrorReason::UpstreamFailed,
            ),
            (
                Fault::CapabilityMissing { capabilities_json: "{}".into() },
                Code::FailedPrecondition,
                ErrorReason::ClientCapabilityMissing,
            ),
            (
                Fault::ArgumentHeaderMismatch { header: "Region".into() },
                Code::InvalidArgument,
                ErrorReason::ArgumentHeaderMismatch,
            ),
            (Fault::ListingStale, Code::Unavailable, ErrorReason::ListingStale),
            (Fault::RevisionNotReached, Code::Unavailable, ErrorReason::RevisionNotReached),
            (
                Fault::StoreUnavailable { outcome_unknown: true, cause: secret() },
                Code::Unavailable,
                ErrorReason::StoreUnavailable,
            ),
            (Fault::Draining, Code::Unavailable, ErrorReason::Draining),
            (Fault::WatchLagged, Code::Unavailable, ErrorReason::WatchLagged),
            (Fault::WatchExpired { oldest: "r".into() }, Code::OutOfRange, ErrorReason::WatchExpired),
            (Fault::Internal { cause: secret() }, Code::Internal, ErrorReason::Internal),
        ]
    }

    #[test]
    fn every_fault_has_its_code_and_its_reason_and_every_reason_its_fault() {
        for (fault, code, reason) in one_of_each() {
            let status = from_fault(Rpc::GetTool, &fault, || "i".into());
            let info = status.get_details_error_info().unwrap();
            assert_eq!(status.code(), code, "{fault:?}");
            assert_eq!(format!("ERROR_REASON_{}", info.reason), reason.as_str_name());
            assert_eq!(info.domain, DOMAIN);
        }
        let reasons = (1..1000).filter_map(|n| ErrorReason::try_from(n).ok());
        let mapped: Vec<_> = one_of_each().into_iter().map(|(_, _, reason)| reason).collect();
        for reason in reasons {
            assert!(mapped.contains(&reason), "{reason:?} is in the contract and never sent");
        }
    }

    #[test]
    fn a_cause_is_never_sent() {
        for (fault, ..) in one_of_each() {
            let status = from_fault(Rpc::GetTool, &fault, || "i".into());
            let sent = format!("{} {:?}", status.message(), String::from_utf8_lossy(status.details()));
            assert!(!sent.contains("10.0.0.7"), "{fault:?}: {sent}");
        }
    }

    #[test]
    fn a_bad_argument_names_every_field() {
        let fault = Fault::Invalid(vec![Violation::new("a", "is x"), Violation::new("b.c", "is y")]);
        let status = from_fault(Rpc::GetTool, &fault, || "i".into());
        let found = status.get_details_bad_request().unwrap().field_violations;
        assert_eq!(found.iter().map(|v| v.field.as_str()).collect::<Vec<_>>(), ["a", "b.c"]);
        assert_eq!(status.message(), "a is x (and 1 more)");
    }

    #[test]
    fn a_stale_fingerprint_tells_the_present_one() {
        let fault = Fault::DefinitionChanged {
            reviewed: Fingerprint::from_bytes([1; 32]),
            current: Fingerprint::from_bytes([2; 32]),
        };
        let info = from_fault(Rpc::ApproveTool, &fault, || "i".into()).get_details_error_info().unwrap();
        assert_eq!(info.metadata["current_hash"], Fingerprint::from_bytes([2; 32]).to_string());
    }
}
