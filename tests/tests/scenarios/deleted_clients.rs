//! Clients that are deleted, in the running server and on its disk.

use std::path::Path;

use futures::StreamExt;
use tonic::Code;
use toolgate_api_proto::v1::{
    CreateApiKeyRequest, CreateUpstreamRequest, DeleteClientRequest, HttpTransport, ListRulingsRequest,
    ListToolsRequest, SyncUpstreamRequest, WatchToolsRequest, create_upstream_request::Transport,
};
use toolgate_domain::ClientId;
use toolgate_records::{Key, Record};
use toolgate_store::{Store, scan_all};
use toolgate_store_sled::{Options, SledStore};
use toolgate_test_support::{eventually::eventually, mcp_server::ScriptedServer, server::Server};

use crate::{crash::copy_of, steps::entry};

/// Enough for a sweep of many batches.
const TOOLS: usize = 2000;

/// A client with an upstream of many tools, and a key of it.
async fn acme(server: &Server, scripted: &ScriptedServer) -> (String, String) {
    let made = server.cli(&["client", "create", "acme", "--json"]).await.succeeded();
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let client_id = made["client"]["id"].as_str().unwrap().to_owned();
    scripted.list(&(0..TOOLS).map(|n| entry(&format!("t{n:04}"), "d")).collect::<Vec<_>>());
    let http = HttpTransport { url: scripted.url(), allow_private: true, ..Default::default() };
    let upstream = CreateUpstreamRequest {
        client_id: client_id.clone(),
        slug: "srv".into(),
        transport: Some(Transport::Http(http)),
        ..Default::default()
    };
    server.governance().create_upstream(upstream).await.unwrap();
    let sync = SyncUpstreamRequest { id: "srv".into(), client_id: client_id.clone(), wait: true };
    server.governance().sync_upstream(sync).await.unwrap();
    let scopes = vec!["mcp:read".to_owned(), "mcp:write".to_owned()];
    let key = CreateApiKeyRequest { client_id: client_id.clone(), scopes, ..Default::default() };
    (client_id, server.governance().create_api_key(key).await.unwrap().into_inner().secret)
}

/// The rows of a client in a store that nobody has open.
async fn rows(folder: &Path, client_id: &str) -> Vec<Record> {
    let client: ClientId = client_id.parse().unwrap();
    let store = SledStore::open(folder, Options::default()).expect("the folder opens");
    let (rows, _) = scan_all(&store, &Key::all_of(client)).await.unwrap();
    store.close().await.unwrap();
    rows.iter().map(|row| Record::decode(&row.key, &row.value).unwrap()).collect()
}

fn is_for_ever(record: &Record) -> bool {
    matches!(record, Record::Definition(..) | Record::Ruling(..) | Record::ChainHead(..))
}

#[tokio::test]
async fn kill_9_while_a_deleted_client_is_swept_leaves_it_deleted_and_the_rest_is_swept_at_the_next_start() {
    let scripted = ScriptedServer::start().await;
    let mut server = Server::start().await;
    let (client_id, secret) = acme(&server, &scripted).await;
    let of_acme = server.as_key(&secret);
    let listed = of_acme.catalog().list_tools(ListToolsRequest::default()).await.unwrap().into_inner();
    assert_eq!(listed.tools.len(), 1000, "the first page");
    let watch = WatchToolsRequest { resume_revision: listed.revision, ..Default::default() };
    let mut watch = of_acme.catalog().watch_tools(watch).await.unwrap().into_inner();
    watch.next().await.unwrap().unwrap();

    let deletion = DeleteClientRequest { id: client_id.clone(), ..Default::default() };
    let gone = server.governance().delete_client(deletion.clone()).await.unwrap().into_inner();
    assert_eq!((gone.upstream_count, gone.tool_count, gone.api_key_count), (1, TOOLS as i32, 1));
    server.kill_9().await;
    assert!(watch.next().await.is_none_or(|end| end.is_err()));
    let copy = copy_of(&server.data_dir().join("store"));
    let kept = rows(copy.path(), &client_id).await;
    assert!(!kept.iter().all(is_for_ever), "the kill came before the end of the sweep");
    assert!(!kept.iter().any(|record| matches!(record, Record::Client(..))));

    server.restart().await;
    let refused = server.as_key(&secret).catalog().list_tools(ListToolsRequest::default()).await;
    assert_eq!(refused.unwrap_err().code(), Code::Unauthenticated);
    let again = server.governance().delete_client(deletion).await;
    assert_eq!(again.unwrap_err().code(), Code::NotFound);
    let swept = format!("swept client {client_id}");
    eventually("the sweep is finished", async || server.log().contains(&swept).then_some(())).await;
    let log = ListRulingsRequest { client_id: client_id.clone(), ..Default::default() };
    assert_eq!(server.governance().list_rulings(log).await.unwrap().into_inner().rulings.len(), 1);
    server.stop().await;
    let kept = rows(&server.data_dir().join("store"), &client_id).await;
    assert!(kept.iter().all(is_for_ever), "{:?}", kept.iter().find(|record| !is_for_ever(record)));
    assert_eq!(kept.len(), TOOLS + 2, "each text, the ruling and the end of the log");
}

#[tokio::test]
async fn an_operator_deletes_a_client_by_name_and_makes_another_one_under_it() {
    let server = Server::start().await;
    server.cli(&["client", "create", "acme"]).await.succeeded();
    let unasked = server.cli(&["client", "delete", "acme"]).await;
    assert_eq!(unasked.code, Some(2), "{}", unasked.stderr);
    let told = server.cli(&["client", "delete", "acme", "--dry-run"]).await.succeeded();
    assert!(told.contains("acme") && told.contains("0 tools"), "{told}");
    let done = server.cli(&["client", "delete", "acme", "--yes"]).await.succeeded();
    let id = done.split_whitespace().find(|word| word.parse::<ClientId>().is_ok()).unwrap();
    let verified = server.cli(&["--client", id, "audit", "verify"]).await.succeeded();
    assert!(verified.contains('1'), "{verified}");
    let listed = server.cli(&["--client", id, "audit", "list"]).await.succeeded();
    assert!(listed.contains("delete_client"), "{listed}");
    let unknown = server.cli(&["--client", id, "tool", "list"]).await;
    assert!(unknown.stderr.contains("no such client"), "{}", unknown.stderr);
    let again = server.cli(&["client", "create", "acme"]).await.succeeded();
    assert!(!again.contains(id), "{again}");
    let refused = server.cli(&["client", "delete", "default", "--yes"]).await;
    assert!(refused.stderr.contains("cannot be deleted"), "{}", refused.stderr);
}
