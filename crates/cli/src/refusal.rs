//! What a server's refusal says, from the `google.rpc` details of its status.

use std::collections::HashMap;

use tonic::{Code, Status};
use tonic_types::StatusExt;
use toolgate_api_proto::v1::ErrorReason;

use crate::exit::is_broken_connection;

/// What is wrong: the bad fields if the status names any, else its message.
pub(crate) fn message(status: &Status) -> String {
    let fields = status.get_details_bad_request().map(|bad| bad.field_violations).unwrap_or_default();
    if !fields.is_empty() {
        let each: Vec<_> = fields
            .iter()
            .map(|violation| format!("{}: {}", violation.field, violation.description))
            .collect();
        return each.join("; ");
    }
    match status.message() {
        "" => status.code().description().to_owned(),
        message => message.to_owned(),
    }
}

/// The present fingerprint, when an approval was refused because it named another.
pub(crate) fn current_hash(status: &Status) -> Option<String> {
    match reason(status) {
        Some((ErrorReason::DefinitionChanged, mut metadata)) => metadata.remove("current_hash"),
        _ => None,
    }
}

/// What the caller can do about it.
pub(crate) fn hint(status: &Status) -> Option<String> {
    if is_broken_connection(status) {
        return Some("the connection broke or the call took too long; a write may have happened".to_owned());
    }
    let Some((reason, metadata)) = reason(status) else {
        return (status.code() == Code::Unimplemented)
            .then(|| "the server may be an older version".to_owned());
    };
    remedy(reason, &metadata).map(|remedy| match retry_after_s(status) {
        Some(seconds) => format!("{remedy} in {seconds} s"),
        None => remedy,
    })
}

fn reason(status: &Status) -> Option<(ErrorReason, HashMap<String, String>)> {
    let info = status.get_details_error_info()?;
    let reason = ErrorReason::from_str_name(&format!("ERROR_REASON_{}", info.reason))?;
    Some((reason, info.metadata))
}

fn retry_after_s(status: &Status) -> Option<u64> {
    let delay = status.get_details_retry_info()?.retry_delay?;
    Some(delay.as_secs() + u64::from(delay.subsec_nanos() > 0))
}

fn remedy(reason: ErrorReason, metadata: &HashMap<String, String>) -> Option<String> {
    let value = |key: &str| metadata.get(key).map(String::as_str);
    let remedy = match reason {
        ErrorReason::CredentialMissing => "set TOOLGATE_KEY, or pass --key-file FILE".to_owned(),
        ErrorReason::CredentialInvalid => "look at TOOLGATE_KEY, or at the file of --key-file".to_owned(),
        ErrorReason::ScopeMissing => format!("use a key with the scope `{}`", value("scope")?),
        ErrorReason::ClientNotFound => "look at --client; another client takes an operator key".to_owned(),
        ErrorReason::AgentNotFound | ErrorReason::AgentNameTaken => {
            "`toolgate agent list` shows what there is".to_owned()
        }
        ErrorReason::AttachmentNotFound
        | ErrorReason::AttachmentNameTaken
        | ErrorReason::AttachmentNotMcp => "`toolgate agent show NAME` shows what is attached".to_owned(),
        ErrorReason::ApiKeyNotFound => "`toolgate key list` shows what there is".to_owned(),
        ErrorReason::ClientNameTaken => "`toolgate client list` shows what there is".to_owned(),
        ErrorReason::OperatorRequired => "use an operator key".to_owned(),
        ErrorReason::LastOperatorKey => {
            "`toolgate key create --operator` makes another one; revoke this one with that".to_owned()
        }
        ErrorReason::UpstreamNotFound => "`toolgate upstream list` shows what there is".to_owned(),
        ErrorReason::ToolNotFound => "`toolgate tool list` shows what there is".to_owned(),
        ErrorReason::SlugTaken => {
            format!("choose another name; `toolgate upstream show {}` shows the holder", value("slug")?)
        }
        ErrorReason::NameTaken => {
            "`toolgate tool show NAME` shows the holder; choose another name".to_owned()
        }
        ErrorReason::DefinitionChanged | ErrorReason::EtagMismatch => {
            "read it again and act on what it is now".to_owned()
        }
        ErrorReason::ToolNotListedYet | ErrorReason::ListingStale => {
            "toolgate upstream sync NAME --wait".to_owned()
        }
        ErrorReason::ToolNotServed => "`toolgate tool show NAME` tells what would end that".to_owned(),
        ErrorReason::ArgumentsMisfit | ErrorReason::ArgumentHeaderMismatch => {
            "`toolgate tool show NAME --json` has the input schema in its definition".to_owned()
        }
        ErrorReason::UpstreamFailed if value("outcome") == Some("unknown") => {
            "look whether the tool did its work before calling it again".to_owned()
        }
        ErrorReason::ClientCapabilityMissing => {
            "call it from an MCP client that has these capabilities".to_owned()
        }
        ErrorReason::UpstreamFailed | ErrorReason::UpstreamRefused => {
            "`toolgate upstream list` shows how its server does".to_owned()
        }
        ErrorReason::LimitExceeded => format!("the limit is {} = {}", value("limit")?, value("value")?),
        ErrorReason::StoreUnavailable if value("outcome") == Some("unknown") => {
            "the write may have happened; look before trying again".to_owned()
        }
        ErrorReason::StoreUnavailable
        | ErrorReason::RevisionNotReached
        | ErrorReason::Draining
        | ErrorReason::WatchLagged => "nothing was changed; try again".to_owned(),
        ErrorReason::WatchExpired => "watch anew, without a revision".to_owned(),
        ErrorReason::Internal => format!("the server's log tells more under incident {}", value("incident")?),
        ErrorReason::Unspecified
        | ErrorReason::FieldInvalid
        | ErrorReason::DefaultClient
        | ErrorReason::ToolRemoved
        | ErrorReason::ToolConflicted => return None,
    };
    Some(remedy)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tonic_types::ErrorDetails;

    use super::*;

    #[test]
    fn the_bad_fields_are_the_message() {
        let mut details = ErrorDetails::new();
        details.add_bad_request_violation("slug", "must not hold `__`");
        details.add_bad_request_violation("http.url", "must be absolute");
        let status = Status::with_error_details(Code::InvalidArgument, "2 fields are wrong", details);
        assert_eq!(message(&status), "slug: must not hold `__`; http.url: must be absolute");
        assert_eq!(message(&Status::not_found("")), "Some requested entity was not found");
    }

    #[test]
    fn a_retryable_refusal_says_when_to_try_again() {
        let mut details = ErrorDetails::with_error_info(
            "STORE_UNAVAILABLE",
            "toolgate.dev",
            [("outcome".to_owned(), "unchanged".to_owned())],
        );
        details.set_retry_info(Some(Duration::from_millis(1500)));
        let status = Status::with_error_details(Code::Unavailable, "the store is unavailable", details);
        assert_eq!(hint(&status).as_deref(), Some("nothing was changed; try again in 2 s"));
    }

    #[test]
    fn a_reason_that_is_not_known_gives_no_hint() {
        let details = ErrorDetails::with_error_info("OF_TOMORROW", "toolgate.dev", []);
        assert_eq!(hint(&Status::with_error_details(Code::Internal, "x", details)), None);
    }
}
