//! What stays readable of definitions that are no longer listed.

use std::{num::NonZeroUsize, sync::Arc};

use toolgate_catalog::{
    list_definitions::{ListedDefinition, list_definitions},
    sync::HistoryLimits,
};
use toolgate_definition::{Definition, Fingerprint};
use toolgate_domain::{Clock, Fault, ToolState};
use toolgate_store_memory::MemoryStore;
use toolgate_test_support::scripted_servers::complete;

use crate::{
    troubled_store::TroubledStore,
    workbench::{Workbench, definition, url},
};

const NO_END: u64 = u64::MAX / 2;

async fn keeping(texts_per_tool: u32, bytes_per_client: u64) -> Workbench {
    Workbench::keeping(Arc::new(MemoryStore::new()), HistoryLimits { texts_per_tool, bytes_per_client }).await
}

fn print(text: &str) -> Fingerprint {
    Definition::parse(text).unwrap().fingerprint()
}

/// The descriptions of those whose text is kept, newest first, and how many texts are not.
fn kept(definitions: &[ListedDefinition]) -> (Vec<String>, usize) {
    let texts: Vec<_> = definitions.iter().filter_map(|definition| definition.seen.text.as_ref()).collect();
    let description = |text: &&String| Definition::parse(text).unwrap().description().unwrap().into_owned();
    (texts.iter().map(description).collect(), definitions.len() - texts.len())
}

async fn issues(bench: &Workbench, upstream: toolgate_domain::UpstreamId) -> Vec<String> {
    let detail = bench.detail(upstream).await;
    let listing = detail.entry.listing.clone().unwrap();
    assert!(listing.issues.iter().all(|issue| issue.entries == 0), "they are about no entry");
    listing.issues.into_iter().map(|issue| format!("{} {}", issue.code, issue.message)).collect()
}

