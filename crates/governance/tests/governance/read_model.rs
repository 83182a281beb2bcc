//! What it costs to keep a catalogue in memory.

use std::sync::Arc;

use toolgate_domain::ToolState;
use toolgate_store_memory::MemoryStore;

use crate::{
    counting_store::CountingStore,
    workbench::{Workbench, definition},
};

const TOOLS: usize = 10_000;
/// Rows that one approval may take from the store, everything that is decoded for it included.
const ROWS_OF_AN_APPROVAL: usize = 10;

#[tokio::test]
async fn an_approval_among_ten_thousand_tools_decodes_a_handful_of_rows() {
    let store = Arc::new(CountingStore::new(Arc::new(MemoryStore::new())));
    let bench = Workbench::over(store.clone()).await;
    let entries: Vec<String> = (0..TOOLS).map(|n| definition(&format!("t{n}"), "d")).collect();
    let id = bench.upstream("srv", &entries.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let before = bench.snapshot().await;
    bench.approve(id, "t17").await;
    store.rows_given();
    bench.approve(id, "t4321").await;
    let given = store.rows_given();
    assert!((1..=ROWS_OF_AN_APPROVAL).contains(&given), "{given} rows");
    let after = bench.snapshot().await;
    assert_eq!((before.tool_count(), after.tool_count()), (TOOLS, TOOLS));
    assert_eq!(bench.state(id, "t4321").await, ToolState::Served);
    let unmoved = |name| bench_entry(&before, id, name).zip(bench_entry(&after, id, name));
    let (old, new) = unmoved("t9999").unwrap();
    assert!(Arc::ptr_eq(old, new), "what did not change is shared, not made anew");
}

fn bench_entry<'a>(
    snapshot: &'a toolgate_catalog::Snapshot,
    id: toolgate_domain::UpstreamId,
    name: &str,
) -> Option<&'a Arc<toolgate_catalog::ToolEntry>> {
    snapshot.tool(toolgate_domain::ToolId::of(id, name))
}

#[tokio::test]
async fn a_client_is_loaded_when_it_is_first_asked_for_and_then_read_without_the_store() {
    let store = Arc::new(CountingStore::new(Arc::new(MemoryStore::new())));
    let bench = Workbench::over(store.clone()).await;
    bench.upstream("srv", &[&definition("a", "d"), &definition("b", "d")]).await;
    store.rows_given();
    let again = bench.restarted().await;
    let of_starting = store.rows_given();
    assert!(of_starting < 5, "a start loads no catalogue: {of_starting} rows");
    assert_eq!(again.snapshot().await.tool_count(), 2);
    assert!(store.rows_given() > 5, "the first question does");
    for _ in 0..100 {
        again.snapshot().await;
    }
    assert_eq!(store.rows_given(), 0);
}
