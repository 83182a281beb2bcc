//! kill -9 under load. What was acknowledged is there afterwards, and nothing is half there.
//!
//! In each round many writers rule about tools of their own while syncs bring new definitions; in the middle of that the
//! process is killed. What is on disk is then read twice: a copy of the folder, row by row, and the server started again on
//! the folder itself, through the API.

mod kept;
mod load;
mod owned;
mod random;

use std::{collections::BTreeMap, fs, path::Path};

use tempfile::TempDir;
use toolgate_api_proto::v1::ToolStatus;
use toolgate_test_support::{mcp_server::ScriptedServer, server::Server};

use crate::{
    installed::variable,
    report,
    steps::{entry, register, sync, tools},
};
use kept::Kept;
use load::{Load, Moving, Stopped};
use owned::Owned;
use random::Random;

/// Rounds that have to count, unless `TOOLGATE_TEST_KILL_ROUNDS` says otherwise.
const ROUNDS: usize = 10;
/// A round counts with this many acknowledgements or more, and with a request in flight at the kill.
const MIN_ACKNOWLEDGED: usize = 100;
const WRITERS: usize = 16;
const TOOLS_PER_WRITER: usize = 4;

/// The sum of all rounds.
#[derive(Debug, Default)]
struct Tally {
    /// Those that count.
    rounds: usize,
    acknowledged: usize,
    in_flight: usize,
    in_flight_kept: usize,
    lost: Vec<String>,
    half_written: Vec<String>,
}

/// BR-099, law 9.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_9_under_load_loses_nothing_acknowledged_and_leaves_nothing_half_written() {
    let mut random = Random::seeded();
    report(&format!("kill -9: seed {}", random.seed()));
    let (fixed, moving) = (ScriptedServer::start().await, Moving::start().await);
    let names: Vec<_> = (0..WRITERS * TOOLS_PER_WRITER).map(|n| format!("t{n:02}")).collect();
    fixed.list(&names.iter().map(|name| entry(name, "d")).collect::<Vec<_>>());
    let mut server = Server::start().await;
    register(&server, "fixed", &fixed.url()).await;
    register(&server, "moving", &moving.url()).await;
    sync(&server, "fixed").await;
    sync(&server, "moving").await;

    let mut owned: Vec<_> =
        tools(&server).await.into_iter().filter(|tool| tool.name.starts_with('t')).collect();
    let mut owned: Vec<Vec<_>> =
        (0..WRITERS).map(|_| owned.drain(..TOOLS_PER_WRITER).map(Owned::new).collect()).collect();
    let mut tally = Tally::default();
    // Rounds that do not count are made up for, up to as many again.
    let rounds = rounds();
    for _ in 0..2 * rounds {
        let target = MIN_ACKNOWLEDGED + random.below(100);
        let load = Load::start(&server, owned, &moving, &mut random, target);
        let in_flight = load.reached().await;
        server.kill_9().await;
        let stopped = load.stopped(&in_flight).await;

        let copy = copy_of(&server.data_dir().join("store"));
        let kept = Kept::read(copy.path(), &stopped.client).await;
        owned = settle(&mut tally, stopped, &kept);
        server.restart().await;
        compare_with_api(&mut tally, &server, &owned).await;
        if tally.rounds == rounds {
            break;
        }
    }
    report(&format!(
        "kill -9: rounds {}, acknowledged {}, lost {}, half-written {} ({} requests in flight at the kills, {} of them \
         written)",
        tally.rounds,
        tally.acknowledged,
        tally.lost.len(),
        tally.half_written.len(),
        tally.in_flight,
        tally.in_flight_kept
    ));
    assert_eq!(tally.rounds, rounds, "too few rounds had a request in flight at the kill");
    assert!(tally.lost.is_empty(), "{:#?}", tally.lost);
    assert!(tally.half_written.is_empty(), "{:#?}", tally.half_written);
}

fn rounds() -> usize {
    let asked = variable("TOOLGATE_TEST_KILL_ROUNDS").and_then(|rounds| rounds.into_string().ok());
    asked.map_or(ROUNDS, |rounds| rounds.parse().expect("TOOLGATE_TEST_KILL_ROUNDS is a number"))
}

/// Counts what is missing and what is broken, and decides what became of the rulings in flight.
fn settle(tally: &mut Tally, stopped: Stopped, kept: &Kept) -> Vec<Vec<Owned>> {
    tally.rounds += usize::from(stopped.acknowledged >= MIN_ACKNOWLEDGED && stopped.in_flight > 0);
    tally.acknowledged += stopped.acknowledged;
    tally.in_flight += stopped.in_flight;
    tally.half_written.extend(kept.faults.iter().cloned());
    for (name, version) in &kept.versions {
        if *version < stopped.version_acknowledged || *version > stopped.version_sent {
            tally
                .lost
                .push(format!("{name}: version {version}, acknowledged {}", stopped.version_acknowledged));
        }
    }
    let mut owned = stopped.owned;
    for tool in owned.iter_mut().flatten() {
        let log = kept.log.get(&(tool.upstream_id.clone(), tool.name.clone())).map_or(&[][..], Vec::as_slice);
        let in_flight = tool.in_flight.take();
        match log.strip_prefix(tool.acts.as_slice()) {
            Some([]) => {}
            Some([act]) if Some(*act) == in_flight => {
                tally.in_flight_kept += 1;
                tool.acts.push(*act);
            }
            _ => tally.lost.push(format!("{}: acknowledged {:?}, kept {log:?}", tool.name, tool.acts)),
        }
    }
    owned
}

/// What the API shows is what the acts come to.
async fn compare_with_api(tally: &mut Tally, server: &Server, owned: &[Vec<Owned>]) {
    let shown: BTreeMap<_, _> = tools(server).await.into_iter().map(|tool| (tool.id.clone(), tool)).collect();
    for tool in owned.iter().flatten() {
        let shown = &shown[&tool.id];
        let stands = (shown.approved_hash.is_some(), shown.status() == ToolStatus::Disabled);
        if stands != tool.stands() || shown.approved_hash.as_ref().is_some_and(|hash| *hash != tool.hash) {
            tally.lost.push(format!("{}: {:?}, shown {stands:?}", tool.name, tool.acts));
        }
    }
}

/// The folder as the kill left it.
pub(crate) fn copy_of(folder: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_into(folder, copy.path());
    copy
}

fn copy_into(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&to).unwrap();
            copy_into(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}
