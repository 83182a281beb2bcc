//! What others do, and what breaks, exactly between what is read and what is committed.

use std::sync::Arc;

use toolgate_catalog::Snapshot;
use toolgate_domain::{Fault, ToolId, ToolState, UpstreamId};
use toolgate_governance::Wish;
use toolgate_records::Key;
use toolgate_store_memory::MemoryStore;
use toolgate_test_support::scripted_servers::complete;

use crate::{
    troubled_store::TroubledStore,
    workbench::{Workbench, definition, url},
};

/// A replica over a store that troubles it, and another one that goes to the same store undisturbed.
async fn replicas() -> (Workbench, Arc<TroubledStore>, Workbench) {
    let inner = Arc::new(MemoryStore::new());
    let store = Arc::new(TroubledStore::new(inner.clone()));
    let bench = Workbench::over(store.clone()).await;
    let other = bench.replica(inner).await;
    (bench, store, other)
}

#[tokio::test]
async fn law_03_a_definition_that_changes_between_the_check_and_the_commit_is_not_approved() {
    let (bench, store, other) = replicas().await;
    let id = bench.upstream("srv", &[&definition("t", "1")]).await;
    let seen = bench.hash(id, "t").await;
    store.before_next_commit(async move {
        other.lists(id, "srv", &[&definition("t", "2")]).await;
    });
    let refused = bench.rule(id, "t", Wish::Approve(seen)).await.unwrap_err();
    let current = bench.hash(id, "t").await;
    assert_ne!(current, seen);
    assert_eq!(refused, Fault::DefinitionChanged { reviewed: seen, current });
    let ruled = Key::Ruled(bench.client, id, "t".into()).encode();
    assert!(bench.store.get(&ruled).await.unwrap().is_none() && bench.rulings().await.is_empty());
}

#[tokio::test]
async fn law_14_two_replicas_that_rule_at_once_write_one_log() {
    let (bench, store, other) = replicas().await;
    let id = bench.upstream("srv", &[&definition("a", "d"), &definition("b", "d")]).await;
    store.before_next_commit(async move {
        other.rule(id, "b", Wish::Disable).await.unwrap();
    });
    bench.rule(id, "a", Wish::Disable).await.unwrap();
    let tools: Vec<_> = bench.rulings().await.into_iter().map(|row| row.ruling.tool_name).collect();
    assert_eq!(tools, ["b", "a"]);
}

#[tokio::test]
async fn a_ruling_that_another_replica_overtakes_is_judged_anew() {
    let (bench, store, other) = replicas().await;
    let id = bench.upstream("srv", &[&definition("t", "d")]).await;
    let mut rule = bench.wish(id, "t", Wish::Disable);
    rule.based_on = Some(bench.tool(id, "t").await.changed);
    store.before_next_commit(async move { other.approve(id, "t").await });
    assert!(matches!(bench.governance.rule(rule).await, Err(Fault::EtagMismatch { .. })));
    assert_eq!(bench.rulings().await.len(), 1);
}

#[tokio::test]
async fn an_etag_from_another_replica_is_good_here_before_its_news_arrive() {
    let (bench, store, other) = replicas().await;
    let id = bench.upstream("srv", &[&definition("t", "d")]).await;
    store.let_watches_flow(false);
    let mut rule = bench.wish(id, "t", Wish::Enable);
    rule.based_on = Some(other.rule(id, "t", Wish::Disable).await.unwrap().entry.changed);
    assert_eq!(bench.state(id, "t").await, ToolState::Unapproved, "its news have not arrived");
    let (ruled, ()) = tokio::join!(bench.governance.rule(rule), async { store.let_watches_flow(true) });
    assert_eq!(ruled.unwrap().entry.tool.state(), ToolState::Unapproved);
    assert_eq!(bench.rulings().await.len(), 2);
}

#[tokio::test]
async fn when_one_ruling_of_a_batch_is_overtaken_only_that_one_is_refused() {
    let (bench, store, other) = replicas().await;
    let names = ["a", "b", "c"];
    let listed = names.map(|name| definition(name, "1"));
    let id = bench.upstream("srv", &listed.each_ref().map(String::as_str)).await;
    let mut rules = Vec::new();
    for name in names {
        let hash = bench.hash(id, name).await;
        rules.push(bench.governance.rule(bench.wish(id, name, Wish::Approve(hash))));
    }
    let changed = [listed[0].clone(), definition("b", "2"), listed[2].clone()];
    store.before_next_commit(async move {
        other.lists(id, "srv", &changed.each_ref().map(String::as_str)).await;
    });
    let [c, b, a] = [rules.pop(), rules.pop(), rules.pop()].map(Option::unwrap);
    let (a, b, c) = tokio::join!(a, b, c);
    assert!(a.is_ok() && c.is_ok());
    assert!(matches!(b, Err(Fault::DefinitionChanged { .. })), "{b:?}");
    assert_eq!(bench.rulings().await.len(), 2);
}

