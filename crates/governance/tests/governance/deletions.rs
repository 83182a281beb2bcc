//! Deleting upstreams: what goes at once, what is swept later, what stays.

use std::sync::Arc;

use toolgate_catalog::{
    View,
    upstreams::{UpstreamRef, get_upstream},
    watch_tools::{ToolChange, WatchEnd, WatchTools, watch_tools},
};
use toolgate_domain::{
    Caller, Fault, Scope, ToolId, ToolState, UpstreamId, ruling::Act, upstream::Transport,
};
use toolgate_governance::{DeleteUpstream, DeletedUpstream, Wish};
use toolgate_records::{Key, Record};
use toolgate_store::{KeyRange, Revision, scan_all};
use toolgate_store_memory::MemoryStore;
use toolgate_test_support::eventually::eventually;

use crate::{
    troubled_store::TroubledStore,
    workbench::{Workbench, definition, url},
};

fn deletion(bench: &Workbench, upstream: UpstreamId) -> DeleteUpstream {
    DeleteUpstream { client: bench.client, upstream, based_on: None, validate_only: false }
}

async fn delete(bench: &Workbench, upstream: UpstreamId) -> Result<DeletedUpstream, Fault> {
    bench.governance.delete_upstream(&bench.caller(), deletion(bench, upstream)).await
}

async fn count(bench: &Workbench, range: KeyRange) -> usize {
    scan_all(bench.store.as_ref(), &range).await.unwrap().0.len()
}

/// Rows of the tools of an upstream, and all claims on names that are held by anybody.
async fn left(bench: &Workbench, upstream: UpstreamId) -> usize {
    let (claims, _) = scan_all(bench.store.as_ref(), &Key::name_claims_of(bench.client)).await.unwrap();
    let held = claims.iter().filter(|row| {
        matches!(Record::decode(&row.key, &row.value), Ok(Record::NameClaim(_, _, Some(holder))) if holder.upstream == upstream)
    });
    count(bench, Key::observed_of(bench.client, upstream)).await
        + count(bench, Key::ruled_of(bench.client, upstream)).await
        + held.count()
}

async fn swept(bench: &Workbench, upstream: UpstreamId) {
    let done = async || {
        let unswept = bench.snapshot().await.unswept().any(|id| id == upstream);
        (!unswept).then_some(())
    };
    eventually("everything is swept", done).await;
    assert_eq!(left(bench, upstream).await, 0);
}

async fn withdrawn(bench: &Workbench, known: Revision, to: Revision) -> Vec<ToolId> {
    let ask = WatchTools { client: bench.client, view: View::Raw, agent: None, resume: Some(known) };
    let mut watch = watch_tools(bench.governance.catalog(), ask).await.unwrap();
    let mut gone = Vec::new();
    while watch.told() < to {
        gone.extend(watch.next().await.unwrap().changes.into_iter().filter_map(|change| match change {
            ToolChange::Withdrawn(id) => Some(id),
            ToolChange::Upserted(_) => None,
        }));
    }
    gone
}

#[tokio::test]
async fn a_deleted_upstream_is_gone_at_once_with_its_tools_and_is_in_the_log() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d"), &definition("b", "d")]).await;
    let other = bench.upstream("other", &[&definition("c", "d")]).await;
    bench.approve(id, "a").await;
    let known = bench.snapshot().await.revision();

    let deleted = delete(&bench, id).await.unwrap();

    assert_eq!((deleted.tool_count, deleted.approved_count), (2, 1));
    let snapshot = &deleted.snapshot;
    assert!(snapshot.upstream(id).is_none() && snapshot.upstream_by_slug("srv").is_none());
    assert_eq!(snapshot.tool_count(), 1);
    assert_eq!(snapshot.tombstone(id).unwrap().tool_count, 2);
    let gone = withdrawn(&bench, known, snapshot.revision()).await;
    assert_eq!(gone, ["a", "b"].map(|name| ToolId::of(id, name)));
    let last = bench.rulings().await.pop().unwrap().ruling;
    assert_eq!((last.upstream, last.tool_name.as_str()), (Some(id), ""));
    assert_eq!(last.act, Act::DeleteUpstream { slug: "srv".into(), tool_count: 2 });
    assert_eq!(bench.rule(id, "a", Wish::Disable).await.unwrap_err(), Fault::ToolNotFound);
    assert_eq!(delete(&bench, id).await.unwrap_err(), Fault::UpstreamNotFound);
    swept(&bench, id).await;
    assert_eq!(bench.state(other, "c").await, ToolState::Unapproved);
    assert_eq!(bench.rulings().await.len(), 2);
}

