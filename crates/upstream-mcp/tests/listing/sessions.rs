use toolgate_test_support::mcp_server::{Received, Reply, ScriptedServer};
use toolgate_upstream::ListingError;

use super::{A, B, assert_complete, assert_protocol_error, list};

fn header<'a>(request: &'a Received, name: &str) -> Option<&'a str> {
    request.headers.get(name).map(|value| value.to_str().unwrap())
}

fn methods(server: &ScriptedServer) -> Vec<String> {
    let received = server.received().into_iter().map(|request| request.method);
    received.filter(|method| method != "server/discover").collect()
}

/// BR-063.
#[tokio::test]
async fn a_session_is_opened_used_and_deleted() {
    let server = ScriptedServer::start().await;
    server.list(&[A]);
    server.open_sessions();
    let listing = list(&server).await.unwrap();
    assert_eq!(listing.protocol_version, "2025-11-25");
    assert_eq!(listing.server_name.as_deref(), Some("scripted 1"));
    let probed = server.received().remove(0);
    assert_eq!(probed.method, "server/discover");
    let received = server.received().split_off(1);
    assert_eq!(methods(&server), ["initialize", "notifications/initialized", "tools/list", "DELETE"]);
    for name in ["mcp-session-id", "mcp-protocol-version"] {
        assert_eq!(header(&received[0], name), None);
    }
    for request in &received[1..] {
        assert_eq!(header(request, "mcp-session-id"), Some("session-1"));
        assert_eq!(header(request, "mcp-protocol-version"), Some("2025-11-25"));
    }
    let received = server.received();
    assert!(received.iter().all(|request| header(request, "authorization") == Some("Bearer s3cret-token")));
    let offer: serde_json::Value = serde_json::from_str(&received[1].body).unwrap();
    let client = serde_json::json!({"name": "toolgate", "version": env!("CARGO_PKG_VERSION")});
    let params =
        serde_json::json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    assert_eq!(offer["params"], params);
}

/// BR-049.
#[tokio::test]
async fn a_forgotten_session_is_opened_again_once_and_the_listing_starts_over() {
    let server = ScriptedServer::start().await;
    server.pages(&[(&format!("[{A}]"), Some("\"2\"")), (&format!("[{B}]"), None)]);
    server.open_sessions();
    let page = Reply::result(&format!(r#"{{"tools":[{A}],"nextCursor":"2"}}"#));
    server.reply_once("tools/list", page);
    server.reply_once(
        "tools/list",
        Reply::status(404, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001}}"#),
    );
    assert_complete(list(&server).await, &[A, B]);
    let received = server.received_for("initialize");
    assert_eq!(received.len(), 2);
    assert_eq!(
        (header(&received[1], "mcp-session-id"), header(&received[1], "mcp-protocol-version")),
        (None, None)
    );
    let last = server.received_for("tools/list").pop().unwrap();
    assert_eq!(header(&last, "mcp-session-id"), Some("session-2"));
}

/// BR-049, BR-051, BR-053, BR-063.
#[tokio::test]
async fn every_session_revision_is_read_as_documents_and_as_events_and_outlives_a_lost_session() {
    for revision in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        for as_events in [false, true] {
            let server = ScriptedServer::start().await;
            server.list(&[A]);
            server.speak(revision);
            server.open_sessions();
            server.reply_once("tools/list", Reply::status(404, ""));
            if as_events {
                server.answer_as_events();
            }
            assert_complete(list(&server).await, &[A]);
            let last = server.received_for("tools/list").pop().unwrap();
            assert_eq!(header(&last, "mcp-session-id"), Some("session-2"));
            assert_eq!(header(&last, "mcp-protocol-version"), Some(revision));
        }
    }
}

/// BR-049.
#[tokio::test]
async fn a_new_session_that_is_forgotten_too_ends_the_listing() {
    let server = ScriptedServer::start().await;
    server.open_sessions();
    server.reply("tools/list", Reply::status(404, ""));
    assert_eq!(list(&server).await, Err(ListingError::Status(404)));
    assert_eq!((server.received_for("initialize").len(), server.received_for("tools/list").len()), (2, 2));
}

/// BR-049.
#[tokio::test]
async fn a_session_that_is_gone_when_a_ping_is_answered_is_opened_again_too() {
    let server = ScriptedServer::start().await;
    server.list(&[A]);
    server.open_sessions();
    let ping = "data: {\"id\":1,\"method\":\"ping\"}\n\n";
    server.reply_once("tools/list", Reply::events(ping));
    server.reply_once("", Reply::status(404, ""));
    assert_complete(list(&server).await, &[A]);
    assert_eq!(server.received_for("initialize").len(), 2);
}

#[tokio::test]
async fn without_a_session_404_is_an_error_like_another() {
    let server = ScriptedServer::start().await;
    server.reply("tools/list", Reply::status(404, ""));
    assert_eq!(list(&server).await, Err(ListingError::Status(404)));
    assert_eq!(methods(&server), ["initialize", "notifications/initialized", "tools/list"]);
}

/// BR-053.
#[tokio::test]
async fn refusals_of_get_and_delete_and_empty_acceptances_are_normal() {
    let server = ScriptedServer::start().await;
    server.list(&[A]);
    server.open_sessions();
    for accepted in [Reply::status(202, ""), Reply::status(200, ""), Reply::status(204, "")] {
        server.reply("notifications/initialized", accepted);
        server.reply("DELETE", Reply::status(405, ""));
        assert_complete(list(&server).await, &[A]);
    }
    assert!(server.received_for("GET").is_empty());
}

#[tokio::test]
async fn a_server_that_never_answers_a_delete_does_not_hold_the_listing() {
    let server = ScriptedServer::start().await;
    server.list(&[A]);
    server.open_sessions();
    server.reply("DELETE", Reply::hang());
    let started = std::time::Instant::now();
    assert_complete(list(&server).await, &[A]);
    assert!(started.elapsed() < super::bounds().answer_timeout / 2);
}

/// BR-063.
#[tokio::test]
async fn each_known_revision_is_spoken_and_others_are_named() {
    for revision in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let server = ScriptedServer::start().await;
        server.list(&[A]);
        server.speak(revision);
        assert_eq!(list(&server).await.unwrap().protocol_version, revision);
        assert_eq!(header(&server.received_for("tools/list")[0], "mcp-protocol-version"), Some(revision));
    }
    let server = ScriptedServer::start().await;
    server.speak("1999-01-01");
    assert_protocol_error(list(&server).await, "the server speaks 1999-01-01");
    assert_eq!(methods(&server), ["initialize"]);
}

#[tokio::test]
async fn an_initialize_result_without_a_revision_is_refused() {
    let server = ScriptedServer::start().await;
    for result in
        ["{}", r#"{"protocolVersion":7}"#, r#"{"protocolVersion":"2025-11-25","protocolVersion":"x"}"#, "[]"]
    {
        server.reply("initialize", Reply::result(result));
        assert!(matches!(list(&server).await, Err(ListingError::Protocol(_))), "{result}");
    }
}

#[tokio::test]
async fn a_server_may_be_nameless() {
    let server = ScriptedServer::start().await;
    for (info, name) in [
        ("null", None),
        ("{}", None),
        (r#"{"version":"2"}"#, Some("2")),
        (r#"{"name":7}"#, None),
        (r#"{"name":"demo","version":""}"#, Some("demo")),
    ] {
        let result = format!(r#"{{"protocolVersion":"2025-11-25","serverInfo":{info}}}"#);
        server.reply("initialize", Reply::result(&result));
        assert_eq!(list(&server).await.unwrap().server_name.as_deref(), name);
    }
}
