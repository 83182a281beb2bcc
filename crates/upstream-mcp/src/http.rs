//! Streamable HTTP: each message of ours is a POST; an answer is one JSON document or an event stream.

mod answer;
mod event_stream;
mod sse;
mod streams;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tokio::runtime::Handle;
use tokio::time::timeout;
use toolgate_outbound::{Client, Outbound, Response};
use toolgate_upstream::{ListingError, LogLevel, RESERVED_HEADERS, Secret, ToolCall, TraceContext};
use url::Url;

use crate::call::{Told, of_call};
use crate::conversation::{Failure, Wire};
use crate::limits::FAREWELL;
use crate::meter::Meter;
use crate::rpc::{self, Delivery, Inbox, Request};
use answer::{Body, body_kind, read_document, refusal, unauthorized, unreachable};
pub(crate) use event_stream::EventStream;
pub(crate) use streams::StreamsWire;

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// What the name of a header begins with that repeats an argument.
const ARGUMENT: &str = "mcp-param-";
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// A server behind a URL.
pub(crate) struct HttpWire<'a> {
    client: &'a Client,
    url: Url,
    /// The endpoint's headers and ours; the session's id and revision join them.
    headers: HeaderMap,
    session_was_lost: bool,
    /// Who hears what the server tells of a request under way.
    told: Told<'a>,
    /// How much of the server's log is told.
    log_level: Option<LogLevel>,
}

/// A session that was opened, for other wires to go on in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HttpSession {
    id: Option<HeaderValue>,
    revision: Option<HeaderValue>,
}

impl<'a> HttpWire<'a> {
    pub(crate) fn new(
        outbound: &'a Outbound,
        url: &str,
        headers: &[(String, Secret)],
        allow_private: bool,
    ) -> Result<Self, ListingError> {
        let url =
            outbound.check(url, allow_private).map_err(|error| ListingError::Refused(error.to_string()))?;
        let headers = request_headers(headers)?;
        Ok(Self {
            client: outbound.client(allow_private),
            url,
            headers,
            session_was_lost: false,
            told: &|_| {},
            log_level: None,
        })
    }

    /// The same for a call, of which `told` hears meanwhile.
    pub(crate) fn calling(mut self, call: &ToolCall<'_>, told: Told<'a>) -> Self {
        if let Some(TraceContext { traceparent, tracestate }) = call.trace {
            let header = |text: &str| HeaderValue::try_from(text).ok();
            self.headers.extend(header(traceparent).map(|value| (TRACEPARENT, value)));
            self.headers.extend(tracestate.and_then(header).map(|value| (TRACESTATE, value)));
        }
        Self { told, log_level: call.log_level, ..self }
    }

    /// The session that it is in.
    pub(crate) fn session(&self) -> HttpSession {
        let header = |name| self.headers.get(name).cloned();
        HttpSession { id: header(SESSION_ID), revision: header(PROTOCOL_VERSION) }
    }

    /// Goes on in a session.
    pub(crate) fn resume(&mut self, session: HttpSession) {
        let HttpSession { id, revision } = session;
        self.headers.extend(id.map(|id| (SESSION_ID, id)));
        self.headers.extend(revision.map(|revision| (PROTOCOL_VERSION, revision)));
    }

    /// What lets the server know when a request of the session is given up.
    pub(crate) fn giving_up(&self, id: u64) -> GivingUp {
        let (client, url, headers) = (self.client.clone(), self.url.clone(), self.headers.clone());
        GivingUp { client, url, headers, id, is_answered: false }
    }

    /// Sends one message; the answer has a status of success.
    async fn post(&mut self, text: String) -> Result<Response, Failure> {
        let answer = self.client.send(Method::POST, &self.url, &self.headers, Bytes::from(text)).await;
        let answer = answer.map_err(unreachable)?;
        match answer.status() {
            status if status.is_success() => Ok(answer),
            StatusCode::NOT_FOUND if self.headers.contains_key(SESSION_ID) && !self.session_was_lost => {
                self.session_was_lost = true;
                self.leave_session();
                Err(Failure::SessionGone)
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(unauthorized(&answer).into()),
            status => Err(ListingError::Status(status.as_u16()).into()),
        }
    }

    /// Sends a request that declares its revision: headers repeat that and the method, and an error comes with a status
    /// of its own (2026-07-28 Streamable HTTP, "Request Metadata").
    async fn post_declaring(&self, request: &Request, revision: &'static str) -> Result<Response, Failure> {
        let mut headers = self.headers.clone();
        headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(revision));
        headers.insert(METHOD, HeaderValue::from_static(request.method));
        headers.extend(request.name.as_deref().map(|name| (NAME, in_header(name))));
        for (name, value) in &request.argument_headers {
            let name =
                HeaderName::try_from(format!("{ARGUMENT}{name}")).expect("a binding's name is a token");
            headers.insert(name, secret(in_header(value)));
        }
        let text = Bytes::from(request.text.clone());
        let answer = self.client.send(Method::POST, &self.url, &headers, text).await;
        let answer = answer.map_err(unreachable)?;
        match answer.status() {
            status if status.is_success() => Ok(answer),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(unauthorized(&answer).into()),
            _ => Err(refusal(answer, request).await),
        }
    }

    fn leave_session(&mut self) {
        self.headers.remove(SESSION_ID);
        self.headers.remove(PROTOCOL_VERSION);
    }

