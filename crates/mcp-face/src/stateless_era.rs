//! Revision 2026-07-28: each request says what it speaks, in `_meta` and once more in headers.

use std::borrow::Cow;

use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode};
use toolgate_api_proto::v1::{ArgumentHeaders, tool_catalog_server::ToolCatalog};
use toolgate_definition::json::{Kind, Node};

use crate::accepted::{EVENTS, JSON, check_accepted};
use crate::caller::Caller;
use crate::endpoint::Face;
use crate::message::{Message, Params, Request};
use crate::methods::{self, Method, Outcome};
use crate::notices::{self, Wording};
use crate::refusal::Refusal;
use crate::reply::{self, Reply};
use crate::session_era::REVISIONS;
use crate::{call, log_levels, service};

/// The revision.
pub(crate) const REVISION: &str = "2026-07-28";

pub(crate) const PROTOCOL_VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
/// What the name of a header begins with that repeats an argument.
const ARGUMENT: &str = "mcp-param-";

/// Whether a message is of this era: it declares a revision in `_meta`, or its headers are those of this era. What opens a
/// session is not, whatever its headers say.
pub(crate) fn is_meant(headers: &HeaderMap, message: &Message<'_>) -> bool {
    let (params, opens_a_session) = match message {
        Message::Request(request) => (request.params, request.method == "initialize"),
        Message::Notification(notification) => (notification.params, false),
        Message::Response => return has_headers(headers),
    };
    params.meta("protocolVersion").is_some() || (!opens_a_session && has_headers(headers))
}

/// Whether headers are of this era, or of none that is known.
pub(crate) fn has_headers(headers: &HeaderMap) -> bool {
    let version = headers.get(PROTOCOL_VERSION);
    let is_of_sessions = version.is_none_or(|version| REVISIONS.iter().any(|known| version == known));
    headers.contains_key(METHOD) || !is_of_sessions
}

/// Answers a message.
pub(crate) async fn answer<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    headers: &HeaderMap,
    message: &Message<'_>,
) -> Result<Response, Refusal> {
    match message {
        Message::Request(request) => answer_request(face, caller, headers, request).await,
        // This revision defines none over HTTP, and says nothing of the headers of one.
        Message::Notification(_) => {
            service::admit(&*face.catalog, caller).await?;
            Ok(reply::accepted())
        }
        Message::Response => Err(Refusal::invalid_request("this revision has no responses of clients")),
    }
}

async fn answer_request<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    headers: &HeaderMap,
    request: &Request<'_>,
) -> Result<Response, Refusal> {
    check_revision(headers, request.params, &face.supported())?;
    check_headers(headers, request)?;
    if request.method == "subscriptions/listen" {
        return listen(face, caller, headers, request).await;
    }
    if request.method == call::METHOD {
        return call::answer(face, caller, headers, request, way(headers, request)?).await;
    }
    check_accepted(headers, JSON)?;
    let outcome = match (Method::of(&request.method), &*request.method) {
        (Some(method), _) => method.run(face, caller, request.params).await?,
        (None, "server/discover") => methods::discover(face, caller).await?,
        (None, unknown) => return Err(Refusal::method_not_found(unknown)),
    };
    Ok(Reply::result(&request.id, members(outcome, &face.server_info)).into_response(StatusCode::OK))
}

