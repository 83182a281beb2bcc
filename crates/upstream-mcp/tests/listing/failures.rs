use std::time::{Duration, Instant};

use toolgate_outbound::{Outbound, Private};
use toolgate_test_support::mcp_server::{Reply, ScriptedServer};
use toolgate_upstream::{Bounds, Endpoint, Incomplete, ListingEnd, ListingError, Secret, ToolServers};
use toolgate_upstream_mcp::{McpServers, StdioAllow};

use super::{A, assert_complete, assert_protocol_error, bounds, endpoint, list, list_within, servers};

/// BR-027.
#[tokio::test]
async fn each_broken_server_has_an_error_of_its_own() {
    let (good, broken, garbled) =
        (ScriptedServer::start().await, ScriptedServer::start().await, ScriptedServer::start().await);
    good.list(&[A]);
    broken.fail(500, "oops");
    garbled.reply_to_everything(Reply::json("<html>"));
    let (good, broken, garbled) = tokio::join!(list(&good), list(&broken), list(&garbled));
    assert_complete(good, &[A]);
    assert_eq!(broken, Err(ListingError::Status(500)));
    assert_protocol_error(garbled, "the answer");
}

#[tokio::test]
async fn an_answer_that_is_no_message_says_what_is_wrong_with_it() {
    let server = ScriptedServer::start().await;
    for (reply, part) in [
        (Reply::json(""), "no body"),
        (Reply::status(202, ""), "no body"),
        (Reply::status(200, "<html>").header("content-type", "text/html"), "content type"),
        (Reply::cut(r#"{"jsonrpc":"2.0","#), "connection broke"),
        (Reply::json(r#"{"jsonrpc":"2.0","id":$ID,"result":{"tools":[}"#), "the answer"),
    ] {
        server.reply("tools/list", reply);
        assert_protocol_error(list(&server).await, part);
    }
}

/// BR-055.
#[tokio::test]
async fn a_slow_server_ends_within_its_own_budget_and_delays_no_other() {
    let (fast, black, slow, drip, events) = (
        ScriptedServer::start().await,
        ScriptedServer::start().await,
        ScriptedServer::start().await,
        ScriptedServer::start().await,
        ScriptedServer::start().await,
    );
    fast.list(&[A]);
    black.hang();
    slow.reply("tools/list", Reply::result("{}").after(Duration::from_secs(60)));
    drip.reply("tools/list", Reply::drip("{", Duration::from_millis(20)));
    let stream = Reply::drip(
        ":
:
",
        Duration::from_millis(20),
    )
    .header("content-type", "text/event-stream");
    events.reply("tools/list", stream);
    let short = Bounds {
        connect_timeout: Duration::from_millis(1500),
        answer_timeout: Duration::from_millis(1600),
        ..bounds()
    };
    let servers = servers();
    let started = Instant::now();
    let timed = async |server, bounds| {
        let listing = servers.list_tools(&endpoint(server), bounds).await;
        (listing, started.elapsed())
    };
    let generous = bounds();
    let (black, slow, drip, events, fast) = tokio::join!(
        timed(&black, &short),
        timed(&slow, &short),
        timed(&drip, &short),
        timed(&events, &short),
        timed(&fast, &generous),
    );
    assert_complete(fast.0, &[A]);
    for (_, ended) in [&black, &slow, &drip, &events] {
        assert!(fast.1 < *ended && *ended < Duration::from_secs(10));
    }
    let (black, slow, drip, events) = (black.0, slow.0, drip.0, events.0);
    assert_eq!(black, Err(ListingError::Timeout("the handshake took longer than 1500 ms".into())));
    for late in [slow, drip, events] {
        assert_eq!(late, Err(ListingError::Timeout("an answer took longer than 1600 ms".into())));
    }
}

/// BR-055, BR-065.
#[tokio::test]
async fn the_whole_listing_has_a_time_limit_too() {
    let server = ScriptedServer::start().await;
    server.reply_once("tools/list", Reply::result(&format!(r#"{{"tools":[{A}],"nextCursor":"2"}}"#)));
    server.reply("tools/list", Reply::hang());
    let short = Bounds { total_timeout: Duration::from_millis(1600), ..bounds() };
    let listing = list_within(&server, &short).await.unwrap();
    let error = ListingError::Timeout("the listing took longer than 1600 ms".into());
    assert_eq!(listing.end, ListingEnd::Incomplete(Incomplete::Page { page: 2, error }));
}

/// BR-057.
#[tokio::test]
async fn a_refused_credential_keeps_the_challenge_and_is_tried_once() {
    let challenge = r#"Bearer resource_metadata="https://up.example/.well-known/x", scope="tools.read", error="invalid_token""#;
    for status in [401, 403] {
        let server = ScriptedServer::start().await;
        server.reply_to_everything(Reply::status(status, "").header("www-authenticate", challenge));
        let error = list(&server).await.unwrap_err();
        assert!(!error.to_string().contains("up.example"));
        assert_eq!(error, ListingError::Unauthorized { status, challenge: Some(challenge.into()) });
        assert_eq!(server.received().len(), 1);
    }
}

// law 12
#[tokio::test]
async fn law_12_no_error_repeats_a_credential_or_an_address() {
    let server = ScriptedServer::start().await;
    let echo = format!("bad Bearer s3cret-token at {} s3cret-token {}", server.url(), "x".repeat(400));
    for reply in [
        Reply::error(-32000, &echo),
        Reply::status(401, "").header("www-authenticate", &echo),
        Reply::status(500, &echo),
        Reply::json(&echo),
        Reply::result(&format!(r#"{{"protocolVersion":"{echo}"}}"#)),
    ] {
        server.reply("initialize", reply);
        let error = list(&server).await.unwrap_err();
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
        assert!(
            !error.to_string().contains("127.0.0.1") && error.to_string().chars().count() < 400,
            "{error}"
        );
    }
    assert!(!format!("{:?}", endpoint(&server)).contains("s3cret"));
}

/// BR-059.
#[tokio::test]
async fn a_redirect_within_the_origin_is_followed_as_a_post() {
    let server = ScriptedServer::start().await;
    server.list(&[A]);
    server.reply_once("initialize", Reply::status(307, "").header("location", "/mcp/"));
    assert_complete(list(&server).await, &[A]);
    let received = server.received_for("initialize");
    assert_eq!((received[0].path.as_str(), received[1].path.as_str()), ("/mcp", "/mcp/"));
    assert_eq!(received[0].body, received[1].body);
    assert_eq!(received[0].headers["authorization"], received[1].headers["authorization"]);
}

/// BR-059, law 12.
#[tokio::test]
async fn law_12_a_redirect_elsewhere_is_refused_and_takes_no_credential_along() {
    let (server, other) = (ScriptedServer::start().await, ScriptedServer::start().await);
    server.reply("initialize", Reply::status(307, "").header("location", &other.url()));
    assert!(
        matches!(list(&server).await, Err(ListingError::Refused(text)) if text.contains("another origin"))
    );
    assert!(other.received().is_empty());
}

#[tokio::test]
async fn a_loopback_server_takes_a_declaration_and_a_configuration_that_allows_it() {
    let server = ScriptedServer::start().await;
    for (private, allow_private) in [(Private::Declared, false), (Private::Never, true)] {
        let servers = McpServers::new(Outbound::new(private).unwrap(), StdioAllow::default());
        let endpoint = Endpoint::Http { url: server.url(), headers: Vec::new(), allow_private };
        let refused = servers.list_tools(&endpoint, &bounds()).await;
        assert!(matches!(refused, Err(ListingError::Refused(_))), "{refused:?}");
        assert_eq!(servers.admits(&endpoint), refused.map(drop));
    }
    assert!(server.received().is_empty());
    assert_eq!(servers().admits(&endpoint(&server)), Ok(()));
}

#[tokio::test]
async fn a_server_that_is_not_there_cannot_be_connected_to() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let endpoint = Endpoint::Http { url, headers: Vec::new(), allow_private: true };
    let refused = servers().list_tools(&endpoint, &bounds()).await;
    assert_eq!(refused, Err(ListingError::Connect("the connection was refused".into())));
}

#[tokio::test]
async fn headers_that_are_ours_or_malformed_are_refused_without_their_value() {
    let server = ScriptedServer::start().await;
    for (name, value) in
        [("Host", "s3cret.example"), ("MCP-Session-Id", "s3cret"), ("x y", "s3cret"), ("x", "s3cret\n")]
    {
        let headers = vec![(name.to_owned(), Secret::new(value))];
        let endpoint = Endpoint::Http { url: server.url(), headers, allow_private: true };
        let Err(ListingError::Refused(text)) = servers().list_tools(&endpoint, &bounds()).await else {
            panic!("{name} was sent")
        };
        assert!(text.contains(name) && !text.contains("s3cret"), "{text}");
    }
    assert!(server.received().is_empty());
}
