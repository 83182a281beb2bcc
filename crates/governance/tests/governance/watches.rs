//! Following a catalogue that tools leave.

use std::{collections::BTreeSet, sync::Arc};

use toolgate_catalog::{
    View,
    watch_tools::{ToolChange, ToolWatch, WatchEnd, WatchTools, watch_tools},
};
use toolgate_definition::Definition;
use toolgate_domain::{
    Clock, ToolId, ToolState, UpstreamId,
    limits::MAX_WITHDRAWN_TOOLS,
    tool::{Observed, SeenDefinition},
};
use toolgate_governance::Wish;
use toolgate_records::{Key, Record};
use toolgate_store::{Commit, Revision};
use toolgate_store_memory::MemoryStore;
use toolgate_test_support::eventually::eventually;

use crate::{
    troubled_store::TroubledStore,
    workbench::{Workbench, definition},
};

async fn watch(bench: &Workbench, view: View, resume: Option<Revision>) -> ToolWatch {
    watch_tools(bench.governance.catalog(), WatchTools { client: bench.client, view, agent: None, resume })
        .await
        .unwrap()
}

/// What a watch withdraws until it has told of `to`.
async fn withdrawn(watch: &mut ToolWatch, to: Revision) -> BTreeSet<ToolId> {
    let mut gone = BTreeSet::new();
    while watch.told() < to {
        let changes = watch.next().await.unwrap().changes;
        gone.extend(changes.into_iter().filter_map(|change| match change {
            ToolChange::Withdrawn(id) => Some(id),
            ToolChange::Upserted(_) => None,
        }));
    }
    gone
}

/// Deletes rows, and waits until the read model follows.
async fn delete(bench: &Workbench, keys: impl IntoIterator<Item = Key>) -> Revision {
    let commit = keys.into_iter().fold(Commit::new(), |commit, key| commit.delete(key.encode()));
    let at = bench.store.commit(commit).await.unwrap();
    bench.governance.catalog().snapshot(bench.client, Some(at)).await.unwrap();
    at
}

fn ids(id: UpstreamId, names: &[&str]) -> BTreeSet<ToolId> {
    names.iter().map(|name| ToolId::of(id, name)).collect()
}

#[tokio::test]
async fn the_tools_of_an_upstream_that_is_gone_are_withdrawn_now_and_after_a_resume() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d"), &definition("b", "d")]).await;
    bench.upstream("other", &[&definition("c", "d")]).await;
    bench.approve(id, "a").await;
    let mut watches = [watch(&bench, View::Raw, None).await, watch(&bench, View::Served, None).await];
    for watch in &mut watches {
        watch.next().await.unwrap();
    }
    let known = watches[0].told();
    let at = delete(&bench, [Key::Upstream(bench.client, id)]).await;
    assert_eq!(withdrawn(&mut watches[0], at).await, ids(id, &["a", "b"]));
    assert_eq!(withdrawn(&mut watches[1], at).await, ids(id, &["a"]), "agents never knew the other");
    let mut resumed = watch(&bench, View::Raw, Some(known)).await;
    assert_eq!(withdrawn(&mut resumed, at).await, ids(id, &["a", "b"]));
    let mut fresh = watch(&bench, View::Raw, None).await;
    let first = fresh.next().await.unwrap();
    assert!(matches!(&first.changes[..], [ToolChange::Upserted(entry)] if entry.tool.name() == "c"));
    assert_eq!(bench.snapshot().await.tool_count(), 1);
}

#[tokio::test]
async fn a_tool_that_comes_back_is_not_withdrawn_from_who_resumes() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d"), &definition("b", "d")]).await;
    let known = bench.snapshot().await.revision();
    delete(&bench, [Key::Observed(bench.client, id, "a".into())]).await;
    assert_eq!(bench.snapshot().await.tool_count(), 1);
    bench.sync(id).await;
    let now = bench.snapshot().await.revision();
    let mut resumed = watch(&bench, View::Raw, Some(known)).await;
    assert!(withdrawn(&mut resumed, now).await.is_empty());
    assert_eq!(bench.snapshot().await.tool_count(), 2);
}

