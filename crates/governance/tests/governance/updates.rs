//! Declaring upstreams differently: what approvals and secrets outlive, and what syncs do meanwhile.

use std::sync::Arc;

use toolgate_domain::{
    Caller, Fault, Scope, ToolState, UpstreamId,
    ruling::Act,
    sync_status::Health,
    upstream::{NamePolicy, Transport, TransportChange, UpstreamChange},
};
use toolgate_governance::{DeleteUpstream, Rule, UpdateUpstream, UpdatedUpstream, Wish};
use toolgate_store::Revision;
use toolgate_store_memory::MemoryStore;
use toolgate_test_support::{eventually::eventually, scripted_servers::complete};

use crate::{
    troubled_store::TroubledStore,
    workbench::{Workbench, definition, url},
};

const NOTHING: UpstreamChange<String> = UpstreamChange::NOTHING;

fn update(bench: &Workbench, upstream: UpstreamId, change: UpstreamChange<String>) -> UpdateUpstream {
    let (client, based_on) = (bench.client, None);
    UpdateUpstream { client, upstream, change, keep_approvals: false, based_on, validate_only: false }
}

fn headers(all: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
    Some(all.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
}

/// Another URL, with headers given anew.
fn moved(slug: &str) -> UpstreamChange<String> {
    let headers = headers(&[("X-Key", "new-secret")]);
    let transport = TransportChange::Http { url: Some(url(slug)), headers, allow_private: None };
    UpstreamChange { transport: Some(transport), ..NOTHING }
}

async fn declare(bench: &Workbench, wanted: UpdateUpstream) -> Result<UpdatedUpstream, Fault> {
    bench.governance.update_upstream(&bench.caller(), wanted).await
}

fn writer(bench: &Workbench) -> Caller {
    Caller { scopes: [Scope::Read, Scope::Write].into_iter().collect(), ..bench.caller() }
}

#[tokio::test]
async fn a_changed_endpoint_returns_every_tool_to_unapproved_and_is_in_the_log() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    bench.approve(id, "a").await;
    bench.servers.answers(&url("new"), complete(&[&definition("a", "d"), &definition("b", "d")]));

    declare(&bench, update(&bench, id, moved("new"))).await.unwrap();

    assert_eq!(bench.state(id, "a").await, ToolState::Unapproved);
    let act = Act::ChangeEndpoint { before: url("srv"), after: url("new"), keeps_approvals: false };
    let last = bench.rulings().await.pop().unwrap().ruling;
    assert_eq!((last.act, last.upstream, last.tool_name.as_str()), (act, Some(id), ""));
    bench.sync(id).await;
    assert_eq!(bench.state(id, "b").await, ToolState::Unapproved, "the new server is listed");
    bench.approve(id, "a").await;
    assert_eq!(bench.state(id, "a").await, ToolState::Served);
    assert_eq!(bench.restarted().await.state(id, "a").await, ToolState::Served);
}

#[tokio::test]
async fn approvals_outlive_a_changed_endpoint_where_an_admin_says_so() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    bench.approve(id, "a").await;
    bench.servers.answers(&url("new"), complete(&[&definition("a", "d")]));
    let kept = UpdateUpstream { keep_approvals: true, ..update(&bench, id, moved("new")) };
    let refused = bench.governance.update_upstream(&writer(&bench), kept.clone()).await.unwrap_err();
    assert_eq!(refused, Fault::ScopeMissing(Scope::Admin));
    declare(&bench, kept).await.unwrap();
    assert_eq!(bench.state(id, "a").await, ToolState::Served);
    let last = bench.rulings().await.pop().unwrap().ruling.act;
    assert!(matches!(last, Act::ChangeEndpoint { keeps_approvals: true, .. }), "{last:?}");
}

#[tokio::test]
async fn headers_and_names_for_people_keep_approvals_and_are_not_in_the_log() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    bench.approve(id, "a").await;
    let other = TransportChange::Http { url: None, headers: headers(&[]), allow_private: None };
    let change = UpstreamChange { display_name: Some("Server".into()), transport: Some(other), ..NOTHING };
    let updated = declare(&bench, update(&bench, id, change.clone())).await.unwrap();
    let upstream = &updated.detail.entry.upstream;
    assert_eq!(upstream.display_name, "Server");
    assert!(matches!(&upstream.transport, Transport::Http { headers, .. } if headers.is_empty()));
    assert_eq!(bench.state(id, "a").await, ToolState::Served);
    assert_eq!(bench.rulings().await.len(), 1);
    let again = declare(&bench, update(&bench, id, change)).await.unwrap();
    assert_eq!(again.snapshot.revision(), updated.snapshot.revision(), "what is declared so already");
}

