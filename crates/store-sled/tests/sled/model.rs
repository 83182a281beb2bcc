//! Random histories against a map in memory, over reopening and compaction.

use std::{collections::BTreeMap, path::Path};

use bytes::Bytes;
use futures::StreamExt;
use proptest::{collection::vec, prelude::*, sample::select};
use tempfile::TempDir;
use toolgate_store::{
    Change, Commit, CommitError, CommitEvents, Condition, KeyRange, Revision, Row, Store, WatchError, Write,
    scan_all,
};
use toolgate_store_sled::{Options, SledStore};

use crate::subject::assert_no_blobs;

const HISTORY_COMMITS: u64 = 12;
const HISTORY_BYTES: u64 = 300_000;

#[derive(Debug, Clone)]
enum Step {
    /// Writes of keys, with the length of each value; `None` deletes. Conditional on a key being as it is, or not.
    Commit(BTreeMap<&'static [u8], Option<usize>>, Option<(&'static [u8], bool)>),
    Reopen,
}

const KEYS: &[&[u8]] = &[b"a", b"a\x00", b"aa", b"ab", b"b", b"\x00", b"\xff", b"\xff\xff"];
/// Around the size at which a value is cut into pieces.
const LENGTHS: &[usize] = &[0, 1, 900, 65_535, 65_536, 65_537, 140_000];

fn step() -> impl Strategy<Value = Step> {
    let write = (select(KEYS), prop_oneof![select(LENGTHS).prop_map(Some), Just(None)]);
    let writes = vec(write, 1..4).prop_map(|writes| writes.into_iter().collect());
    let condition = proptest::option::of((select(KEYS), any::<bool>()));
    prop_oneof![9 => (writes, condition).prop_map(|(writes, condition)| Step::Commit(writes, condition)), 1 => Just(Step::Reopen)]
}

/// What the store must be.
#[derive(Default)]
struct Model {
    rows: BTreeMap<Bytes, Row>,
    history: Vec<CommitEvents>,
    revision: Revision,
}

impl Model {
    fn version(&self, key: &[u8]) -> Revision {
        self.rows.get(key).map_or(Revision::ZERO, |row| row.version)
    }

    fn apply(&mut self, revision: Revision, writes: Vec<Write>) {
        let mut changes = Vec::new();
        for write in writes {
            match write {
                Write::Put(key, value) => {
                    let row = Row { key: key.clone(), value: value.clone(), version: revision };
                    self.rows.insert(key.clone(), row);
                    changes.push(Change { key, value: Some(value) });
                }
                Write::Delete(key) => {
                    changes.extend(self.rows.remove(&key).map(|_| Change { key, value: None }));
                }
            }
        }
        self.revision = revision;
        self.history.push(CommitEvents { revision, changes });
    }
}

fn open(folder: &Path) -> SledStore {
    let options = Options {
        history_commits: HISTORY_COMMITS,
        history_bytes: HISTORY_BYTES,
        cache_bytes: 1024 * 1024,
        ..Options::default()
    };
    SledStore::open(folder, options).unwrap()
}

async fn take(store: SledStore, folder: &Path, model: &mut Model, number: usize, step: Step) -> SledStore {
    let Step::Commit(writes, condition) = step else {
        store.close().await.unwrap();
        return open(folder);
    };
    let mut commit = Commit::new();
    for (key, len) in writes {
        commit = match len {
            Some(len) => commit.put(key, [number.to_be_bytes().as_slice(), &vec![1; len]].concat()),
            None => commit.delete(key),
        };
    }
    let holds = condition.is_none_or(|(_, holds)| holds);
    if let Some((key, holds)) = condition {
        let version = Revision(model.version(key).0 + u64::from(!holds));
        commit = commit.when(Condition::Equals(key.into(), version));
    }
    match store.commit(commit.clone()).await {
        Ok(revision) if holds && revision > model.revision => model.apply(revision, commit.writes),
        Err(CommitError::Conflict(0)) if !holds => {}
        other => panic!("a commit that should be {holds} gave {other:?}"),
    }
    store
}

/// Rows, revision, and the history that is kept, which is a whole tail of all that happened.
async fn compare(store: &SledStore, model: &Model) {
    let (rows, revision) = scan_all(store, &KeyRange::all()).await.unwrap();
    assert!(rows.into_iter().eq(model.rows.values().cloned()), "rows differ");
    assert_eq!(revision, model.revision);
    let oldest = match store.watch(KeyRange::all(), Revision::ZERO).await {
        Err(WatchError::Compacted { oldest }) => oldest,
        _ => Revision::ZERO,
    };
    assert!(revision.0 - oldest.0 <= HISTORY_COMMITS, "more history than asked for");
    let watch = store.watch(KeyRange::all(), oldest).await.unwrap();
    let kept = model.history.iter().filter(|events| events.revision > oldest && !events.changes.is_empty());
    let expected: Vec<_> = kept.cloned().collect();
    let told: Vec<_> = watch.take(expected.len()).map(Result::unwrap).collect().await;
    assert!(told == expected, "history differs");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_random_history_ends_as_in_the_model(steps in vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let folder = TempDir::new().unwrap();
            let mut store = open(folder.path());
            let mut model = Model::default();
            for (number, step) in steps.into_iter().enumerate() {
                store = take(store, folder.path(), &mut model, number, step).await;
                compare(&store, &model).await;
            }
            store.close().await.unwrap();
            assert_no_blobs(folder.path());
        });
    }
}
