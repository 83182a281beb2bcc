use serde_json::Value;
use toolgate_test_support::mcp_server::{Received, Reply, ScriptedServer};
use toolgate_upstream::{Listing, ListingError, ToolServers};

use super::{A, B, assert_complete, assert_protocol_error, bounds, endpoint, list, servers};

const STATELESS: &str = "2026-07-28";

async fn stateless() -> ScriptedServer {
    let server = ScriptedServer::start().await;
    server.speak_statelessly(&[STATELESS]);
    server.list(&[A]);
    server
}

fn methods(server: &ScriptedServer) -> Vec<String> {
    server.received().into_iter().map(|request| request.method).collect()
}

fn header<'a>(request: &'a Received, name: &str) -> Option<&'a str> {
    request.headers.get(name).map(|value| value.to_str().unwrap())
}

/// Several listings through one port, as a running process makes them.
async fn list_twice(server: &ScriptedServer) -> [Result<Listing, ListingError>; 2] {
    let servers = servers();
    let first = servers.list_tools(&endpoint(server), &bounds()).await;
    [first, servers.list_tools(&endpoint(server), &bounds()).await]
}

#[tokio::test]
async fn a_stateless_server_is_listed_without_a_session() {
    let server = stateless().await;
    server.pages(&[(&format!("[{A}]"), Some("\"\"")), (&format!("[{B}]"), None)]);
    server.fresh_for_ms(60_000);
    let listing = list(&server).await.unwrap();
    assert_eq!(
        (listing.protocol_version.as_str(), listing.server_name.as_deref()),
        (STATELESS, Some("scripted 1"))
    );
    assert_eq!((listing.ttl, listing.binds_headers), (Some(std::time::Duration::from_secs(60)), true));
    assert_complete(Ok(listing), &[A, B]);
    assert_eq!(methods(&server), ["server/discover", "tools/list", "tools/list"]);
    for request in server.received() {
        let body: Value = serde_json::from_str(&request.body).unwrap();
        let meta = &body["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], STATELESS);
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "toolgate");
        assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], serde_json::json!({}));
        assert_eq!(header(&request, "mcp-protocol-version"), Some(STATELESS));
        assert_eq!(header(&request, "mcp-method"), Some(request.method.as_str()));
        assert_eq!(header(&request, "accept"), Some("application/json, text/event-stream"));
        assert_eq!(header(&request, "authorization"), Some("Bearer s3cret-token"));
        assert_eq!(header(&request, "mcp-session-id"), None);
    }
}

#[tokio::test]
async fn a_stateless_server_may_answer_with_event_streams() {
    let server = stateless().await;
    server.answer_as_events();
    assert_complete(list(&server).await, &[A]);
}

#[tokio::test]
async fn what_a_server_speaks_is_asked_once() {
    let (modern, older) = (stateless().await, ScriptedServer::start().await);
    for server in [&modern, &older] {
        server.list(&[A]);
        for listing in list_twice(server).await {
            assert_complete(listing, &[A]);
        }
        assert_eq!(server.received_for("server/discover").len(), 1);
    }
    assert!(modern.received_for("initialize").is_empty());
}

#[tokio::test]
async fn a_server_that_changed_its_revision_is_asked_again_after_one_failure() {
    let server = ScriptedServer::start().await;
    server.list(&[A]);
    let servers = servers();
    let listed = async || servers.list_tools(&endpoint(&server), &bounds()).await;
    assert_eq!(listed().await.unwrap().protocol_version, "2025-11-25");
    server.speak_statelessly(&[STATELESS]);
    assert!(listed().await.is_err());
    assert_eq!(listed().await.unwrap().protocol_version, STATELESS);
}

