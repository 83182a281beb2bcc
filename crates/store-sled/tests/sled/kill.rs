//! A kill at any instant loses nothing that was acknowledged, and leaves nothing half there.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use futures::StreamExt;
use tempfile::TempDir;
use toolgate_store::{Commit, KeyRange, Revision, Store, WatchError, Write, scan_all};
use toolgate_store_sled::{Options, SledStore};

use crate::{child, subject::assert_no_blobs};

const ROUNDS: u64 = 5;
const WRITERS: u32 = 6;
/// Acknowledgements before a kill, at most.
const MAX_ACKNOWLEDGED: u64 = 600;

#[test]
fn law_09_a_kill_loses_nothing_acknowledged_and_leaves_nothing_half_there() {
    if let Some(folder) = child::folder() {
        return write_for_ever(&folder);
    }
    let scratch = TempDir::new().unwrap();
    let folder = scratch.path().join("store");
    let mut acknowledged = BTreeMap::new();
    for round in 0..ROUNDS {
        let kill_after = RandomState::new().hash_one(round) % MAX_ACKNOWLEDGED;
        println!("round {round}: killed after {kill_after} acknowledgements");
        for (writer, number) in run_and_kill(&folder, kill_after) {
            acknowledged.insert(writer, number);
        }
        verify(&folder, &acknowledged);
    }
    assert_no_blobs(&folder);
}

/// What the child acknowledged until it died, in order.
fn run_and_kill(folder: &Path, kill_after: u64) -> Vec<(u32, u32)> {
    let [program, args @ ..] = child::command(
        "kill::law_09_a_kill_loses_nothing_acknowledged_and_leaves_nothing_half_there",
        folder,
    );
    let mut child = Command::new(program).args(args).stdout(Stdio::piped()).spawn().unwrap();
    let mut acknowledged = Vec::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while let Some(Ok(line)) = lines.next() {
        let Some((writer, number)) = line.strip_prefix("ACK ").and_then(|rest| rest.split_once(' ')) else {
            continue;
        };
        // The last line may be cut short by the kill.
        let Ok(number) = number.parse() else { continue };
        acknowledged.push((writer.parse().unwrap(), number));
        if acknowledged.len() as u64 == kill_after + 1 {
            child.kill().unwrap();
        }
    }
    assert!(!child.wait().unwrap().success(), "the child ended before it was killed");
    acknowledged
}

/// Each commit of a writer writes two rows and its count, small, large, or overwriting what an earlier one wrote.
fn commit_of(writer: u32, number: u32) -> Commit {
    let len = if number.is_multiple_of(24) { 500_000 } else { 2_048 };
    let value = [number.to_be_bytes().as_slice(), &vec![0xa5; len]].concat();
    let count = number.to_be_bytes().to_vec();
    Commit::new()
        .put(format!("a/{writer}/{}", number % 50), value.clone())
        .put(format!("count/{writer}"), count)
        .put(format!("b/{writer}/{}", number % 50), value)
}

#[tokio::main]
async fn write_for_ever(folder: &Path) {
    let store = Arc::new(SledStore::open(folder, options()).unwrap());
    let writers = (0..WRITERS).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            let counted = store.get(format!("count/{writer}").as_bytes()).await.unwrap();
            let start = counted.map_or(0, |row| number_of(&row.value) + 1);
            for number in start.. {
                store.commit(commit_of(writer, number)).await.unwrap();
                child::say(&format!("ACK {writer} {number}"));
            }
        })
    });
    futures::future::join_all(writers.collect::<Vec<_>>()).await;
}

/// A short history, so that kills meet its compaction too.
fn options() -> Options {
    Options { history_commits: 300, ..Options::default() }
}

fn number_of(value: &[u8]) -> u32 {
    u32::from_be_bytes(*value.first_chunk().unwrap())
}

#[tokio::main(flavor = "current_thread")]
async fn verify(folder: &Path, acknowledged: &BTreeMap<u32, u32>) {
    let store = SledStore::open(folder, options()).unwrap();
    for writer in 0..WRITERS {
        let count = store.get(format!("count/{writer}").as_bytes()).await.unwrap();
        let count = count.map(|row| number_of(&row.value));
        assert!(count >= acknowledged.get(&writer).copied(), "writer {writer} lost an acknowledged commit");
        let expected = (0..=count.unwrap_or(0)).rev().take(if count.is_some() { 50 } else { 0 });
        for number in expected {
            verify_whole(&store, commit_of(writer, number)).await;
        }
        let rows = count.map_or(0, |count| (count as usize + 1).min(50));
        for prefix in ["a", "b"] {
            let (found, _) =
                scan_all(&store, &KeyRange::prefix(format!("{prefix}/{writer}/"))).await.unwrap();
            assert_eq!(found.len(), rows, "rows {prefix} of writer {writer} after {count:?} commits");
        }
    }
    verify_history(&store).await;
    store.close().await.unwrap();
}

/// Both rows of the commit are there, of one version.
async fn verify_whole(store: &SledStore, commit: Commit) {
    let mut versions = Vec::new();
    for write in [&commit.writes[0], &commit.writes[2]] {
        let row = store.get(write.key()).await.unwrap().unwrap();
        assert!(*write == Write::Put(row.key, row.value), "a row is not what was written");
        versions.push(row.version);
    }
    assert_eq!(versions[0], versions[1], "a commit is half there");
}

/// Every commit that is kept is told, in order, without a gap.
async fn verify_history(store: &SledStore) {
    let newest = store.revision().await.unwrap();
    let mut at = match store.watch(KeyRange::all(), Revision::ZERO).await {
        Err(WatchError::Compacted { oldest }) => oldest,
        _ => Revision::ZERO,
    };
    let mut watch = store.watch(KeyRange::all(), at).await.unwrap();
    while at < newest {
        let events = watch.next().await.unwrap().unwrap();
        assert_eq!((events.revision.0, events.changes.len()), (at.0 + 1, 3));
        at = events.revision;
    }
}
