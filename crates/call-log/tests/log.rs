//! The log over a folder of its own.

#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

use std::{fs, num::NonZeroUsize, path::Path, sync::Arc};

use sha2::{Digest, Sha256};
use tempfile::TempDir;
use toolgate_call_log::{
    ArgumentsKept, CallFilter, CallLog, CallLogOptions, Entry, Gap, GapReason, KeptArguments, ListCalls,
    LoggedEntry, Position,
};
use toolgate_definition::arguments::Arguments;
use toolgate_domain::{CallOutcome, CallRecord, ClientId, Clock, KeyId, Moment};
use toolgate_gateway::CallRecords;
use toolgate_sealing::{MasterKey, Sealer};

#[derive(Debug)]
struct Noon;

impl Clock for Noon {
    fn now(&self) -> Moment {
        Moment::from_unix_ms(1_000)
    }
}

const OURS: ClientId = ClientId::from_bytes([1; 16]);
const THEIRS: ClientId = ClientId::from_bytes([2; 16]);

fn open(folder: &Path, max_bytes: u64) -> CallLog {
    let options = CallLogOptions {
        folder: folder.to_owned(),
        max_bytes,
        arguments: ArgumentsKept::Hash,
        is_durable: true,
    };
    CallLog::open(options, Arc::new(Sealer::new(&MasterKey::ephemeral())), Arc::new(Noon)).unwrap()
}

fn record(log: &CallLog, client: ClientId, name: &str, arguments: &str) {
    let record = CallRecord {
        at: Moment::from_unix_ms(1),
        client,
        key: KeyId::from_bytes([3; 16]),
        agent: None,
        name: name.to_owned(),
        tool: None,
        outcome: CallOutcome::Answered { is_error: false, result_bytes: 2 },
        duration_us: 3,
        unjudged: None,
        forwarded_row: None,
    };
    log.record(record, Arguments::parse(arguments).unwrap());
}

async fn all(log: &CallLog, client: ClientId, page: usize) -> Vec<LoggedEntry> {
    let (mut from, mut entries) = (Position::default(), Vec::new());
    loop {
        let size = NonZeroUsize::new(page).unwrap();
        let page = log.list(ListCalls { client, from, size, filter: CallFilter::default() }).await.unwrap();
        entries.extend(page.entries);
        match page.more_from {
            Some(more_from) => from = more_from,
            None => return entries,
        }
    }
}

/// Fails where a row does not follow from the one before.
fn names(entries: &[LoggedEntry]) -> Vec<&str> {
    for pair in entries.windows(2) {
        let hash = Sha256::new().chain_update(pair[0].hash).chain_update(&pair[1].stored).finalize();
        assert_eq!((pair[0].sequence + 1, &hash[..]), (pair[1].sequence, &pair[1].hash[..]));
    }
    let name = |row: &LoggedEntry| match &row.entry {
        Entry::Call { record, .. } => record.name.clone().leak() as &str,
        Entry::Gap(Gap { reason: GapReason::Crash, .. }) => "crash",
        Entry::Gap(_) => "missing",
    };
    entries.iter().map(name).collect()
}

#[tokio::test]
async fn law_14_calls_are_read_back_in_order_and_chained_over_a_restart() {
    let folder = TempDir::new().unwrap();
    let log = open(folder.path(), 1 << 20);
    ["a", "b", "c"].into_iter().for_each(|name| record(&log, OURS, name, "{}"));
    assert_eq!(names(&all(&log, OURS, 1).await), ["a", "b", "c"]);
    drop(log);
    let log = open(folder.path(), 1 << 20);
    record(&log, OURS, "d", "{}");
    let entries = all(&log, OURS, 100).await;
    assert_eq!((names(&entries), entries[0].sequence), (vec!["a", "b", "c", "d"], 1));
    let first = Sha256::new().chain_update([0; 32]).chain_update(&entries[0].stored).finalize();
    assert_eq!(first[..], entries[0].hash);
}

