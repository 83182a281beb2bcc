use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

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

/// One request on a connection of its own. A `host` among the headers stands in place of the true one.
pub(super) async fn request(at: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let stream = TcpStream::connect(at).await.expect("the server listens");
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.expect("a fresh connection takes requests");
    let driving = tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        request = request.header("host", at.to_string());
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Empty::<Bytes>::new()).expect("a test asks well-formed things");
    let (head, body) = sender.send_request(request).await.expect("the server answers").into_parts();
    let body = body.collect().await.expect("the answer is whole").to_bytes();
    driving.abort();
    Answer { status: head.status.as_u16(), headers: head.headers, body }
}
