use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Package};

use crate::metadata;

/// What each crate may use of the others, dev-dependencies aside. A crate stands below all that it uses.
///
/// The comparison is exact: an edge that is new and one that is gone are both written here, on purpose.
const EDGES: &[(&str, &[&str])] = &[
    // The contract and the pure core.
    ("api-proto", &[]),
    ("definition", &[]),
    ("domain", &["definition"]),
    // Process services that know nothing of the product.
    ("lifecycle", &[]),
    ("outbound", &[]),
    ("sealing", &[]),
    ("telemetry", &[]),
    ("config", &[]),
    // The store: its port, its engines, and what is kept in it.
    ("store", &[]),
    ("store-conformance", &["store"]),
    ("store-memory", &["store"]),
    ("store-sled", &["store"]),
    ("records", &["definition", "domain", "store"]),
    // Tool servers.
    ("upstream", &[]),
    ("upstream-mcp", &["definition", "outbound", "upstream"]),
    ("upstream-oxp", &["definition", "outbound", "upstream"]),
    // Use cases.
    ("identity", &["domain", "records", "sealing", "store"]),
    ("catalog", &["definition", "domain", "records", "sealing", "store", "upstream"]),
    ("governance", &["catalog", "definition", "domain", "records", "sealing", "store", "upstream"]),
    ("gateway", &["catalog", "definition", "domain", "sealing", "upstream"]),
    ("call-log", &["definition", "domain", "gateway", "sealing"]),
    // Adapters.
    (
        "grpc-api",
        &[
            "api-proto",
            "call-log",
            "catalog",
            "definition",
            "domain",
            "gateway",
            "governance",
            "identity",
            "sealing",
        ],
    ),
    ("answer-cache", &[]),
    ("tool-list", &["api-proto"]),
    ("http-facade", &["answer-cache", "api-proto", "definition", "tool-list"]),
    ("mcp-face", &["answer-cache", "api-proto", "definition", "sealing", "tool-list"]),
    ("cli", &["api-proto", "definition"]),
    // The binary alone knows them all.
    ("server", SERVER),
    // Tests and upkeep.
    ("test-support", &["api-proto", "domain", "upstream"]),
    ("tests", &[]),
    ("xtask", &[]),
    // Measures the whole, so it holds the whole.
    ("bench", &["api-proto", "server", "test-support"]),
];

#[rustfmt::skip]
const SERVER: &[&str] = &[
    "api-proto", "call-log", "catalog", "cli", "config", "definition", "domain", "gateway", "governance", "grpc-api", "http-facade", "identity",
    "lifecycle", "mcp-face", "outbound", "sealing", "store", "store-memory", "store-sled", "telemetry", "upstream",
    "upstream-mcp", "upstream-oxp",
];

/// No async, no I/O: time, randomness and caller are arguments.
const PURE: &[&str] = &["definition", "domain"];
const IMPURE: &[&str] =
    &["async-trait", "axum", "futures", "getrandom", "hyper", "prost", "reqwest", "sled", "tokio", "tonic"];

/// Speak to callers, and must work over any store.
const TRANSPORTS: &[&str] = &["cli", "grpc-api", "http-facade", "mcp-face"];
const STORE_ENGINES: &[&str] = &["store-memory", "store-sled"];

#[test]
fn crates_use_exactly_what_the_table_allows() {
    let allowed = EDGES
        .iter()
        .flat_map(|(name, uses)| uses.iter().map(|used| ((*name).to_owned(), (*used).to_owned())));
    let allowed: BTreeSet<_> = allowed.collect();
    let actual: BTreeSet<_> =
        uses_of_all().into_iter().flat_map(|(name, uses)| pairs(&name, uses.ours)).collect();
    let forbidden: Vec<_> = actual.difference(&allowed).collect();
    assert!(forbidden.is_empty(), "edges that the table does not allow: {forbidden:?}");
    let gone: Vec<_> = allowed.difference(&actual).collect();
    assert!(gone.is_empty(), "edges of the table that no longer exist: {gone:?}");
}

#[test]
fn the_table_names_each_crate_once_and_below_what_it_uses() {
    let mut above = BTreeSet::new();
    for (name, uses) in EDGES {
        let early: Vec<_> = uses.iter().filter(|used| !above.contains(*used)).collect();
        assert!(early.is_empty(), "{name} stands above {early:?}");
        assert!(above.insert(name), "{name} stands in the table twice");
    }
    let named: BTreeSet<_> = above.into_iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(
        named,
        uses_of_all().into_keys().collect(),
        "the table and the workspace name different crates"
    );
}

#[test]
fn the_pure_crates_reach_no_runtime_transport_or_engine() {
    let all = uses_of_all();
    for name in reachable(&all, PURE) {
        let impure: Vec<_> =
            all[&name].foreign.iter().filter(|used| IMPURE.contains(&used.as_str())).collect();
        assert!(impure.is_empty(), "{name} uses {impure:?}");
    }
}

#[test]
fn transports_reach_no_store_engine() {
    let reached = reachable(&uses_of_all(), TRANSPORTS);
    let engines: Vec<_> = STORE_ENGINES.iter().filter(|engine| reached.contains(**engine)).collect();
    assert!(engines.is_empty(), "a transport reaches {engines:?}");
}

/// Names of the normal dependencies of a crate, ours without their prefix.
struct Uses {
    ours: BTreeSet<String>,
    foreign: BTreeSet<String>,
}

/// `cargo run` is one of the README's two commands.
#[test]
fn cargo_run_means_the_product_and_nothing_else() {
    let metadata = metadata();
    let packages = metadata.workspace_default_packages();
    let binaries = packages.iter().flat_map(|package| &package.targets).filter(|target| target.is_bin());
    assert_eq!(binaries.map(|target| target.name.as_str()).collect::<Vec<_>>(), ["toolgate"]);
}

fn uses_of_all() -> BTreeMap<String, Uses> {
    metadata().packages.iter().map(|package| (bare(&package.name), uses(package))).collect()
}

fn uses(package: &Package) -> Uses {
    let normal = package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal);
    let (ours, foreign): (Vec<_>, Vec<_>) = normal.partition(|dependency| dependency.path.is_some());
    Uses {
        ours: ours.iter().map(|dependency| bare(&dependency.name)).collect(),
        foreign: foreign.iter().map(|dependency| dependency.name.clone()).collect(),
    }
}

fn bare(package: &str) -> String {
    package.strip_prefix("toolgate-").expect("packages are named toolgate-…").to_owned()
}

fn pairs(name: &str, uses: BTreeSet<String>) -> Vec<(String, String)> {
    uses.into_iter().map(|used| (name.to_owned(), used)).collect()
}

/// These crates and everything of ours below them.
fn reachable(all: &BTreeMap<String, Uses>, from: &[&str]) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<_> = from.iter().map(|name| (*name).to_owned()).collect();
    while let Some(name) = open.pop() {
        if reached.insert(name.clone()) {
            open.extend(all[&name].ours.iter().cloned());
        }
    }
    reached
}
