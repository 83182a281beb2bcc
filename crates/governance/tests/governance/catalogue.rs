//! Reading and following the catalogue.

use std::collections::BTreeMap;

use toolgate_catalog::{
    Snapshot, ToolKey, View,
    get_tool::{GetTool, get_tool},
    snapshot::{Filter, PageSize, ToolPage},
    upstreams::{ListUpstreams, list_upstreams},
    watch_tools::{Changes, ToolChange, ToolWatch, WatchTools, watch_tools},
};
use toolgate_domain::{Fault, ToolId, ToolState};
use toolgate_governance::Wish;
use toolgate_store::Revision;

use crate::workbench::{Workbench, definition};

/// A watcher's copy of a view.
#[derive(Default)]
struct Replica(BTreeMap<ToolId, (ToolState, String)>);

impl Replica {
    fn apply(&mut self, changes: &Changes) {
        for change in &changes.changes {
            match change {
                ToolChange::Upserted(entry) => {
                    let value = (entry.tool.state(), entry.tool.definition.text().to_owned());
                    self.0.insert(entry.tool.id, value);
                }
                ToolChange::Withdrawn(id) => {
                    self.0.remove(id);
                }
            }
        }
    }

    async fn catch_up(&mut self, watch: &mut ToolWatch, to: Revision) {
        while watch.told() < to {
            let changes = watch.next().await.unwrap();
            self.apply(&changes);
        }
    }
}

fn page_of(
    snapshot: &Snapshot,
    view: View,
    filter: &Filter,
    after: Option<&ToolKey>,
    size: PageSize,
) -> ToolPage {
    snapshot.page(&snapshot.sight(view, None), filter, after, size)
}

async fn watch(bench: &Workbench, view: View, resume: Option<Revision>) -> ToolWatch {
    watch_tools(bench.governance.catalog(), WatchTools { client: bench.client, view, agent: None, resume })
        .await
        .unwrap()
}

async fn truth(bench: &Workbench, view: View) -> BTreeMap<ToolId, (ToolState, String)> {
    let page = page_of(&*bench.snapshot().await, view, &Filter::default(), None, PageSize::Whole);
    let row = |tool: &toolgate_domain::Tool| (tool.id, (tool.state(), tool.definition.text().to_owned()));
    page.tools.iter().map(|entry| row(&entry.tool)).collect()
}

#[tokio::test]
async fn a_watcher_holds_exactly_the_view_it_follows() {
    let bench = Workbench::new().await;
    let (a, b) = (definition("a", "1"), definition("b", "1"));
    let id = bench.upstream("srv", &[&a, &b]).await;
    let mut watches = [watch(&bench, View::Raw, None).await, watch(&bench, View::Served, None).await];
    let mut replicas = [Replica::default(), Replica::default()];
    bench.approve(id, "a").await;
    bench.rule(id, "b", Wish::Disable).await.unwrap();
    bench.lists(id, "srv", &[&definition("a", "2"), &b, &definition("c", "1")]).await;
    bench.lists(id, "srv", &[&a, &b]).await;
    let now = bench.snapshot().await.revision();
    for (view, (watch, replica)) in
        [View::Raw, View::Served].into_iter().zip(watches.iter_mut().zip(&mut replicas))
    {
        replica.catch_up(watch, now).await;
        assert_eq!(replica.0, truth(&bench, view).await, "{view:?}");
    }
    bench.rule(id, "a", Wish::Disable).await.unwrap();
    let now = bench.snapshot().await.revision();
    replicas[1].catch_up(&mut watches[1], now).await;
    assert!(replicas[1].0.is_empty(), "what is no longer served is withdrawn");
}

#[tokio::test]
async fn a_watch_resumes_from_any_revision_even_after_a_restart() {
    let bench = Workbench::new().await;
    let entries: Vec<String> = (0..20).map(|n| definition(&format!("t{n}"), "1")).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let id = bench.upstream("srv", &entries).await;
    let mut replica = Replica::default();
    let mut first = watch(&bench, View::Raw, None).await;
    replica.apply(&first.next().await.unwrap());
    let left_at = first.told();
    drop(first);
    for n in 0..5 {
        bench.approve(id, &format!("t{n}")).await;
    }
    let again = bench.restarted().await;
    let mut resumed = watch(&again, View::Raw, Some(left_at)).await;
    let changes = resumed.next().await.unwrap();
    assert_eq!(changes.changes.len(), 5, "only what changed meanwhile");
    replica.apply(&changes);
    assert_eq!(replica.0, truth(&again, View::Raw).await);
}

