use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::{StreamExt, stream};
use http::Request;
use tokio::time::timeout;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};
use toolgate_sealing::{MasterKey, Sealer};

use crate::double::{Face, KEY, META, failing, initialize, modern, post, request};

const METADATA: &str = "http://localhost:8080/.well-known/oauth-protected-resource/mcp";

fn without_key(method: &str) -> http::request::Builder {
    Request::post("/mcp")
        .header("host", "localhost:8080")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
}

#[tokio::test]
async fn every_request_carries_the_callers_credential_to_the_service_and_nothing_else_judges_it() {
    let face = Face::new(&[]);
    let session = face.session("2025-11-25").await;
    face.ask("server/discover", "").await;
    face.ask("tools/list", "").await;
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#).await;
    let lists = face.lists();
    assert_eq!(lists.len(), 6);
    assert!(lists.iter().all(|list| list.authorization.as_deref() == Some(KEY)), "{lists:?}");
}

#[tokio::test]
async fn a_missing_key_is_challenged_before_anything_else_is_said() {
    let face = Face::new(&[]);
    for body in
        [request("tools/list", ""), initialize("2025-11-25"), "{".into(), String::new(), "x".repeat(2 << 20)]
    {
        let answer = face.send(without_key("tools/list"), body).await;
        assert_eq!(answer.refused(), (401, 401));
        let challenge = format!(r#"Bearer scope="mcp:call", resource_metadata="{METADATA}""#);
        assert_eq!(answer.header("www-authenticate"), Some(&*challenge));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    let stream = face.send(Request::get("/mcp").header("host", "localhost:8080"), "").await;
    assert_eq!(stream.refused(), (401, 401));
}

#[tokio::test]
async fn a_bad_key_is_told_so_whatever_else_is_wrong() {
    let face = Face::new(&[]);
    let bodies =
        [request("tools/list", ""), request("no/such", ""), "{".into(), "[]".into(), r#"{"id":1}"#.into()];
    for body in bodies {
        let answer = face.send(without_key("tools/list").header("authorization", "Bearer wrong"), body).await;
        assert_eq!(answer.refused(), (401, 401));
        let challenge = answer.header("www-authenticate").unwrap();
        assert!(
            challenge.starts_with(r#"Bearer error="invalid_token", scope="mcp:call", resource_metadata="#)
        );
    }
}

/// A body that begins like a request and never ends.
fn stalled() -> Body {
    let beginning = stream::once(async { Ok::<_, Infallible>(Bytes::from_static(b"{")) });
    Body::from_stream(beginning.chain(stream::pending()))
}

#[tokio::test]
async fn a_bad_key_is_refused_without_waiting_for_a_body_that_may_be_large() {
    let face = Face::new(&[]);
    let bad = without_key("tools/list").header("authorization", "Bearer wrong");
    let answer = timeout(Duration::from_secs(5), face.send(bad, stalled())).await;
    assert_eq!(answer.expect("the body is not waited for").refused(), (401, 401));
}

#[tokio::test]
async fn a_lacking_scope_is_named_with_what_the_endpoint_takes() {
    let face = Face::new(&[]);
    *face.double.refusal.lock().unwrap() = Some(failing(Code::PermissionDenied, "SCOPE_MISSING"));
    let answer = face.ask("tools/list", "").await;
    assert_eq!(answer.refused(), (403, 403));
    let challenge =
        format!(r#"Bearer error="insufficient_scope", scope="mcp:call", resource_metadata="{METADATA}""#);
    assert_eq!(answer.header("www-authenticate"), Some(&*challenge));
    assert!(answer.text.contains("the key lacks the scope mcp:call"), "{}", answer.text);

    *face.double.refusal.lock().unwrap() = Some(failing(Code::PermissionDenied, "OPERATOR_REQUIRED"));
    assert_eq!(face.ask("tools/list", "").await.header("www-authenticate"), None);
}

#[tokio::test]
async fn two_credentials_are_none() {
    let face = Face::new(&[]);
    let two = modern("tools/list").header("authorization", KEY);
    assert_eq!(face.send(two, request("tools/list", "")).await.refused(), (400, 400));
    assert!(face.lists().is_empty());
}

#[tokio::test]
async fn the_services_troubles_are_told_without_its_words() {
    let face = Face::new(&[]);
    let session = face.session("2025-11-25").await;
    for (code, status, rpc) in [
        (Code::Unavailable, 503, 503),
        (Code::DeadlineExceeded, 504, 504),
        (Code::Internal, 500, -32603),
        (Code::Unknown, 500, -32603),
        (Code::DataLoss, 500, -32603),
    ] {
        let details = ErrorDetails::with_retry_info(Some(Duration::from_millis(1200)));
        let trouble = Status::with_error_details(code, "store at 10.0.0.9 is down", details);
        *face.double.refusal.lock().unwrap() = Some(trouble);
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        for answer in [face.ask("tools/list", "").await, session.send(list).await] {
            assert_eq!(answer.refused(), (status, rpc), "{code:?}");
            assert_eq!(answer.header("retry-after"), Some("2"));
            assert!(!answer.text.contains("10.0.0.9"));
        }
    }
}

#[tokio::test]
async fn what_the_resource_is_can_be_read_without_a_key() {
    let sealer = || Arc::new(Sealer::new(&MasterKey::ephemeral()));
    let public = Face::with(&[], sealer(), Some("https://tools.example"));
    for (face, origin) in [(Face::new(&[]), "http://localhost:8080"), (public, "https://tools.example")] {
        for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
            let answer = face.send(Request::get(path).header("host", "localhost:8080"), "").await;
            assert_eq!(
                (answer.status.as_u16(), answer.header("content-type")),
                (200, Some("application/json"))
            );
            let expected = serde_json::json!({
                "resource": format!("{origin}/mcp"),
                "scopes_supported": ["mcp:call"],
                "bearer_methods_supported": ["header"],
                "resource_name": "toolgate",
            });
            assert_eq!(answer.json(), expected);
        }
        let challenged = face.send(without_key("tools/list"), format!("{{{META}}}")).await;
        assert!(challenged.header("www-authenticate").unwrap().contains(origin));
    }
    assert!(Face::new(&[]).send(post(), "{}").await.status.is_client_error());
}