#[tokio::test]
async fn law_14_every_definition_that_was_ever_listed_is_read_back() {
    let bench = Workbench::new().await;
    let first = r#"{ "name":"t", "inputSchema":{}, "x":1.0 }"#;
    let second = definition("t", "second");
    let id = bench.upstream("srv", &[first]).await;
    let seen_at = bench.clock.now();
    bench.approve(id, "t").await;
    bench.clock.advance_ms(1_000);
    bench.lists(id, "srv", &[&second]).await;
    bench.clock.advance_ms(1_000);
    bench.lists(id, "srv", &[r#"{"name":"t","inputSchema":{},"x":1}"#]).await;
    let returned_at = bench.clock.now();

    let [newer, older] = &bench.definitions(id, "t").await[..] else { panic!("there are two") };
    assert_eq!((newer.fingerprint, newer.current, newer.approved), (print(&second), false, false));
    assert_eq!((newer.seen.text.as_ref(), newer.seen.returned_at), (Some(&second), None));
    assert_eq!((older.fingerprint, older.current, older.approved), (print(first), true, true));
    assert_eq!(older.seen.text.as_deref(), Some(first), "as it was first listed");
    assert_eq!((older.seen.first_seen_at, older.seen.returned_at), (Some(seen_at), Some(returned_at)));
    assert!(newer.seen.first_seen_at > older.seen.first_seen_at);

    bench.lists(id, "srv", &[]).await;
    let again = bench.restarted().await.definitions(id, "t").await;
    assert_eq!(again, bench.definitions(id, "t").await, "removed, and after a restart");
}

#[tokio::test]
async fn a_history_is_read_page_by_page_and_by_fingerprint() {
    let bench = Workbench::new().await;
    let texts = ["1", "2", "3", "4", "5"].map(|text| definition("t", text));
    let id = bench.upstream("srv", &[&texts[0]]).await;
    for text in &texts[1..] {
        bench.clock.advance_ms(1);
        bench.lists(id, "srv", &[text]).await;
    }
    let mut ask = bench.definitions_of(id, "t");
    ask.size = NonZeroUsize::new(2).unwrap();
    let mut pages = Vec::new();
    loop {
        let page = list_definitions(bench.governance.catalog(), &ask).await.unwrap();
        pages.push(kept(&page.definitions).0.concat());
        match page.more_after {
            Some(after) => ask.after = Some(after),
            None => break,
        }
    }
    assert_eq!(pages, ["54", "32", "1"]);
    ask = bench.definitions_of(id, "t");
    ask.only = vec![
        print(&texts[1]),
        print(&texts[3]),
        print(&texts[1]),
        print("{\"name\":\"t\",\"inputSchema\":{}}"),
    ];
    let some = list_definitions(bench.governance.catalog(), &ask).await.unwrap();
    assert_eq!(kept(&some.definitions).0, ["4", "2"]);
    ask.after = Some(print(&texts[0]));
    assert!(matches!(list_definitions(bench.governance.catalog(), &ask).await, Err(Fault::Invalid(_))));
    let unknown = list_definitions(bench.governance.catalog(), &bench.definitions_of(id, "u")).await;
    assert_eq!(unknown.map(|page| page.definitions), Err(Fault::ToolNotFound));
}

#[tokio::test]
async fn past_its_bound_a_history_keeps_fingerprints_and_times_and_says_so() {
    let bench = keeping(2, NO_END).await;
    let lists = async |id, text: &str| {
        bench.clock.advance_ms(1);
        bench.lists(id, "srv", &[&definition("t", text)]).await
    };
    let id = bench.upstream("srv", &[&definition("t", "a")]).await;
    for text in ["b", "c"] {
        lists(id, text).await;
    }
    assert_eq!(kept(&bench.definitions(id, "t").await), (vec!["c".into(), "b".into(), "a".into()], 0));
    assert!(issues(&bench, id).await.is_empty());

    for text in ["d", "e"] {
        lists(id, text).await;
    }
    let full = bench.definitions(id, "t").await;
    assert_eq!(kept(&full), (vec!["e".into(), "b".into(), "a".into()], 2));
    assert!(full.iter().all(|definition| definition.seen.first_seen_at.is_some()));
    let [issue] = &issues(&bench, id).await[..] else { panic!("one issue") };
    assert!(issue.starts_with("HISTORY_FULL ") && issue.contains("of 2 earlier ones, of 1 tools"), "{issue}");

    let unchanged = bench.sync(id).await;
    assert_eq!(
        (unchanged.summary.unchanged, unchanged.revision),
        (1, None),
        "nothing new is nothing to write"
    );
    let again = bench.restarted().await;
    assert_eq!(again.definitions(id, "t").await, full);
    assert_eq!(again.tool(id, "t").await.tool.definition.description().as_deref(), Some("e"));

    let dropped = full.iter().find(|definition| definition.seen.text.is_none()).unwrap();
    let first_seen_at = dropped.seen.first_seen_at;
    lists(id, "d").await;
    let returned = bench.definitions(id, "t").await;
    assert_eq!(kept(&returned), (vec!["d".into(), "b".into(), "a".into()], 2), "what is listed has its text");
    let current = returned.iter().find(|definition| definition.current).unwrap();
    assert_eq!((current.fingerprint, current.seen.first_seen_at), (dropped.fingerprint, first_seen_at));
}

#[tokio::test]
async fn an_approved_text_is_kept_however_full_the_history_is() {
    let bench = keeping(0, NO_END).await;
    let id = bench.upstream("srv", &[&definition("t", "a")]).await;
    bench.approve(id, "t").await;
    for text in ["b", "c"] {
        bench.clock.advance_ms(1);
        bench.lists(id, "srv", &[&definition("t", text)]).await;
    }
    let definitions = bench.definitions(id, "t").await;
    assert_eq!(kept(&definitions), (vec!["c".into(), "a".into()], 1));
    assert_eq!(definitions.iter().filter(|definition| definition.approved).count(), 1);
    assert_eq!(bench.state(id, "t").await, ToolState::Drifted);
}

#[tokio::test]
async fn a_text_that_is_approved_while_it_is_put_away_is_kept() {
    let store = Arc::new(TroubledStore::new(Arc::new(MemoryStore::new())));
    let limits = HistoryLimits { texts_per_tool: 0, bytes_per_client: 0 };
    let bench = Workbench::keeping(store.clone(), limits).await;
    let id = bench.upstream("srv", &[&definition("t", "a")]).await;
    let other = bench.restarted().await;
    store.before_next_commit(async move { other.approve(id, "t").await });
    bench.servers.answers(&url("srv"), complete(&[&definition("t", "b")]));
    let report = bench.sync(id).await;
    assert_eq!((report.summary.changed, bench.state(id, "t").await), (1, ToolState::Drifted));
    assert_eq!(kept(&bench.definitions(id, "t").await).1, 0, "both texts are there");
}

#[tokio::test]
async fn the_bound_of_a_client_is_shared_by_its_upstreams_and_freed_by_returns() {
    let text = |n: &str| definition("t", n);
    let bytes = text("a").len() as u64;
    let bench = keeping(64, bytes).await;
    let (one, two) = (bench.upstream("one", &[&text("a")]).await, bench.upstream("two", &[&text("a")]).await);
    bench.lists(one, "one", &[&text("b")]).await;
    bench.clock.advance_ms(1);
    bench.lists(two, "two", &[&text("b")]).await;
    assert_eq!(kept(&bench.definitions(one, "t").await).1, 0);
    assert_eq!(kept(&bench.definitions(two, "t").await).1, 1, "the other one has taken the room");
    assert!(issues(&bench, one).await.is_empty() && issues(&bench, two).await.len() == 1);
    bench.lists(one, "one", &[&text("a")]).await;
    assert_eq!(kept(&bench.definitions(one, "t").await).1, 0, "`b` took the room of `a`");
}
