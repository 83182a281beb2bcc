//! Clients that are deleted: at once for everybody, whatever happens meanwhile, and swept to the end afterwards.

use std::{num::NonZeroUsize, sync::Arc};

use toolgate_catalog::{
    View,
    watch_tools::{WatchEnd, WatchTools, watch_tools},
};
use toolgate_domain::{Caller, ClientId, Fault, Scope, UpstreamId, limits, ruling::Act};
use toolgate_governance::{Client, CreateApiKey, ListRulings, RevokeApiKey, RulingFilter, Wish};
use toolgate_records::{DeletedClient, Key, Record};
use toolgate_store::scan_all;
use toolgate_store_memory::MemoryStore;
use toolgate_test_support::{eventually::eventually, scripted_servers::complete};

use crate::{
    troubled_store::TroubledStore,
    workbench::{Workbench, definition, url},
};

/// A replica over a store that troubles it, acting for a client `acme` with an approved tool and a key, and another replica
/// that goes to the same store undisturbed.
struct Acme {
    bench: Workbench,
    store: Arc<TroubledStore>,
    other: Workbench,
    client: Client,
    upstream: UpstreamId,
}

impl Acme {
    async fn new() -> Self {
        let inner = Arc::new(MemoryStore::new());
        let store = Arc::new(TroubledStore::new(inner.clone()));
        let mut bench = Workbench::over(store.clone()).await;
        let client = bench.governance.create_client(&bench.caller(), "acme", false).await.unwrap();
        bench.client = client.id;
        let upstream = bench.upstream("srv", &[&definition("a", "d"), &definition("b", "d")]).await;
        bench.approve(upstream, "a").await;
        bench.new_key(client.id).await.unwrap();
        let mut other = bench.replica(inner).await;
        other.client = client.id;
        Self { bench, store, other, client, upstream }
    }

    /// The other replica deletes the client just before this one's next commit.
    fn is_deleted_before_next_commit(&self) {
        let (governance, caller) = (self.other.governance.clone(), self.other.caller());
        let id = self.client.id;
        self.store.before_next_commit(async move {
            governance.delete_client(&caller, id, false).await.unwrap();
        });
    }

    /// What is left, once everything is swept.
    async fn left(&self) -> Vec<Key> {
        let tombstone = Key::DeletedClient(self.client.id).encode();
        let is_swept = async || {
            let row = self.other.store.get(&tombstone).await.unwrap()?;
            let Ok(Record::DeletedClient(_, deleted)) = Record::decode(&row.key, &row.value) else {
                return None;
            };
            deleted.is_swept.then_some(())
        };
        eventually("the deleted client is swept", is_swept).await;
        let (rows, _) = scan_all(self.other.store.as_ref(), &Key::all_of(self.client.id)).await.unwrap();
        rows.iter().map(|row| Key::decode(&row.key).unwrap()).collect()
    }

    async fn is_left_with_log_and_texts(&self) {
        for key in self.left().await {
            let kept = matches!(key, Key::Definition(..) | Key::Ruling(..) | Key::ChainHead(_));
            assert!(kept, "{key:?} outlived its client");
        }
    }
}

impl Workbench {
    async fn delete(&self, client: ClientId) -> Result<toolgate_governance::ClientDeletion, Fault> {
        self.governance.delete_client(&self.caller(), client, false).await
    }

    async fn new_key(&self, client: ClientId) -> Result<toolgate_domain::KeyId, Fault> {
        let wanted = CreateApiKey {
            client,
            display_name: String::new(),
            scopes: [Scope::Read].into_iter().collect(),
            ttl_ms: None,
            operator: false,
            agent: None,
            validate_only: false,
        };
        self.governance.create_api_key(&self.caller(), wanted).await.map(|created| created.key.id)
    }
}

