//! HTTP+SSE (2024-11-05 Transports): one stream of events brings all that the server says, and names first where messages are
//! to be posted.

use std::collections::VecDeque;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use toolgate_outbound::Client;
use toolgate_upstream::ListingError;
use url::Url;

use super::answer::{Body, body_kind, unauthorized, unreachable};
use super::{EventStream, HttpWire};
use crate::channel::{Channel, Incoming, IntoChannel, Outgoing};
use crate::conversation::{Failure, Wire};
use crate::envelope::Envelope;
use crate::limits::MAX_CALL_LINE_BYTES;
use crate::meter::Meter;
use crate::rpc::{Delivery, Inbox, Request};

/// A server behind a URL that speaks HTTP+SSE.
pub(crate) struct StreamsWire<'a> {
    http: HttpWire<'a>,
    open: Option<Open>,
}

/// A connection.
struct Open {
    stream: EventStream,
    posts: Posts,
    /// Messages that were read and belong to nothing that was asked yet.
    read: VecDeque<String>,
}

/// Where messages are posted.
struct Posts {
    client: Client,
    url: Url,
    headers: HeaderMap,
}

impl<'a> StreamsWire<'a> {
    pub(crate) fn new(http: HttpWire<'a>) -> Self {
        Self { http, open: None }
    }

    async fn opened(&mut self, meter: &mut Meter) -> Result<&mut Open, ListingError> {
        if self.open.is_none() {
            self.open = Some(open(&self.http, meter).await?);
        }
        Ok(self.open.as_mut().expect("it was opened above"))
    }
}

async fn open(http: &HttpWire<'_>, meter: &mut Meter) -> Result<Open, ListingError> {
    let mut headers = http.headers.clone();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    headers.remove(CONTENT_TYPE);
    let answer =
        http.client.send(Method::GET, &http.url, &headers, Bytes::new()).await.map_err(unreachable)?;
    match answer.status() {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => return Err(unauthorized(&answer)),
        status if !status.is_success() => return Err(ListingError::Status(status.as_u16())),
        _ => {}
    }
    if !matches!(body_kind(answer.headers())?, Body::Events) {
        return Err(ListingError::Protocol("the answer to GET is no stream of events".into()));
    }
    let mut stream = EventStream::new(answer);
    let url = posting_url(&http.url, &stream.first("endpoint", meter).await?)?;
    let posts = Posts { client: http.client.clone(), url, headers: http.headers.clone() };
    Ok(Open { stream, posts, read: VecDeque::new() })
}

/// On the server's own origin alone: what is posted bears the upstream's secrets.
fn posting_url(server: &Url, named: &str) -> Result<Url, ListingError> {
    let url = server.join(named.trim()).ok().filter(|url| url.origin() == server.origin());
    url.ok_or_else(|| ListingError::Refused("the server names another origin to post to".into()))
}

impl Posts {
    async fn post(&self, text: String) -> Result<(), ListingError> {
        let answer = self.client.send(Method::POST, &self.url, &self.headers, Bytes::from(text)).await;
        let answer = answer.map_err(unreachable)?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(unauthorized(&answer)),
            status => Err(ListingError::Status(status.as_u16())),
        }
    }
}

impl Open {
    async fn next(&mut self, meter: &mut Meter) -> Result<String, ListingError> {
        loop {
            if let Some(text) = self.read.pop_front() {
                return Ok(text);
            }
            let ended = || ListingError::Protocol("the event stream ended before the answer".into());
            self.read.extend(self.stream.next(meter).await?.ok_or_else(ended)?);
        }
    }
}

impl Wire for StreamsWire<'_> {
    const HAS_HEADERS: bool = false;

    async fn ask(&mut self, request: &Request, meter: &mut Meter) -> Result<String, Failure> {
        let open = self.opened(meter).await?;
        open.posts.post(request.text.clone()).await?;
        let mut inbox = Inbox::new(request);
        loop {
            let text = open.next(meter).await?;
            let Delivery { answer, replies, .. } = inbox.deliver(&text)?;
            if let Some(answer) = answer {
                return Ok(answer?);
            }
            for reply in replies {
                open.posts.post(reply).await?;
            }
        }
    }

    async fn tell(&mut self, notification: String) -> Result<(), Failure> {
        match &self.open {
            Some(open) => Ok(open.posts.post(notification).await?),
            None => Ok(()),
        }
    }

    fn agreed_on(&mut self, _revision: &'static str) {}

    /// The connection is the session.
    async fn end(&mut self) {
        self.open = None;
    }
}

impl IntoChannel for StreamsWire<'_> {
    fn into_channel(self, envelope: Envelope) -> Channel {
        let (stream, posts, read) = match self.open {
            Some(Open { stream, posts, read }) => (Some(stream), Some(posts), read),
            None => Default::default(),
        };
        let meter = Meter::for_messages(MAX_CALL_LINE_BYTES);
        Channel::between(Messages { stream, read, meter }, posts, envelope)
    }
}

/// What the server says, to the end of its stream.
struct Messages {
    stream: Option<EventStream>,
    read: VecDeque<String>,
    meter: Meter,
}

impl Incoming for Messages {
    /// What one call may bring is bounded where it is waited for; one message is, here.
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(text) = self.read.pop_front() {
                return Some(text);
            }
            let texts = self.stream.as_mut()?.next(&mut self.meter).await.ok()??;
            if !texts.is_empty() {
                self.meter.start_answer();
            }
            self.read.extend(texts);
        }
    }
}

impl Outgoing for Option<Posts> {
    async fn send(&mut self, message: String) -> bool {
        match self {
            Some(posts) => posts.post(message).await.is_ok(),
            None => false,
        }
    }
}