#[tokio::test]
async fn an_answer_shows_what_somebody_else_ruled_a_moment_before() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("t", "d")]).await;
    let hash = bench.hash(id, "t").await;
    let approve = || bench.rule(id, "t", Wish::Approve(hash));
    let (first, second) = tokio::join!(approve(), approve());
    for ruled in [first.unwrap(), second.unwrap()] {
        assert_eq!(ruled.entry.tool.state(), ToolState::Served);
    }
    assert_eq!(bench.rulings().await.len(), 1, "the second one had nothing to do");
}

#[tokio::test]
async fn a_ruling_that_finds_no_room_is_not_made_and_the_next_one_is() {
    let (bench, store, _) = replicas().await;
    let id = bench.upstream("srv", &[&definition("t", "d")]).await;
    store.full_at_next_commit();
    let full = bench.rule(id, "t", Wish::Disable).await.unwrap_err();
    assert!(matches!(full, Fault::StoreUnavailable { outcome_unknown: false, .. }), "{full:?}");
    assert_eq!(bench.state(id, "t").await, ToolState::Unapproved);
    bench.rule(id, "t", Wish::Disable).await.unwrap();
    assert_eq!(bench.rulings().await.len(), 1);
}

#[tokio::test]
async fn a_ruling_whose_answer_was_lost_can_be_asked_for_again() {
    let (bench, store, _) = replicas().await;
    let id = bench.upstream("srv", &[&definition("t", "d")]).await;
    store.loses_next_answer();
    let lost = bench.rule(id, "t", Wish::Disable).await.unwrap_err();
    assert!(matches!(lost, Fault::StoreUnavailable { outcome_unknown: true, .. }), "{lost:?}");
    assert_eq!(bench.rule(id, "t", Wish::Disable).await.unwrap().entry.tool.state(), ToolState::Disabled);
    bench.rule(id, "t", Wish::Enable).await.unwrap();
    assert_eq!(bench.rulings().await.len(), 2);
}

#[tokio::test]
async fn after_a_panic_the_same_client_and_the_same_upstream_go_on() {
    let (bench, store, _) = replicas().await;
    let id = bench.upstream("srv", &[&definition("t", "1")]).await;
    store.panics_at_next_commit();
    assert_eq!(bench.rule(id, "t", Wish::Disable).await.unwrap_err(), Fault::Draining);
    bench.rule(id, "t", Wish::Disable).await.unwrap();
    store.panics_at_next_commit();
    bench.servers.answers(&url("srv"), complete(&[&definition("t", "2")]));
    assert_eq!(bench.governance.syncs().sync(bench.client, id).await, Err(Fault::Draining));
    assert_eq!(bench.sync(id).await.summary.changed, 1);
}

/// A tool of the listings below, as it is listed in the second one.
fn second(n: usize) -> String {
    definition(&format!("t{n:03}"), if n.is_multiple_of(2) { "1" } else { "2" })
}

/// Whether each of these tools is there as the second listing has it, the first 75 as removed.
fn is_followed(snapshot: Arc<Snapshot>, id: UpstreamId) -> bool {
    (0..220).all(|n| {
        let entry = snapshot.tool(ToolId::of(id, &format!("t{n:03}")));
        entry.is_some_and(|entry| match entry.tool.observed.removed_at {
            Some(_) => n < 75,
            None => n >= 75 && entry.tool.definition.text() == second(n),
        })
    })
}

#[tokio::test]
async fn a_sync_that_was_cut_off_after_any_commit_is_completed_by_the_next_one() {
    let first: Vec<String> = (0..150).map(|n| definition(&format!("t{n:03}"), "1")).collect();
    let second: Vec<String> = (75..220).map(second).collect();
    let mut cuts = 0;
    loop {
        let (bench, store, other) = replicas().await;
        let id = bench.upstream("srv", &first.iter().map(String::as_str).collect::<Vec<_>>()).await;
        bench.approve(id, "t080").await;
        bench.servers.answers(&url("srv"), complete(&second.iter().map(String::as_str).collect::<Vec<_>>()));
        store.dies_after(cuts);
        let died = bench.governance.syncs().sync(bench.client, id).await.is_err();
        assert_eq!(other.state(id, "t080").await, ToolState::Served, "an approval outlives it");
        assert_eq!(is_followed(other.snapshot().await, id), !died || cuts > 3, "after {cuts} commits");
        other.sync(id).await;
        assert!(is_followed(other.snapshot().await, id), "after {cuts} commits");
        assert!(is_followed(other.restarted().await.snapshot().await, id), "after {cuts} commits");
        if !died {
            break;
        }
        cuts += 1;
    }
    assert_eq!(cuts, 6, "four commits with tools, one with the listing, one with the status");
}
