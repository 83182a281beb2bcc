//! Much of everything: one server with ten thousand tools.

use std::collections::BTreeSet;

use tonic::Streaming;
use toolgate_api_proto::v1::{
    ListToolsRequest, SyncUpstreamRequest, Tool, ToolChange, ToolChangeKind, ToolState, UpstreamHealth,
    WatchToolsRequest, WatchToolsResponse,
};
use toolgate_test_support::{
    eventually::eventually,
    mcp_server::{Reply, ScriptedServer},
    server::Server,
};

use crate::{
    report,
    steps::{entry, page, states, sync, tools, try_sync, with_scripted},
};

const MANY: usize = 10_000;

/// The texts of so many tools.
fn many(range: std::ops::Range<usize>, description: &str) -> Vec<String> {
    range.map(|n| entry(&format!("t{n:05}"), description)).collect()
}

/// Revision and etag of the whole list.
async fn mark(server: &Server) -> (String, String) {
    let page = page(&server.operator(), ListToolsRequest::default()).await.unwrap();
    (page.revision, page.etag)
}

fn count(tools: &[Tool], state: ToolState) -> usize {
    tools.iter().filter(|tool| tool.state() == state).count()
}

async fn watch(server: &Server) -> Streaming<WatchToolsResponse> {
    server.catalog().watch_tools(WatchToolsRequest::default()).await.unwrap().into_inner()
}

/// Asks for a sync of `srv` and kills the process as soon as a watcher sees the first of what it brings.
async fn kill_at_first_change(server: &mut Server, listed: &ScriptedServer) {
    let mut watch = watch(server).await;
    loop {
        let message = watch.message().await.unwrap().unwrap();
        if !message.revision.is_empty() {
            break;
        }
    }
    let request = SyncUpstreamRequest { id: "srv".into(), ..Default::default() };
    server.governance().sync_upstream(request).await.unwrap();
    crate::steps::next_changes(&mut watch).await;
    server.kill_9().await;
    drop(watch);
    listed.hang();
    server.restart().await;
}

/// Lists `srv` to the end while a watcher looks on; answers all tools, and what the watcher was told.
async fn completed(server: &Server, listed: &ScriptedServer) -> (Vec<Tool>, Vec<ToolChange>) {
    let mut watch = watch(server).await;
    let mut told = Vec::new();
    listed.recover();
    let revision = eventually("the listing is complete", async || {
        let done = try_sync(server, "srv").await.ok()?;
        (done.upstream?.health() == UpstreamHealth::Ok).then_some(done.revision)
    })
    .await;
    while let Some(message) = watch.message().await.unwrap() {
        told.extend(message.changes);
        if message.revision == revision {
            break;
        }
    }
    (tools(server).await, told)
}

fn assert_each_once(tools: &[Tool]) {
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    for tool in tools {
        assert!(ids.insert(&tool.id) && names.insert(&tool.namespaced_name), "{} is there twice", tool.name);
    }
}

