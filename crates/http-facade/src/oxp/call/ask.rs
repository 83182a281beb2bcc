//! What a request asks for.

use std::borrow::Cow;
use std::error::Error;

use axum::body::{HttpBody, to_bytes};
use axum::extract::Request;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::LengthLimitError;
use tonic::Status;
use tonic::metadata::MetadataMap;
use toolgate_api_proto::v1::{CallToolRequest, call_tool_request::Tool};
use toolgate_definition::json::{Document, Kind, Node, ParseLimits};

use super::refusal::CallRefusal;
use crate::envelope::Refusal;
use crate::limits::{MAX_CALL_BODY_BYTES, MAX_CALL_BODY_DEPTH, MAX_UNJUDGED_BODY_BYTES};
use crate::oxp::ask::{MEMBER, UNSUPPORTED, credential, is_supported};
use crate::request::min_revision;

const BODY: ParseLimits = ParseLimits { max_bytes: MAX_CALL_BODY_BYTES, max_depth: MAX_CALL_BODY_DEPTH };
const CALL: &str = "request";

/// The parts of a request that this route reads.
pub(super) struct Ask {
    credential: Option<HeaderValue>,
    min_revision: String,
    tool_id: String,
    /// As the caller sent it.
    pub(super) call_id: Option<String>,
    /// JSON text, or empty.
    input: String,
}

impl Ask {
    /// A body that may be large is read only where `judge` finds the credential good, and without one none is.
    pub(super) async fn read(
        request: Request,
        judge: impl AsyncFnOnce(tonic::Request<CallToolRequest>) -> Result<(), Status>,
    ) -> Result<Self, CallRefusal> {
        let (head, body) = request.into_parts();
        let credential = credential(&head.headers)?;
        let min_revision = min_revision(&head.headers)?;
        let may_be_large = body.size_hint().upper().is_none_or(|most| most > MAX_UNJUDGED_BODY_BYTES);
        if credential.is_none() || may_be_large {
            let judged = judge(by(credential.as_ref(), CallToolRequest::default())).await;
            judged.map_err(|status| CallRefusal::of(&status))?;
        }
        check_is_json(&head.headers)?;
        let body = to_bytes(body, MAX_CALL_BODY_BYTES).await.map_err(|error| unread(&error))?;
        let text = std::str::from_utf8(&body).map_err(|_| Refusal::invalid("body", "send UTF-8"))?;
        let body =
            Document::parse(text, &BODY).map_err(|error| Refusal::invalid("body", &error.to_string()))?;
        let call = Call::read(body.root())?;
        Ok(Self { credential, min_revision, tool_id: call.tool_id, call_id: call.call_id, input: call.input })
    }

    /// The one call that answers this request.
    pub(super) fn request(&self) -> tonic::Request<CallToolRequest> {
        let call = CallToolRequest {
            tool: Some(Tool::OxpId(self.tool_id.clone())),
            arguments_json: self.input.clone(),
            call_id: self.call_id.clone().unwrap_or_default(),
            min_revision: self.min_revision.clone(),
            ..CallToolRequest::default()
        };
        by(self.credential.as_ref(), call)
    }
}

fn by(credential: Option<&HeaderValue>, call: CallToolRequest) -> tonic::Request<CallToolRequest> {
    let mut request = tonic::Request::new(call);
    let credential = credential.map(|value| (AUTHORIZATION, value.clone()));
    *request.metadata_mut() = MetadataMap::from_headers(HeaderMap::from_iter(credential));
    request
}

/// `CallToolRequest` of OXP.
struct Call {
    tool_id: String,
    call_id: Option<String>,
    input: String,
}

impl Call {
    /// No values are repeated in a refusal: `context` may hold secrets.
    fn read(body: Node<'_>) -> Result<Self, Refusal> {
        object("body", body)?;
        if body.get(MEMBER).is_some_and(|schema| !schema.as_str().is_some_and(|schema| is_supported(&schema)))
        {
            return Err(Refusal::invalid(MEMBER, UNSUPPORTED));
        }
        let call = body.get(CALL).ok_or_else(|| Refusal::invalid(CALL, "is missing; send an object"))?;
        object(CALL, call)?;
        let is_known = |name: &str| matches!(name, "tool_id" | "call_id" | "trace_id" | "input" | "context");
        if call.members().any(|(name, _)| !is_known(&name)) {
            let problem = "has an unknown member; send tool_id, call_id, trace_id, input and context alone";
            return Err(Refusal::invalid(CALL, problem));
        }
        text(call, "trace_id")?;
        for name in ["input", "context"] {
            call.get(name).map(|value| object(&format!("{CALL}.{name}"), value)).transpose()?;
        }
        let call_id = text(call, "call_id")?;
        if call_id.as_ref().is_some_and(|id| id.is_empty()) {
            return Err(Refusal::invalid("request.call_id", "is empty; send a unique text, or leave it out"));
        }
        let tool_id = text(call, "tool_id")?;
        let tool_id =
            tool_id.ok_or_else(|| Refusal::invalid("request.tool_id", "is missing; send a text"))?;
        let input = call.get("input").map(|input| input.text().to_owned()).unwrap_or_default();
        Ok(Self { tool_id: tool_id.into_owned(), call_id: call_id.map(Cow::into_owned), input })
    }
}

fn object(field: &str, value: Node<'_>) -> Result<(), Refusal> {
    match value.kind() {
        Kind::Object => Ok(()),
        kind => Err(Refusal::invalid(field, &format!("is {kind}; send an object"))),
    }
}

fn text<'a>(call: Node<'a>, name: &str) -> Result<Option<Cow<'a, str>>, Refusal> {
    let Some(value) = call.get(name) else { return Ok(None) };
    let problem =
        || Refusal::invalid(&format!("{CALL}.{name}"), &format!("is {}; send a text", value.kind()));
    value.as_str().map(Some).ok_or_else(problem)
}

fn check_is_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let problem = "content-type: send application/json";
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", problem))
}

fn unread(error: &axum::Error) -> Refusal {
    match error.source().is_some_and(<dyn Error>::is::<LengthLimitError>) {
        true => {
            let problem = format!("the body has more than {MAX_CALL_BODY_BYTES} bytes");
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE", problem)
        }
        false => Refusal::invalid("body", "broke off, or took too long to come"),
    }
}