#[tokio::test]
async fn the_texts_of_a_deleted_upstream_can_still_be_read() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    let text = Key::Definition(bench.client, id, "a".into(), bench.hash(id, "a").await);
    delete(&bench, id).await.unwrap();
    swept(&bench, id).await;
    assert!(bench.store.get(&text.encode()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_slug_added_again_is_a_new_upstream_without_approvals() {
    let bench = Workbench::new().await;
    let first = bench.upstream("srv", &[&definition("a", "d")]).await;
    bench.approve(first, "a").await;
    delete(&bench, first).await.unwrap();
    let second = bench.upstream("srv", &[&definition("a", "d")]).await;
    assert_ne!(first, second);
    assert_eq!(bench.state(second, "a").await, ToolState::Unapproved);
    bench.approve(second, "a").await;
    assert_eq!(bench.state(second, "a").await, ToolState::Served, "its name is its own");
    swept(&bench, first).await;
    assert_eq!(bench.restarted().await.state(second, "a").await, ToolState::Served);
}

#[tokio::test]
async fn a_name_is_free_with_the_upstream_whose_tool_held_it() {
    let bench = Workbench::new().await;
    let holder = bench.upstream("holder", &[&definition("h", "d")]).await;
    bench.rule(holder, "h", Wish::Rename(Some("srv__a".into()))).await.unwrap();
    let refused = bench.upstream("srv", &[&definition("a", "d")]).await;
    bench.approve(refused, "a").await;
    assert_eq!(bench.state(refused, "a").await, ToolState::BadName);
    let known = bench.snapshot().await.revision();

    let at = delete(&bench, holder).await.unwrap().snapshot.revision();

    assert_eq!(bench.state(refused, "a").await, ToolState::Served);
    assert!(bench.tool(refused, "a").await.changed > known, "who follows is told");
    assert_eq!(withdrawn(&bench, known, at).await, [ToolId::of(holder, "h")]);
    swept(&bench, holder).await;
    let (here, elsewhere) =
        (bench.tool(refused, "a").await, bench.restarted().await.tool(refused, "a").await);
    assert_eq!(here, elsewhere, "when it changed does not depend on who was there");
    let other = bench.upstream("other", &[&definition("o", "d")]).await;
    bench.rule(other, "o", Wish::Rename(Some("holder__h".into()))).await.unwrap();
}

#[tokio::test]
async fn a_void_claim_stands_in_nobodys_way_before_it_is_swept() {
    let inner = Arc::new(MemoryStore::new());
    let store = Arc::new(TroubledStore::new(inner.clone()));
    let bench = Workbench::over(store.clone()).await;
    let other = bench.replica(inner).await;
    let first = bench.upstream("srv", &[&definition("a", "d"), &definition("b", "d")]).await;
    store.dies_after(1);
    delete(&bench, first).await.unwrap();
    assert!(left(&other, first).await > 0, "nothing is swept");
    other.snapshot().await;
    let second = other.upstream("srv", &[&definition("a", "d")]).await;
    let third = other.upstream("third", &[&definition("c", "d")]).await;
    other.rule(third, "c", Wish::Rename(Some("srv__b".into()))).await.unwrap();
    for (id, name) in [(second, "a"), (third, "c")] {
        other.approve(id, name).await;
        assert_eq!(other.state(id, name).await, ToolState::Served);
    }
    other.governance.resume_sweeps().await.unwrap();
    swept(&other, first).await;
    for bench in [&other, &other.restarted().await] {
        assert_eq!(bench.state(second, "a").await, ToolState::Served);
        assert_eq!(bench.state(third, "c").await, ToolState::Served);
    }
}

#[tokio::test]
async fn a_sweep_that_was_cut_off_after_any_commit_is_ended_after_a_restart() {
    let names: Vec<String> = (0..150).map(|n| format!("t{n:03}")).collect();
    let entries: Vec<String> = names.iter().map(|name| definition(name, "d")).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let mut cuts = 0;
    loop {
        let inner = Arc::new(MemoryStore::new());
        let store = Arc::new(TroubledStore::new(inner.clone()));
        let bench = Workbench::over(store.clone()).await;
        let other = bench.replica(inner).await;
        let id = bench.upstream("srv", &entries).await;
        bench.approve(id, "t000").await;
        let kept = bench.upstream("kept", &[&definition("k", "d")]).await;
        let known = bench.snapshot().await.revision();
        store.dies_after(1 + cuts);
        delete(&bench, id).await.unwrap();
        eventually("the process is gone, or done", async || {
            let swept = !bench.snapshot().await.unswept().any(|swept| swept == id);
            (store.is_dead() || swept).then_some(())
        })
        .await;
        let died = store.is_dead();
        let after = other.restarted().await;
        assert_eq!(
            (after.snapshot().await.tool_count(), after.rulings().await.len()),
            (1, 2),
            "after {cuts}"
        );
        let ask = WatchTools { client: after.client, view: View::Raw, agent: None, resume: Some(known) };
        let expired = watch_tools(after.governance.catalog(), ask).await.unwrap().next().await;
        assert!(matches!(expired, Err(WatchEnd::Expired { .. })), "who was not told is told so: {expired:?}");
        let told = bench.snapshot().await.revision();
        let ask = WatchTools { resume: Some(told), ..ask };
        let resumed = watch_tools(after.governance.catalog(), ask).await.unwrap().next().await.unwrap();
        assert!(resumed.changes.is_empty() && resumed.revision >= told, "who was told goes on");
        after.governance.resume_sweeps().await.unwrap();
        swept(&after, id).await;
        assert_eq!(after.state(kept, "k").await, ToolState::Unapproved);
        if !died {
            break;
        }
        cuts += 1;
    }
    assert_eq!(cuts, 6, "two commits with tools, one with a ruling, two with names, one that ends it");
}

#[tokio::test]
async fn a_sync_that_is_under_way_writes_nothing_more_and_ends() {
    let inner = Arc::new(MemoryStore::new());
    let store = Arc::new(TroubledStore::new(inner.clone()));
    let bench = Workbench::over(store.clone()).await;
    let other = bench.replica(inner).await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    bench
        .servers
        .answers(&url("srv"), toolgate_test_support::scripted_servers::complete(&[&definition("b", "d")]));
    store.before_next_commit(async move {
        delete(&other, id).await.unwrap();
    });
    let ended = bench.governance.syncs().sync(bench.client, id).await;
    assert_eq!(ended, Err(Fault::UpstreamNotFound));
    swept(&bench, id).await;
    assert_eq!(bench.snapshot().await.tool_count(), 0);
}

#[tokio::test]
async fn a_sync_that_hangs_ends_with_its_upstream() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    bench.servers.hangs(&url("srv"));
    let listings = bench.servers.listings(&url("srv"));
    let syncs = bench.governance.syncs().clone();
    let client = bench.client;
    let hanging = tokio::spawn(async move { syncs.sync(client, id).await });
    eventually("the server is asked", async || {
        (bench.servers.listings(&url("srv")) > listings).then_some(())
    })
    .await;
    delete(&bench, id).await.unwrap();
    assert_eq!(hanging.await.unwrap(), Err(Fault::UpstreamNotFound));
}

#[tokio::test]
async fn a_ruling_and_a_deletion_that_meet_happen_one_after_the_other() {
    let inner = Arc::new(MemoryStore::new());
    let store = Arc::new(TroubledStore::new(inner.clone()));
    let bench = Workbench::over(store.clone()).await;
    let other = bench.replica(inner).await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    let hash = bench.hash(id, "a").await;
    store.before_next_commit(async move {
        delete(&other, id).await.unwrap();
    });
    assert_eq!(bench.rule(id, "a", Wish::Approve(hash)).await.unwrap_err(), Fault::ToolNotFound);
    let log = bench.rulings().await;
    assert!(matches!(&log[..], [row] if matches!(row.ruling.act, Act::DeleteUpstream { .. })), "{log:?}");
    swept(&bench, id).await;
}

#[tokio::test]
async fn a_deletion_is_for_the_upstream_as_it_was_read() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    let declared = bench.detail(id).await.entry.declared;
    let based_on = Some(Revision(declared.0 - 1));
    let stale = DeleteUpstream { based_on, ..deletion(&bench, id) };
    let refused = bench.governance.delete_upstream(&bench.caller(), stale).await.unwrap_err();
    assert_eq!(refused, Fault::EtagMismatch { current: String::new() });
    bench.lists(id, "srv", &[&definition("a", "other")]).await;
    let fresh = DeleteUpstream { based_on: Some(declared), validate_only: true, ..deletion(&bench, id) };
    let would = bench.governance.delete_upstream(&bench.caller(), fresh).await.unwrap();
    assert_eq!((would.tool_count, bench.snapshot().await.tool_count()), (1, 1), "a listing declares nothing");
    assert!(bench.rulings().await.is_empty());
    bench
        .governance
        .delete_upstream(&bench.caller(), DeleteUpstream { validate_only: false, ..fresh })
        .await
        .unwrap();
}

#[tokio::test]
async fn a_private_upstream_is_deleted_by_an_admin_alone() {
    let bench = Workbench::new().await;
    let mut wanted = bench.http("srv");
    wanted.transport = Transport::Http { url: url("srv"), headers: Vec::new(), allow_private: true };
    let id =
        bench.governance.create_upstream(&bench.caller(), wanted).await.unwrap().detail.entry.upstream.id;
    let writer = Caller { scopes: [Scope::Read, Scope::Write].into_iter().collect(), ..bench.caller() };
    let refused = bench.governance.delete_upstream(&writer, deletion(&bench, id)).await.unwrap_err();
    assert_eq!(refused, Fault::ScopeMissing(Scope::Admin));
    let name = UpstreamRef::Slug("srv".into());
    get_upstream(bench.governance.catalog(), bench.client, &name, None).await.unwrap();
    delete(&bench, id).await.unwrap();
}
