//! `tools/call`: asked of the gateway, answered by what it says; the face's own tool answers here.

use std::convert::Infallible;
use std::pin::Pin;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::json;
use tonic::{Code, Status};
use tonic_types::StatusExt;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;
use toolgate_api_proto::v1::{
    ArgumentHeaders, CallToolRequest, CallToolResponse, ErrorReason, call_tool_request::Tool,
    call_tool_response::Event,
};
use toolgate_definition::json::Kind;
use toolgate_definition::scan;

use crate::accepted::{EVENTS, JSON, check_accepted, is_accepted};
use crate::built_in;
use crate::caller::Caller;
use crate::endpoint::Face;
use crate::message::{Id, Params, Request};
use crate::notices::{X_ACCEL_BUFFERING, event};
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::service;
use crate::under_way::Cancellable;

/// The method.
pub(crate) const METHOD: &str = "tools/call";
/// Member of `_meta` that says why nothing was called, or nothing came of it.
const REASON: &str = "dev.toolgate/reason";

/// What comes of a call.
pub type CallEvents = Pin<Box<dyn Stream<Item = Result<CallToolResponse, Status>> + Send>>;

/// How an era words the result of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wording {
    /// As it came.
    AsItIs,
    /// With a `resultType`, where it has none (2026-07-28).
    Typed,
}

/// How a call is answered.
#[derive(Debug)]
pub(crate) struct Way<'a> {
    pub(crate) wording: Wording,
    /// The id of the client's session; empty where it is in none.
    pub(crate) session: &'a str,
    /// The headers that repeat arguments, where the era has them.
    pub(crate) argument_headers: Option<ArgumentHeaders>,
    /// Where the client can cancel it by a message of its own.
    pub(crate) cancellable: Option<Cancellable>,
    /// How much of the log of the tool's server the client hears; `None` for nothing.
    pub(crate) log_level: Option<&'static str>,
}

/// What a client hears of a call under way.
#[derive(Debug, Default)]
struct Hears {
    /// Of progress, under this token (JSON text).
    progress_token: Option<String>,
    log_level: Option<&'static str>,
}

impl Hears {
    /// Nothing, where the client does not read events.
    fn of(request: &Request<'_>, log_level: Option<&'static str>, headers: &HeaderMap) -> Self {
        if !is_accepted(headers, EVENTS) {
            return Self::default();
        }
        let token = request.params.get("_meta").and_then(|meta| meta.get("progressToken"));
        let token = token.filter(|token| matches!(token.kind(), Kind::String | Kind::Number));
        Self { progress_token: token.map(|token| token.text().to_owned()), log_level }
    }
}

/// Answers a call: with one JSON document, or with a stream of events where the tool's server tells what the client wants to
/// hear meanwhile.
pub(crate) async fn answer<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    headers: &HeaderMap,
    request: &Request<'_>,
    way: Way<'_>,
) -> Result<Response, Refusal> {
    let Way { wording, session, argument_headers, cancellable, log_level } = way;
    let hears = Hears::of(request, log_level, headers);
    if !is_accepted(headers, EVENTS) {
        check_accepted(headers, JSON)?;
    }
    let events = begin(face, caller, request.params, session, argument_headers, &hears).await?;
    let mut events = match cancellable {
        Some(cancellable) => until_cancelled(events, cancellable),
        None => events,
    };
    let telling = Telling { id: request.id.clone(), hears, wording, caller: caller.clone() };
    let mut first = events.next().await;
    while let Some(Ok(event)) = &first
        && !is_last(event)
    {
        match telling.notice(event) {
            Some(notice) => return Ok(telling.stream(notice, Some(events))),
            None => first = events.next().await,
        }
    }
    if is_accepted(headers, JSON) {
        let members = last(first, events, caller, request.params, wording).await?;
        return Ok(Reply::result(&request.id, vec![members]).into_response(StatusCode::OK));
    }
    let response = telling.response(first);
    Ok(telling.stream(response, None))
}

/// Whether nothing follows.
fn is_last(event: &CallToolResponse) -> bool {
    matches!(event.event, Some(Event::Result(_) | Event::InputRequired(_)) | None)
}

/// The members of the result of a call in a session whose progress nobody hears.
pub(crate) async fn members<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    params: Params<'_>,
    session: &str,
) -> Result<Bytes, Refusal> {
    let mut events = begin(face, caller, params, session, None, &Hears::default()).await?;
    let first = events.next().await;
    last(first, events, caller, params, Wording::AsItIs).await
}