#[tokio::test]
async fn law_10_a_log_holds_nothing_of_another_client() {
    let folder = TempDir::new().unwrap();
    let log = open(folder.path(), 1 << 20);
    record(&log, OURS, "a", r#"{"pin":1234}"#);
    record(&log, THEIRS, "b", r#"{"pin":1234}"#);
    record(&log, OURS, "c", r#"{"pin":1234}"#);
    let (ours, theirs) = (all(&log, OURS, 1).await, all(&log, THEIRS, 1).await);
    assert_eq!((names(&ours), names(&theirs)), (vec!["a", "c"], vec!["b"]));
    assert_eq!(theirs[0].sequence, 1, "the number of one client's calls tells nothing of another's");
    let hash = |row: &LoggedEntry| match &row.entry {
        Entry::Call { arguments: KeptArguments::Hash(hash), .. } => *hash,
        other => panic!("{other:?}"),
    };
    assert_eq!(hash(&ours[0]), hash(&ours[1]));
    assert_ne!(hash(&ours[0]), hash(&theirs[0]), "equal arguments of two clients cannot be compared");
}

/// Law 9 at the log: a writer that was killed at any byte leaves whole entries, and the word that some may be missing.
#[tokio::test]
async fn law_14_a_log_that_was_cut_anywhere_goes_on_and_says_so() {
    let whole = TempDir::new().unwrap();
    let log = open(whole.path(), 1 << 20);
    ["a", "b"].into_iter().for_each(|name| record(&log, OURS, name, "{}"));
    all(&log, OURS, 10).await;
    let [segment] = &segments(whole.path())[..] else { panic!("one segment") };
    let bytes = fs::read(whole.path().join(segment)).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for cut in 0..=bytes.len() {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join(segment), &bytes[..cut]).unwrap();
        let log = open(folder.path(), 1 << 20);
        record(&log, OURS, "c", "{}");
        let entries = all(&log, OURS, 10).await;
        assert_eq!(entries[0].sequence, 1);
        seen.insert(names(&entries).join(" "));
    }
    let expected = ["a b crash c", "a crash c", "c"];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn the_oldest_part_goes_and_the_rest_is_still_chained() {
    let folder = TempDir::new().unwrap();
    let max_bytes = 64 * 1024;
    let log = open(folder.path(), max_bytes);
    for n in 0..2_000 {
        record(&log, OURS, &format!("{n}"), "{}");
        if n % 50 == 0 {
            all(&log, THEIRS, 1).await;
        }
    }
    let entries = all(&log, OURS, 1_000).await;
    let names = names(&entries);
    assert_eq!(names.last(), Some(&"1999"));
    assert!(entries[0].sequence > 1 && entries.len() > 50, "{} from {}", entries.len(), entries[0].sequence);
    let sizes =
        segments(folder.path()).into_iter().map(|name| fs::metadata(folder.path().join(name)).unwrap().len());
    assert!(sizes.sum::<u64>() <= 2 * max_bytes);
}

#[tokio::test]
async fn more_than_can_wait_is_counted_and_never_waited_for() {
    let folder = TempDir::new().unwrap();
    let log = open(folder.path(), 64 << 20);
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(1024 * 1000));
    for n in 0..200 {
        record(&log, OURS, &format!("{n}"), &large);
    }
    let counted = async || {
        let entries = all(&log, OURS, 1_000).await;
        let missing = entries.iter().map(|row| match row.entry {
            Entry::Gap(gap) => gap.calls,
            Entry::Call { .. } => 1,
        });
        (names(&entries).contains(&"missing"), missing.sum::<u64>())
    };
    record(&log, OURS, "last", "{}");
    let (_, first) = counted().await;
    let (_, sum) = counted().await;
    assert_eq!((first.max(sum), sum), (201, 201));
}

fn segments(folder: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}
