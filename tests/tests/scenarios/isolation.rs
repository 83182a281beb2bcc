//! One slow, dead or hostile server never delays, hides or breaks the tools of another.

use std::time::{Duration, Instant};

use futures::future::join_all;
use toolgate_api_proto::v1::{ListUpstreamsRequest, ToolState, Upstream, UpstreamHealth};
use toolgate_test_support::{
    mcp_server::{Reply, ScriptedServer},
    server::Server,
};

use crate::{
    door::Door,
    steps::{approve_all, entry, register, state, states, sync, upstream, with_scripted},
};

/// BR-027.
#[tokio::test]
async fn a_broken_server_shows_its_own_error_and_hides_nothing() {
    let (server, _good) = with_scripted(&[entry("a", "d")]).await;
    let (broken, garbled) = (ScriptedServer::start().await, ScriptedServer::start().await);
    broken.fail(500, "oops");
    garbled.reply_to_everything(Reply::json("<html>"));
    register(&server, "broken", &broken.url()).await;
    register(&server, "garbled", &garbled.url()).await;
    sync(&server, "broken").await;
    sync(&server, "garbled").await;

    approve_all(&server, &["srv__a"]).await;
    assert_eq!(states(&server).await, [("srv__a".to_owned(), ToolState::Served)]);
    let listed = server.catalog().list_upstreams(ListUpstreamsRequest::default()).await.unwrap();
    let listed = listed.into_inner().upstreams;
    let told = |upstream: &Upstream| (upstream.slug.clone(), upstream.health(), upstream.last_error.clone());
    let [good, broken, garbled] = listed.iter().map(told).collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(good, ("srv".into(), UpstreamHealth::Ok, String::new()));
    assert_eq!(broken, ("broken".into(), UpstreamHealth::Unavailable, "the server answered HTTP 500".into()));
    assert_eq!((garbled.0.as_str(), garbled.1), ("garbled", UpstreamHealth::Unavailable));
    assert!(garbled.2.contains("protocol"), "{}", garbled.2);
}

/// BR-055.
#[tokio::test]
async fn servers_that_hang_or_drip_end_at_their_own_time_out_and_delay_no_other() {
    const TIMEOUT: Duration = Duration::from_secs(4);
    let timeout = TIMEOUT.as_millis().to_string();
    let server = Server::builder()
        .env("TOOLGATE_SYNC_CONNECT_TIMEOUT_MS", &timeout)
        .env("TOOLGATE_SYNC_ANSWER_TIMEOUT_MS", &timeout)
        .env("TOOLGATE_SYNC_LISTING_TIMEOUT_MS", &(2 * TIMEOUT).as_millis().to_string())
        .start()
        .await;
    let names = ["fast", "slow", "black", "drip"];
    let upstreams = join_all(names.map(|_| ScriptedServer::start())).await;
    for (name, scripted) in names.iter().zip(&upstreams) {
        scripted.list(&[entry("t", "d")]);
        register(&server, name, &scripted.url()).await;
        sync(&server, name).await;
        approve_all(&server, &[&format!("{name}__t")]).await;
    }
    let [fast, slow, black, drip] = upstreams.try_into().unwrap();
    fast.list(&[entry("t", "d"), entry("new", "d")]);
    fast.reply_once("tools/list", Reply::result(&listing()).after(Duration::from_millis(20)));
    slow.reply_to_everything(Reply::json("{}").after(Duration::from_secs(60)));
    black.hang();
    drip.reply("tools/list", Reply::drip(&listing(), Duration::from_secs(1)));

    let begun = Instant::now();
    let pending = ["slow", "black", "drip"].map(|name| {
        let mut governance = server.governance();
        tokio::spawn(async move {
            let request = toolgate_api_proto::v1::SyncUpstreamRequest {
                id: name.into(),
                wait: true,
                ..Default::default()
            };
            governance.sync_upstream(request).await.unwrap().into_inner().upstream.unwrap()
        })
    });
    assert_eq!(sync(&server, "fast").await.added, 1);
    assert_eq!(states(&server).await.len(), 5, "the list comes at once");
    assert!(pending.iter().all(|sync| !sync.is_finished()), "neither waited for the others");
    assert!(begun.elapsed() < TIMEOUT);

    for upstream in join_all(pending).await {
        let upstream = upstream.unwrap();
        assert_eq!(upstream.health(), UpstreamHealth::Unavailable, "{}", upstream.slug);
        assert!(upstream.last_error.contains("timed out"), "{}: {}", upstream.slug, upstream.last_error);
    }
    assert!(begun.elapsed() < Duration::from_secs(40), "bounded in all, not by the byte");
    for name in ["slow__t", "black__t", "drip__t"] {
        assert_eq!(state(&server, name).await, ToolState::Served);
    }
}

