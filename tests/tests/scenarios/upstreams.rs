//! Upstreams that move or come to an end: the running server, real connections, kill -9 while rows are swept.

use std::path::Path;

use toolgate_api_proto::v1::{DeleteUpstreamRequest, ToolState};
use toolgate_domain::{ClientId, UpstreamId};
use toolgate_records::Key;
use toolgate_store::{Store, scan_all};
use toolgate_store_sled::{Options, SledStore};
use toolgate_test_support::{eventually::eventually, mcp_server::ScriptedServer, server::Server};

use crate::steps::{approve_all, entry, register, state, states, sync, with_scopes, with_scripted};

const ROUTE: &str = "/client/mcp/tools";

#[tokio::test]
async fn an_upstream_that_is_removed_leaves_every_list_and_comes_back_without_approvals() {
    let (server, scripted) = with_scripted(&[entry("a", "d"), entry("b", "d")]).await;
    approve_all(&server, &["srv__a"]).await;
    assert!(server.get(ROUTE, &[]).await.text().contains("srv__a"));

    let removed = server.cli(&["upstream", "remove", "srv", "--yes"]).await.succeeded();

    assert!(removed.contains("2 tools, 1 of them approved"), "{removed}");
    assert_eq!(server.get(ROUTE, &[]).await.text(), r#"{"data":[]}"#);
    assert!(server.cli(&["audit", "list"]).await.succeeded().contains("srv (2 tools)"));
    assert!(server.cli(&["audit", "verify"]).await.succeeded().starts_with("2 rulings"));
    register(&server, "srv", &scripted.url()).await;
    sync(&server, "srv").await;
    let again = [("srv__a", ToolState::Unapproved), ("srv__b", ToolState::Unapproved)];
    assert_eq!(states(&server).await, again.map(|(name, state)| (name.to_owned(), state)));
}

#[tokio::test]
async fn an_upstream_that_is_moved_is_followed_and_has_to_be_approved_anew() {
    let (server, _old) = with_scripted(&[entry("a", "d")]).await;
    approve_all(&server, &["srv__a"]).await;
    let new = ScriptedServer::start().await;
    new.list(&[entry("a", "d"), entry("b", "d")]);

    server.cli(&["upstream", "update", "srv", "--url", &new.url()]).await.succeeded();

    assert_eq!(state(&server, "srv__a").await, ToolState::Unapproved);
    sync(&server, "srv").await;
    approve_all(&server, &["srv__a", "srv__b"]).await;
    assert_eq!(state(&server, "srv__b").await, ToolState::Served);
    let log = server.cli(&["audit", "list"]).await.succeeded();
    assert!(log.contains("change_endpoint") && log.contains(&format!("-> {}", new.url())), "{log}");
    assert!(server.cli(&["audit", "verify"]).await.succeeded().starts_with("4 rulings"));
    let renamed = ["upstream", "update", "srv", "--display-name", "Server", "--name-policy", "repair"];
    server.cli(&renamed).await.succeeded();
    assert_eq!(state(&server, "srv__a").await, ToolState::Served);
    let writer = with_scopes(&server, &["mcp:read", "mcp:write"]).await;
    let refused = writer.cli(&["upstream", "update", "srv", "--display-name", "x"]).await;
    assert_eq!(refused.code, Some(5), "it may reach private addresses, so an admin declares it");
}

/// Rows of the tools of an upstream in a folder that no server uses.
async fn tool_rows(folder: &Path, client: ClientId, upstream: UpstreamId) -> usize {
    let store = SledStore::open(folder, Options::default()).expect("the folder opens after a kill");
    let (rows, _) = scan_all(&store, &Key::observed_of(client, upstream)).await.unwrap();
    store.close().await.unwrap();
    rows.len()
}

// Law 9
#[tokio::test]
async fn a_deletion_that_was_acknowledged_outlives_a_kill_9_while_its_rows_are_swept() {
    let scripted = ScriptedServer::start().await;
    let entries: Vec<_> = (0..4000).map(|n| entry(&format!("t{n:04}"), "d")).collect();
    scripted.list(&entries);
    let mut server = Server::start().await;
    let upstream = register(&server, "srv", &scripted.url()).await;
    sync(&server, "srv").await;
    let (client, id) = (upstream.client_id.parse().unwrap(), upstream.id.parse().unwrap());
    let request = DeleteUpstreamRequest { id: upstream.id, etag: upstream.etag, ..Default::default() };
    let deleted = server.governance().delete_upstream(request).await.unwrap().into_inner();
    assert_eq!(deleted.tool_count, 4000);
    server.kill_9().await;
    let store = server.data_dir().join("store");
    assert!(tool_rows(&store, client, id).await > 0, "the kill came while rows were left");

    server.restart().await;

    assert_eq!(server.get(ROUTE, &[]).await.text(), r#"{"data":[]}"#);
    register(&server, "srv", &scripted.url()).await;
    eventually("the rest is swept", async || server.log().contains("swept").then_some(())).await;
    server.stop().await;
    assert_eq!(tool_rows(&store, client, id).await, 0);
}