/// BR-063.
#[tokio::test]
async fn a_server_that_refuses_the_probe_in_any_way_is_met_with_a_handshake() {
    for refusal in [
        Reply::status(400, ""),
        Reply::status(400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}"#),
        Reply::status(404, "not found"),
        Reply::status(405, "").header("allow", "GET"),
        Reply::status(500, "oops"),
        Reply::status(202, ""),
        Reply::status(200, "<html>").header("content-type", "text/html"),
        Reply::error(-32601, "method not found"),
        Reply::error(-32602, "invalid params"),
        Reply::result("{}"),
    ] {
        let server = ScriptedServer::start().await;
        server.list(&[A]);
        server.speak("2025-03-26");
        server.reply("server/discover", refusal);
        let listing = list(&server).await.unwrap();
        assert_eq!((listing.protocol_version.as_str(), listing.binds_headers), ("2025-03-26", false));
        let initialize = server.received_for("initialize").remove(0);
        for name in ["mcp-protocol-version", "mcp-method"] {
            assert_eq!(header(&initialize, name), None);
        }
        assert_eq!(header(&server.received_for("tools/list")[0], "mcp-protocol-version"), Some("2025-03-26"));
    }
}

#[tokio::test]
async fn a_server_that_is_silent_about_the_probe_is_met_with_a_handshake() {
    let server = ScriptedServer::start().await;
    server.list(&[A]);
    server.reply("server/discover", Reply::hang());
    let impatient =
        toolgate_upstream::Bounds { connect_timeout: std::time::Duration::from_secs(4), ..bounds() };
    assert_complete(super::list_within(&server, &impatient).await, &[A]);
}

/// BR-063.
#[tokio::test]
async fn a_refused_revision_leads_to_one_that_both_sides_know() {
    let unsupported = |supported: &str| {
        let data = format!(r#"{{"supported":{supported},"requested":"2026-07-28"}}"#);
        Reply::status(
            400,
            &format!(
                r#"{{"jsonrpc":"2.0","id":$ID,"error":{{"code":-32022,"message":"no","data":{data}}}}}"#
            ),
        )
    };
    let server = ScriptedServer::start().await;
    server.list(&[A]);
    server.reply("server/discover", unsupported(r#"["2099-01-01","2025-11-25"]"#));
    assert_eq!(list(&server).await.unwrap().protocol_version, "2025-11-25");
    server.reply("server/discover", unsupported(r#"["2099-01-01"]"#));
    assert_protocol_error(list(&server).await, "the server speaks 2099-01-01");
    assert_eq!(server.received_for("initialize").len(), 1, "a stateless server is not offered a session");
}

#[tokio::test]
async fn errors_of_the_stateless_revisions_are_told_as_they_are() {
    for code in [-32020, -32021] {
        let server = stateless().await;
        let error = format!(r#"{{"jsonrpc":"2.0","id":$ID,"error":{{"code":{code},"message":"no"}}}}"#);
        server.reply("server/discover", Reply::status(400, &error));
        assert_eq!(list(&server).await, Err(ListingError::Rpc { code, message: "no".into() }));
        assert!(server.received_for("initialize").is_empty());
    }
    let server = stateless().await;
    let error = r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"no tools here"}}"#;
    server.reply("tools/list", Reply::status(404, error));
    let told = ListingError::Rpc { code: -32601, message: "no tools here".into() };
    assert_eq!(list(&server).await, Err(told));
}

/// BR-057.
#[tokio::test]
async fn a_server_that_wants_a_credential_or_has_no_time_is_asked_once() {
    for status in [401, 403, 429, 503] {
        let server = ScriptedServer::start().await;
        server.reply_to_everything(Reply::status(status, ""));
        assert!(list(&server).await.is_err());
        assert_eq!(methods(&server), ["server/discover"], "{status}");
    }
}

#[tokio::test]
async fn a_result_that_asks_for_input_is_no_listing() {
    let server = stateless().await;
    server.reply("tools/list", Reply::result(r#"{"resultType":"input_required","tools":[]}"#));
    assert_protocol_error(list(&server).await, "resultType");
}

#[tokio::test]
async fn a_refusal_without_end_is_not_read_to_its_end() {
    let server = stateless().await;
    server.reply("tools/list", Reply::flood().with_status(400));
    assert_eq!(list(&server).await, Err(ListingError::Status(400)));
}
