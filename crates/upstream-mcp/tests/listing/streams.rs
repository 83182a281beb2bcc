//! Servers that speak HTTP+SSE alone.

use toolgate_test_support::mcp_server::ScriptedServer;
use toolgate_upstream::{CallAnswer, ListingEnd, ListingError, ToolCalls, ToolServers};

use super::calls::{call, call_bounds};
use super::{bounds, endpoint, servers};

const MESSAGES: &str = "/messages?connection=$N";

async fn server() -> ScriptedServer {
    let server = ScriptedServer::start().await;
    server.list(&[r#"{"name":"a","inputSchema":{"type":"object"},"x":1.0}"#]);
    server.speak_over_streams(MESSAGES);
    server
}

#[tokio::test]
async fn a_server_that_speaks_over_a_stream_alone_is_listed_exactly() {
    let server = server().await;
    let servers = servers();
    for _ in 0..2 {
        let listing = servers.list_tools(&endpoint(&server), &bounds()).await.unwrap();
        assert_eq!(listing.entries, [r#"{"name":"a","inputSchema":{"type":"object"},"x":1.0}"#]);
        assert_eq!((listing.end, &*listing.protocol_version), (ListingEnd::Complete, "2024-11-05"));
    }
    let posted = server.received().into_iter().filter(|request| request.path == "/messages");
    assert!(posted.clone().all(|request| request.headers["authorization"] == "Bearer s3cret-token"));
    let probes = server.received().iter().filter(|request| request.method == "server/discover").count();
    assert_eq!(probes, 1, "how it speaks is found out once");
}

#[tokio::test]
async fn calls_go_on_over_one_connection_and_over_a_new_one_when_it_ended() {
    let server = server().await;
    let servers = servers();
    servers.list_tools(&endpoint(&server), &bounds()).await.unwrap();
    let listed = server.connections_opened();
    let run = async || {
        let call = call(1);
        servers.call_tool(&endpoint(&server), &call, &call_bounds(), &|_| {}).await
    };
    let (one, other) = tokio::join!(run(), run());
    for answer in [one, other, run().await] {
        let CallAnswer::Result(result) = answer.unwrap() else { panic!("it is a result") };
        assert!(result.contains(r#""x-spelt":1.0"#), "{result}");
    }
    assert_eq!(server.connections_opened(), listed + 1);
    server.end_connections();
    // It may be asked while it is ending.
    if run().await.is_err() {
        run().await.unwrap();
    }
    assert_eq!(server.connections_opened(), listed + 2);
}

#[tokio::test]
async fn a_call_to_a_server_that_nothing_is_known_of_finds_out_how_it_speaks() {
    let server = server().await;
    servers().call_tool(&endpoint(&server), &call(1), &call_bounds(), &|_| {}).await.unwrap();
    assert_eq!(server.received_for("tools/call").len(), 1);
}

#[tokio::test]
async fn law_12_what_an_upstream_is_sent_goes_to_no_other_origin_whatever_the_server_names() {
    let server = ScriptedServer::start().await;
    let other = ScriptedServer::start().await;
    server.speak_over_streams(&other.url());
    let refused = servers().list_tools(&endpoint(&server), &bounds()).await.unwrap_err();
    assert_eq!(refused, ListingError::Status(405));
    assert!(other.received().is_empty());
}
