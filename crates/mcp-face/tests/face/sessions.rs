use std::sync::Arc;

use http::Request;
use serde_json::json;
use toolgate_sealing::{MasterKey, Sealer};

use crate::double::{Face, KEY, META, initialize, post};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn a_session_opens_in_the_revision_asked_for_or_else_the_newest() {
    let face = Face::new(&[]);
    for (asked, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2099-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let opened = face.send(post(), initialize(asked)).await;
        let expected = json!({
            "protocolVersion": agreed,
            "capabilities": {"logging": {}, "tools": {"listChanged": true}},
            "serverInfo": {"name": "toolgate", "version": "1.2.3"},
        });
        assert_eq!(opened.json()["result"], expected);
        let id = opened.header("mcp-session-id").unwrap();
        assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
    }
    let nameless = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    assert_eq!(face.send(post(), nameless).await.refused(), (200, -32602));
}

#[tokio::test]
async fn a_session_takes_requests_notifications_and_responses() {
    let face = Face::new(&[]);
    let session = face.session("2025-06-18").await;
    let initialized = session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    assert_eq!((initialized.status.as_u16(), initialized.text.as_str()), (202, ""));
    assert_eq!(session.send(PING).await.text, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(session.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await.status, 202);
    for id in ["1", "null"] {
        let failed = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":1,"message":""}}}}"#);
        assert_eq!(session.send(&failed).await.status, 202);
    }
    assert_eq!(session.send(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#).await.refused(), (400, -32600));
    let unknown = session.send(r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#).await;
    assert_eq!(unknown.refused(), (200, -32601));
}

#[tokio::test]
async fn a_session_id_that_is_missing_is_asked_for() {
    let face = Face::new(&[]);
    for body in [PING, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "[]"] {
        assert_eq!(
            face.send(post().header("mcp-protocol-version", "2025-11-25"), body).await.refused(),
            (400, -32600)
        );
    }
}

#[tokio::test]
async fn law_10_a_session_of_another_credential_is_as_unknown_as_any() {
    let face = Face::new(&[]);
    let session = face.session("2025-11-25").await;
    let theirs = {
        let mut request = session.post();
        request.headers_mut().unwrap().insert("authorization", "Bearer tg_2_other".parse().unwrap());
        face.send(request, PING).await
    };
    let made_up = face.send(post().header("mcp-session-id", "made-up"), PING).await;
    let long = face.send(post().header("mcp-session-id", "x".repeat(10_000)), PING).await;
    for answer in [&theirs, &made_up, &long] {
        assert_eq!(answer.refused(), (404, 404));
        assert_eq!(answer.text, theirs.text);
    }
    let respelt = {
        let mut request = session.post();
        request.headers_mut().unwrap().insert("authorization", "bearer  tg_1_secret".parse().unwrap());
        face.send(request, PING).await
    };
    assert_eq!(respelt.status, 200, "it is the same credential");
}

#[tokio::test]
async fn any_replica_under_the_same_key_takes_a_session_and_no_other() {
    let sealer = Arc::new(Sealer::new(&MasterKey::ephemeral()));
    let [one, two] = [0, 1].map(|_| Face::sealing(&[], Arc::clone(&sealer)));
    let session = one.session("2025-11-25").await;
    assert_eq!(two.send(session.post(), PING).await.status, 200);
    assert_eq!(Face::new(&[]).send(session.post(), PING).await.refused(), (404, 404));
    let other = one.session("2025-11-25").await;
    assert_ne!(session.id, other.id, "two sessions of one credential are two");
}

#[tokio::test]
async fn a_session_keeps_its_revision_whatever_known_one_the_header_names() {
    let face = Face::new(&[]);
    let session = face.session("2025-06-18").await;
    let with =
        |version: &str| post().header("mcp-session-id", &session.id).header("mcp-protocol-version", version);
    assert_eq!(face.send(with("2025-06-18"), PING).await.status, 200);
    assert_eq!(face.send(post().header("mcp-session-id", &session.id), PING).await.status, 200);
    assert_eq!(face.send(with("2025-11-25"), PING).await.status, 200);
    let batch = format!("[{PING}]");
    assert_eq!(
        face.send(with("2025-03-26"), batch).await.refused(),
        (400, -32600),
        "of that one are batches"
    );
    let twice = with("2025-06-18").header("mcp-protocol-version", "2025-11-25");
    assert_eq!(face.send(twice, PING).await.refused(), (400, -32600));
    assert_eq!(face.send(with("2099-01-01"), PING).await.refused(), (400, -32022));
}

#[tokio::test]
async fn a_stateless_request_passes_over_a_session_id() {
    let face = Face::new(&[]);
    let headers = crate::double::modern("tools/list").header("mcp-session-id", "made-up");
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{META}}}}}"#);
    assert_eq!(face.send(headers, body).await.status, 200);
}

#[tokio::test]
async fn a_stream_takes_a_session() {
    let face = Face::new(&[]);
    let get = || {
        Request::get("/mcp")
            .header("host", "localhost")
            .header("authorization", KEY)
            .header("accept", "text/event-stream")
    };
    assert_eq!(face.send(get(), "").await.refused(), (400, -32600));
    assert_eq!(face.send(get().header("mcp-session-id", "made-up"), "").await.refused(), (404, 404));
    let stateless = face.send(get().header("mcp-protocol-version", "2026-07-28"), "").await;
    assert_eq!((stateless.refused(), stateless.header("allow")), ((405, 405), Some("POST")));
    let session = face.session("2025-11-25").await;
    let json = get().header("mcp-session-id", &session.id);
    let opened = face.open(json, "").await;
    assert_eq!(opened.status(), 200);
    assert_eq!(opened.headers()["content-type"], "text/event-stream");
}
