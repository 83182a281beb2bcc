use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolgate_test_support::mcp_server::{Reply, ScriptedServer};
use toolgate_upstream::{FollowEnd, ListingError, ToolServers};
use toolgate_upstream_mcp::McpServers;

use super::{A, bounds, endpoint, servers};

struct Following {
    heard: UnboundedReceiver<()>,
    ended: JoinHandle<Result<FollowEnd, ListingError>>,
}

fn follow(servers: &Arc<McpServers>, server: &ScriptedServer) -> Following {
    let (sender, heard) = unbounded_channel();
    let (servers, endpoint) = (Arc::clone(servers), endpoint(server));
    let ended = tokio::spawn(async move {
        // A test that has heard enough listens no more.
        let changed = move || _ = sender.send(());
        servers.follow(&endpoint, &bounds(), &changed).await
    });
    Following { heard, ended }
}

impl Following {
    async fn hears(&mut self) {
        timeout(Duration::from_secs(20), self.heard.recv()).await.unwrap().unwrap();
    }

    async fn end(self) -> Result<FollowEnd, ListingError> {
        timeout(Duration::from_secs(20), self.ended).await.unwrap().unwrap()
    }
}

/// One that speaks a session, one that is stateless; both tell changes.
async fn both_eras() -> [ScriptedServer; 2] {
    let (session, stateless) = (ScriptedServer::start().await, ScriptedServer::start().await);
    session.open_sessions();
    stateless.speak_statelessly(&["2026-07-28"]);
    for server in [&session, &stateless] {
        server.offer_notices();
        server.list(&[A]);
    }
    [session, stateless]
}

#[tokio::test]
async fn changes_are_heard_after_the_server_agreed_to_tell_until_it_stops() {
    for server in both_eras().await {
        let mut following = follow(&Arc::new(servers()), &server);
        following.hears().await;
        for _ in 0..3 {
            server.tell_changed();
            following.hears().await;
        }
        server.end_streams();
        assert_eq!(following.end().await, Ok(FollowEnd::Ended));
    }
}

#[tokio::test]
async fn what_a_listing_learned_is_not_asked_again() {
    for server in both_eras().await {
        let servers = Arc::new(servers());
        servers.list_tools(&endpoint(&server), &bounds()).await.unwrap();
        follow(&servers, &server).hears().await;
        assert_eq!(server.received_for("server/discover").len(), 1);
    }
}

#[tokio::test]
async fn a_subscription_declares_itself_and_asks_for_tools_alone() {
    let [_, server] = both_eras().await;
    follow(&Arc::new(servers()), &server).hears().await;
    let request = server.received_for("subscriptions/listen").remove(0);
    let body: serde_json::Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(body["params"]["notifications"], serde_json::json!({"toolsListChanged": true}));
    assert_eq!(body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(request.headers["mcp-method"], "subscriptions/listen");
}

/// BR-053.
#[tokio::test]
async fn a_server_that_tells_nothing_is_not_waited_for() {
    let [session, stateless] = both_eras().await;
    session.reply("GET", Reply::status(405, "").header("allow", "POST"));
    let missing = r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"no"}}"#;
    stateless.reply("subscriptions/listen", Reply::status(404, missing));
    for server in [&session, &stateless] {
        assert_eq!(follow(&Arc::new(servers()), server).end().await, Ok(FollowEnd::NotOffered));
    }
    let declined = r#"{"method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}"#;
    stateless.reply("subscriptions/listen", Reply::event(declined));
    assert_eq!(follow(&Arc::new(servers()), &stateless).end().await, Ok(FollowEnd::NotOffered));
}

#[tokio::test]
async fn a_server_without_the_capability_is_asked_nothing_once_that_is_known() {
    let server = ScriptedServer::start().await;
    let servers = Arc::new(servers());
    servers.list_tools(&endpoint(&server), &bounds()).await.unwrap();
    let before = server.received().len();
    assert_eq!(follow(&servers, &server).end().await, Ok(FollowEnd::NotOffered));
    assert_eq!(server.received().len(), before);
}

#[tokio::test]
async fn a_ping_on_the_stream_of_a_session_is_answered() {
    let [server, _] = both_eras().await;
    server.reply("GET", Reply::events("data: {\"id\":\"p1\",\"method\":\"ping\"}\n\n"));
    assert_eq!(follow(&Arc::new(servers()), &server).end().await, Ok(FollowEnd::Ended));
    assert_eq!(server.received_for("")[0].body, r#"{"jsonrpc":"2.0","id":"p1","result":{}}"#);
    assert_eq!(server.received_for("DELETE").len(), 1, "the session is left");
}

// law 12
#[tokio::test]
async fn law_12_a_stream_that_fails_repeats_no_credential() {
    let [_, server] = both_eras().await;
    server.reply("subscriptions/listen", Reply::error(-32000, "bad Bearer s3cret-token"));
    let error = follow(&Arc::new(servers()), &server).end().await.unwrap_err();
    assert_eq!(error, ListingError::Rpc { code: -32000, message: "bad [hidden]".into() });
}
