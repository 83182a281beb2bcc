use std::io;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt};
use http::header::CONTENT_TYPE;
use tokio::sync::watch;

/// An answer, word for word. In its text, `$ID` stands for the id of the request, quotes included.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Content,
    after: Option<Duration>,
}

/// What streams of notices have told so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    pub(super) changes: usize,
    /// How often all streams were ended.
    pub(super) ends: usize,
}

#[derive(Debug, Clone)]
enum Content {
    Text(String),
    Bytes(Bytes),
    /// One byte each interval, without end once the text is over.
    Drip(String, Duration),
    /// White space without end.
    Flood,
    /// The text, then a connection that breaks.
    Cut(String),
    /// The first text, then the second one for each change that is told, until the streams are ended.
    Live(String, String, watch::Receiver<Told>),
}

impl Reply {
    fn new(status: u16, content_type: &str, body: Content) -> Self {
        let headers = match content_type {
            "" => Vec::new(),
            media_type => vec![(CONTENT_TYPE.as_str().to_owned(), media_type.to_owned())],
        };
        Self { status, headers, body, after: Some(Duration::ZERO) }
    }

    /// HTTP 200 with a JSON document.
    pub fn json(text: &str) -> Self {
        Self::new(200, "application/json", Content::Text(text.into()))
    }

    /// HTTP 200 with a JSON document that wraps the text of a result.
    pub fn result(text: &str) -> Self {
        Self::json(&format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{text}}}"#))
    }

    /// HTTP 200 with a JSON-RPC error.
    pub fn error(code: i64, message: &str) -> Self {
        let error = serde_json::json!({"code": code, "message": message});
        Self::json(&format!(r#"{{"jsonrpc":"2.0","id":$ID,"error":{error}}}"#))
    }

    /// HTTP 200 with this event stream.
    pub fn events(stream: &str) -> Self {
        Self::new(200, "text/event-stream", Content::Text(stream.into()))
    }

    /// HTTP 200 with an event stream of one message.
    pub fn event(message: &str) -> Self {
        Self::events(&format!("event: message\ndata: {message}\n\n"))
    }

    /// Any status and body, without a content type.
    pub fn status(status: u16, body: &str) -> Self {
        Self::new(status, "", Content::Text(body.into()))
    }

    /// HTTP 200 with a JSON document of any bytes.
    pub fn bytes(bytes: impl Into<Bytes>) -> Self {
        Self::new(200, "application/json", Content::Bytes(bytes.into()))
    }

    /// The request is taken and never answered.
    pub fn hang() -> Self {
        Self { after: None, ..Self::status(200, "") }
    }

    /// HTTP 200 with a JSON document that comes byte by byte and never ends.
    pub fn drip(text: &str, each: Duration) -> Self {
        Self::new(200, "application/json", Content::Drip(text.into(), each))
    }

    /// HTTP 200 with a JSON document of white space that never ends, as fast as it is read.
    pub fn flood() -> Self {
        Self::new(200, "application/json", Content::Flood)
    }

    /// HTTP 200 with the start of a JSON document, then a broken connection.
    pub fn cut(text: &str) -> Self {
        Self::new(200, "application/json", Content::Cut(text.into()))
    }

    pub(super) fn live(opening: String, notice: String, told: watch::Receiver<Told>) -> Self {
        Self::new(200, "text/event-stream", Content::Live(opening, notice, told))
    }

    /// With this status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// With this header, in lower case, in place of one of the same name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(present, _)| present != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sent this long after the request.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.after = Some(delay);
        self
    }

    /// The text of a JSON document.
    pub(super) fn document(&self, id: &str) -> Option<String> {
        match &self.body {
            Content::Text(text) if self.status == 200 => Some(text.replace("$ID", id)),
            _ => None,
        }
    }

    pub(super) async fn send(self, id: &str) -> Response {
        match self.after {
            Some(delay) => tokio::time::sleep(delay).await,
            None => std::future::pending().await,
        }
        let with_id = |text: String| text.replace("$ID", id);
        let body = match self.body {
            Content::Text(text) => Body::from(with_id(text)),
            Content::Bytes(bytes) => Body::from(bytes),
            Content::Drip(text, each) => Body::from_stream(drip(with_id(text), each)),
            Content::Flood => {
                let chunk = Bytes::from_static(&[b' '; 4096]);
                Body::from_stream(stream::repeat(chunk).map(Ok::<_, io::Error>))
            }
            Content::Cut(text) => {
                let broken = stream::once(async { Err(io::Error::other("cut")) });
                Body::from_stream(stream::iter([Ok(with_id(text))]).chain(broken))
            }
            Content::Live(opening, notice, told) => {
                let opening = stream::iter([Ok(with_id(opening))]);
                Body::from_stream(opening.chain(notices(with_id(notice), told)))
            }
        };
        let mut answer = Response::builder().status(self.status);
        for (name, value) in self.headers {
            answer = answer.header(name, value);
        }
        answer.body(body).expect("a test scripts valid headers")
    }
}

fn drip(text: String, each: Duration) -> impl Stream<Item = io::Result<Bytes>> {
    let bytes = text.into_bytes().into_iter().chain(std::iter::repeat(b' '));
    stream::iter(bytes).then(move |byte| async move {
        tokio::time::sleep(each).await;
        Ok(Bytes::copy_from_slice(&[byte]))
    })
}

fn notices(notice: String, told: watch::Receiver<Told>) -> impl Stream<Item = io::Result<String>> {
    let before = *told.borrow();
    stream::unfold((before, told), move |(before, mut told)| {
        let notice = notice.clone();
        async move {
            told.changed().await.ok()?;
            let now = *told.borrow_and_update();
            (now.ends == before.ends).then(|| (Ok(notice.repeat(now.changes - before.changes)), (now, told)))
        }
    })
}
