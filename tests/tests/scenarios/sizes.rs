//! Definitions, answers and catalogues that are large or deep.

use toolgate_api_proto::v1::{UpstreamHealth, WatchToolsRequest};
use toolgate_test_support::mcp_server::Reply;

use crate::{
    listings::{places, served},
    steps::{approve_all, entry, states, sync, tool, tools, upstream, with_scripted},
};

/// BR-043.
#[tokio::test]
async fn deep_schemas_are_kept_up_to_the_limit_and_refused_alone_beyond_it() {
    let nested = |name: &str, levels: usize| {
        let (open, close) = (r#"{"type":"object","properties":{"k":{"items":"#, "}}}");
        let schema = format!("{}{{}}{}", open.repeat(levels), close.repeat(levels));
        format!(r#"{{"name":"{name}","inputSchema":{schema}}}"#)
    };
    let [deep40, deep60] = [nested("deep40", 40), nested("deep60", 60)];
    let (server, _scripted) = with_scripted(&[&deep40, &deep60, &entry("flat", "d")]).await;
    approve_all(&server, &["srv__deep40", "srv__flat"]).await;
    assert_eq!(states(&server).await, ["srv__deep40", "srv__flat"].map(served));
    assert_eq!(tool(&server, "srv__deep40").await.definition_json, deep40);
    assert!(server.get("/client/mcp/tools", &[]).await.text().contains(&deep40));
    let issues = upstream(&server, "srv").await.sync_issues;
    assert_eq!((issues.len(), issues[0].tool_name.as_str()), (1, "deep60"));
    assert!(issues[0].message.contains("128"), "{}", issues[0].message);
}

/// BR-095.
#[tokio::test]
async fn a_tool_over_the_size_limit_is_refused_alone() {
    let values: Vec<_> = (0..20_000).map(|n| format!(r#""value number {n}""#)).collect();
    let huge = format!(
        r#"{{"name":"huge","description":"{}","inputSchema":{{"type":"object","properties":{{"e":{{"enum":[{}]}}}}}}}}"#,
        "x".repeat(1 << 20),
        values.join(",")
    );
    let (server, _scripted) =
        with_scripted(&[&huge, r#"{"name":"ok","inputSchema":{"type":"object"}}"#]).await;
    approve_all(&server, &["srv__ok"]).await;
    assert_eq!(states(&server).await, [served("srv__ok")]);
    let issues = upstream(&server, "srv").await.sync_issues;
    assert_eq!(places(&issues), [("TOO_LARGE", 0, "")]);
    assert_eq!(issues[0].tool_name, "huge");
    assert!(issues[0].message.contains("262144"), "{}", issues[0].message);
}

/// BR-095.
#[tokio::test]
async fn an_answer_over_the_size_limit_is_refused_while_it_is_read_and_changes_nothing() {
    let (server, scripted) = with_scripted(&[entry("kept", "d")]).await;
    approve_all(&server, &["srv__kept"]).await;
    let endless = Reply::flood();
    let announced = Reply::bytes(vec![b' '; 64 << 20]);
    for reply in [endless, announced] {
        scripted.reply("tools/list", reply);
        let upstream = sync(&server, "srv").await.upstream.unwrap();
        assert_eq!(upstream.health(), UpstreamHealth::Unavailable);
        assert!(upstream.last_error.contains("over the limit"), "{}", upstream.last_error);
        assert_eq!(states(&server).await, [served("srv__kept")]);
    }
    assert!(peak_memory_mib(server.pid()) < 300);
}

fn peak_memory_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

/// BR-097.
#[tokio::test]
async fn a_large_catalogue_reaches_a_client_with_default_limits_by_list_and_by_watch() {
    let entries: Vec<_> = (0..1500).map(|n| entry(&format!("tool-{n:04}"), &"d".repeat(4096))).collect();
    let (server, _scripted) = with_scripted(&entries).await;
    let listed = tools(&server).await;
    assert_eq!(listed.len(), 1500);
    assert!(listed.iter().map(|tool| &tool.definition_json).eq(&entries));

    let request = WatchToolsRequest::default();
    let mut watch = server.catalog().watch_tools(request).await.unwrap().into_inner();
    let (mut watched, mut messages) = (Vec::new(), 0);
    loop {
        let message = watch.message().await.unwrap().unwrap();
        messages += 1;
        watched.extend(message.changes.into_iter().map(|change| change.tool.unwrap()));
        if !message.revision.is_empty() {
            break;
        }
    }
    assert!(messages > 1);
    assert!(watched == listed, "the watch begins with the list");
}
