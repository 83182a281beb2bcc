//! What a sync makes of what servers list.

use std::{sync::Arc, time::Duration};

use toolgate_catalog::{
    View,
    watch_tools::{WatchTools, watch_tools},
};
use toolgate_domain::{ClientId, Fault, ToolState, sync_status::Health};
use toolgate_records::{Key, Record};
use toolgate_store::{Commit, Revision, scan_all};
use toolgate_test_support::scripted_servers::{complete, ended};
use toolgate_upstream::{Incomplete, ListingEnd, ListingError};

use crate::workbench::{Workbench, definition, url};

#[tokio::test]
async fn law_01_a_definition_is_kept_as_it_was_first_listed() {
    let bench = Workbench::new().await;
    let first = r#"{ "inputSchema": {"type":"object","properties":{"n":{"maximum":1.0,"default":9007199254740993}}},
        "x-unknown": [1, 1.0, 1e0], "name": "t" }"#;
    let again = r#"{"name":"t","inputSchema":{"properties":{"n":{"default":9007199254740993,"maximum":1}},"type":"object"},"x-unknown":[1,1,1]}"#;
    let id = bench.upstream("srv", &[first]).await;
    assert_eq!(bench.tool(id, "t").await.tool.definition.text(), first);
    let report = bench.lists(id, "srv", &[again]).await;
    assert_eq!((report.summary.unchanged, report.revision), (1, None), "another spelling is nothing new");
    assert_eq!(bench.tool(id, "t").await.tool.definition.text(), first);
    let other = bench.upstream("other", &[again]).await;
    assert_eq!(
        bench.tool(other, "t").await.tool.definition.text(),
        again,
        "never another upstream's spelling"
    );
    assert_eq!(bench.restarted().await.tool(id, "t").await.tool.definition.text(), first);
}

