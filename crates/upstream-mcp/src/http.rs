//! Streamable HTTP as the session revisions have it: each message of ours is a POST; an answer is one JSON document or
//! an event stream. The optional GET stream is not opened.

mod sse;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use toolgate_outbound::{Client, Outbound, OutboundError, Response};
use toolgate_upstream::{ListingError, RESERVED_HEADERS, Secret};
use url::Url;

use crate::conversation::{Failure, Wire};
use crate::meter::Meter;
use crate::rpc::{Delivery, Inbox, Request};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// A server behind a URL.
#[derive(Debug)]
pub(crate) struct HttpWire<'a> {
    client: &'a Client,
    url: Url,
    /// The endpoint's headers and ours; the session's id and revision join them.
    headers: HeaderMap,
    session_was_lost: bool,
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
        Ok(Self { client: outbound.client(allow_private), url, headers, session_was_lost: false })
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

    fn leave_session(&mut self) {
        self.headers.remove(SESSION_ID);
        self.headers.remove(PROTOCOL_VERSION);
    }

    /// Reads an event stream up to the answer. What a server asks meanwhile is answered by a POST of its own.
    async fn read_events(
        &mut self,
        mut answer: Response,
        mut inbox: Inbox,
        meter: &mut Meter,
    ) -> Result<String, Failure> {
        let mut events = sse::Events::default();
        while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
            meter.take(chunk.len())?;
            events.feed(&chunk);
            while let Some(event) = events.next() {
                let Delivery { answer, replies } = inbox.deliver(&text(event)?)?;
                if let Some(answer) = answer {
                    return Ok(answer?);
                }
                for reply in replies {
                    // Any other failure shows when the answer stays away.
                    if let Err(Failure::SessionGone) = self.post(reply).await {
                        return Err(Failure::SessionGone);
                    }
                }
            }
        }
        Err(ListingError::Protocol("the event stream ended before the answer".into()).into())
    }
}

impl Wire for HttpWire<'_> {
    async fn ask(&mut self, request: &Request, meter: &mut Meter) -> Result<String, Failure> {
        let answer = self.post(request.text.clone()).await?;
        if request.method == "initialize" {
            self.leave_session();
            if let Some(id) = answer.headers().get(SESSION_ID) {
                self.headers.insert(SESSION_ID, secret(id.clone()));
            }
        }
        let inbox = Inbox::new(request);
        match body_kind(answer.headers())? {
            Body::Json => Ok(read_document(answer, inbox, meter).await?),
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

fn unauthorized(answer: &Response) -> ListingError {
    let challenge = answer.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    ListingError::Unauthorized { status: answer.status().as_u16(), challenge: challenge.map(str::to_owned) }
}

enum Body {
    Json,
    Events,
}

fn body_kind(headers: &HeaderMap) -> Result<Body, ListingError> {
    if let Some(encoding) = headers.get(CONTENT_ENCODING).filter(|encoding| *encoding != "identity") {
        let encoding = String::from_utf8_lossy(encoding.as_bytes());
        let text = format!("the answer has content encoding `{encoding}`, which was not offered; gzip was");
        return Err(ListingError::Protocol(text));
    }
    let Some(media_type) = headers.get(CONTENT_TYPE) else { return Ok(Body::Json) };
    let media_type = String::from_utf8_lossy(media_type.as_bytes()).to_ascii_lowercase();
    match media_type.split(';').next().unwrap_or_default().trim() {
        "application/json" => Ok(Body::Json),
        "text/event-stream" => Ok(Body::Events),
        _ => Err(ListingError::Protocol(
            "the answer's content type is neither application/json nor text/event-stream".into(),
        )),
    }
}

async fn read_document(
    mut answer: Response,
    mut inbox: Inbox,
    meter: &mut Meter,
) -> Result<String, ListingError> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
        meter.take(chunk.len())?;
        body.extend_from_slice(&chunk);
    }
    if body.is_empty() {
        return Err(ListingError::Protocol("the answer to a request has no body".into()));
    }
    let missing =
        || ListingError::Protocol("the answer belongs to another request: its id is not ours".into());
    inbox.deliver(&text(body)?)?.answer.ok_or_else(missing)?
}

fn text(bytes: Vec<u8>) -> Result<String, ListingError> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ListingError::Protocol(format!("the answer is not UTF-8 at byte {at}"))
    })
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

fn secret(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

fn unreachable(error: OutboundError) -> ListingError {
    match error {
        OutboundError::Refused(refusal) => ListingError::Refused(refusal.to_string()),
        OutboundError::Connect(reason) => ListingError::Connect(reason.into()),
        OutboundError::Broken(what) => ListingError::Protocol(what.into()),
    }
}