#[tokio::test]
async fn law_12_a_writer_cannot_send_what_is_kept_to_another_server() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    bench.servers.answers(&url("elsewhere"), complete(&[]));
    let change = UpstreamChange {
        transport: Some(TransportChange::Http {
            url: Some(url("elsewhere")),
            headers: None,
            allow_private: None,
        }),
        ..NOTHING
    };
    let refused = bench.governance.update_upstream(&writer(&bench), update(&bench, id, change)).await;
    let Err(Fault::Invalid(found)) = refused else { panic!("{refused:?}") };
    assert_eq!(found[0].field, "http.headers");
    bench.sync(id).await;
    assert_eq!(bench.servers.listings(&url("elsewhere")), 0);
}

#[tokio::test]
async fn what_is_or_shall_be_private_is_changed_by_an_admin_alone() {
    let bench = Workbench::new().await;
    let plain = bench.upstream("srv", &[&definition("a", "d")]).await;
    let private = |allow_private| UpstreamChange {
        transport: Some(TransportChange::Http {
            url: None,
            headers: None,
            allow_private: Some(allow_private),
        }),
        ..NOTHING
    };
    let admin = Err(Fault::ScopeMissing(Scope::Admin));
    let tried = |change| {
        let (bench, caller) = (&bench, writer(&bench));
        async move { bench.governance.update_upstream(&caller, update(bench, plain, change)).await.map(|_| ()) }
    };
    assert_eq!(tried(private(true)).await, admin);
    declare(&bench, update(&bench, plain, private(true))).await.unwrap();
    let name = UpstreamChange { display_name: Some("x".into()), ..NOTHING };
    for change in [private(false), name.clone()] {
        assert_eq!(tried(change).await, admin, "it is private now");
    }
    declare(&bench, update(&bench, plain, private(false))).await.unwrap();
    assert_eq!(tried(name).await, Ok(()));
}

#[tokio::test]
async fn a_sync_begun_under_the_old_endpoint_writes_nothing_and_the_new_one_is_listed_instead() {
    let inner = Arc::new(MemoryStore::new());
    let store = Arc::new(TroubledStore::new(inner.clone()));
    let bench = Workbench::over(store.clone()).await;
    let other = bench.replica(inner).await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    bench.servers.answers(&url("srv"), complete(&[&definition("old", "d")]));
    bench.servers.answers(&url("new"), complete(&[&definition("new", "d")]));
    store.before_next_commit(async move {
        let change = moved("new");
        declare(&other, update(&other, id, change)).await.unwrap();
    });
    bench.sync(id).await;
    let names: Vec<_> =
        bench.snapshot().await.tools_of(id).map(|entry| entry.tool.name().to_owned()).collect();
    assert_eq!(names, ["a", "new"]);
    assert_eq!(bench.state(id, "a").await, ToolState::Removed);
}

#[tokio::test]
async fn an_old_endpoint_that_hangs_does_not_delay_the_new_one() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    bench.servers.hangs(&url("srv"));
    bench.servers.answers(&url("new"), complete(&[&definition("new", "d")]));
    let listings = bench.servers.listings(&url("srv"));
    let (syncs, client) = (bench.governance.syncs().clone(), bench.client);
    let waiting = tokio::spawn(async move { syncs.sync(client, id).await });
    eventually("the old one is asked", async || {
        (bench.servers.listings(&url("srv")) > listings).then_some(())
    })
    .await;
    declare(&bench, update(&bench, id, moved("new"))).await.unwrap();
    let report = waiting.await.unwrap().unwrap();
    assert_eq!((report.health, report.summary.added), (Health::Ok, 1), "who waited is told of the new one");
}

#[tokio::test]
async fn the_health_of_the_old_endpoint_says_nothing_of_the_new_one() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    assert_eq!(bench.detail(id).await.status.health, Health::Ok);
    bench.servers.hangs(&url("new"));
    let updated = declare(&bench, update(&bench, id, moved("new"))).await.unwrap();
    assert_eq!(updated.detail.status.health, Health::Unknown);
}