#[tokio::test]
async fn pages_follow_one_order_and_hold_each_tool_once() {
    let bench = Workbench::new().await;
    let names = ["b", "a", "B", "\u{e9}", "a.b"];
    for slug in ["second", "first"] {
        let entries = names.map(|name| definition(name, slug));
        bench.upstream(slug, &entries.each_ref().map(String::as_str)).await;
        bench.clock.advance_ms(1);
    }
    let snapshot = bench.snapshot().await;
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let page = page_of(&snapshot, View::Raw, &Filter::default(), after.as_ref(), PageSize::AtMost(3));
        seen.extend(page.tools.iter().map(|entry| entry.tool.namespaced_name()));
        after = page.more_after;
        if after.is_none() {
            break;
        }
    }
    let of = |slug: &str| ["B", "a", "a.b", "b", "\u{e9}"].map(|name| format!("{slug}__{name}"));
    assert_eq!(
        seen,
        [of("second"), of("first")].concat(),
        "by creation of the upstream, then by the bytes of the name"
    );
}

#[tokio::test]
async fn filters_by_upstream_state_and_name_agree_with_the_whole_list() {
    let bench = Workbench::new().await;
    let a = bench.upstream("a", &[&definition("x", "d"), &definition("y", "d")]).await;
    bench.upstream("b", &[&definition("x", "d")]).await;
    bench.approve(a, "x").await;
    let snapshot = bench.snapshot().await;
    let names = |filter: &Filter, view| {
        let page = page_of(&snapshot, view, filter, None, PageSize::Whole);
        page.tools.iter().map(|entry| entry.tool.namespaced_name()).collect::<Vec<_>>()
    };
    let by = |f: fn(&mut Filter)| {
        let mut filter = Filter::default();
        f(&mut filter);
        filter
    };
    assert_eq!(names(&Filter { upstream: Some(a), ..Filter::default() }, View::Raw), ["a__x", "a__y"]);
    assert_eq!(names(&by(|f| f.states = vec![ToolState::Unapproved]), View::Raw), ["a__y", "b__x"]);
    assert_eq!(names(&by(|f| f.namespaced_name = Some("b__x".into())), View::Raw), ["b__x"]);
    assert_eq!(names(&Filter::default(), View::Served), ["a__x"]);
    assert!(names(&by(|f| f.namespaced_name = Some("b__x".into())), View::Served).is_empty());
}

/// BR-097.
#[tokio::test]
async fn a_page_ends_before_it_outgrows_a_grpc_message() {
    let bench = Workbench::new().await;
    let entries: Vec<String> =
        (0..1500).map(|n| definition(&format!("t{n:04}"), &"x".repeat(4096))).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    bench.upstream("srv", &entries).await;
    let snapshot = bench.snapshot().await;
    let (mut after, mut total) = (None, 0);
    loop {
        let page = page_of(&snapshot, View::Raw, &Filter::default(), after.as_ref(), PageSize::AtMost(1000));
        let bytes: usize = page.tools.iter().map(|entry| entry.tool.definition.text().len()).sum();
        assert!(bytes < 3 * 1024 * 1024, "{bytes}");
        total += page.tools.len();
        after = page.more_after;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(total, 1500);
}

#[tokio::test]
async fn a_client_that_does_not_exist_is_not_found_and_leaves_nothing_behind() {
    let bench = Workbench::new().await;
    let nobody = toolgate_domain::ClientId::from_bytes([9; 16]);
    for _ in 0..2 {
        let fault = bench.governance.catalog().snapshot(nobody, None).await.unwrap_err();
        assert_eq!(fault, Fault::ClientNotFound);
    }
}

#[tokio::test]
async fn a_read_sees_the_write_whose_revision_it_asks_for() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("t", "d")]).await;
    for _ in 0..50 {
        let off = bench.rule(id, "t", Wish::Disable).await.unwrap();
        assert_eq!(off.entry.tool.state(), ToolState::Disabled);
        let on = bench.rule(id, "t", Wish::Enable).await.unwrap();
        assert_eq!(on.entry.tool.state(), ToolState::Unapproved);
        assert!(on.snapshot.revision() > off.snapshot.revision());
    }
}

