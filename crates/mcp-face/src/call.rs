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
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;
use toolgate_api_proto::v1::{
    CallToolRequest, CallToolResponse, ErrorReason, call_tool_request::Tool, call_tool_response::Event,
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
pub(crate) struct Way {
    pub(crate) wording: Wording,
    /// Where the client can cancel it by a message of its own.
    pub(crate) cancellable: Option<Cancellable>,
}

impl Way {
    pub(crate) const TYPED: Self = Self { wording: Wording::Typed, cancellable: None };
}

/// Answers a call: with one JSON document, or with a stream of events where the client wants to hear of progress and the
/// tool tells any.
pub(crate) async fn answer<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    headers: &HeaderMap,
    request: &Request<'_>,
    way: Way,
) -> Result<Response, Refusal> {
    let Way { wording, cancellable } = way;
    let token = request.params.get("_meta").and_then(|meta| meta.get("progressToken"));
    let token = token.filter(|token| matches!(token.kind(), Kind::String | Kind::Number));
    let token = token.filter(|_| is_accepted(headers, EVENTS)).map(|token| token.text().to_owned());
    if token.is_none() {
        check_accepted(headers, JSON)?;
    }
    let events = begin(face, caller, request.params, token.is_some()).await?;
    let mut events = match cancellable {
        Some(cancellable) => until_cancelled(events, cancellable),
        None => events,
    };
    match (events.next().await, token) {
        (Some(Ok(CallToolResponse { event: Some(Event::Progress(first)) })), Some(token)) => {
            let telling = Telling { id: request.id.clone(), token, wording, caller: caller.clone() };
            Ok(telling.stream(first.progress_json, events))
        }
        (first, _) => {
            let members = last(first, events, caller, request.params, wording).await?;
            Ok(Reply::result(&request.id, vec![members]).into_response(StatusCode::OK))
        }
    }
}

/// The members of the result of a call whose progress nobody hears.
pub(crate) async fn members<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    params: Params<'_>,
    wording: Wording,
) -> Result<Bytes, Refusal> {
    let mut events = begin(face, caller, params, false).await?;
    let first = events.next().await;
    last(first, events, caller, params, wording).await
}

async fn begin<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    params: Params<'_>,
    wants_progress: bool,
) -> Result<CallEvents, Refusal> {
    let name = params.required("name")?;
    let arguments = params.get("arguments");
    if let Some(other) = arguments.filter(|arguments| arguments.kind() != Kind::Object) {
        return Err(Refusal::invalid_params(&format!("arguments: is {}; send an object", other.kind())));
    }
    if name == built_in::NAME {
        let result = built_in::call(&*face.catalog, caller, &face.grant, arguments).await?;
        return Ok(Box::pin(stream::iter([Ok(result)])));
    }
    let call = CallToolRequest {
        tool: Some(Tool::NamespacedName(name.clone().into_owned())),
        arguments_json: arguments.map(|arguments| arguments.text().to_owned()).unwrap_or_default(),
        wants_progress,
        ..CallToolRequest::default()
    };
    if name.is_empty() {
        service::admit(&*face.catalog, caller).await?;
        return Err(Refusal { is_the_services: true, ..Refusal::unknown_tool(&name) });
    }
    let begun = face.gateway.call_tool(service::request(caller, call)).await;
    Ok(begun.map_err(|status| refused(&status, caller, &name))?.into_inner())
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
    while let Some(Ok(CallToolResponse { event: Some(Event::Progress(_)) })) = next {
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
        Some(Err(status)) => match denied(&status) {
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
fn denied(status: &Status) -> Option<String> {
    let reason = service::reason(status)?;
    match reason {
        ErrorReason::ToolNotServed
        | ErrorReason::ArgumentsMisfit
        | ErrorReason::LimitExceeded
        | ErrorReason::UpstreamRefused
        | ErrorReason::UpstreamFailed => {}
        _ => return None,
    }
    let name = reason.as_str_name().trim_start_matches("ERROR_REASON_");
    let content = json!([{"type": "text", "text": status.message()}]);
    Some(json!({"content": content, "isError": true, "_meta": {REASON: name}}).to_string())
}

fn refused(status: &Status, caller: &Caller, name: &str) -> Refusal {
    match service::reason(status) {
        None if status.code() == Code::Cancelled => Refusal { is_the_services: true, ..Refusal::cancelled() },
        Some(ErrorReason::ToolNotFound) => Refusal { is_the_services: true, ..Refusal::unknown_tool(name) },
        _ => service::refusal(status, caller),
    }
}

/// A call whose progress is told.
struct Telling {
    id: Id,
    /// JSON text.
    token: String,
    wording: Wording,
    caller: Caller,
}

impl Telling {
    /// Progress after progress, then the response. Dropping it gives the call up.
    fn stream(self, first: String, events: CallEvents) -> Response {
        let opening = self.progress(&first);
        let rest = stream::unfold(Some((self, events)), |state| async {
            let (telling, mut events) = state?;
            match events.next().await {
                Some(Ok(CallToolResponse { event: Some(Event::Progress(progress)) })) => {
                    Some((telling.progress(&progress.progress_json), Some((telling, events))))
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

    fn progress(&self, progress_json: &str) -> String {
        let members = Wording::AsItIs.members(progress_json);
        let comma = if members.is_empty() { "" } else { "," };
        let params = format!(r#"{{"progressToken":{}{comma}{members}}}"#, self.token);
        event(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#))
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
