//! The guard in front of real sockets.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, LOCATION};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use toolgate_outbound::{Outbound, OutboundError, Private, Refusal, limits};

/// What a server saw: method, path, the credential and the body.
type Seen = Arc<Mutex<Vec<(Method, String, Option<HeaderValue>, Bytes)>>>;

/// A server that redirects with status S and location L when the path is `/go` and its script is (S, L).
struct Redirecting {
    address: SocketAddr,
    seen: Seen,
}

impl Redirecting {
    async fn start(status: u16, location: &str) -> Self {
        let seen = Seen::default();
        let script = (status, location.to_owned(), Arc::clone(&seen));
        let router = Router::new().fallback(answer).with_state(Arc::new(script));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, seen }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

async fn answer(State(script): State<Arc<(u16, String, Seen)>>, request: Request) -> Response {
    let (status, location, seen) = &*script;
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let path = head.uri.path().to_owned();
    seen.lock().unwrap().push((head.method, path.clone(), head.headers.get(AUTHORIZATION).cloned(), body));
    let answer = Response::builder();
    match path.as_str() {
        "/go" => answer.status(*status).header(LOCATION, location).body(Body::empty()).unwrap(),
        "/br" => answer.header(CONTENT_ENCODING, "br").body(Body::from("?")).unwrap(),
        _ => answer.body(Body::from("arrived")).unwrap(),
    }
}

async fn post(
    url: &str,
    private: Private,
    declared: bool,
) -> Result<toolgate_outbound::Response, OutboundError> {
    let outbound = Outbound::new(private).unwrap();
    let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static("Bearer s3cret"))]);
    let url = outbound.check(url, declared)?;
    outbound.client(declared).send(Method::POST, &url, &headers, Bytes::from_static(b"body")).await
}

async fn declared(url: &str) -> Result<toolgate_outbound::Response, OutboundError> {
    post(url, Private::Declared, true).await
}

/// BR-059.
#[tokio::test]
async fn a_redirect_within_the_origin_keeps_method_headers_and_body() {
    for status in [307, 308] {
        let server = Redirecting::start(status, "/mcp/").await;
        let mut answer = declared(&server.url("/go")).await.unwrap();
        assert_eq!(answer.chunk().await.unwrap().unwrap(), "arrived");
        let seen = server.seen.lock().unwrap();
        let (method, path, credential, body) = &seen[1];
        assert_eq!((method, path.as_str(), &body[..]), (&Method::POST, "/mcp/", &b"body"[..]));
        assert_eq!(credential.as_ref().unwrap(), "Bearer s3cret");
    }
}

/// BR-059.
#[tokio::test]
async fn a_redirect_that_may_turn_a_post_into_a_get_is_refused() {
    for status in [301, 302, 303] {
        let server = Redirecting::start(status, "/mcp/").await;
        let error = declared(&server.url("/go")).await.unwrap_err();
        assert_eq!(error, Refusal::MethodChange(status).into());
        assert_eq!(server.seen.lock().unwrap().len(), 1);
    }
}

/// BR-059.
#[tokio::test]
async fn a_redirect_loop_ends_at_the_hop_limit() {
    let server = Redirecting::start(307, "/go").await;
    assert_eq!(declared(&server.url("/go")).await.unwrap_err(), Refusal::TooManyRedirects.into());
    assert_eq!(server.seen.lock().unwrap().len(), limits::MAX_REDIRECTS + 1);
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_refused_and_sends_nothing_there() {
    let other = Redirecting::start(200, "").await;
    for target in [other.url("/steal"), "http://169.254.169.254/latest/".into(), "//10.0.0.1/".into()] {
        let server = Redirecting::start(307, &target).await;
        assert_eq!(declared(&server.url("/go")).await.unwrap_err(), Refusal::OtherOrigin.into());
    }
    assert!(other.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_redirect_without_a_usable_location_is_refused() {
    let server = Redirecting::start(307, "http://[").await;
    assert_eq!(declared(&server.url("/go")).await.unwrap_err(), Refusal::BadLocation.into());
}

#[tokio::test]
async fn loopback_is_reached_only_when_declared_and_not_forbidden_by_name_or_by_literal() {
    let server = Redirecting::start(200, "").await;
    let by_name = format!("http://localhost:{}/", server.address.port());
    for url in [server.url("/"), by_name] {
        assert_eq!(declared(&url).await.unwrap().status(), StatusCode::OK, "{url}");
        let undeclared = post(&url, Private::Declared, false).await.unwrap_err();
        assert_eq!(undeclared, Refusal::PrivateUndeclared.into());
        let forbidden = post(&url, Private::Never, true).await.unwrap_err();
        assert_eq!(forbidden, Refusal::PrivateNever.into());
    }
    assert_eq!(server.seen.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_connection_of_a_declared_target_never_serves_an_undeclared_one() {
    let server = Redirecting::start(200, "").await;
    let outbound = Outbound::new(Private::Declared).unwrap();
    let url = format!("http://localhost:{}/", server.address.port());
    let url = outbound.check(&url, true).unwrap();
    let send = |declared| {
        let client = outbound.client(declared).clone();
        let url = url.clone();
        async move { client.send(Method::GET, &url, &HeaderMap::new(), Bytes::new()).await }
    };
    let mut answer = send(true).await.unwrap();
    while answer.chunk().await.unwrap().is_some() {}
    assert_eq!(send(false).await.unwrap_err(), Refusal::PrivateUndeclared.into());
}

#[tokio::test]
async fn failures_to_connect_are_told_apart_and_name_no_address() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    assert_eq!(declared(&closed).await.unwrap_err(), OutboundError::Connect("the connection was refused"));
    let server = Redirecting::start(200, "").await;
    let plain = server.url("/").replace("http:", "https:");
    assert_eq!(declared(&plain).await.unwrap_err(), OutboundError::Connect("tls: the handshake failed"));
    // A label over 63 characters: no name server is asked.
    let unresolved = declared(&format!("http://{}.invalid/", "a".repeat(64))).await.unwrap_err();
    assert_eq!(unresolved, OutboundError::Connect("the host name does not resolve"));
}

/// BR-061.
#[tokio::test]
async fn an_encoding_that_was_not_offered_stays_visible() {
    let server = Redirecting::start(200, "").await;
    let answer = declared(&server.url("/br")).await.unwrap();
    assert_eq!(answer.headers()[CONTENT_ENCODING], "br");
}
