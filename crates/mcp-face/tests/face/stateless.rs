use serde_json::json;

use crate::double::{Face, META, MODERN, modern, post, request};

const VERSIONS: [&str; 5] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

#[tokio::test]
async fn discovery_tells_versions_capabilities_and_who_answers() {
    let answer = Face::new(&[]).ask("server/discover", "").await;
    assert_eq!(answer.status, 200);
    let expected = json!({
        "resultType": "complete",
        "ttlMs": 3_600_000,
        "cacheScope": "private",
        "supportedVersions": VERSIONS,
        "capabilities": {"logging": {}, "tools": {"listChanged": true}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "toolgate", "version": "1.2.3"}},
    });
    assert_eq!(answer.json()["result"], expected);
    assert_eq!(answer.header("mcp-session-id"), None);
}

#[tokio::test]
async fn an_unknown_method_is_not_found() {
    let face = Face::new(&[]);
    for method in ["no/such", "initialize", "ping", "resources/list", "logging/setLevel"] {
        assert_eq!(face.ask(method, "").await.refused(), (404, -32601), "{method}");
    }
}

#[tokio::test]
async fn headers_have_to_say_what_the_body_says() {
    let face = Face::new(&[]);
    let body = || request("tools/list", "");
    let wrong = [
        post().header("mcp-method", "tools/list"),
        post().header("mcp-protocol-version", MODERN),
        modern("tools/call"),
        modern("TOOLS/LIST"),
        post().header("mcp-method", "tools/list").header("mcp-protocol-version", "2025-11-25"),
        modern("tools/list").header("mcp-method", "tools/list"),
        modern("tools/list").header("mcp-protocol-version", MODERN),
        post().header("mcp-protocol-version", MODERN).header("mcp-method", [0xff].as_slice()),
    ];
    for headers in wrong {
        let shown = format!("{:?}", headers.headers_ref());
        assert_eq!(face.send(headers, body()).await.refused(), (400, -32020), "{shown}");
    }
}

#[tokio::test]
async fn a_revision_that_is_not_spoken_is_answered_with_those_that_are() {
    let face = Face::new(&[]);
    for requested in ["2099-01-01", "2025-11-25", "x"] {
        let body = request("tools/list", "").replace(MODERN, requested);
        let headers = || post().header("mcp-protocol-version", requested).header("mcp-method", "tools/list");
        let answer = face.send(headers(), body).await;
        assert_eq!(answer.refused(), (400, -32022), "{requested}");
        assert_eq!(answer.json()["error"]["data"], json!({"supported": VERSIONS, "requested": requested}));
        let without_meta = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        assert_eq!(face.send(headers(), without_meta).await.refused(), (400, -32022), "{requested}");
    }
}

#[tokio::test]
async fn what_each_request_must_declare_is_asked_for() {
    let face = Face::new(&[]);
    let versions = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    for meta in [
        "",
        r#","params":{}"#,
        r#","params":{"_meta":7}"#,
        &format!(r#","params":{{"_meta":{{{versions}}}}}"#),
        &format!(r#","params":{{"_meta":{{{versions},"io.modelcontextprotocol/clientCapabilities":null}}}}"#),
        r#","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}"#,
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list"{meta}}}"#);
        assert_eq!(face.send(modern("tools/list"), body).await.refused(), (400, -32602), "{meta}");
    }
}

#[tokio::test]
async fn notifications_are_taken_and_responses_are_not() {
    let face = Face::new(&[]);
    let cancelled = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{{META}}}}}"#);
    let taken = face.send(modern("notifications/cancelled"), cancelled).await;
    assert_eq!((taken.status.as_u16(), taken.text.as_str()), (202, ""));
    let response = face.send(modern("x"), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    assert_eq!(response.refused(), (400, -32600));
    assert_eq!(face.send(modern("x"), format!("[{}]", request("x", ""))).await.refused(), (400, -32600));
}