/// A request of this era says itself what it wants to hear of logs.
fn way(headers: &HeaderMap, request: &Request<'_>) -> Result<call::Way<'static>, Refusal> {
    let asked = request.params.meta("logLevel").map(|asked| {
        asked
            .as_str()
            .and_then(|asked| log_levels::level(&asked))
            .ok_or_else(|| incomplete("logLevel", "one of debug to emergency, as MCP spells them"))
    });
    let log_level = asked.transpose()?;
    let argument_headers = Some(argument_headers(headers)?);
    Ok(call::Way {
        wording: call::Wording::Typed,
        session: "",
        argument_headers,
        cancellable: None,
        log_level,
    })
}

fn members(outcome: Outcome, server_info: &str) -> Vec<Bytes> {
    let caching = outcome.fresh_for_ms.map(|ms| format!(r#""ttlMs":{ms},"cacheScope":"private","#));
    let opening = format!(r#""resultType":"complete",{}"#, caching.unwrap_or_default());
    let closing = format!(r#","_meta":{{"io.modelcontextprotocol/serverInfo":{server_info}}}"#);
    vec![opening.into(), outcome.members, closing.into()]
}

/// `subscriptions/listen`: acknowledged first, then word of each change, until either side ends it.
async fn listen<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    headers: &HeaderMap,
    request: &Request<'_>,
) -> Result<Response, Refusal> {
    check_accepted(headers, EVENTS)?;
    let filter = request.params.get("notifications").filter(|filter| filter.kind() == Kind::Object);
    let filter = filter.ok_or_else(|| Refusal::invalid_params("notifications: send an object"))?;
    let tools = filter.get("toolsListChanged").map(|tools| {
        tools
            .as_bool()
            .ok_or_else(|| Refusal::invalid_params("notifications.toolsListChanged: send true or false"))
    });
    let tools = tools.transpose()?.unwrap_or_default();
    let wording = Wording::of_subscription(&request.id, tools);
    notices::stream(&face.catalog, caller, wording).await
}

/// In the order that leaves a client the most to go on with.
fn check_revision(headers: &HeaderMap, params: Params<'_>, supported: &[&str]) -> Result<(), Refusal> {
    let header = header(headers, PROTOCOL_VERSION)?;
    let declared = match params.meta("protocolVersion") {
        Some(declared) => declared.as_str().ok_or_else(|| incomplete("protocolVersion", "a string"))?,
        None => match header {
            Some(header) if header != REVISION => {
                return Err(Refusal::unsupported_revision(&header, supported));
            }
            _ => return Err(incomplete("protocolVersion", "a string")),
        },
    };
    let header = header.ok_or_else(|| missing(PROTOCOL_VERSION))?;
    if header != declared {
        return Err(mismatch(PROTOCOL_VERSION));
    }
    if declared != REVISION {
        return Err(Refusal::unsupported_revision(&declared, supported));
    }
    match params.meta("clientCapabilities").map(Node::kind) {
        Some(Kind::Object) => Ok(()),
        _ => Err(incomplete("clientCapabilities", "an object")),
    }
}

fn check_headers(headers: &HeaderMap, request: &Request<'_>) -> Result<(), Refusal> {
    let method = header(headers, METHOD)?.ok_or_else(|| missing(METHOD))?;
    if method != request.method {
        return Err(mismatch(METHOD));
    }
    if request.method != call::METHOD {
        return Ok(());
    }
    let name = header(headers, NAME)?.ok_or_else(|| missing(NAME))?;
    let name = decoded(&name).ok_or_else(|| mismatch(NAME))?;
    if name == request.params.required("name")? { Ok(()) } else { Err(mismatch(NAME)) }
}

/// The headers that repeat arguments: whether they do is for whoever knows the tool.
fn argument_headers(headers: &HeaderMap) -> Result<ArgumentHeaders, Refusal> {
    let names = headers.keys().map(HeaderName::as_str).filter(|name| name.starts_with(ARGUMENT));
    let value = |name: &str| {
        let value = header(headers, name)?.unwrap_or_default();
        let value = decoded(&value).ok_or_else(|| mismatch(name))?;
        Ok((name[ARGUMENT.len()..].to_owned(), value.into_owned()))
    };
    Ok(ArgumentHeaders { values: names.map(value).collect::<Result<_, Refusal>>()? })
}

/// The value of a header that two readers must not read differently.
pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<Cow<'a, str>>, Refusal> {
    let mut lines = headers.get_all(name).iter();
    let first = lines.next();
    if lines.next().is_some() {
        return Err(Refusal::header_mismatch(&format!("{name}: send it once")));
    }
    let text = first.map(|value| value.to_str().map(Cow::Borrowed)).transpose();
    text.map_err(|_| Refusal::header_mismatch(&format!("{name}: send ASCII, or `=?base64?…?=`")))
}

/// What a header stands for: its own text, or what is wrapped in `=?base64?…?=`.
fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let Some(wrapped) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Some(Cow::Borrowed(value));
    };
    String::from_utf8(STANDARD.decode(wrapped).ok()?).ok().map(Cow::Owned)
}

fn incomplete(name: &str, kind: &str) -> Refusal {
    Refusal::invalid_params(&format!("_meta: send io.modelcontextprotocol/{name} as {kind}"))
}

fn missing(name: &str) -> Refusal {
    Refusal::header_mismatch(&format!("{name}: is missing"))
}

fn mismatch(name: &str) -> Refusal {
    Refusal::header_mismatch(&format!("{name}: is not what the body says"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_header_stands_for_what_is_in_it() {
        for (value, stands_for) in [
            ("plain name", Some("plain name")),
            ("=?base64?SGVsbG8sIOS4lueVjA==?=", Some("Hello, 世界")),
            ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", Some("=?base64?literal?=")),
            ("=?base64??=", Some("")),
            ("=?BASE64?SGk=?=", Some("=?BASE64?SGk=?=")),
            ("=?base64?SGk?=", None),
            ("=?base64?/w==?=", None),
            ("=?base64?!?=", None),
        ] {
            assert_eq!(decoded(value).as_deref(), stands_for, "{value}");
        }
    }
}
