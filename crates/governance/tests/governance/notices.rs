//! What a server tells of changes, and how little of it makes a sync. The clock of these tests moves when all is idle.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolgate_catalog::{
    View,
    watch_tools::{WatchTools, watch_tools},
};
use toolgate_domain::{UpstreamId, sync_status::Health};
use toolgate_test_support::scripted_servers::complete;
use toolgate_upstream::ListingError;

use crate::workbench::{Workbench, definition, url};

/// A server that tells changes, synced and followed.
async fn followed(bench: &Workbench, slug: &str) -> (UpstreamId, std::sync::Arc<tokio::sync::Notify>) {
    let notices = bench.servers.tells_changes(&url(slug));
    let id = bench.upstream(slug, &[&definition("t", "first")]).await;
    // It agreed to tell, so it is looked at once more.
    sleep(Duration::from_secs(20)).await;
    (id, notices)
}

/// BR-047.
#[tokio::test(start_paused = true)]
async fn a_storm_of_notices_makes_few_syncs_and_no_revision_while_the_list_is_equal() {
    let bench = Workbench::new().await;
    let (_, notices) = followed(&bench, "srv").await;
    let (listings, revision) = (bench.servers.listings(&url("srv")), bench.snapshot().await.revision());
    let ask = WatchTools { client: bench.client, view: View::Raw, agent: None, resume: None };
    let mut watch = watch_tools(bench.governance.catalog(), ask).await.unwrap();
    assert_eq!(watch.next().await.unwrap().changes.len(), 1, "the tool as it is");
    let storm = async {
        for _ in 0..500 {
            notices.notify_one();
            sleep(Duration::from_millis(20)).await;
        }
        sleep(Duration::from_secs(20)).await;
    };
    tokio::select! {
        () = storm => {}
        told = watch.next() => panic!("those who follow were told of {told:?}"),
    }
    let syncs = bench.servers.listings(&url("srv")) - listings;
    assert!((2..=4).contains(&syncs), "{syncs} syncs in 10 s and after");
    assert_eq!(bench.snapshot().await.revision(), revision);

    bench.servers.answers(&url("srv"), complete(&[&definition("t", "second")]));
    notices.notify_one();
    assert_eq!(watch.next().await.unwrap().changes.len(), 1, "a change is told");
}

#[tokio::test(start_paused = true)]
async fn a_change_that_is_told_is_seen_long_before_the_schedule() {
    let bench = Workbench::new().await;
    let (id, notices) = followed(&bench, "srv").await;
    bench.servers.answers(&url("srv"), complete(&[&definition("t", "second")]));
    let before = bench.hash(id, "t").await;
    let told = Instant::now();
    notices.notify_one();
    while bench.hash(id, "t").await == before {
        assert!(told.elapsed() < Duration::from_secs(2));
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_is_followed_from_its_first_good_listing_on() {
    let bench = Workbench::new().await;
    let notices = bench.servers.tells_changes(&url("srv"));
    let created = bench.governance.create_upstream(&bench.caller(), bench.http("srv")).await.unwrap();
    let id = created.detail.entry.upstream.id;
    assert_eq!(bench.sync(id).await.health, Health::Unavailable);
    notices.notify_one();
    sleep(Duration::from_secs(2)).await;
    assert_eq!(bench.servers.listings(&url("srv")), 2, "created, asked for, and no more");
    bench.lists(id, "srv", &[&definition("t", "first")]).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(bench.servers.listings(&url("srv")), 4, "agreeing to tell asks for one");
}

// law 8
#[tokio::test(start_paused = true)]
async fn law_08_a_storm_from_one_server_delays_no_others_sync() {
    let bench = Workbench::new().await;
    let (_, loud) = followed(&bench, "loud").await;
    let quiet = bench.upstream("quiet", &[&definition("t", "first")]).await;
    let storm = async {
        loop {
            loud.notify_one();
            sleep(Duration::from_millis(1)).await;
        }
    };
    let changed = definition("t", "second");
    let (asked, listed) = (Instant::now(), [changed.as_str()]);
    tokio::select! {
        () = storm => panic!("a storm has no end"),
        report = bench.lists(quiet, "quiet", &listed) => {
            assert_eq!(report.summary.changed, 1);
        }
    }
    assert!(asked.elapsed() < Duration::from_millis(100));
}

/// BR-057.
#[tokio::test]
async fn what_a_server_asks_for_is_kept_for_the_operator_and_its_tools_stay() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("t", "first")]).await;
    let before = bench.state(id, "t").await;
    let challenge = r#"Bearer resource_metadata="https://up.example/x", scope="tools.read""#;
    let error = ListingError::Unauthorized { status: 401, challenge: Some(challenge.into()) };
    bench.servers.answers(&url("srv"), Err(error));
    assert_eq!(bench.sync(id).await.health, Health::Unavailable);
    let told = bench.detail(id).await.status.last_error;
    assert_eq!(
        told,
        "the server wants another credential (HTTP 401); it asks for: Bearer \
         resource_metadata=\\\"https://up.example/x\\\", scope=\\\"tools.read\\\""
    );
    assert_eq!(bench.state(id, "t").await, before);
}
