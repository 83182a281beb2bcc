//! Servers on loopback that answer whatever a test tells them to.

#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

use std::time::Duration;

use toolgate_outbound::{Outbound, Private};
use toolgate_test_support::mcp_server::{Reply, ScriptedServer};
use toolgate_upstream::{
    Bounds, CallAnswer, CallBounds, CallError, Endpoint, ListingEnd, ListingError, Secret, ToolCall,
    ToolCalls, ToolServers, TraceContext,
};
use toolgate_upstream_oxp::OxpServers;

const DEFINITION: &str = r#"{"name":"b","inputSchema":{},"_meta":{"dev.toolgate/oxp":{"id":"A.B@1.0.0"}}}"#;
const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn servers() -> OxpServers {
    OxpServers::new(Outbound::new(Private::Declared).unwrap())
}

fn endpoint(server: &ScriptedServer) -> Endpoint {
    let url = server.url().trim_end_matches("/mcp").to_owned() + "/base/";
    let headers = vec![("authorization".to_owned(), Secret::new("Bearer s3cret-token"))];
    Endpoint::Oxp { url, headers, allow_private: true }
}

fn bounds() -> Bounds {
    Bounds {
        connect_timeout: Duration::from_secs(10),
        answer_timeout: Duration::from_secs(20),
        total_timeout: Duration::from_secs(20),
        max_pages: 10,
        max_answer_bytes: 4096,
        max_listing_bytes: 4096,
        max_entries: 2,
    }
}

async fn call(server: &ScriptedServer, total: Duration, may_leave: bool) -> Result<CallAnswer, CallError> {
    let leaves = move || may_leave;
    let call = ToolCall {
        name: "b",
        definition: DEFINITION,
        arguments: r#"{"n": 9007199254740993,"x":1.0}"#,
        argument_headers: &[],
        shares: None,
        may_leave: &leaves,
        wants_progress: false,
        log_level: None,
        elicitation: None,
        answers: None,
        trace: Some(TraceContext { traceparent: TRACEPARENT, tracestate: None }),
    };
    let bounds = CallBounds { connect_timeout: total, total_timeout: total, max_answer_bytes: 4096 };
    servers().call_tool(&endpoint(server), &call, &bounds, &|_| {}).await
}

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_list_is_read_below_the_url_with_the_upstreams_headers_and_never_beyond_its_bounds() {
    let server = ScriptedServer::start().await;
    server.reply("GET", Reply::json(r#"{"items":[{"id":"A.B","name":"b"},{"id":"A.C","name":"c"}]}"#));
    let listing = servers().list_tools(&endpoint(&server), &bounds()).await.unwrap();
    assert_eq!((listing.entries.len(), listing.end), (2, ListingEnd::Complete));
    let asked = server.received_for("GET").remove(0);
    assert_eq!(
        (asked.path.as_str(), &asked.headers["authorization"]),
        ("/base/tools", &"Bearer s3cret-token".parse().unwrap())
    );

    let three = r#"{"items":[{"id":"A.B","name":"b"},{"id":"A.C","name":"c"},{"id":"A.D","name":"d"}]}"#;
    server.reply("GET", Reply::json(three));
    let listing = servers().list_tools(&endpoint(&server), &bounds()).await.unwrap();
    assert!(matches!(listing.end, ListingEnd::Incomplete(_)), "what is cut off is not removed");
    server.reply("GET", Reply::flood());
    let flooded = servers().list_tools(&endpoint(&server), &bounds()).await;
    assert!(matches!(flooded, Err(ListingError::TooLarge(_))));
    server.reply("GET", Reply::status(401, "").header("www-authenticate", "Bearer"));
    let refused = servers().list_tools(&endpoint(&server), &bounds()).await;
    assert!(matches!(refused, Err(ListingError::Unauthorized { status: 401, .. })));
}

#[tokio::test]
async fn a_call_goes_to_the_listed_id_with_the_arguments_as_they_are_spelt() {
    let server = ScriptedServer::start().await;
    server.reply("", Reply::json(r#"{"result":{"success":true,"value":7}}"#));
    let CallAnswer::Result(result) = call(&server, PATIENCE, true).await.unwrap() else { panic!("a result") };
    assert_eq!(result, r#"{"content":[{"type":"text","text":"7"}]}"#);
    let sent = server.received_for("").remove(0);
    assert_eq!(sent.path, "/base/tools/call");
    assert_eq!(sent.headers["traceparent"], TRACEPARENT);
    let request = r#"{"$schema":"urn:oxp:1.0","request":{"tool_id":"A.B@1.0.0","input":{"n": 9007199254740993,"x":1.0}}}"#;
    assert_eq!(sent.body, request);
    call(&server, PATIENCE, false).await.unwrap_err();
    assert_eq!(server.received_for("").len(), 1, "one that was withdrawn is not sent");
}

#[tokio::test]
async fn what_a_server_says_instead_is_told_without_a_secret_and_with_whether_the_tool_may_have_run() {
    let server = ScriptedServer::start().await;
    let said = r#"{"message":"no tool for Bearer s3cret-token\u0007"}"#;
    for (reply, may_have_run) in [
        (Reply::json(said).with_status(400), false),
        (Reply::json(said).with_status(500), true),
        (Reply::json("{}").with_status(429), false),
        (Reply::json("{"), true),
        (Reply::flood(), true),
    ] {
        server.reply("", reply);
        let failed = call(&server, PATIENCE, true).await.unwrap_err();
        assert_eq!(failed.may_have_run, may_have_run, "{failed:?}");
        assert!(!failed.to_string().contains("s3cret"), "{failed:?}");
    }
    server.reply("", Reply::hang());
    let late = call(&server, Duration::from_millis(50), true).await.unwrap_err();
    assert!(late.may_have_run && matches!(late.error, ListingError::Timeout(_)), "{late:?}");
    server.reply("", Reply::json(r#"{"message":"bad input"}"#).with_status(422));
    let CallAnswer::Result(result) = call(&server, PATIENCE, true).await.unwrap() else { panic!("a result") };
    assert!(result.contains("bad input") && result.contains(r#""isError":true"#), "{result}");
}

#[tokio::test]
async fn an_mcp_server_is_no_oxp_server() {
    let endpoint = Endpoint::Http { url: "http://127.0.0.1:1".into(), headers: vec![], allow_private: true };
    assert!(matches!(servers().admits(&endpoint), Err(ListingError::Refused(_))));
}
