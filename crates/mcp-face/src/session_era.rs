//! The revisions that open with `initialize`: 2024-11-05 to 2025-11-25.

use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::json;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;
use toolgate_definition::json::Node;

use crate::accepted::{EVENTS, JSON, check_accepted};
use crate::caller::Caller;
use crate::endpoint::Face;
use crate::limits::MAX_BATCH_MESSAGES;
use crate::message::{self, Message, Request};
use crate::methods::{CAPABILITIES, Method};
use crate::notices::{self, Wording};
use crate::refusal::{CANCELLED, INVALID_PARAMS, METHOD_NOT_FOUND, Refusal};
use crate::reply::{self, Reply};
use crate::stateless_era::{self, PROTOCOL_VERSION};
use crate::{call, log_levels, service};

/// The revisions, the one that is answered to a client of another first.
pub(crate) const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The only one with batches.
const WITH_BATCHES: &str = "2025-03-26";

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// Answers a message.
pub(crate) async fn answer<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    headers: &HeaderMap,
    message: &Message<'_>,
) -> Result<Response, Refusal> {
    match message {
        Message::Request(request) if request.method == "initialize" => {
            check_accepted(headers, JSON)?;
            initialize(face, caller, request).await
        }
        Message::Request(request) if request.method == call::METHOD => {
            session(face, caller, headers)?;
            let session = id_of_session(headers);
            let way = call::Way {
                wording: call::Wording::AsItIs,
                session,
                argument_headers: None,
                cancellable: Some(face.under_way.begin(session, &request.id)),
                log_level: Some(face.log_levels.of(session)),
            };
            call::answer(face, caller, headers, request, way).await.map_err(within_a_session)
        }
        Message::Request(request) if request.method == "logging/setLevel" => {
            session(face, caller, headers)?;
            check_accepted(headers, JSON)?;
            set_log_level(face, caller, headers, request).await.map_err(within_a_session)
        }
        Message::Request(request) => {
            session(face, caller, headers)?;
            check_accepted(headers, JSON)?;
            let members =
                run(face, caller, request, id_of_session(headers)).await.map_err(within_a_session)?;
            Ok(Reply::result(&request.id, members).into_response(StatusCode::OK))
        }
        Message::Notification(notification) => {
            session(face, caller, headers)?;
            service::admit(&*face.catalog, caller).await?;
            if notification.method == "notifications/cancelled"
                && let Some(request) = notification.params.get("requestId")
            {
                face.under_way.cancel(id_of_session(headers), request.text());
            }
            Ok(reply::accepted())
        }
        Message::Response => {
            session(face, caller, headers)?;
            service::admit(&*face.catalog, caller).await?;
            Ok(reply::accepted())
        }
    }
}

/// Answers the messages of a batch one by one.
pub(crate) async fn answer_batch<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    headers: &HeaderMap,
    batch: Node<'_>,
) -> Result<Response, Refusal> {
    let without_batches = || Refusal::invalid_request("batches belong to revision 2025-03-26 alone");
    if stateless_era::has_headers(headers) || session(face, caller, headers)? != WITH_BATCHES {
        return Err(without_batches());
    }
    let count = batch.elements().count();
    if !(1..=MAX_BATCH_MESSAGES).contains(&count) {
        return Err(Refusal::invalid_request(&format!("send 1 to {MAX_BATCH_MESSAGES} messages")));
    }
    check_accepted(headers, JSON)?;
    service::admit(&*face.catalog, caller).await?;
    let mut replies = Vec::new();
    for element in batch.elements() {
        replies.extend(answer_element(face, caller, id_of_session(headers), element).await?);
    }
    let is_all_taken = replies.is_empty();
    Ok(if is_all_taken { reply::accepted() } else { Reply::batch(replies).into_response(StatusCode::OK) })
}

async fn answer_element<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    session: &str,
    element: Node<'_>,
) -> Result<Option<Reply>, Refusal> {
    let (id, done) = match message::read(element) {
        Ok(Message::Request(request)) => {
            let done = run(face, caller, &request, session).await;
            (request.id, done)
        }
        Ok(Message::Notification(_) | Message::Response) => return Ok(None),
        Err((id, refusal)) => (id, Err(refusal)),
    };
    match done {
        Ok(members) => Ok(Some(Reply::result(&id, members))),
        Err(refusal) if refusal.is_https() => Err(refusal),
        Err(refusal) => Ok(Some(Reply::error(&id, &refusal))),
    }
}

