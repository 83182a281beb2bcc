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
    installed::Installed,
    report,
    steps::{approve, register, sync, tools},
};
use does_not_apply::{DOES_NOT_APPLY, FAILS_DIRECTLY};
use suite::{Check, RUNS, Run, Suites};

/// How often everything is begun anew: some checks wait for half a second and no longer, which a busy machine may outlast.
const ATTEMPTS: usize = 3;

/// The checks of a run that passed, and all that were made.
type Judged = BTreeMap<Check, bool>;

#[tokio::test(flavor = "multi_thread")]
async fn what_conforms_directly_conforms_through_the_gateway() {
    let Some(installed) = Installed::find("the MCP conformance suites") else { return };
    let Some(suites) = Suites::find(&installed) else { return };
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
    let mut wrong = Vec::new();
    let passes = |judged: &Judged, check: &Check| judged.get(check) == Some(&true);
    let fail: BTreeSet<_> =
        directly.iter().filter(|(_, passed)| !**passed).map(|(check, _)| check.scenario()).collect();
    let scenarios: BTreeSet<_> = directly.keys().map(Check::scenario).collect();
    let are_known = |scenario: &&&str| fail.contains(**scenario) == FAILS_DIRECTLY.contains(*scenario);
    wrong.extend(scenarios.iter().filter(|scenario| !are_known(scenario)).map(|scenario| {
        format!("{}: {scenario}: whether it passes directly is not as `FAILS_DIRECTLY` says", run.name)
    }));
    let demanded: Vec<_> = directly.iter().filter(|(_, passed)| **passed).map(|(check, _)| check).collect();
    let mut excused = BTreeMap::<&str, Vec<&Check>>::new();
    for check in &demanded {
        match DOES_NOT_APPLY.iter().flat_map(|(_, lines)| *lines).find(|line| check.is_of(line)) {
            Some(line) => excused.entry(line).or_default().push(check),
            None if passes(through, check) => {}
            None => wrong.push(format!("{}: {check} passes directly and not through the gateway", run.name)),
        }
    }
    for (line, checks) in &excused {
        named.insert(line);
        if checks.iter().all(|check| passes(through, check)) {
            wrong.push(format!("{}: {line} passes through the gateway; take it out of the list", run.name));
        }
    }
    let excused: usize = excused.values().map(Vec::len).sum();
    let (all, demanded) = (demanded.len(), demanded.len() - excused);
    report(&format!(
        "conformance: {}: {all} checks pass directly, {demanded} of them have to pass through the gateway",
        run.name
    ));
    wrong
}