async fn begin<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    params: Params<'_>,
    session: &str,
    argument_headers: Option<ArgumentHeaders>,
    hears: &Hears,
) -> Result<CallEvents, Refusal> {
    let name = params.required("name")?;
    let arguments = params.get("arguments");
    if let Some(other) = arguments.filter(|arguments| arguments.kind() != Kind::Object) {
        return Err(Refusal::invalid_params(&format!("arguments: is {}; send an object", other.kind())));
    }
    let Answers { input_responses_json, request_state } = Answers::read(params)?;
    if name == built_in::NAME {
        let result = built_in::call(&*face.catalog, caller, &face.grant, arguments).await?;
        return Ok(Box::pin(stream::iter([Ok(result)])));
    }
    let call = CallToolRequest {
        tool: Some(Tool::NamespacedName(name.clone().into_owned())),
        arguments_json: arguments.map(|arguments| arguments.text().to_owned()).unwrap_or_default(),
        session: session.to_owned(),
        argument_headers,
        client_capabilities_json: params
            .meta("clientCapabilities")
            .map(|declared| declared.text().to_owned())
            .unwrap_or_default(),
        input_responses_json,
        request_state,
        wants_progress: hears.progress_token.is_some(),
        log_level: hears.log_level.unwrap_or_default().to_owned(),
        ..CallToolRequest::default()
    };
    if name.is_empty() {
        service::admit(&*face.catalog, caller).await?;
        return Err(Refusal { is_the_services: true, ..Refusal::unknown_tool(&name) });
    }
    let begun = face.gateway.call_tool(service::request(caller, call)).await;
    Ok(begun.map_err(|status| refused(&status, caller, &name))?.into_inner())
}

/// What a client answers to what the tool's server asked for before.
#[derive(Default)]
struct Answers {
    input_responses_json: String,
    request_state: String,
}

impl Answers {
    fn read(params: Params<'_>) -> Result<Self, Refusal> {
        let wrong = |name: &str, found: Kind, wanted: &str| {
            Refusal::invalid_params(&format!("{name}: is {found}; send {wanted}"))
        };
        let input_responses_json = match params.get("inputResponses") {
            None => String::new(),
            Some(responses) if responses.kind() == Kind::Object => responses.text().to_owned(),
            Some(other) => return Err(wrong("inputResponses", other.kind(), "an object")),
        };
        let request_state = match params.get("requestState") {
            None => String::new(),
            Some(state) => {
                let text = state.as_str().ok_or_else(|| wrong("requestState", state.kind(), "a string"))?;
                text.into_owned()
            }
        };
        Ok(Self { input_responses_json, request_state })
    }
}

/// The events up to the moment that the client cancels the call, which is then given up.
fn until_cancelled(events: CallEvents, cancellable: Cancellable) -> CallEvents {
    Box::pin(stream::unfold(Some((events, cancellable)), |going_on| async {
        let (mut events, cancellable) = going_on?;
        tokio::select! {
            biased;
            () = cancellable.cancelled() => Some((Err(Status::cancelled("cancelled by the client")), None)),
            event = events.next() => event.map(|event| (event, Some((events, cancellable)))),
        }
    }))
}

/// The members of the result that the last event brings.
async fn last(
    first: Option<Result<CallToolResponse, Status>>,
    mut events: CallEvents,
    caller: &Caller,
    params: Params<'_>,
    wording: Wording,
) -> Result<Bytes, Refusal> {
    let mut next = first;
    while let Some(Ok(event)) = &next
        && !is_last(event)
    {
        next = events.next().await;
    }
    let name = params.required("name")?;
    ended(next, wording).map_err(|status| refused(&status, caller, &name))
}

/// The members of the result; a refusal that a model can act on is one, too.
fn ended(last: Option<Result<CallToolResponse, Status>>, wording: Wording) -> Result<Bytes, Status> {
    match last {
        Some(Ok(CallToolResponse { event: Some(Event::Result(result)) })) => {
            Ok(wording.members(&result.result_json).into())
        }
        Some(Ok(CallToolResponse { event: Some(Event::InputRequired(question)) })) => {
            Ok(Wording::AsItIs.members(&question.result_json).into())
        }
        Some(Err(status)) => match denied(&status, wording) {
            Some(result) => Ok(wording.members(&result).into()),
            None => Err(status),
        },
        Some(Ok(_)) | None => Err(Status::internal("a call without an end")),
    }
}