#[tokio::test]
async fn a_deleted_client_is_unknown_and_its_log_stays_provable() {
    let acme = Acme::new().await;
    let gone = acme.bench.delete(acme.client.id).await.unwrap();
    assert_eq!((gone.upstream_count, gone.tool_count, gone.api_key_count), (1, 2, 1));
    assert_eq!(gone.client, acme.client);
    for bench in [&acme.bench, &acme.other] {
        let catalog = bench.governance.catalog();
        assert_eq!(catalog.snapshot(acme.client.id, None).await.unwrap_err(), Fault::ClientNotFound);
        assert!(!catalog.clients().await.unwrap().contains(&acme.client.id));
    }
    assert_eq!(acme.bench.delete(acme.client.id).await.unwrap_err(), Fault::ClientNotFound);

    let (client, size) = (acme.client.id, NonZeroUsize::new(10).unwrap());
    let ask = ListRulings { client, after: 0, size, filter: RulingFilter::default() };
    let last = acme.bench.governance.list_rulings(&ask).await.unwrap().rulings.pop().unwrap().ruling;
    assert_eq!((last.act.clone(), last.tool(), last.subject.as_str()), (Act::DeleteClient, None, "key:test"));
    let proof = acme.bench.governance.verify_rulings(client).await.unwrap();
    assert_eq!((proof.count, proof.problem), (last.sequence, None));
    let never = ListRulings { client: ClientId::from_bytes([9; 16]), ..ask };
    assert_eq!(acme.bench.governance.list_rulings(&never).await.unwrap_err(), Fault::ClientNotFound);
    acme.is_left_with_log_and_texts().await;
}

#[tokio::test]
async fn its_name_is_free_at_once_and_makes_another_client() {
    let acme = Acme::new().await;
    acme.bench.clock.advance_ms(1);
    acme.bench.delete(acme.client.id).await.unwrap();
    let again = acme.bench.governance.create_client(&acme.bench.caller(), "acme", false).await.unwrap();
    assert_ne!(again.id, acme.client.id);
    let snapshot = acme.bench.governance.catalog().snapshot(again.id, None).await.unwrap();
    assert_eq!((snapshot.upstream_count(), snapshot.tool_count()), (0, 0));
}

#[tokio::test]
async fn only_an_operator_deletes_and_nobody_deletes_the_first_client() {
    let acme = Acme::new().await;
    let (governance, operator) = (&acme.bench.governance, acme.bench.caller());
    let plain = Caller { operator: false, ..operator.clone() };
    let refused = governance.delete_client(&plain, acme.client.id, false).await;
    assert_eq!(refused.unwrap_err(), Fault::OperatorRequired);
    let default = acme.other.governance.bootstrap("whatever").await.unwrap().client;
    for validate_only in [true, false] {
        let refused = governance.delete_client(&operator, default, validate_only).await;
        assert_eq!(refused.unwrap_err(), Fault::DefaultClient);
    }
    let told = governance.delete_client(&operator, acme.client.id, true).await.unwrap();
    assert_eq!(told.tool_count, 2);
    assert!(governance.catalog().snapshot(acme.client.id, None).await.is_ok(), "only told");
}

#[tokio::test]
async fn nothing_is_written_into_a_client_that_is_deleted_just_before() {
    let acme = Acme::new().await;
    acme.is_deleted_before_next_commit();
    let refused = acme.bench.rule(acme.upstream, "b", Wish::Disable).await.unwrap_err();
    assert!(matches!(refused, Fault::ClientNotFound | Fault::ToolNotFound), "{refused:?}");
    acme.is_left_with_log_and_texts().await;

    let acme = Acme::new().await;
    acme.is_deleted_before_next_commit();
    let wanted = acme.bench.http("another");
    let refused = acme.bench.governance.create_upstream(&acme.bench.caller(), wanted).await;
    assert_eq!(refused.unwrap_err(), Fault::ClientNotFound);
    acme.is_left_with_log_and_texts().await;

    let acme = Acme::new().await;
    acme.is_deleted_before_next_commit();
    assert_eq!(acme.bench.new_key(acme.client.id).await.unwrap_err(), Fault::ClientNotFound);
    acme.is_left_with_log_and_texts().await;

    let acme = Acme::new().await;
    let key = acme.bench.new_key(acme.client.id).await.unwrap();
    acme.is_deleted_before_next_commit();
    let wanted = RevokeApiKey { client: acme.client.id, key, validate_only: false };
    let refused = acme.bench.governance.revoke_api_key(&acme.bench.caller(), wanted).await;
    assert_eq!(refused.unwrap_err(), Fault::ClientNotFound);
    acme.is_left_with_log_and_texts().await;

    let acme = Acme::new().await;
    acme.is_deleted_before_next_commit();
    acme.bench.servers.answers(&url("srv"), complete(&[&definition("new", "d")]));
    let refused = acme.bench.governance.syncs().sync(acme.client.id, acme.upstream).await;
    assert!(matches!(refused, Err(Fault::ClientNotFound | Fault::StoreUnavailable { .. })), "{refused:?}");
    acme.is_left_with_log_and_texts().await;
}