/// The members of the result.
async fn run<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    request: &Request<'_>,
    session: &str,
) -> Result<Vec<Bytes>, Refusal> {
    match (Method::of(&request.method), &*request.method) {
        (Some(method), _) => Ok(vec![method.run(face, caller, request.params).await?.members]),
        (None, call::METHOD) => Ok(vec![call::members(face, caller, request.params, session).await?]),
        (None, "ping") => {
            service::admit(&*face.catalog, caller).await?;
            Ok(Vec::new())
        }
        (None, unknown) => Err(Refusal::method_not_found(unknown)),
    }
}

/// In these revisions a message that is answered by an error is an HTTP request that succeeded.
fn within_a_session(refusal: Refusal) -> Refusal {
    match refusal.code {
        METHOD_NOT_FOUND | INVALID_PARAMS | CANCELLED => Refusal { status: StatusCode::OK, ..refusal },
        _ => refusal,
    }
}

/// The revision that the client asked for, or the newest one where that is not known.
async fn initialize<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    request: &Request<'_>,
) -> Result<Response, Refusal> {
    let asked = request.params.required("protocolVersion").map_err(within_a_session)?;
    let revision = REVISIONS.into_iter().find(|known| *known == asked).unwrap_or(REVISIONS[0]);
    service::admit(&*face.catalog, caller).await?;
    let members = format!(
        r#""protocolVersion":{},"capabilities":{CAPABILITIES},"serverInfo":{}"#,
        json!(revision),
        face.server_info
    );
    let mut response = Reply::result(&request.id, vec![members.into()]).into_response(StatusCode::OK);
    let id = HeaderValue::try_from(face.sessions.seal(caller, revision));
    response.headers_mut().insert(SESSION_ID, id.expect("base64 is a header value"));
    Ok(response)
}

/// `GET`: word of each change, until either side ends it.
pub(crate) async fn notices<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    if stateless_era::has_headers(headers) {
        let refusal = Refusal::http(StatusCode::METHOD_NOT_ALLOWED, "this revision takes POST");
        return Err(refusal.with_header(http::header::ALLOW, HeaderValue::from_static("POST")));
    }
    session(face, caller, headers)?;
    check_accepted(headers, EVENTS)?;
    notices::stream(&face.catalog, caller, Wording::of_session()).await
}

async fn set_log_level<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    headers: &HeaderMap,
    request: &Request<'_>,
) -> Result<Response, Refusal> {
    service::admit(&*face.catalog, caller).await?;
    let asked = request.params.required("level")?;
    let level = log_levels::level(&asked).ok_or_else(|| {
        Refusal::invalid_params("level: send one of debug to emergency, as MCP spells them")
    })?;
    face.log_levels.set(id_of_session(headers), level);
    Ok(Reply::result(&request.id, Vec::new()).into_response(StatusCode::OK))
}

/// The id that was checked by [`session`].
fn id_of_session(headers: &HeaderMap) -> &str {
    headers.get(SESSION_ID).and_then(|id| id.to_str().ok()).unwrap_or_default()
}

/// The revision of the session that a request belongs to.
fn session<C>(face: &Face<C>, caller: &Caller, headers: &HeaderMap) -> Result<&'static str, Refusal> {
    let mut lines = headers.get_all(SESSION_ID).iter();
    let (Some(id), None) = (lines.next(), lines.next()) else {
        return Err(Refusal::invalid_request(
            "mcp-session-id: send the one that `initialize` answered, or declare the revision in `_meta`",
        ));
    };
    let opened = id.to_str().ok().and_then(|id| face.sessions.open(caller, id));
    let revision = opened
        .ok_or_else(|| Refusal::http(StatusCode::NOT_FOUND, "mcp-session-id: no such session; initialize"))?;
    // Clients should name the revision that was agreed on (2025-11-25, Transports), and some name another that is known; one
    // that is not known belongs to the other era. The session says what is spoken, whatever the header says.
    let named = stateless_era::header(headers, PROTOCOL_VERSION);
    named.map_err(|refusal| Refusal::invalid_request(&refusal.message))?;
    Ok(revision)
}
