//! Calls of the service, and the one place where its errors become answers.

use std::time::Duration;

use http::header::{AUTHORIZATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};
use tonic_types::StatusExt;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;
use toolgate_api_proto::v1::{ErrorReason, ListToolsRequest, ListToolsResponse, ToolView};

use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::resource_metadata;

/// The domain of the error details that the services publish.
const DOMAIN: &str = "toolgate.dev";
/// What the endpoint takes.
pub(crate) const SCOPE: &str = "mcp:call";

/// `message` with the caller's credential, for the service to judge.
pub(crate) fn request<Q>(caller: &Caller, message: Q) -> tonic::Request<Q> {
    let mut request = tonic::Request::new(message);
    let credential = caller.authorization.clone().map(|value| (AUTHORIZATION, value));
    *request.metadata_mut() = MetadataMap::from_headers(HeaderMap::from_iter(credential));
    request
}

/// Lists of what agents read.
pub(crate) async fn list_served<C: ToolCatalog>(
    catalog: &C,
    caller: &Caller,
    list: ListToolsRequest,
) -> Result<ListToolsResponse, Refusal> {
    let list = ListToolsRequest { view: ToolView::Served.into(), ..list };
    let answer = catalog.list_tools(request(caller, list)).await;
    answer.map(tonic::Response::into_inner).map_err(|status| refusal(&status, caller))
}

/// Has the service judge the credential: whoever may list tools may use the endpoint. The answer is the revision of the
/// caller's catalogue.
pub(crate) async fn admit<C: ToolCatalog>(catalog: &C, caller: &Caller) -> Result<String, Refusal> {
    let list = ListToolsRequest { page_size: 1, ..ListToolsRequest::default() };
    Ok(list_served(catalog, caller, list).await?.revision)
}

/// The published reason of an error.
pub(crate) fn reason(status: &Status) -> Option<ErrorReason> {
    let info = status.get_details_error_info().filter(|info| info.domain == DOMAIN)?;
    ErrorReason::from_str_name(&format!("ERROR_REASON_{}", info.reason))
}

/// The answer to `caller` for an error of the service.
pub(crate) fn refusal(status: &Status, caller: &Caller) -> Refusal {
    let refusal = plain(status);
    let mut refusal = match challenge(&refusal, status, caller) {
        Some(challenge) => refusal.with_header(WWW_AUTHENTICATE, challenge),
        None => refusal,
    };
    if let Some(wait) = status.get_details_retry_info().and_then(|retry| retry.retry_delay) {
        refusal = refusal.with_header(RETRY_AFTER, whole_seconds(wait));
    }
    Refusal { is_the_services: true, ..refusal }
}

fn plain(status: &Status) -> Refusal {
    let theirs = status.message();
    match status.code() {
        Code::InvalidArgument | Code::OutOfRange | Code::NotFound => Refusal::invalid_params(theirs),
        Code::Unauthenticated => {
            Refusal::http(StatusCode::UNAUTHORIZED, "send a valid key as `authorization: Bearer`")
        }
        Code::PermissionDenied if reason(status) == Some(ErrorReason::ScopeMissing) => {
            Refusal::http(StatusCode::FORBIDDEN, format!("the key lacks the scope {SCOPE}"))
        }
        Code::PermissionDenied => Refusal::http(StatusCode::FORBIDDEN, theirs),
        Code::ResourceExhausted => Refusal::http(StatusCode::TOO_MANY_REQUESTS, theirs),
        Code::Unavailable | Code::Cancelled => {
            Refusal::http(StatusCode::SERVICE_UNAVAILABLE, "cannot be answered now; try again")
        }
        Code::DeadlineExceeded => {
            Refusal::http(StatusCode::GATEWAY_TIMEOUT, "not answered in time; try again")
        }
        Code::Ok
        | Code::Unknown
        | Code::AlreadyExists
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::Unimplemented
        | Code::Internal
        | Code::DataLoss => Refusal::internal(),
    }
}

/// RFC 6750, section 3, with what RFC 9728 adds: an `error` only where a credential was sent, and what the endpoint takes.
fn challenge(refusal: &Refusal, status: &Status, caller: &Caller) -> Option<HeaderValue> {
    let error = match (refusal.status, reason(status)) {
        (StatusCode::UNAUTHORIZED, Some(ErrorReason::CredentialInvalid)) => r#"error="invalid_token", "#,
        (StatusCode::UNAUTHORIZED, _) => "",
        (StatusCode::FORBIDDEN, Some(ErrorReason::ScopeMissing)) => r#"error="insufficient_scope", "#,
        _ => return None,
    };
    let metadata = resource_metadata::url(&caller.origin);
    let challenge = format!(r#"Bearer {error}scope="{SCOPE}", resource_metadata="{metadata}""#);
    HeaderValue::try_from(challenge).ok()
}

/// Rounded up, so that nobody comes back too early.
fn whole_seconds(wait: Duration) -> HeaderValue {
    HeaderValue::from(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
}
