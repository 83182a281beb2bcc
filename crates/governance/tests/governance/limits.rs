//! As much as there may be of everything.

use toolgate_domain::{ToolState, upstream::Transport};
use toolgate_governance::{CreateUpstream, Wish};

use crate::workbench::{Workbench, definition};

/// The longest name, of the characters that take most room in a key.
fn long_name(n: usize) -> String {
    format!("{}{n:04}", "\0".repeat(1020))
}

fn listed(name: &str, bytes: usize) -> String {
    let shell = |text: &str| definition(&name.replace('\0', r"\u0000"), text);
    shell(&"x".repeat(bytes.saturating_sub(shell("").len())))
}

#[tokio::test]
async fn ten_thousand_tools_are_listed_changed_and_removed() {
    let bench = Workbench::new().await;
    let all = |from: usize, text: &str| -> Vec<String> {
        (from..from + 10_000).map(|n| definition(&format!("t{n}"), text)).collect()
    };
    let (first, second) = (all(0, "1"), all(5_000, "2"));
    let id = bench.upstream("srv", &first.iter().map(String::as_str).collect::<Vec<_>>()).await;
    assert_eq!(bench.snapshot().await.tool_count(), 10_000);
    let report = bench.lists(id, "srv", &second.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let summary = report.summary;
    assert_eq!((summary.added, summary.changed, summary.removed), (5_000, 5_000, 5_000));
    assert_eq!(bench.restarted().await.snapshot().await.tool_count(), 15_000);
}

#[tokio::test]
async fn the_largest_definitions_and_the_longest_names_are_kept_and_ruled_about() {
    let bench = Workbench::new().await;
    let entries: Vec<String> =
        (0..60).map(|n| listed(&long_name(n), if n < 8 { 256 * 1024 } else { 0 })).collect();
    assert_eq!(entries[0].len(), 256 * 1024);
    let id = bench.upstream("srv", &entries.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let names: Vec<String> = (0..60).map(long_name).collect();
    let mut rules = tokio::task::JoinSet::new();
    for name in &names {
        assert_eq!(bench.state(id, name).await, ToolState::Unapproved);
        let (governance, rule) = (bench.governance.clone(), bench.wish(id, name, Wish::Disable));
        rules.spawn(async move { governance.rule(rule).await.map(drop) });
    }
    assert!(rules.join_all().await.iter().all(Result::is_ok));
    let again = bench.restarted().await;
    for (name, entry) in names.iter().zip(&entries) {
        let tool = &again.tool(id, name).await.tool;
        assert_eq!((tool.state(), tool.definition.text()), (ToolState::Disabled, entry.as_str()));
    }
}

#[tokio::test]
async fn an_upstream_may_have_all_the_secrets_and_arguments_that_there_are() {
    let bench = Workbench::new().await;
    let transport = Transport::Stdio {
        command: format!("/{}", "c".repeat(8191)),
        args: vec!["a".repeat(8192); 64],
        env: (0..64).map(|n| (format!("{}{n:02}", "N".repeat(254)), "s".repeat(768))).collect(),
    };
    let wanted = CreateUpstream { transport, ..bench.http("srv") };
    let created = bench.governance.create_upstream(&bench.caller(), wanted).await.unwrap();
    let kept = bench.restarted().await.detail(created.detail.entry.upstream.id).await;
    assert_eq!(kept.entry.upstream.transport, created.detail.entry.upstream.transport);
}
