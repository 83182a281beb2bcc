//! What a scrape of the admin address tells.

use std::collections::BTreeMap;

use toolgate_api_proto::v1::{GetToolRequest, WatchToolsRequest};
use toolgate_test_support::{eventually::eventually, server::Server};

use crate::steps::{entry, sync, tools, try_sync, upstream, with_scripted};

/// The samples of a scrape by name and labels.
async fn scrape(server: &Server) -> BTreeMap<String, f64> {
    let answer = server.admin("/metrics").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/plain; version=0.0.4"));
    let samples = answer.text().lines().filter(|line| !line.starts_with('#'));
    let pair = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    };
    samples.map(pair).collect()
}

fn call(method: &str, code: &str) -> String {
    format!(
        r#"toolgate_grpc_calls_total{{code="{code}",method="{method}",service="toolgate.v1.ToolCatalog"}}"#
    )
}

async fn becomes(server: &Server, sample: &str, value: f64) {
    eventually(sample, async || (scrape(server).await.get(sample) == Some(&value)).then_some(())).await;
}

#[tokio::test]
async fn calls_requests_and_syncs_are_counted_by_how_they_ended() {
    let (server, scripted) = with_scripted(&[entry("a", "d")]).await;
    let unknown = GetToolRequest { id: "01890000-0000-7000-8000-000000000000".into(), ..Default::default() };
    for _ in 0..2 {
        server.catalog().get_tool(unknown.clone()).await.unwrap_err();
    }
    tools(&server).await;
    becomes(&server, &call("GetTool", "NOT_FOUND"), 2.0).await;
    becomes(&server, &call("ListTools", "OK"), 1.0).await;
    let watch = server.catalog().watch_tools(WatchToolsRequest::default()).await.unwrap();
    assert!(!scrape(&server).await.keys().any(|sample| sample.contains("WatchTools")), "it goes on");
    drop(watch);
    becomes(&server, &call("WatchTools", "CANCELLED"), 1.0).await;

    server.get("/client/mcp/tools", &[]).await;
    server.get("/client/mcp/tools/no-such-thing", &[]).await;
    scripted.fail(500, "oops");
    sync(&server, "srv").await;
    let samples = scrape(&server).await;
    let of = |sample: &str| samples.get(sample).copied();
    assert_eq!(of(r#"toolgate_http_requests_total{route="/client/mcp/tools",status="200"}"#), Some(1.0));
    assert_eq!(of(r#"toolgate_http_requests_total{route="unknown",status="404"}"#), Some(1.0));
    assert!(of(r#"toolgate_syncs_total{health="ok"}"#) >= Some(1.0));
    assert!(of(r#"toolgate_syncs_total{health="unavailable"}"#) >= Some(1.0));
    assert_eq!(of(r#"toolgate_syncs_total{health="failed"}"#), Some(0.0));
    if cfg!(target_os = "linux") {
        assert!(of("process_resident_memory_bytes") > Some(0.0) && of("process_open_fds") > Some(0.0));
    }
}

#[tokio::test]
async fn law_10_no_metric_names_a_client_an_upstream_a_tool_or_what_a_caller_wrote() {
    let (server, _scripted) = with_scripted(&[entry("a_rare_name", "d")]).await;
    let upstream = upstream(&server, "srv").await;
    try_sync(&server, "a_rare_slug").await.unwrap_err();
    server.get("/a_rare_path", &[]).await;
    let mut names: Vec<_> = tools(&server).await.into_iter().map(|tool| tool.id).collect();
    names.extend([upstream.client_id, upstream.id, "srv".into(), "a_rare".into()]);
    becomes(&server, &call("ListTools", "OK"), 1.0).await;
    let scraped = server.admin("/metrics").await;
    let text = scraped.text();
    for name in names {
        assert!(!name.is_empty() && !text.contains(&name), "{name}: {text}");
    }
}