/// A tool in each state that there is without locks, and what it was before.
async fn one_of_each_state(bench: &Workbench) -> toolgate_domain::UpstreamId {
    let names = ["served", "disabled", "unapproved", "drifted", "removed", "not a name", "twice"];
    let all = names.map(|name| definition(name, "1"));
    let id = bench.upstream("srv", &all.each_ref().map(String::as_str)).await;
    for name in names.iter().filter(|name| **name != "unapproved") {
        bench.approve(id, name).await;
    }
    bench.rule(id, "disabled", Wish::Disable).await.unwrap();
    let mut now: Vec<String> = all.iter().filter(|text| !text.contains("removed")).cloned().collect();
    now[3] = definition("drifted", "2");
    now.push(definition("twice", "2"));
    bench.lists(id, "srv", &now.iter().map(String::as_str).collect::<Vec<_>>()).await;
    id
}

#[tokio::test]
async fn law_04_of_all_states_only_served_reaches_a_reader_of_the_served_view() {
    let bench = Workbench::new().await;
    let mut watch = watch(&bench, View::Served, None).await;
    let id = one_of_each_state(&bench).await;
    let snapshot = bench.snapshot().await;
    let raw = page_of(&snapshot, View::Raw, &Filter::default(), None, PageSize::Whole).tools;
    let states: std::collections::BTreeSet<_> = raw.iter().map(|entry| entry.tool.state()).collect();
    assert_eq!((raw.len(), states.len()), (7, 6), "every state but lock_mismatch");
    for states in [vec![], ToolState::ALL.to_vec()] {
        let served =
            page_of(&snapshot, View::Served, &Filter { states, ..Filter::default() }, None, PageSize::Whole);
        assert_eq!(served.tools.iter().map(|entry| entry.tool.name()).collect::<Vec<_>>(), ["served"]);
    }
    for entry in &raw {
        let ask = GetTool {
            client: bench.client,
            id: entry.tool.id,
            view: View::Served,
            agent: None,
            min_revision: None,
        };
        let found = get_tool(bench.governance.catalog(), &ask).await;
        assert_eq!(found.is_ok(), entry.tool.name() == "served", "{}", entry.tool.name());
    }
    let mut replica = Replica::default();
    replica.catch_up(&mut watch, snapshot.revision()).await;
    assert_eq!(replica.0.into_keys().collect::<Vec<_>>(), [ToolId::of(id, "served")]);
}

#[tokio::test]
async fn law_04_a_watcher_of_the_served_view_never_hears_of_a_tool_that_was_never_served() {
    let bench = Workbench::new().await;
    let mut watch = watch(&bench, View::Served, None).await;
    watch.next().await.unwrap();
    let id = bench.upstream("srv", &[&definition("t", "1")]).await;
    bench.lists(id, "srv", &[&definition("t", "2")]).await;
    let now = bench.snapshot().await.revision();
    let mut heard = Vec::new();
    while watch.told() < now {
        heard.extend(watch.next().await.unwrap().changes);
    }
    assert!(heard.is_empty(), "{heard:?}");
    bench.approve(id, "t").await;
    assert!(matches!(watch.next().await.unwrap().changes[..], [ToolChange::Upserted(_)]));
    bench.rule(id, "t", Wish::Revoke).await.unwrap();
    assert!(matches!(watch.next().await.unwrap().changes[..], [ToolChange::Withdrawn(_)]));
}

#[tokio::test]
async fn a_page_of_upstreams_ends_before_it_outgrows_a_grpc_message() {
    let bench = Workbench::new().await;
    // A key of 1,000 bytes that stands twice, so that path and message are as long as they get.
    let key = "k".repeat(1000);
    let faulty: Vec<String> = (0..300)
        .map(|n| format!(r#"{{"name":"{n:0>200}","inputSchema":{{"{key}":{{"a":1,"a":2}}}}}}"#))
        .collect();
    let faulty: Vec<&str> = faulty.iter().map(String::as_str).collect();
    for n in 0..12 {
        bench.upstream(&format!("srv{n}"), &faulty).await;
    }
    let (mut after, mut pages, mut seen) = (None, 0, 0);
    loop {
        let size = std::num::NonZeroUsize::new(100).unwrap();
        let ask = ListUpstreams { client: bench.client, after, size, min_revision: None };
        let page = list_upstreams(bench.governance.catalog(), &ask).await.unwrap();
        let issues = page.upstreams.iter().flat_map(|one| &one.entry.listing.as_ref().unwrap().issues);
        let bytes: usize = issues.map(|issue| issue.path.len() + issue.message.len()).sum();
        assert!(bytes < 3 * 1024 * 1024, "{bytes}");
        (pages, seen, after) = (pages + 1, seen + page.upstreams.len(), page.more_after);
        if after.is_none() {
            break;
        }
    }
    assert!(pages > 1 && seen == 12, "{seen} in {pages}");
}
