//! A disk without room, and a folder that is taken.

use tempfile::TempDir;
use toolgate_store::{Commit, CommitError, KeyRange, Revision, Store, StoreError, scan_all};
use toolgate_store_sled::{OpenError, Options, SledStore};

#[tokio::test]
async fn a_disk_below_the_reserve_refuses_commits_and_goes_on_reading() {
    let folder = TempDir::new().unwrap();
    let store = SledStore::open(folder.path(), Options::default()).unwrap();
    let revision = store.commit(Commit::new().put("a", "1")).await.unwrap();
    assert!(store.healthy());
    store.close().await.unwrap();

    let store =
        SledStore::open(folder.path(), Options { reserve_bytes: u64::MAX, ..Options::default() }).unwrap();
    let refused = store.commit(Commit::new().put("a", "2").put("b", "2")).await;
    assert!(matches!(refused, Err(CommitError::Full)), "{refused:?}");
    assert!(!store.healthy());
    let (rows, newest) = scan_all(&store, &KeyRange::all()).await.unwrap();
    assert_eq!((rows.len(), rows[0].version, newest), (1, revision, revision));
    store.close().await.unwrap();

    let store = SledStore::open(folder.path(), Options::default()).unwrap();
    assert_eq!(store.commit(Commit::new().put("b", "2")).await.unwrap(), Revision(revision.0 + 1));
}

#[tokio::test]
async fn a_folder_in_use_is_refused_until_its_store_is_closed() {
    let folder = TempDir::new().unwrap();
    let store = SledStore::open(folder.path(), Options::default()).unwrap();
    let second = SledStore::open(folder.path(), Options::default());
    assert!(matches!(second, Err(OpenError::InUse(_))), "{second:?}");
    assert!(second.unwrap_err().to_string().contains("in use by another process"));
    store.commit(Commit::new().put("a", "1")).await.unwrap();
    store.close().await.unwrap();
    assert!(!store.healthy());
    let next = SledStore::open(folder.path(), Options::default()).unwrap();
    assert!(next.get(b"a").await.unwrap().is_some());
    assert!(matches!(store.get(b"a").await, Err(StoreError::Closed)));
}

#[tokio::test]
async fn a_creation_that_was_cut_short_is_begun_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    SledStore::open(path, Options::default()).unwrap().close().await.unwrap();
    std::fs::rename(path.join("identity"), path.join("identity.new")).unwrap();
    std::fs::remove_file(path.join("mark")).unwrap();
    let store = SledStore::open(path, Options::default()).unwrap();
    store.commit(Commit::new().put("a", "1")).await.unwrap();
    store.close().await.unwrap();
    assert!(SledStore::open(path, Options::default()).unwrap().get(b"a").await.unwrap().is_some());
}