/// BR-039, law 7.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_between_the_batches_of_a_listing_leaves_nothing_double_and_removes_nothing() {
    let (mut server, listed) = with_scripted(&many(0..10, "1")).await;
    listed.list(&many(0..MANY, "1"));
    kill_at_first_change(&mut server, &listed).await;
    let partial = tools(&server).await;
    assert!((11..MANY).contains(&partial.len()), "the kill came between two batches: {}", partial.len());
    assert_eq!(count(&partial, ToolState::Removed), 0);

    let (all, told) = completed(&server, &listed).await;
    assert_eq!((all.len(), count(&all, ToolState::Unapproved)), (MANY, MANY));
    assert_each_once(&all);
    assert!(told.iter().all(|change| change.kind() == ToolChangeKind::Upserted), "something was withdrawn");
    let removed = told.iter().filter_map(|change| change.tool.as_ref());
    assert_eq!(removed.filter(|tool| tool.state() == ToolState::Removed).count(), 0);
    report(&format!("10,000 tools: killed at {} of {MANY}, then complete", partial.len()));

    let before = mark(&server).await;
    let again = sync(&server, "srv").await;
    assert_eq!((again.unchanged, again.added, again.changed, again.removed), (10_000, 0, 0, 0));
    assert_eq!(mark(&server).await, before, "a sync without news moves neither the revision nor the etag");

    // What is listed comes before what is gone: a kill among the former has removed nothing.
    listed.list(&many(MANY / 2..MANY + MANY / 2, "2"));
    kill_at_first_change(&mut server, &listed).await;
    let partial = tools(&server).await;
    let renewed = partial.iter().filter(|tool| tool.definition_json.contains(r#""description":"2""#)).count();
    assert!((1..MANY).contains(&renewed), "the kill came between two batches: {renewed}");
    assert_eq!(count(&partial, ToolState::Removed), 0);
    let (all, _) = completed(&server, &listed).await;
    assert_eq!((all.len(), count(&all, ToolState::Removed)), (MANY + MANY / 2, MANY / 2));
    assert_each_once(&all);
}

/// BR-039.
#[tokio::test]
async fn a_slower_older_listing_never_overwrites_a_newer_one() {
    let (server, listed) = with_scripted(&[entry("v0", "d")]).await;
    let slow = Reply::result(&format!(r#"{{"tools":[{}]}}"#, entry("v1", "d")));
    listed.reply_once("tools/list", slow.after(std::time::Duration::from_millis(800)));
    listed.list(&[entry("v2", "d")]);
    let before = listed.received_for("tools/list").len();
    let mut governance = server.governance();
    let request = SyncUpstreamRequest { id: "srv".into(), wait: true, ..Default::default() };
    let older = tokio::spawn(async move { governance.sync_upstream(request).await });
    eventually("the older listing is under way", async || {
        (listed.received_for("tools/list").len() > before).then_some(())
    })
    .await;
    sync(&server, "srv").await;
    older.await.unwrap().unwrap();
    let now = states(&server).await;
    let state = |name: &str| now.iter().find(|(known, _)| known == name).map(|(_, state)| *state);
    assert_eq!(state("srv__v2"), Some(ToolState::Unapproved));
    assert_eq!(state("srv__v0"), Some(ToolState::Removed));
    assert!(matches!(state("srv__v1"), Some(ToolState::Removed) | None), "{now:?}");
}

/// BR-039.
#[tokio::test]
async fn a_listing_that_a_kill_cut_short_never_overwrites_what_is_listed_after_the_restart() {
    let (mut server, listed) = with_scripted(&[entry("v0", "d")]).await;
    let slow = Reply::result(&format!(r#"{{"tools":[{}]}}"#, entry("v1", "d")));
    listed.reply_once("tools/list", slow.after(std::time::Duration::from_millis(800)));
    listed.list(&[entry("v2", "d")]);
    let before = listed.received_for("tools/list").len();
    let request = SyncUpstreamRequest { id: "srv".into(), ..Default::default() };
    server.governance().sync_upstream(request).await.unwrap();
    eventually("the older listing is under way", async || {
        (listed.received_for("tools/list").len() > before).then_some(())
    })
    .await;
    server.kill_9().await;
    server.restart().await;
    sync(&server, "srv").await;
    let now: Vec<_> = states(&server).await;
    let expected = [("srv__v0", ToolState::Removed), ("srv__v2", ToolState::Unapproved)];
    assert_eq!(now, expected.map(|(name, state)| (name.to_owned(), state)));
}

/// BR-087, law 13.
#[tokio::test]
async fn the_order_of_a_listing_decides_nothing_but_the_order_of_members_is_kept() {
    let property = |name: &str| format!(r#""{name}":{{"type":"string"}}"#);
    let turned = format!(
        r#"{{"name":"turned","inputSchema":{{"type":"object","properties":{{{},{},{}}}}}}}"#,
        property("z"),
        property("a"),
        property("m")
    );
    let mut entries = vec![entry("b", "d"), turned.clone(), entry("a", "d")];
    let (mut server, listed) = with_scripted(&entries).await;
    let first = server.get("/client/mcp/tools", &[]).await;
    for _ in 0..50 {
        let again = server.get("/client/mcp/tools", &[]).await;
        assert_eq!((again.body, again.headers.get("etag")), (first.body.clone(), first.headers.get("etag")));
    }
    entries.reverse();
    listed.list(&entries);
    sync(&server, "srv").await;
    assert_eq!(server.get("/client/mcp/tools", &[]).await.body, first.body, "the upstream turned its list");
    server.restart().await;
    sync(&server, "srv").await;
    assert_eq!(server.get("/client/mcp/tools", &[]).await.body, first.body, "after a restart");
    let kept = tools(&server).await.into_iter().find(|tool| tool.name == "turned").unwrap();
    assert_eq!(kept.definition_json, turned);
}

// A watcher over the wire that reads nothing while more than the connection holds waits for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_its_watch_is_cut_off_and_resumes_to_the_whole_catalogue() {
    let text = "x".repeat(200 * 1024);
    let entries: Vec<String> = (0..120).map(|n| entry(&format!("t{n:03}"), &text)).collect();
    let (server, _listed) = with_scripted(&entries).await;
    let mut idle = watch(&server).await;
    eventually("it is cut off", async || server.log().contains("is cut off").then_some(())).await;
    let (mut known, mut resume) = (BTreeSet::new(), String::new());
    let end = loop {
        match idle.message().await {
            Ok(Some(message)) => {
                known.extend(message.changes.into_iter().map(|change| change.tool_id));
                resume = if message.revision.is_empty() { resume } else { message.revision };
            }
            Ok(None) => panic!("the stream ended without a status"),
            Err(status) => break status,
        }
    };
    assert_eq!(
        (end.code(), crate::refusal::reason(&end).as_str()),
        (tonic::Code::Unavailable, "WATCH_LAGGED")
    );
    assert!(known.len() < entries.len(), "what waited was given up");
    let request = WatchToolsRequest { resume_revision: resume, ..Default::default() };
    let mut resumed = server.catalog().watch_tools(request).await.unwrap().into_inner();
    while known.len() < entries.len() {
        let message = resumed.message().await.unwrap().unwrap();
        known.extend(message.changes.into_iter().map(|change| change.tool_id));
    }
}