impl Wording {
    /// The members of the object that is `result`.
    fn members(self, result: &str) -> String {
        let inner = result.trim_ascii();
        let inner = inner.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or_default();
        let is_typed =
            || scan::object(result).is_ok_and(|members| members.iter().any(|(name, _)| name == "resultType"));
        match self {
            Self::Typed if !is_typed() => {
                let comma = if inner.trim_ascii().is_empty() { "" } else { "," };
                format!(r#""resultType":"complete"{comma}{inner}"#)
            }
            Self::Typed | Self::AsItIs => inner.to_owned(),
        }
    }
}

/// The result that tells a model why nothing came of its call, where it or its operator can do something about that.
fn denied(status: &Status, wording: Wording) -> Option<String> {
    let reason = service::reason(status)?;
    match reason {
        ErrorReason::ToolNotServed
        | ErrorReason::ArgumentsMisfit
        | ErrorReason::LimitExceeded
        | ErrorReason::UpstreamRefused
        | ErrorReason::UpstreamFailed
        | ErrorReason::ListingStale => {}
        // Revision 2026-07-28 has an error of its own for that.
        ErrorReason::ClientCapabilityMissing if matches!(wording, Wording::AsItIs) => {}
        _ => return None,
    }
    let name = reason.as_str_name().trim_start_matches("ERROR_REASON_");
    let content = json!([{"type": "text", "text": status.message()}]);
    Some(json!({"content": content, "isError": true, "_meta": {REASON: name}}).to_string())
}

fn refused(status: &Status, caller: &Caller, name: &str) -> Refusal {
    match service::reason(status) {
        None if status.code() == Code::Cancelled => Refusal { is_the_services: true, ..Refusal::cancelled() },
        Some(ErrorReason::ArgumentHeaderMismatch) => {
            Refusal { is_the_services: true, ..Refusal::header_mismatch(status.message()) }
        }
        Some(ErrorReason::ClientCapabilityMissing) => {
            let refusal = Refusal::missing_capability(status.message(), &required(status));
            Refusal { is_the_services: true, ..refusal }
        }
        Some(ErrorReason::ToolNotFound) => Refusal { is_the_services: true, ..Refusal::unknown_tool(name) },
        _ => {
            let refusal = service::refusal(status, caller);
            Refusal { message: in_mcps_words(&refusal.message), ..refusal }
        }
    }
}

/// What the service says of one of its own fields, by the name that MCP has for it.
fn in_mcps_words(message: &str) -> String {
    let names = [
        ("arguments_json", "arguments"),
        ("input_responses_json", "inputResponses"),
        ("request_state", "requestState"),
    ];
    let renamed = |(ours, theirs)| message.strip_prefix(ours).map(|rest| format!("{theirs}{rest}"));
    names.into_iter().find_map(renamed).unwrap_or_else(|| message.to_owned())
}

/// The capabilities that a tool's server requires, as JSON text.
fn required(status: &Status) -> String {
    let info = status.get_details_error_info();
    info.and_then(|info| info.metadata.get("required_capabilities").cloned())
        .unwrap_or_else(|| "{}".to_owned())
}

/// A call of which something is told while it is under way.
struct Telling {
    id: Id,
    hears: Hears,
    wording: Wording,
    caller: Caller,
}

impl Telling {
    /// What was told first, then what `events` tell and the response. Dropping it gives the call up.
    fn stream(self, opening: String, events: Option<CallEvents>) -> Response {
        let rest = stream::unfold(events.map(|events| (self, events)), |state| async {
            let (telling, mut events) = state?;
            match events.next().await {
                Some(Ok(event)) if !is_last(&event) => {
                    Some((telling.notice(&event).unwrap_or_default(), Some((telling, events))))
                }
                last => Some((telling.response(last), None)),
            }
        });
        let told = stream::once(async { opening }).chain(rest);
        let headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static(EVENTS)),
            (CACHE_CONTROL, HeaderValue::from_static("no-store")),
            (X_ACCEL_BUFFERING, HeaderValue::from_static("no")),
        ]);
        (headers, Body::from_stream(told.map(|text| Ok::<_, Infallible>(Bytes::from(text))))).into_response()
    }

    /// The notification of what is no result; `None` for what the client does not hear.
    fn notice(&self, told: &CallToolResponse) -> Option<String> {
        let (method, params) = match told.event.as_ref()? {
            Event::Progress(progress) => {
                let members = Wording::AsItIs.members(&progress.progress_json);
                let comma = if members.is_empty() { "" } else { "," };
                let token = self.hears.progress_token.as_ref()?;
                ("notifications/progress", format!(r#"{{"progressToken":{token}{comma}{members}}}"#))
            }
            Event::Log(log) => {
                self.hears.log_level?;
                ("notifications/message", log.log_json.clone())
            }
            Event::Result(_) | Event::InputRequired(_) => return None,
        };
        Some(event(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)))
    }

    fn response(&self, last: Option<Result<CallToolResponse, Status>>) -> String {
        let id = self.id.text();
        match ended(last, self.wording) {
            Ok(members) => {
                let members = String::from_utf8_lossy(&members);
                event(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{members}}}}}"#))
            }
            Err(status) => {
                let error = refused(&status, &self.caller, "").text();
                event(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_called_as_mcp_calls_it() {
        for (ours, theirs) in [
            ("request_state has expired", "requestState has expired"),
            ("arguments_json/a is too deep", "arguments/a is too deep"),
            ("the tool is drifted", "the tool is drifted"),
        ] {
            assert_eq!(in_mcps_words(ours), theirs);
        }
    }

    #[test]
    fn a_result_keeps_its_spelling_and_gains_its_type_once() {
        for (result, typed) in [
            ("{}", r#""resultType":"complete""#),
            (" { } ", r#""resultType":"complete" "#),
            (r#"{"content":[],"x":1.0}"#, r#""resultType":"complete","content":[],"x":1.0"#),
            (r#"{"x":1,"resultT\u0079pe":"complete"}"#, r#""x":1,"resultT\u0079pe":"complete""#),
        ] {
            assert_eq!(Wording::Typed.members(result), typed);
        }
        assert_eq!(Wording::AsItIs.members(r#"{ "x":1.0 }"#), r#" "x":1.0 "#);
    }
}