#[tokio::test]
async fn names_are_repaired_with_the_sync_that_a_new_policy_begins_and_not_any_more_at_once() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a.b", "d"), &definition("c", "d")]).await;
    for name in ["a.b", "c"] {
        bench.approve(id, name).await;
    }
    assert_eq!(bench.state(id, "a.b").await, ToolState::BadName);
    let policy = |policy| UpstreamChange { name_policy: Some(policy), ..NOTHING };
    declare(&bench, update(&bench, id, policy(NamePolicy::Repair))).await.unwrap();
    bench.sync(id).await;
    let entry = bench.tool(id, "a.b").await;
    assert_eq!((entry.tool.state(), entry.tool.namespaced_name().as_str()), (ToolState::Served, "srv__a_b"));
    declare(&bench, update(&bench, id, policy(NamePolicy::Strict))).await.unwrap();
    assert_eq!(bench.state(id, "a.b").await, ToolState::BadName);
    assert_eq!(bench.state(id, "c").await, ToolState::Served);
    declare(&bench, update(&bench, id, policy(NamePolicy::Repair))).await.unwrap();
    assert_eq!(bench.state(id, "a.b").await, ToolState::Served, "a name, once given, stays");
}

#[tokio::test]
async fn an_update_is_for_the_upstream_as_it_was_read() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    let declared = bench.detail(id).await.entry.declared;
    let name = |name: &str| UpstreamChange { display_name: Some(name.into()), ..NOTHING };
    let first = UpdateUpstream { based_on: Some(declared), ..update(&bench, id, name("first")) };
    let tried = UpdateUpstream { validate_only: true, ..first.clone() };
    let would = declare(&bench, tried).await.unwrap().detail.entry.upstream.display_name.clone();
    assert_eq!((would.as_str(), bench.detail(id).await.entry.upstream.display_name.as_str()), ("first", ""));
    let updated = declare(&bench, first).await.unwrap();
    assert!(updated.detail.entry.declared > declared);
    let second = UpdateUpstream { based_on: Some(declared), ..update(&bench, id, name("second")) };
    assert_eq!(
        declare(&bench, second.clone()).await.unwrap_err(),
        Fault::EtagMismatch { current: String::new() }
    );
    let deletion =
        DeleteUpstream { client: bench.client, upstream: id, based_on: Some(declared), validate_only: false };
    let refused = bench.governance.delete_upstream(&bench.caller(), deletion).await.unwrap_err();
    assert_eq!(refused, Fault::EtagMismatch { current: String::new() });
    let based_on: Option<Revision> = Some(updated.detail.entry.declared);
    declare(&bench, UpdateUpstream { based_on, ..second }).await.unwrap();
}

#[tokio::test]
async fn an_approval_that_meets_a_change_of_the_endpoint_is_not_one_for_the_new_server() {
    let inner = Arc::new(MemoryStore::new());
    let store = Arc::new(TroubledStore::new(inner.clone()));
    let bench = Workbench::over(store.clone()).await;
    let other = bench.replica(inner).await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    let hash = bench.hash(id, "a").await;
    bench.servers.hangs(&url("new"));
    store.before_next_commit(async move {
        let change = moved("new");
        declare(&other, update(&other, id, change)).await.unwrap();
    });
    let ruled = bench.rule(id, "a", Wish::Approve(hash)).await;
    assert_eq!(ruled.unwrap_err(), Fault::ToolNotListedYet);
    assert_eq!(bench.state(id, "a").await, ToolState::Unapproved);
    bench.servers.answers(&url("new"), complete(&[&definition("a", "d")]));
    bench.governance.syncs().begin_anew(bench.client, id);
    eventually("the new server is listed", async || {
        (bench.detail(id).await.status.health == Health::Ok).then_some(())
    })
    .await;
    bench.approve(id, "a").await;
    assert_eq!(bench.state(id, "a").await, ToolState::Served);
}

#[tokio::test]
async fn a_review_of_what_the_old_endpoint_listed_approves_nothing_at_the_new_one() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d")]).await;
    let seen = bench.tool(id, "a").await;
    let hash = seen.tool.observed.fingerprint;
    bench.servers.answers(&url("new"), complete(&[&definition("a", "d")]));
    declare(&bench, update(&bench, id, moved("new"))).await.unwrap();
    bench.sync(id).await;
    let reviewed = Rule { based_on: Some(seen.changed), ..bench.wish(id, "a", Wish::Approve(hash)) };
    let refused = bench.governance.rule(reviewed.clone()).await.unwrap_err();
    assert_eq!(refused, Fault::EtagMismatch { current: String::new() });
    bench.lists(id, "new", &[&definition("a", "other")]).await;
    let current = bench.hash(id, "a").await;
    let refused = bench.governance.rule(reviewed).await.unwrap_err();
    assert_eq!(refused, Fault::DefinitionChanged { reviewed: hash, current });
}