#[tokio::test]
async fn a_deletion_that_another_ruling_overtakes_follows_it_in_the_log() {
    let acme = Acme::new().await;
    let (other, upstream) = (acme.other.governance.clone(), acme.upstream);
    let rule = acme.other.wish(upstream, "b", Wish::Disable);
    acme.store.before_next_commit(async move {
        other.rule(rule).await.unwrap();
    });
    acme.bench.delete(acme.client.id).await.unwrap();
    let acts: Vec<_> = acme.bench.rulings().await.into_iter().map(|row| row.ruling.act).collect();
    assert_eq!(acts[1..], [Act::Disable, Act::DeleteClient]);
}

#[tokio::test]
async fn a_listing_under_way_and_a_watch_end_with_the_client() {
    let acme = Acme::new().await;
    let catalog = acme.bench.governance.catalog();
    let ask = WatchTools { client: acme.client.id, view: View::Raw, agent: None, resume: None };
    let mut watch = watch_tools(catalog, ask).await.unwrap();
    watch.next().await.unwrap();
    acme.bench.servers.hangs(&url("srv"));
    let before = acme.bench.servers.listings(&url("srv"));
    let syncs = acme.bench.governance.syncs().clone();
    let (client, upstream) = (acme.client.id, acme.upstream);
    let sync = tokio::spawn(async move { syncs.sync(client, upstream).await });
    let begun = async || (acme.bench.servers.listings(&url("srv")) > before).then_some(());
    eventually("the listing begins", begun).await;
    acme.bench.delete(client).await.unwrap();
    assert_eq!(sync.await.unwrap(), Err(Fault::ClientNotFound));
    assert_eq!(watch.next().await.unwrap_err(), WatchEnd::ClientDeleted);
    assert_eq!(watch_tools(catalog, ask).await.unwrap_err(), Fault::ClientNotFound);
}

#[tokio::test]
async fn a_replica_that_missed_the_deletion_finds_out_when_it_loads_again() {
    let acme = Acme::new().await;
    acme.bench.snapshot().await;
    acme.store.let_watches_flow(false);
    acme.other.delete(acme.client.id).await.unwrap();
    acme.store.cuts_watches();
    let catalog = acme.bench.governance.catalog();
    let unknown = async || (catalog.snapshot(acme.client.id, None).await.is_err()).then_some(());
    eventually("the client is unknown", unknown).await;
}

#[tokio::test]
async fn a_sweep_that_is_cut_short_is_taken_up_after_a_restart() {
    let acme = Acme::new().await;
    let entries: Vec<_> = (0..200).map(|n| definition(&format!("t{n}"), "d")).collect();
    let entries: Vec<_> = entries.iter().map(String::as_str).collect();
    acme.bench.lists(acme.upstream, "srv", &entries).await;
    acme.store.dies_after(3);
    acme.bench.delete(acme.client.id).await.unwrap();
    let tombstone = Key::DeletedClient(acme.client.id).encode();
    let row = acme.other.store.get(&tombstone).await.unwrap().unwrap();
    let Ok(Record::DeletedClient(_, DeletedClient { is_swept, name, .. })) =
        Record::decode(&row.key, &row.value)
    else {
        panic!("no tombstone at its key")
    };
    assert_eq!((is_swept, name.as_str()), (false, "acme"));
    let restarted = acme.other.restarted().await;
    restarted.governance.resume_sweeps().await.unwrap();
    acme.is_left_with_log_and_texts().await;
    restarted.governance.resume_sweeps().await.unwrap();
}

#[tokio::test]
async fn a_client_has_no_more_keys_in_force_than_the_limit() {
    let bench = Workbench::new().await;
    let made = bench.governance.create_client(&bench.caller(), "acme", false).await.unwrap();
    let mut last = None;
    for _ in 0..limits::MAX_API_KEYS_PER_CLIENT {
        bench.clock.advance_ms(1);
        last = Some(bench.new_key(made.id).await.unwrap());
    }
    let refused = bench.new_key(made.id).await.unwrap_err();
    assert!(matches!(refused, Fault::LimitExceeded { limit: "MAX_API_KEYS_PER_CLIENT", .. }), "{refused:?}");
    assert!(refused.to_string().contains("revoke"), "{refused}");
    let wanted = RevokeApiKey { client: made.id, key: last.unwrap(), validate_only: false };
    bench.governance.revoke_api_key(&bench.caller(), wanted).await.unwrap();
    bench.new_key(made.id).await.unwrap();
}