fn listing() -> String {
    format!(r#"{{"tools":[{},{}]}}"#, entry("t", "d"), entry("new", "d"))
}

/// BR-065.
#[tokio::test]
async fn a_failure_of_any_kind_removes_no_tool_and_needs_no_new_approval() {
    let scripted = ScriptedServer::start().await;
    let (a, b) = (entry("a", "d"), entry("b", "d"));
    scripted.list(&[&a, &b]);
    let mut door = Door::to(&scripted.url()).await;
    let server = Server::builder().env("TOOLGATE_SYNC_ANSWER_TIMEOUT_MS", "1000").start().await;
    register(&server, "srv", &door.url()).await;
    sync(&server, "srv").await;
    approve_all(&server, &["srv__a", "srv__b"]).await;
    let good = upstream(&server, "srv").await.last_complete_listing_time;
    assert!(good.is_some());

    door.shut().await;
    fails(&server, UpstreamHealth::Unavailable, "cannot connect").await;
    door.open().await;
    scripted.fail(502, "<html>Bad gateway</html>");
    fails(&server, UpstreamHealth::Unavailable, "HTTP 502").await;
    scripted.recover();
    scripted.reply("tools/list", Reply::error(-32603, "internal error"));
    fails(&server, UpstreamHealth::Unavailable, "-32603").await;
    scripted.recover();
    scripted.reply_once("tools/list", Reply::result(&format!(r#"{{"tools":[{a}],"nextCursor":"2"}}"#)));
    scripted.reply_once("tools/list", Reply::hang());
    fails(&server, UpstreamHealth::Incomplete, "page 2").await;
    assert_eq!(upstream(&server, "srv").await.last_complete_listing_time, good);

    let found = sync(&server, "srv").await;
    assert_eq!((found.added, found.changed, found.removed, found.unchanged), (0, 0, 0, 2));
    let upstream = upstream(&server, "srv").await;
    assert_eq!((upstream.health(), upstream.last_error.as_str()), (UpstreamHealth::Ok, ""));
    both_are_served(&server).await;
}

async fn fails(server: &Server, health: UpstreamHealth, error: &str) {
    let found = sync(server, "srv").await;
    assert_eq!(found.removed, 0);
    let upstream = found.upstream.unwrap();
    assert_eq!(upstream.health(), health, "{}", upstream.last_error);
    assert!(upstream.last_error.contains(error), "{}", upstream.last_error);
    both_are_served(server).await;
}

async fn both_are_served(server: &Server) {
    let served = ["srv__a", "srv__b"].map(|name| (name.to_owned(), ToolState::Served));
    assert_eq!(states(server).await, served);
}

/// BR-065.
#[tokio::test]
async fn an_empty_list_is_believed_only_when_a_second_one_confirms_it() {
    let (server, scripted) = with_scripted(&[entry("a", "d"), entry("b", "d")]).await;
    approve_all(&server, &["srv__a", "srv__b"]).await;
    scripted.reply_once("tools/list", Reply::result(r#"{"tools":[]}"#));
    assert_eq!(sync(&server, "srv").await.removed, 0);
    both_are_served(&server).await;
    scripted.list::<&str>(&[]);
    assert_eq!(sync(&server, "srv").await.removed, 2);
    assert_eq!(state(&server, "srv__a").await, ToolState::Removed);
}
