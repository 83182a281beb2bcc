//! Many upstreams at once. The clock of these tests moves when all is idle.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep, timeout};
use toolgate_domain::UpstreamId;
use toolgate_store_memory::MemoryStore;
use toolgate_test_support::scripted_servers::complete;

use crate::{
    troubled_store::TroubledStore,
    workbench::{Workbench, definition, url},
};

/// Listings that begin at once, and how long each keeps others from it.
const BEGINNING: usize = 16;
const PATIENCE: Duration = Duration::from_millis(250);
/// Listings that are worked on at once.
const AT_WORK: usize = 8;

async fn registered(bench: &Workbench, slug: &str) -> UpstreamId {
    let created = bench.governance.create_upstream(&bench.caller(), bench.http(slug)).await.unwrap();
    created.detail.entry.upstream.id
}

/// Servers that take the request and never answer.
async fn hanging(bench: &Workbench, count: usize) -> Vec<String> {
    let slugs: Vec<_> = (0..count).map(|n| format!("hang{n}")).collect();
    for slug in &slugs {
        bench.servers.hangs(&url(slug));
        registered(bench, slug).await;
    }
    slugs
}

#[tokio::test(start_paused = true)]
async fn law_08_servers_that_hang_delay_another_by_a_moment_however_many_they_are() {
    let bench = Workbench::new().await;
    hanging(&bench, 4 * BEGINNING).await;
    let begun = Instant::now();
    let listed = timeout(Duration::from_secs(60), bench.upstream("good", &[&definition("a", "1")])).await;
    let good = listed.expect("it is synced");
    assert!(begun.elapsed() <= 4 * PATIENCE, "{:?}", begun.elapsed());
    let begun = Instant::now();
    bench.sync(good).await;
    assert!(begun.elapsed() < PATIENCE, "once all have begun nobody waits: {:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn not_all_listings_begin_at_once() {
    let bench = Workbench::new().await;
    let slugs = hanging(&bench, 3 * BEGINNING).await;
    let begun = || slugs.iter().filter(|slug| bench.servers.listings(&url(slug)) > 0).count();
    let mut counts = Vec::new();
    for _ in 0..4 {
        sleep(Duration::from_millis(1)).await;
        counts.push(begun());
        sleep(PATIENCE).await;
    }
    assert_eq!(counts, [BEGINNING, 2 * BEGINNING, 3 * BEGINNING, 3 * BEGINNING]);
}

#[tokio::test(start_paused = true)]
async fn what_was_listed_is_worked_on_a_few_at_a_time_and_all_of_it() {
    let store = Arc::new(TroubledStore::new(Arc::new(MemoryStore::new())));
    let bench = Workbench::over(store.clone()).await;
    let slugs: Vec<_> = (0..3 * AT_WORK).map(|n| format!("srv{n}")).collect();
    let mut ids = Vec::new();
    for slug in &slugs {
        let id = registered(&bench, slug).await;
        bench.sync(id).await;
        bench.servers.answers(&url(slug), complete(&[&definition("a", "1")]));
        ids.push(id);
    }
    store.hold_commits(true);
    for id in &ids {
        bench.governance.syncs().request(bench.client, *id).unwrap();
    }
    sleep(Duration::from_secs(1)).await;
    assert_eq!(store.commits_held(), AT_WORK);
    store.hold_commits(false);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(bench.snapshot().await.tool_count(), slugs.len());
}