/// BR-101.
#[tokio::test]
async fn what_left_while_the_watch_of_the_store_was_compacted_is_withdrawn() {
    let inner = Arc::new(MemoryStore::new());
    let troubled = Arc::new(TroubledStore::new(inner.clone()));
    let bench = Workbench::over(inner).await;
    let id = bench.upstream("srv", &[&definition("a", "d"), &definition("b", "d")]).await;
    bench.approve(id, "b").await;
    let replica = bench.replica(troubled.clone()).await;
    let mut watch = watch(&replica, View::Raw, None).await;
    watch.next().await.unwrap();
    assert_eq!(replica.state(id, "b").await, ToolState::Served);
    troubled.let_watches_flow(false);
    let gone = delete(&bench, [Key::Observed(bench.client, id, "a".into())]).await;
    for n in 0..100 {
        bench.rule(id, "b", Wish::SetDescription(Some(format!("words {n}")))).await.unwrap();
    }
    bench.rule(id, "b", Wish::Disable).await.unwrap();
    let now = bench.snapshot().await.revision();
    assert!(replica.snapshot().await.revision() < gone, "the replica is cut off");
    troubled.cuts_watches();
    troubled.let_watches_flow(true);
    eventually("the replica reads everything anew", async || {
        (replica.snapshot().await.revision() >= now).then_some(())
    })
    .await;
    assert_eq!(withdrawn(&mut watch, now).await, ids(id, &["a"]));
    assert_eq!(replica.state(id, "b").await, ToolState::Disabled);
}

#[tokio::test]
async fn a_watch_from_before_what_is_remembered_is_told_the_oldest_point_to_resume_from() {
    let bench = Workbench::new().await;
    let listed = bench.upstream("srv", &[&definition("first", "d")]).await;
    let known = bench.snapshot().await.revision();
    observe(&bench, listed, MAX_WITHDRAWN_TOOLS).await;
    let first = delete(&bench, [Key::Observed(bench.client, listed, "first".into())]).await;
    let all = delete(&bench, [Key::Upstream(bench.client, listed)]).await;
    let expired = watch(&bench, View::Raw, Some(known)).await.next().await;
    let Err(WatchEnd::Expired { oldest }) = expired else { panic!("{expired:?}") };
    assert_eq!(oldest, first, "all that left later are remembered");
    let mut resumed = watch(&bench, View::Raw, Some(oldest)).await;
    assert_eq!(withdrawn(&mut resumed, all).await.len(), MAX_WITHDRAWN_TOOLS);
    let mut fresh = watch(&bench, View::Raw, None).await;
    assert!(fresh.next().await.unwrap().changes.is_empty(), "who begins anew has nothing to drop");
}

/// Observes so many tools, in few and large commits.
async fn observe(bench: &Workbench, upstream: UpstreamId, tools: usize) {
    let now = bench.clock.now();
    let mut at = Revision::ZERO;
    for from in (0..tools).step_by(60) {
        let mut commit = Commit::new();
        for n in from..tools.min(from + 60) {
            let name = format!("t{n}");
            let text = definition(&name, "d");
            let fingerprint = Definition::parse(&text).unwrap().fingerprint();
            let observed = Observed {
                fingerprint,
                first_seen_at: now,
                changed_at: now,
                removed_at: None,
                conflicted: false,
                canonical_name: None,
                binding_epoch: 1,
                earlier: Default::default(),
            };
            let seen = SeenDefinition { text: Some(text), first_seen_at: Some(now), returned_at: None };
            for record in [
                Record::Definition(bench.client, upstream, name.clone(), fingerprint, seen),
                Record::Observed(bench.client, upstream, name, observed),
            ] {
                let (key, value) = record.encode();
                commit = commit.put(key, value);
            }
        }
        at = bench.store.commit(commit).await.unwrap();
    }
    bench.governance.catalog().snapshot(bench.client, Some(at)).await.unwrap();
}
