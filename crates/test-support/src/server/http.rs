use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

/// An HTTP answer, whole.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Every header.
    pub headers: HeaderMap,
    /// The body as it came, still coded where a coding was asked for.
    pub body: Bytes,
}

impl Answer {
    /// One header; empty where it is absent.
    ///
    /// # Panics
    /// When it is no text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("a header of ours is text"))
    }

    /// The body as text.
    ///
    /// # Panics
    /// When it is no UTF-8.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a body of ours is text")
    }
}

/// An answer that goes on: a stream of events. Dropping it closes the connection.
#[derive(Debug)]
pub struct Events {
    body: Incoming,
    _driving: AbortOnDropHandle<hyper::Result<()>>,
}

impl Events {
    /// The `data` of the next event, past the comments; `None` at the end of the stream.
    ///
    /// # Panics
    /// When an event comes in parts.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            let frame = self.body.frame().await?.expect("the stream ends well");
            let event = String::from_utf8(frame.into_data().ok()?.to_vec()).expect("events are text");
            assert!(event.ends_with("\n\n"), "a part of an event: {event:?}");
            if let Some((_, data)) = event.trim_end().split_once("data: ") {
                return Some(data.to_owned());
            }
        }
    }
}

/// One request on a connection of its own. A `host` among the headers stands in place of the true one.
pub(super) async fn request(
    at: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let (answer, _driving) = send(at, method, path, headers, body).await;
    let (head, body) = answer.into_parts();
    let body = body.collect().await.expect("the answer is whole").to_bytes();
    Answer { status: head.status.as_u16(), headers: head.headers, body }
}

/// As [`request`], for an answer that goes on.
pub(super) async fn events(
    at: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Events {
    let (answer, driving) = send(at, method, path, headers, body).await;
    assert_eq!(answer.status(), 200, "the stream opens");
    Events { body: answer.into_body(), _driving: driving }
}

async fn send(
    at: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (Response<Incoming>, AbortOnDropHandle<hyper::Result<()>>) {
    let stream = TcpStream::connect(at).await.expect("the server listens");
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.expect("a fresh connection takes requests");
    let driving = AbortOnDropHandle::new(tokio::spawn(connection));
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        request = request.header("host", at.to_string());
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = Full::new(Bytes::copy_from_slice(body.as_bytes()));
    let request = request.body(body).expect("a test asks well-formed things");
    (sender.send_request(request).await.expect("the server answers"), driving)
}
