//! A damaged folder is refused with a reason: it never opens empty, or with less than it held.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use tempfile::TempDir;
use toolgate_store::{Commit, KeyRange, Store, StoreError, scan_all};
use toolgate_store_sled::{OpenError, Options, SledStore};

const ROWS: u32 = 200;

/// A closed store of some rows, large ones among them.
async fn filled(folder: &Path) {
    let store = SledStore::open(folder, Options::default()).unwrap();
    for number in 0..ROWS {
        store.commit(Commit::new().put(format!("k/{number:04}"), value(number))).await.unwrap();
    }
    store.close().await.unwrap();
}

fn value(number: u32) -> Bytes {
    let len = if number.is_multiple_of(50) { 100_000 } else { 900 };
    number.to_be_bytes().iter().copied().cycle().take(len).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("blobs")).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Why a store is refused.
fn refusal(folder: &Path) -> String {
    match SledStore::open(folder, Options::default()) {
        Err(OpenError::Store { source: StoreError::Damaged(why), .. }) => why,
        other => panic!("expected a damaged store, found {other:?}"),
    }
}

/// Damages a closed store and answers why it is refused.
async fn refusal_after(damage: impl FnOnce(&Path)) -> String {
    let folder = TempDir::new().unwrap();
    filled(folder.path()).await;
    damage(folder.path());
    refusal(folder.path())
}

fn snapshots(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("snap.")).collect()
}

/// sled itself opens an empty database here.
#[tokio::test]
async fn an_emptied_database_is_refused() {
    let why = refusal_after(|folder| {
        fs::write(folder.join("db"), "").unwrap();
        snapshots(folder).iter().for_each(|snapshot| fs::remove_file(snapshot).unwrap());
    });
    assert!(why.await.contains("the database opened empty"));
}

#[tokio::test]
async fn a_missing_file_is_refused_with_its_name() {
    for (file, reason) in [
        ("db", "the database file is missing"),
        ("identity", "the identity file is missing"),
        ("mark", "the mark file is missing"),
    ] {
        let why = refusal_after(|folder| fs::remove_file(folder.join(file)).unwrap()).await;
        assert!(why.contains(reason) && why.contains("restore the folder from a backup"), "{why}");
    }
}

/// A database of before, put back without its mark.
#[tokio::test]
async fn an_older_database_is_refused() {
    let (folder, old) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    filled(folder.path()).await;
    copy(folder.path(), old.path());
    let store = SledStore::open(folder.path(), Options::default()).unwrap();
    store.commit(Commit::new().put("later", "")).await.unwrap();
    store.close().await.unwrap();
    fs::copy(folder.path().join("mark"), old.path().join("mark")).unwrap();
    assert!(refusal(old.path()).contains("is at revision 200, but had reached 201"));
}

#[tokio::test]
async fn a_database_of_another_store_is_refused() {
    let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    filled(folder.path()).await;
    filled(other.path()).await;
    for file in ["identity", "mark"] {
        fs::copy(folder.path().join(file), other.path().join(file)).unwrap();
    }
    assert!(refusal(other.path()).contains("of another store"));
}

/// Wherever a bit flips or the file ends early: an error, or everything that was written.
#[tokio::test]
async fn a_flipped_bit_or_a_torn_file_is_noticed_or_harmless() {
    let folder = TempDir::new().unwrap();
    filled(folder.path()).await;
    let len = usize::try_from(fs::metadata(folder.path().join("db")).unwrap().len()).unwrap();
    let mut noticed = 0;
    for trial in 0..24 {
        let at = len / 24 * trial + 977 * trial % (len / 24);
        let damaged = TempDir::new().unwrap();
        copy(folder.path(), damaged.path());
        let mut bytes = fs::read(damaged.path().join("db")).unwrap();
        if trial % 3 == 2 {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 0x10;
        }
        fs::write(damaged.path().join("db"), bytes).unwrap();
        noticed += u32::from(!holds_everything(damaged.path()).await);
    }
    assert!(noticed > 0, "some of the damage was in what is read");
}

/// Whether the store opens with every row; `false` when it is refused. Panics when rows are missing or wrong.
async fn holds_everything(folder: &Path) -> bool {
    let store = match SledStore::open(folder, Options::default()) {
        Ok(store) => store,
        Err(OpenError::Store { .. }) => return false,
        Err(error) => panic!("{error}"),
    };
    let (rows, revision) = scan_all(&store, &KeyRange::all()).await.unwrap();
    assert_eq!((rows.len(), revision.0), (ROWS as usize, u64::from(ROWS)));
    for (number, row) in (0..).zip(rows) {
        assert!(row.value == value(number), "row {number} is not what was written");
    }
    store.close().await.unwrap();
    true
}
