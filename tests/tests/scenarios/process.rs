//! The process itself: how it starts, what it refuses, how it ends.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use tonic::Code;
use toolgate_api_proto::v1::{
    DisableToolRequest, ListToolsRequest, SyncUpstreamRequest, ToolState, WatchToolsRequest,
};
use toolgate_test_support::{
    eventually::eventually,
    mcp_server::{Reply, ScriptedServer},
    server::Server,
};

use crate::{
    refusal::reason,
    steps::{approve_all, entry, next_changes, page, register, state, states, sync, tool, with_scripted},
};

/// What the process ends with when the configuration has to be mended.
const BAD_CONFIGURATION: Option<i32> = Some(64);

#[tokio::test]
async fn a_started_server_is_alive_and_ready() {
    let server = Server::start().await;
    let live = server.admin("/livez").await;
    assert_eq!((live.status, live.text()), (200, "ok"));
    let ready = server.admin("/readyz").await;
    assert_eq!((ready.status, ready.text()), (200, r#"{"degraded":{},"phase":"ready"}"#));
    assert_eq!(server.admin("/client/mcp/tools").await.status, 404, "only what the platform asks");
    assert_eq!(server.get("/readyz", &[]).await.status, 404, "not on the listener for clients");
}

/// BR-107.
#[tokio::test]
async fn a_stop_ends_open_watches_so_that_they_can_be_resumed_and_the_process_with_success() {
    let (mut server, _scripted) = with_scripted(&[entry("a", "d"), entry("b", "d")]).await;
    let mut watch = server.catalog().watch_tools(WatchToolsRequest::default()).await.unwrap().into_inner();
    let last = watch.message().await.unwrap().unwrap().revision;
    assert!(!last.is_empty());
    server.ask_to_stop();
    let end = watch.message().await.unwrap_err();
    assert_eq!((end.code(), reason(&end).as_str()), (Code::Unavailable, "DRAINING"));
    drop(watch);
    assert_eq!(server.ended().await.code(), Some(0));

    server.restart().await;
    let off = DisableToolRequest { id: tool(&server, "srv__b").await.id, ..Default::default() };
    server.governance().disable_tool(off).await.unwrap();
    let resumed = WatchToolsRequest { resume_revision: last, ..Default::default() };
    let mut watch = server.catalog().watch_tools(resumed).await.unwrap().into_inner();
    let changes = next_changes(&mut watch).await;
    let changed: Vec<_> = changes.into_iter().map(|change| change.tool.unwrap().namespaced_name).collect();
    assert_eq!(changed, ["srv__b"], "only what changed since");
}

/// BR-107.
#[tokio::test]
async fn a_stop_lets_a_call_in_progress_finish_beside_a_stream_that_nobody_reads() {
    let (mut server, scripted) = with_scripted(&[entry("a", "d")]).await;
    let listing = format!(r#"{{"tools":[{},{}]}}"#, entry("a", "d"), entry("b", "d"));
    scripted.reply_once("tools/list", Reply::result(&listing).after(Duration::from_secs(2)));
    let _unread = server.catalog().watch_tools(WatchToolsRequest::default()).await.unwrap();
    let before = scripted.received_for("tools/list").len();
    let mut governance = server.governance();
    let request = SyncUpstreamRequest { id: "srv".into(), wait: true, ..Default::default() };
    let syncing = tokio::spawn(async move { governance.sync_upstream(request).await });
    eventually("the listing is under way", async || {
        (scripted.received_for("tools/list").len() > before).then_some(())
    })
    .await;
    assert_eq!(server.stop().await.code(), Some(0));
    assert_eq!(syncing.await.unwrap().unwrap().into_inner().added, 1);
    server.restart().await;
    assert_eq!(states(&server).await.len(), 2);
}

/// BR-107.
#[tokio::test]
async fn a_call_that_does_not_end_holds_no_stop_beyond_the_grace_and_what_was_acknowledged_is_kept() {
    let mut server = Server::builder().env("TOOLGATE_GRACE_SECONDS", "1").start().await;
    let scripted = ScriptedServer::start().await;
    scripted.list(&[entry("a", "d")]);
    register(&server, "srv", &scripted.url()).await;
    sync(&server, "srv").await;
    scripted.hang();
    let before = scripted.received().len();
    let mut governance = server.governance();
    let request = SyncUpstreamRequest { id: "srv".into(), wait: true, ..Default::default() };
    let syncing = tokio::spawn(async move { governance.sync_upstream(request).await });
    eventually("the listing is under way", async || (scripted.received().len() > before).then_some(())).await;
    approve_all(&server, &["srv__a"]).await;
    let begun = Instant::now();
    assert_eq!(server.stop().await.code(), Some(75), "{}", server.log());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(syncing.await.unwrap().is_err());
    scripted.recover();
    server.restart().await;
    assert_eq!(state(&server, "srv__a").await, ToolState::Served);
}

#[tokio::test]
async fn a_second_process_on_the_same_folder_is_refused() {
    let server = Server::start().await;
    let second = Server::builder().on(server.data_dir()).refused().await;
    assert_eq!(second.code, Some(1));
    assert!(second.log.contains("in use by another process"), "{}", second.log);
    assert_eq!(server.admin("/readyz").await.status, 200);
}

#[tokio::test]
async fn a_missing_master_key_beside_data_is_an_error_and_never_a_new_key() {
    let (mut server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    server.stop().await;
    let (file, kept) = (server.data_dir().join("master.key"), server.data_dir().join("kept.key"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    fs::rename(&file, &kept).unwrap();
    let refused = server.refuses_to_restart().await;
    assert_eq!(refused.code, BAD_CONFIGURATION);
    assert!(refused.log.contains("missing, though data exists"), "{}", refused.log);
    assert!(!file.exists());
    fs::rename(&kept, &file).unwrap();
    server.restart().await;
    assert_eq!(states(&server).await.len(), 1);
}

#[tokio::test]
async fn a_master_key_of_other_data_is_refused_before_anything_is_served() {
    let (mut server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    server.stop().await;
    let file = server.data_dir().join("master.key");
    let kept = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{}\n", "0123456789abcdef".repeat(4))).unwrap();
    let refused = server.refuses_to_restart().await;
    assert_eq!(refused.code, BAD_CONFIGURATION, "{}", refused.log);
    assert!(refused.log.contains("restore the file that belongs"), "{}", refused.log);
    assert!(!refused.log.contains("0123456789abcdef"), "{}", refused.log);
    fs::write(&file, kept).unwrap();
    server.restart().await;
    assert_eq!(states(&server).await.len(), 1);
}

#[tokio::test]
async fn a_lost_store_folder_is_refused_until_a_new_one_is_asked_for() {
    let (mut server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    server.stop().await;
    let (store, kept) = (server.data_dir().join("store"), server.data_dir().join("kept"));
    fs::rename(&store, &kept).unwrap();
    let refused = server.refuses_to_restart().await;
    assert_eq!(refused.code, Some(1), "{}", refused.log);
    assert!(refused.log.contains("restore the folder from a backup"), "{}", refused.log);
    assert!(!store.exists(), "a backup can be moved there");
    // As where the folder is a mount that is not there.
    fs::create_dir(&store).unwrap();
    assert_eq!(server.refuses_to_restart().await.code, Some(1));
    fs::remove_dir(&store).unwrap();
    fs::rename(&kept, &store).unwrap();
    server.restart().await;
    assert_eq!(states(&server).await.len(), 1);

    server.stop().await;
    fs::remove_dir_all(&store).unwrap();
    fs::remove_file(server.data_dir().join("store.begun")).unwrap();
    server.restart().await;
    assert!(states(&server).await.is_empty());
}

#[tokio::test]
async fn a_master_key_that_was_there_first_does_not_stand_for_data() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("master.key");
    fs::write(&key, format!("{}\n", "0123456789abcdef".repeat(4))).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let server = Server::builder().on(folder.path()).start().await;
    assert!(states(&server).await.is_empty());
}

#[tokio::test]
async fn a_bad_setting_is_refused_by_the_name_of_its_variable_with_the_remedy() {
    for (variable, value, remedy) in [
        ("TOOLGATE_HTTP_ADDR", "nonsense", "127.0.0.1:"),
        ("TOOLGATE_STORE", "sqlite", "sled"),
        ("TOOLGATE_BOOTSTRAP_KEY", "short", "32"),
        ("TOOLGATE_STDIO_ALLOW", "node server.js", "absolute path"),
        ("TOOLGATE_GRACE_SECONDS", "soon", "3600"),
    ] {
        let refused = Server::builder().env(variable, value).refused().await;
        assert_eq!(refused.code, BAD_CONFIGURATION, "{variable}: {}", refused.log);
        assert!(
            refused.log.contains(variable) && refused.log.contains(remedy),
            "{variable}: {}",
            refused.log
        );
    }
    let secret = Server::builder().env("TOOLGATE_BOOTSTRAP_KEY", "not-for-any-log").refused().await;
    assert!(!secret.log.contains("not-for-any-log"), "{}", secret.log);
}

#[tokio::test]
async fn without_a_given_key_one_is_made_in_a_file_that_only_its_owner_can_read() {
    let mut server = Server::builder().without_operator_key().start().await;
    let file = server.data_dir().join("bootstrap.key");
    let line = format!("operator key written to {}", file.display());
    eventually("it says so", async || server.announced().contains(&line).then_some(())).await;
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let key = fs::read_to_string(&file).unwrap();
    assert!(key.starts_with("tg_") && key.ends_with('\n'));
    assert!(!server.announced().contains(key.trim()) && !server.log().contains(key.trim()));
    assert!(page(&server.as_key(key.trim()), ListToolsRequest::default()).await.is_ok());

    server.restart().await;
    assert_eq!(fs::read_to_string(&file).unwrap(), key);
    assert!(!server.announced().contains("operator key"), "{}", server.announced());
    assert!(!server.announced().contains("not in force"), "{}", server.announced());
    assert!(page(&server.as_key(key.trim()), ListToolsRequest::default()).await.is_ok());
}

#[tokio::test]
async fn a_given_key_does_not_replace_the_one_that_a_store_was_made_with() {
    let mut first = Server::start().await;
    first.stop().await;
    let another = "another-operator-key-of-the-tests-01234";
    let second = Server::builder().on(first.data_dir()).env("TOOLGATE_BOOTSTRAP_KEY", another).start().await;
    eventually("it says so", async || second.announced().contains("not in force").then_some(())).await;
    let refused = page(&second.as_key(another), ListToolsRequest::default()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
    assert!(page(&second.operator(), ListToolsRequest::default()).await.is_ok());
}

#[tokio::test]
async fn the_memory_store_does_everything_but_remember() {
    let scripted = ScriptedServer::start().await;
    scripted.list(&[entry("a", "d")]);
    let mut server = Server::builder().env("TOOLGATE_STORE", "memory").start().await;
    register(&server, "srv", &scripted.url()).await;
    sync(&server, "srv").await;
    approve_all(&server, &["srv__a"]).await;
    assert_eq!(state(&server, "srv__a").await, ToolState::Served);
    assert_eq!(server.stop().await.code(), Some(0));
    server.restart().await;
    assert_eq!(states(&server).await, []);
}
