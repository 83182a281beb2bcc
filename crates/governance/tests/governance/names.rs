//! The names that tools are served under.

use std::collections::BTreeSet;

use toolgate_catalog::{
    View,
    snapshot::{Filter, PageSize},
};
use toolgate_definition::names::is_valid_served_name;
use toolgate_domain::{Fault, ToolState, UpstreamId, upstream::NamePolicy};
use toolgate_governance::Wish;
use toolgate_test_support::scripted_servers::complete;

use crate::workbench::{Workbench, definition, url};

const POLICIES: [NamePolicy; 2] = [NamePolicy::Strict, NamePolicy::Repair];

/// Registers a server whose tools have these names, and approves all of them.
async fn approved(bench: &Workbench, slug: &str, policy: NamePolicy, names: &[&str]) -> UpstreamId {
    let entries: Vec<_> = names.iter().map(|name| definition(name, "d")).collect();
    bench.servers.answers(&url(slug), complete(&texts(&entries)));
    let wanted = toolgate_governance::CreateUpstream { name_policy: policy, ..bench.http(slug) };
    let created = bench.governance.create_upstream(&bench.caller(), wanted).await.unwrap();
    let id = created.detail.entry.upstream.id;
    bench.sync(id).await;
    for name in names {
        bench.approve(id, name).await;
    }
    id
}

fn texts(entries: &[String]) -> Vec<&str> {
    entries.iter().map(String::as_str).collect()
}

/// What became of these tools: state and served name of each.
async fn outcome(bench: &Workbench, id: UpstreamId, names: &[&str]) -> Vec<(ToolState, String)> {
    let mut outcome = Vec::new();
    for name in names {
        let tool = bench.tool(id, name).await.tool.clone();
        outcome.push((tool.state(), tool.namespaced_name()));
    }
    outcome
}

/// BR-001.
#[tokio::test]
async fn a_name_that_is_too_long_is_not_served_or_cut_and_spoils_no_other() {
    let slug = "warehouse-reporting-production-eu-central";
    let names = ["export_quarterly_inventory_snapshot_to_bucket", "ping"];
    for policy in POLICIES {
        let bench = Workbench::new().await;
        let id = approved(&bench, slug, policy, &names).await;
        let first = outcome(&bench, id, &names).await;
        assert_eq!(first[1], (ToolState::Served, format!("{slug}__ping")));
        let (state, name) = &first[0];
        match policy {
            NamePolicy::Strict => {
                assert_eq!((*state, name.len()), (ToolState::BadName, 88));
                let remedy = bench.tool(id, names[0]).await.tool.remedy();
                assert!(remedy.contains("rename") && remedy.contains("repair"), "{remedy}");
            }
            NamePolicy::Repair => {
                assert_eq!(*state, ToolState::Served);
                assert!(is_valid_served_name(name) && name.len() <= 64, "{name}");
                let kept = bench.tool(id, names[0]).await;
                assert_eq!(kept.tool.definition.name(), names[0], "the upstream's own name stays");
            }
        }
        let turned = [definition(names[1], "d"), definition(names[0], "d")];
        bench.lists(id, slug, &texts(&turned)).await;
        assert_eq!(outcome(&bench, id, &names).await, first);
        assert_eq!(outcome(&bench.restarted().await, id, &names).await, first);
    }
}

/// BR-003.
#[tokio::test]
async fn names_that_are_valid_once_repaired_are_given_alike_in_every_order() {
    let names = ["read.file", "read_file", "read/file", "read-file"];
    for policy in POLICIES {
        let mut outcomes = BTreeSet::new();
        for order in orders(&names) {
            let bench = Workbench::new().await;
            let id = approved(&bench, "files", policy, &order).await;
            outcomes.insert(outcome(&bench, id, &names).await);
        }
        let [outcome] = Vec::from_iter(outcomes).try_into().expect("one outcome of all orders");
        let [dotted, plain, slashed, hyphened]: [(ToolState, String); 4] = outcome.try_into().unwrap();
        assert_eq!(plain, (ToolState::Served, "files__read_file".into()));
        assert_eq!(hyphened, (ToolState::Served, "files__read-file".into()));
        let others = match policy {
            NamePolicy::Strict => ToolState::BadName,
            NamePolicy::Repair => ToolState::Served,
        };
        assert_eq!((dotted.0, slashed.0), (others, others));
        let served = [dotted.1, plain.1, slashed.1, hyphened.1];
        assert_eq!(BTreeSet::from(served).len(), 4, "no two have one name");
    }
}