#[tokio::test]
async fn law_01_a_definition_that_returns_in_another_spelling_keeps_its_first_text() {
    let bench = Workbench::new().await;
    let first = r#"{"name":"t","inputSchema":{},"x":1.0}"#;
    let id = bench.upstream("srv", &[first]).await;
    bench.lists(id, "srv", &[&definition("t", "another one")]).await;
    bench.lists(id, "srv", &[r#"{"x":1, "inputSchema":{}, "name":"t"}"#]).await;
    assert_eq!(bench.tool(id, "t").await.tool.definition.text(), first);
    assert_eq!(bench.restarted().await.tool(id, "t").await.tool.definition.text(), first);
}

/// BR-031.
#[tokio::test]
async fn key_order_and_white_space_are_no_drift_and_array_order_is() {
    let bench = Workbench::new().await;
    let listed = r#"{"name":"t","description":"d","inputSchema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}}"#;
    let spelled = r#"{ "inputSchema" : {"required":["a","b"],"properties":{"b":{"type":"string"},"a":{"type":"string"}},"type":"object"}, "description":"d", "name":"t" }"#;
    let turned = listed.replace(r#"["a","b"]"#, r#"["b","a"]"#);
    let id = bench.upstream("srv", &[listed]).await;
    let mut states = vec![bench.state(id, "t").await];
    bench.approve(id, "t").await;
    states.push(bench.state(id, "t").await);
    for text in [spelled, &turned] {
        bench.lists(id, "srv", &[text]).await;
        states.push(bench.state(id, "t").await);
    }
    assert_eq!(states, [ToolState::Unapproved, ToolState::Served, ToolState::Served, ToolState::Drifted]);
}

/// BR-029.
#[tokio::test]
async fn the_spelling_of_a_number_is_no_drift_and_stays_as_it_was_listed() {
    let bench = Workbench::new().await;
    let pairs = [
        (r#""maximum":1.0,"default":1e2"#, r#""maximum":1,"default":100"#),
        (r#""default":-0.0"#, r#""default":0"#),
    ];
    for (n, (first, second)) in pairs.into_iter().enumerate() {
        let slug = format!("srv{n}");
        let tool = |inner| {
            format!(r#"{{"name":"t","inputSchema":{{"type":"object","properties":{{"n":{{{inner}}}}}}}}}"#)
        };
        let id = bench.upstream(&slug, &[&tool(first)]).await;
        bench.approve(id, "t").await;
        let report = bench.lists(id, &slug, &[&tool(second)]).await;
        assert_eq!(
            (report.summary.unchanged, bench.state(id, "t").await),
            (1, ToolState::Served),
            "{second}"
        );
        assert_eq!(bench.tool(id, "t").await.tool.definition.text(), tool(first));
    }
}

/// BR-033.
#[tokio::test]
async fn a_flipped_hint_is_drift_and_flipping_it_back_ends_it() {
    let bench = Workbench::new().await;
    let hint = |value| {
        format!(r#"{{"name":"wipe","inputSchema":{{}},"annotations":{{"destructiveHint":{value}}}}}"#)
    };
    let id = bench.upstream("srv", &[&hint(true)]).await;
    bench.approve(id, "wipe").await;
    let mut states = Vec::new();
    for value in [false, true] {
        bench.lists(id, "srv", &[&hint(value)]).await;
        states.push(bench.state(id, "wipe").await);
    }
    assert_eq!(states, [ToolState::Drifted, ToolState::Served]);
}

/// BR-069.
#[tokio::test]
async fn a_changed_tool_stays_drifted_over_a_restart() {
    let bench = Workbench::new().await;
    let (good, bad) =
        (definition("send", "Sends mail."), definition("send", "Sends mail. Adds a blind copy."));
    let id = bench.upstream("srv", &[&good]).await;
    bench.approve(id, "send").await;
    bench.lists(id, "srv", &[&bad]).await;
    assert_eq!(bench.state(id, "send").await, ToolState::Drifted);
    let again = bench.restarted().await;
    assert_eq!(again.state(id, "send").await, ToolState::Drifted);
    again.store.revision().await.unwrap();
    assert_eq!(again.hash(id, "send").await, bench.hash(id, "send").await);
}

/// BR-037.
#[tokio::test]
async fn two_definitions_of_one_name_are_never_served_and_do_not_flap() {
    let bench = Workbench::new().await;
    let (first, second) = (definition("get", "first"), definition("get", "second, with other inputs"));
    let other = definition("other", "d");
    let id = bench.upstream("srv", &[&first, &other]).await;
    bench.approve(id, "get").await;
    bench.approve(id, "other").await;
    bench.lists(id, "srv", &[&first, &second, &other]).await;
    assert_eq!(bench.state(id, "get").await, ToolState::BadName);
    assert_eq!(bench.state(id, "other").await, ToolState::Served);
    let hash = bench.hash(id, "get").await;
    let report = bench.lists(id, "srv", &[&second, &other, &first]).await;
    assert_eq!(
        (report.revision.is_some(), bench.hash(id, "get").await),
        (true, hash),
        "the issue moved, no tool did"
    );
    let issues = bench.detail(id).await.entry.listing.clone().unwrap().issues;
    assert_eq!((issues.len(), issues[0].code.as_str()), (1, "DUPLICATE_NAME"));
    bench.lists(id, "srv", &[&first, &other]).await;
    assert_eq!(bench.state(id, "get").await, ToolState::Served, "once one is left, its approval counts");
}

#[tokio::test]
async fn every_entry_of_a_listing_is_accounted_for() {
    let bench = Workbench::new().await;
    let (a, twice) = (definition("a", "d"), definition("b", "d"));
    let entries = [&a, &twice, &twice, r#"{"name":"bad"}"#, "42", &definition("a", "other")];
    let id = bench.upstream("srv", &entries).await;
    let listing = bench.detail(id).await.entry.listing.clone().unwrap();
    let (tools, repeats) = (bench.snapshot().await.tool_count(), 1);
    let in_issues: usize = listing.issues.iter().map(|issue| issue.entries as usize).sum();
    assert_eq!((listing.entries_read as usize, tools), (tools + repeats + in_issues, 2));
}

/// BR-065.
#[tokio::test]
async fn law_07_failures_of_every_kind_remove_nothing() {
    let bench = Workbench::new().await;
    let (a, b) = (definition("a", "d"), definition("b", "d"));
    let id = bench.upstream("srv", &[&a, &b]).await;
    bench.approve(id, "a").await;
    bench.approve(id, "b").await;
    let later = ListingError::Timeout("the answer".into());
    let failures = [
        Err(ListingError::Connect("connection refused".into())),
        Err(ListingError::Status(502)),
        Err(ListingError::Rpc { code: -32603, message: "internal".into() }),
        ended(&[&a], ListingEnd::Incomplete(Incomplete::Page { page: 2, error: later })),
        ended(&[&a], ListingEnd::Incomplete(Incomplete::RepeatedCursor)),
    ];
    for failure in failures {
        bench.servers.answers(&url("srv"), failure);
        let report = bench.sync(id).await;
        assert_eq!(report.summary.removed, 0);
        assert!(!bench.detail(id).await.status.last_error.is_empty());
        for name in ["a", "b"] {
            assert_eq!(bench.state(id, name).await, ToolState::Served);
        }
    }
    bench.lists(id, "srv", &[&a, &b]).await;
    let status = bench.detail(id).await.status;
    assert_eq!((status.health, status.last_error.as_str()), (Health::Ok, ""));
    assert_eq!(bench.state(id, "b").await, ToolState::Served, "without a new approval");
}

#[tokio::test]
async fn law_07_only_a_complete_listing_removes_and_a_return_needs_no_new_approval() {
    let bench = Workbench::new().await;
    let (a, b) = (definition("a", "d"), definition("b", "d"));
    let id = bench.upstream("srv", &[&a, &b]).await;
    bench.approve(id, "b").await;
    bench
        .servers
        .answers(&url("srv"), ended(&[&a], ListingEnd::Incomplete(Incomplete::Bound("pages".into()))));
    bench.sync(id).await;
    assert_eq!(bench.state(id, "b").await, ToolState::Served);
    bench.lists(id, "srv", &[&a]).await;
    let gone = bench.tool(id, "b").await;
    assert_eq!((gone.tool.state(), gone.tool.observed.removed_at.is_some()), (ToolState::Removed, true));
    bench.lists(id, "srv", &[&a, &b]).await;
    assert_eq!(bench.state(id, "b").await, ToolState::Served);
}

#[tokio::test]
async fn an_empty_listing_removes_every_tool_only_when_a_second_one_confirms_it() {
    let bench = Workbench::new().await;
    let a = definition("a", "d");
    let id = bench.upstream("srv", &[&a]).await;
    bench.servers.answers_in_turn(&url("srv"), vec![complete(&[]), complete(&[&a])]);
    assert_eq!(bench.sync(id).await.summary.unchanged, 1);
    bench.servers.answers_in_turn(&url("srv"), vec![complete(&[]), Err(ListingError::Status(502))]);
    assert_eq!(bench.sync(id).await.health, Health::Incomplete);
    assert_eq!(bench.state(id, "a").await, ToolState::Unapproved);
    bench.servers.answers(&url("srv"), complete(&[]));
    assert_eq!(bench.sync(id).await.summary.removed, 1);
    assert_eq!(bench.state(id, "a").await, ToolState::Removed);
}

#[tokio::test]
async fn a_sync_that_finds_nothing_new_writes_nothing_in_the_catalogue() {
    let bench = Workbench::new().await;
    let entries: Vec<String> = (0..300).map(|n| definition(&format!("t{n}"), "d")).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let id = bench.upstream("srv", &entries).await;
    let before = newest(&bench).await;
    bench.clock.advance_ms(3_600_000);
    let report = bench.sync(id).await;
    assert_eq!((report.summary.unchanged, report.revision), (300, None));
    assert_eq!(newest(&bench).await, before);
    assert!(bench.store.revision().await.unwrap() > before, "the status outside of it was written");
}

async fn newest(bench: &Workbench) -> Revision {
    let (rows, _) = scan_all(bench.store.as_ref(), &Key::catalogue_of(bench.client)).await.unwrap();
    rows.iter().map(|row| row.version).max().unwrap()
}

/// BR-027.
#[tokio::test]
async fn one_dead_upstream_hides_nothing_of_another() {
    let bench = Workbench::new().await;
    let good = bench.upstream("good", &[&definition("a", "d")]).await;
    let broken = bench.governance.create_upstream(&bench.caller(), bench.http("broken")).await.unwrap();
    let broken = broken.detail.entry.upstream.id;
    bench.servers.answers(&url("broken"), Err(ListingError::Status(500)));
    bench.sync(broken).await;
    assert_eq!(bench.state(good, "a").await, ToolState::Unapproved);
    assert_eq!(bench.detail(good).await.status.health, Health::Ok);
    let status = bench.detail(broken).await.status;
    assert_eq!(
        (status.health, status.last_error.as_str()),
        (Health::Unavailable, "the server answered HTTP 500")
    );
}

#[tokio::test]
async fn law_08_a_server_that_never_answers_delays_no_other() {
    let bench = Workbench::new().await;
    bench.servers.hangs(&url("slow"));
    let slow = bench.governance.create_upstream(&bench.caller(), bench.http("slow")).await.unwrap();
    let first_sync = bench.governance.syncs().sync(bench.client, slow.detail.entry.upstream.id);
    let others = async {
        let good = bench.upstream("good", &[&definition("a", "1")]).await;
        bench.lists(good, "good", &[&definition("a", "2")]).await.summary.changed
    };
    tokio::select! {
        _ = first_sync => panic!("it never answers"),
        changed = tokio::time::timeout(Duration::from_secs(10), others) => assert_eq!(changed, Ok(1)),
    }
}

#[tokio::test]
async fn law_08_a_client_that_cannot_be_read_keeps_no_other_from_being_synced() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "1")]).await;
    bench.servers.answers(&url("srv"), complete(&[&definition("a", "2")]));
    let broken = ClientId::from_bytes([9; 16]);
    let (name, of_client) = Record::ClientName("a name before default".into(), broken).encode();
    let commit = Commit::new().put(name, of_client).put(Key::Client(broken).encode(), "no row");
    bench.store.commit(commit).await.unwrap();
    let again = bench.restarted().await;
    let before = again.snapshot().await.revision();
    let follow = WatchTools { client: again.client, view: View::Raw, agent: None, resume: Some(before) };
    let mut watch = watch_tools(again.governance.catalog(), follow).await.unwrap();
    assert!(watch.next().await.unwrap().changes.is_empty());
    let kept = again.governance.syncs().keep_all(again.governance.catalog()).await;
    assert!(matches!(kept, Err(Fault::Internal { .. })), "{kept:?}");
    tokio::time::timeout(Duration::from_secs(10), watch.next()).await.expect("it is synced").unwrap();
    assert_eq!(again.tool(id, "a").await.tool.definition.text(), definition("a", "2"));
}

#[tokio::test]
async fn secrets_that_another_master_key_sealed_are_told_in_the_status() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    let other = Workbench::over(Arc::clone(&bench.store)).await;
    let failed = other.governance.syncs().sync(other.client, id).await;
    assert!(matches!(failed, Err(Fault::Internal { .. })), "{failed:?}");
    let status = other.detail(id).await.status;
    assert!(status.health == Health::Unavailable && status.last_error.contains("master key"), "{status:?}");
    assert_eq!(other.state(id, "a").await, ToolState::Unapproved, "and nothing is removed");
}

#[tokio::test]
async fn a_clock_that_is_set_back_harms_nothing() {
    const DAY_MS: i64 = 24 * 3_600_000;
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "1"), &definition("b", "1")]).await;
    bench.approve(id, "a").await;
    bench.clock.advance_ms(-DAY_MS);
    bench.lists(id, "srv", &[&definition("a", "2")]).await;
    assert_eq!(bench.state(id, "a").await, ToolState::Drifted);
    assert_eq!(bench.state(id, "b").await, ToolState::Removed);
    bench.approve(id, "a").await;
    let earlier = bench.upstream("earlier", &[&definition("c", "1")]).await;
    bench.sync(earlier).await;
    assert!(bench.rulings().await.windows(2).all(|pair| pair[0].ruling.at > pair[1].ruling.at));
    let now = bench.restarted().await;
    assert_eq!(now.state(id, "a").await, ToolState::Served);
    assert_eq!(now.state(earlier, "c").await, ToolState::Unapproved);
    assert_eq!(now.detail(earlier).await.status.health, Health::Ok);
}

/// BR-035.
#[tokio::test]
async fn hidden_characters_are_kept_and_count_as_change() {
    let bench = Workbench::new().await;
    let plain = definition("zw", "delete all");
    let hidden = definition("zw", "del\u{200b}ete all");
    let id = bench.upstream("srv", &[&plain]).await;
    bench.approve(id, "zw").await;
    bench.lists(id, "srv", &[&hidden]).await;
    assert_eq!(bench.state(id, "zw").await, ToolState::Drifted);
    assert_eq!(bench.tool(id, "zw").await.tool.definition.text(), hidden);
}
