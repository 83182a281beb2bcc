//! The log of calls on the real binary: read, proved, and killed in the middle.

use serde_json::Value;
use toolgate_test_support::server::Server;

use crate::steps::{approve_all, entry, register, sync, with_scripted};

async fn rows(server: &Server) -> Vec<Value> {
    let listed = server.cli(&["audit", "list", "--calls", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed.succeeded()).unwrap();
    listed["calls"].as_array().unwrap().clone()
}

fn outcomes(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["outcome"].as_str().unwrap().trim_start_matches("CALL_OUTCOME_")).collect()
}

#[tokio::test]
async fn law_14_calls_outlive_a_kill_and_what_may_be_missing_is_said() {
    let (mut server, _scripted) = with_scripted(&[entry("a", "d"), entry("b", "d")]).await;
    approve_all(&server, &["srv__a"]).await;
    server.cli(&["call", "srv__a", "{}"]).await.succeeded();
    server.cli(&["call", "srv__b", "{}"]).await;
    assert_eq!(outcomes(&rows(&server).await), ["OK", "TOOL_NOT_SERVED"]);
    let proof = server.cli(&["audit", "verify", "--calls"]).await.succeeded();
    let known = proof.lines().last().unwrap().to_owned();
    assert!(known.starts_with("2:"), "{proof}");

    server.kill_9().await;
    server.restart().await;
    server.cli(&["call", "srv__a", "{}"]).await.succeeded();
    assert_eq!(outcomes(&rows(&server).await), ["OK", "TOOL_NOT_SERVED", "MISSING", "OK"]);
    server.cli(&["audit", "verify", "--calls", "--known", &known]).await.succeeded();
    let table = server.cli(&["audit", "list", "--calls"]).await.succeeded();
    assert!(table.contains("srv__b") && table.contains("unapproved"), "{table}");

    server.restart().await;
    assert_eq!(outcomes(&rows(&server).await).len(), 4, "an end in order leaves no gap");
}

#[tokio::test]
async fn law_09_a_call_that_changes_things_is_on_disk_before_it_is_sent_where_the_log_is_durable() {
    let scripted = toolgate_test_support::mcp_server::ScriptedServer::start().await;
    scripted.list(&[entry("a", "d")]);
    let mut server = Server::builder().env("TOOLGATE_AUDIT_CALLS", "durable").start().await;
    register(&server, "srv", &scripted.url()).await;
    sync(&server, "srv").await;
    approve_all(&server, &["srv__a"]).await;
    server.cli(&["call", "srv__a", "{}"]).await.succeeded();
    server.kill_9().await;
    server.restart().await;
    let rows = rows(&server).await;
    assert_eq!(outcomes(&rows)[0], "FORWARDED", "{rows:?}");
}