fn orders<'a>(names: &[&'a str]) -> Vec<Vec<&'a str>> {
    let [first, rest @ ..] = names else { return vec![Vec::new()] };
    let inserted = |order: &Vec<&'a str>, at: usize| {
        let mut order = order.clone();
        order.insert(at, first);
        order
    };
    let shorter = orders(rest);
    shorter.iter().flat_map(|order| (0..=order.len()).map(move |at| inserted(order, at))).collect()
}

/// BR-001, BR-003.
#[tokio::test]
async fn under_repair_every_tool_gets_a_name_of_its_own_and_keeps_it() {
    let bench = Workbench::new().await;
    let long = "x".repeat(100);
    let names = ["a.b", "a_b", "s\u{f8}k", long.as_str()];
    let entries = names.map(|name| definition(name, "d"));
    let id = approved(&bench, "srv", NamePolicy::Repair, &names).await;
    let given = outcome(&bench, id, &names).await;
    assert!(given.iter().all(|(state, name)| *state == ToolState::Served && name.len() <= 64), "{given:?}");
    assert_eq!(given[1].1, "srv__a_b");
    assert!(given[0].1.starts_with("srv__a_b_"), "{given:?}");
    // The one that kept the plain name goes: nobody else gets it, and everyone keeps theirs.
    bench.lists(id, "srv", &[&entries[0], &entries[2]]).await;
    assert_eq!(bench.tool(id, "a.b").await.tool.namespaced_name(), given[0].1);
    bench.lists(id, "srv", &texts(&entries)).await;
    assert_eq!(outcome(&bench, id, &names).await, given);
}

/// The upstreams of the tools that agents reach under `name`.
async fn holders(bench: &Workbench, name: &str) -> Vec<UpstreamId> {
    let filter = Filter { namespaced_name: Some(name.to_owned()), ..Filter::default() };
    let snapshot = bench.snapshot().await;
    let page = snapshot.page(&snapshot.sight(View::Served, None), &filter, None, PageSize::Whole);
    page.tools.iter().map(|entry| entry.tool.upstream).collect()
}

/// BR-005.
#[tokio::test]
async fn a_joined_name_belongs_to_the_tool_it_was_given_to_however_it_could_be_split() {
    let bench = Workbench::new().await;
    let db = approved(&bench, "db", NamePolicy::Strict, &["execute_sql"]).await;
    let my = approved(&bench, "my", NamePolicy::Strict, &["db__execute_sql"]).await;
    assert_eq!(holders(&bench, "my__db__execute_sql").await, [my]);
    assert_eq!(holders(&bench, "db__execute_sql").await, [db]);

    let clash = Wish::Rename(Some("my__db__execute_sql".into()));
    let refused = bench.rule(db, "execute_sql", clash).await.unwrap_err();
    assert_eq!(refused, Fault::NameTaken { name: "my__db__execute_sql".into() });
    bench.rule(db, "execute_sql", Wish::Rename(Some("my__late".into()))).await.unwrap();
    bench.lists(my, "my", &[&definition("db__execute_sql", "d"), &definition("late", "d")]).await;
    bench.approve(my, "late").await;
    assert_eq!(bench.state(my, "late").await, ToolState::BadName, "its joined name is another tool's");
    assert_eq!(holders(&bench, "my__late").await, [db]);
    assert_eq!(holders(&bench.restarted().await, "my__late").await, [db]);
}