    /// Reads an event stream up to the answer. What a server asks meanwhile is answered by a POST of its own.
    async fn read_events(
        &mut self,
        answer: Response,
        mut inbox: Inbox,
        meter: &mut Meter,
    ) -> Result<String, Failure> {
        let mut events = EventStream::new(answer);
        while let Some(texts) = events.next(meter).await? {
            for text in texts {
                let Delivery { answer, replies, notices } = inbox.deliver(&text)?;
                notices.into_iter().filter_map(|notice| of_call(notice, self.log_level)).for_each(self.told);
                if let Some(answer) = answer {
                    return Ok(answer?);
                }
                self.reply(replies).await?;
            }
        }
        Err(ListingError::Protocol("the event stream ended before the answer".into()).into())
    }

    /// Answers what a server asked. Only the loss of the session counts: any other failure shows elsewhere.
    pub(crate) async fn reply(&mut self, replies: Vec<String>) -> Result<(), Failure> {
        for reply in replies {
            if let Err(Failure::SessionGone) = self.post(reply).await {
                return Err(Failure::SessionGone);
            }
        }
        Ok(())
    }

    /// Opens the session's own stream of messages (GET); `None` where the server has none.
    pub(crate) async fn open_session_stream(&mut self) -> Result<Option<EventStream>, Failure> {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.remove(CONTENT_TYPE);
        let answer = self.client.send(Method::GET, &self.url, &headers, Bytes::new()).await;
        let answer = answer.map_err(unreachable)?;
        match answer.status() {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(unauthorized(&answer).into()),
            StatusCode::NOT_FOUND if self.headers.contains_key(SESSION_ID) => Err(Failure::SessionGone),
            status if status.is_client_error() => Ok(None),
            status if status.is_success() && matches!(body_kind(answer.headers()), Ok(Body::Events)) => {
                Ok(Some(EventStream::new(answer)))
            }
            status if status.is_success() => Ok(None),
            status => Err(ListingError::Status(status.as_u16()).into()),
        }
    }

    /// Sends a request whose answer is a stream of notices; `None` where the answer came at once, so there are none.
    pub(crate) async fn open_answer_stream(
        &mut self,
        request: &Request,
        revision: &'static str,
        meter: &mut Meter,
    ) -> Result<Option<EventStream>, Failure> {
        let answer = self.post_declaring(request, revision).await?;
        match body_kind(answer.headers())? {
            Body::Events => Ok(Some(EventStream::new(answer))),
            Body::Json => read_document(answer, Inbox::new(request), meter).await.map(|_| None),
        }
    }
}

/// A request under way in a session. Dropped before it is answered, it tells the server so (2025-11-25 Cancellation): the
/// end of a connection is no sign of that in a session.
pub(crate) struct GivingUp {
    client: Client,
    url: Url,
    headers: HeaderMap,
    id: u64,
    pub(crate) is_answered: bool,
}

impl Drop for GivingUp {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else { return };
        if self.is_answered {
            return;
        }
        let (client, url, headers) =
            (self.client.clone(), self.url.clone(), std::mem::take(&mut self.headers));
        let text = Bytes::from(rpc::cancelled(self.id));
        runtime
            .spawn(timeout(FAREWELL, async move { client.send(Method::POST, &url, &headers, text).await }));
    }
}

impl Wire for HttpWire<'_> {
    const HAS_HEADERS: bool = true;

    async fn ask(&mut self, request: &Request, meter: &mut Meter) -> Result<String, Failure> {
        let answer = match request.declares {
            Some(revision) => self.post_declaring(request, revision).await?,
            None => self.post(request.text.clone()).await?,
        };
        if request.method == "initialize" {
            self.leave_session();
            if let Some(id) = answer.headers().get(SESSION_ID) {
                self.headers.insert(SESSION_ID, secret(id.clone()));
            }
        }
        let inbox = Inbox::new(request);
        match body_kind(answer.headers())? {
            Body::Json => read_document(answer, inbox, meter).await,
            Body::Events => self.read_events(answer, inbox, meter).await,
        }
    }

    /// The body of the answer is not read: any status of success accepts a notification.
    async fn tell(&mut self, notification: String) -> Result<(), Failure> {
        self.post(notification).await.map(drop)
    }

    fn agreed_on(&mut self, revision: &'static str) {
        self.headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(revision));
    }

    /// Deletes the session. Servers may refuse that, so the answer does not matter.
    async fn end(&mut self) {
        if self.headers.contains_key(SESSION_ID) {
            let _ = self.client.send(Method::DELETE, &self.url, &self.headers, Bytes::new()).await;
        }
    }
}

/// No header of ours can be named by the endpoint, and no value of it is ever printed.
fn request_headers(endpoint: &[(String, Secret)]) -> Result<HeaderMap, ListingError> {
    let mut headers = HeaderMap::new();
    for (name, value) in endpoint {
        let refused = |why| ListingError::Refused(format!("header `{name}` {why}"));
        let key = HeaderName::try_from(name.as_str())
            .map_err(|_| refused("has a name that HTTP does not allow"))?;
        if RESERVED_HEADERS.contains(&key.as_str()) {
            return Err(refused("is not the upstream's to set"));
        }
        let value = HeaderValue::from_bytes(value.expose().as_bytes())
            .map_err(|_| refused("has a value with characters that HTTP does not allow"))?;
        headers.append(key, secret(value));
    }
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(headers)
}

/// A text as a header's value: as it is, or wrapped where a header could not hold it or would be read as wrapped
/// (2026-07-28 Streamable HTTP, "Request Metadata").
fn in_header(text: &str) -> HeaderValue {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim_matches(' ').len() == text.len()
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let wrapped = || format!("=?base64?{}?=", STANDARD.encode(text));
    let value = if is_plain { text.to_owned() } else { wrapped() };
    HeaderValue::try_from(value).expect("printable ASCII is a header's value")
}

fn secret(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}
