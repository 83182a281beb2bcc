//! The MCP conformance suites, which judge a server written with the official SDK twice: as it is, and through the gateway.
//!
//! Every check that passes directly has to pass through the gateway, but for those of `does_not_apply`, which have to fail:
//! a line there that is no longer true fails the scenario, too.

mod does_not_apply;
mod suite;

use std::collections::{BTreeMap, BTreeSet};

use toolgate_api_proto::v1::RenameToolRequest;
use toolgate_test_support::server::{OPERATOR_KEY, Server};

use crate::{
    report,
    steps::{approve, register, sync, tools},
};
use does_not_apply::{DOES_NOT_APPLY, FAILS_DIRECTLY};
use suite::{Check, RUNS, Run, Suites};

/// How often everything is begun anew: some checks wait for half a second and no longer, which a busy machine may outlast.
const ATTEMPTS: usize = 3;

/// The checks of a run, and whether they passed.
type Judged = BTreeMap<Check, bool>;

#[tokio::test(flavor = "multi_thread")]
async fn what_conforms_directly_conforms_through_the_gateway() {
    let Some(suites) = Suites::find() else { return };
    let mut wrong = Vec::new();
    for _ in 0..ATTEMPTS {
        wrong = attempt(&suites).await;
        if wrong.is_empty() {
            return;
        }
    }
    panic!("{}", wrong.join("\n"));
}

/// Runs every suite, directly and through the gateway; answers what is not as it must be.
async fn attempt(suites: &Suites) -> Vec<String> {
    let judged = futures::future::join_all(RUNS.iter().map(|run| both_ways(suites, run))).await;
    let mut wrong = Vec::new();
    let mut named = BTreeSet::new();
    for (run, (directly, through)) in RUNS.iter().zip(&judged) {
        wrong.extend(compare(run, directly, through, &mut named));
    }
    let unused = DOES_NOT_APPLY.iter().flat_map(|(_, lines)| *lines).filter(|line| !named.contains(*line));
    wrong.extend(unused.map(|line| format!("does_not_apply: {line} passes directly in no run")));
    wrong
}

/// One run, against a server of its own each time.
async fn both_ways(suites: &Suites, run: &Run) -> (Judged, Judged) {
    let alone = suites.server(run).await;
    let behind = suites.server(run).await;
    let server = before(&behind.url).await;
    let forwarder = suites.forwarder(&format!("http://{}/mcp", server.addresses().http), OPERATOR_KEY).await;
    tokio::join!(suites.judge(run, &alone.url), suites.judge(run, &forwarder.url))
}

/// A gateway before this server, with all of its tools approved and under their own names.
async fn before(url: &str) -> Server {
    let server = Server::start().await;
    register(&server, "srv", url).await;
    sync(&server, "srv").await;
    for tool in tools(&server).await {
        let served_name = tool.namespaced_name.strip_prefix("srv__").map(str::to_owned);
        let tool = approve(&server, &tool).await.unwrap();
        let rename = RenameToolRequest { id: tool.id, served_name, ..Default::default() };
        server.governance().rename_tool(rename).await.unwrap();
    }
    server
}

/// What is not as it must be; notes in `named` which lines of `does_not_apply` are true of this run.
fn compare(
    run: &Run,
    directly: &Judged,
    through: &Judged,
    named: &mut BTreeSet<&'static str>,
) -> Vec<String> {
    let mut wrong = unlike_what_is_known(directly);
    let passed = directly.iter().filter_map(|(check, passed)| passed.then_some(check));
    let (excused, demanded): (Vec<_>, Vec<_>) = passed.partition(|check| line_of(check).is_some());
    let fails = |check: &&&Check| through.get(**check) != Some(&true);
    wrong.extend(demanded.iter().filter(fails).map(|check| format!("{check} passes directly alone")));
    let lines: BTreeSet<_> = excused.iter().filter_map(|check| line_of(check)).collect();
    let true_lines: BTreeSet<_> = excused.iter().filter(fails).filter_map(|check| line_of(check)).collect();
    wrong.extend(lines.difference(&true_lines).map(|line| format!("does_not_apply: {line} passes by now")));
    named.extend(&lines);
    report(&format!(
        "conformance: {}: {} checks pass directly, {} of them have to pass through the gateway",
        run.name,
        directly.values().filter(|passed| **passed).count(),
        demanded.len()
    ));
    wrong.iter().map(|problem| format!("{}: {problem}", run.name)).collect()
}

/// Scenarios whose outcome without the gateway is not the one that is written down.
fn unlike_what_is_known(directly: &Judged) -> Vec<String> {
    let fails =
        |scenario: &str| directly.iter().any(|(check, passed)| check.scenario() == scenario && !passed);
    let scenarios: BTreeSet<_> = directly.keys().map(Check::scenario).collect();
    let unlike =
        scenarios.into_iter().filter(|scenario| fails(scenario) != FAILS_DIRECTLY.contains(scenario));
    unlike.map(|scenario| format!("{scenario}: `FAILS_DIRECTLY` is wrong about it")).collect()
}

/// The line that excuses a check.
fn line_of(check: &Check) -> Option<&'static str> {
    DOES_NOT_APPLY.iter().flat_map(|(_, lines)| *lines).copied().find(|line| check.is_of(line))
}
