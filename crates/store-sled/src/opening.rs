//! Opening: nothing is served before it is known to be what was written.

use std::{
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use toolgate_store::{KeyRange, Revision, StoreError};

use crate::{
    cell,
    drain::changes_of,
    error::{OpenError, Panicked, damaged_key, guarded, of_sled},
    folder::{Expected, Folder, damaged},
    layout::{self, META},
    limits::{LET_GO, SEGMENT_BYTES},
    meta::{Identity, Meta},
    read,
};

/// An engine that was found sound.
pub(crate) struct Opened {
    pub(crate) db: sled::Db,
    pub(crate) folder: Arc<Folder>,
    pub(crate) meta: Meta,
}

/// Takes the folder, opens sled in it and checks what it holds.
pub(crate) fn open(path: &Path, cache_bytes: u64) -> Result<Opened, OpenError> {
    let folder = Folder::lock(path)?;
    let in_folder = |source| OpenError::Store { folder: path.into(), source };
    let expected = folder.expected().map_err(in_folder)?;
    let open = || {
        let Some(db) = open_sled(path, cache_bytes)? else { return Ok(None) };
        let meta = match expected {
            Expected::New(identity) => create(&db, &folder, identity)?,
            Expected::Existing(identity, reached) => check(&db, identity, reached)?,
        };
        Ok(Some((db, meta)))
    };
    match guarded(open).map_err(of_panic).map_err(in_folder)? {
        Some((db, meta)) => Ok(Opened { db, folder: Arc::new(folder), meta }),
        None => Err(OpenError::InUse(path.into())),
    }
}

/// sled panics on some damage that it meets while opening.
fn of_panic(error: StoreError) -> StoreError {
    match error {
        StoreError::Engine(source) if source.is::<Panicked>() => damaged(&source.to_string()),
        other => other,
    }
}

/// `None` when sled's own lock stays taken. Our lock tells that no other store is open, but one of this process that was
/// just closed may still be letting go.
fn open_sled(path: &Path, cache_bytes: u64) -> Result<Option<sled::Db>, StoreError> {
    let config = sled::Config::new()
        .path(path)
        .cache_capacity(cache_bytes)
        .segment_size(SEGMENT_BYTES)
        .mode(sled::Mode::HighThroughput)
        .flush_every_ms(None);
    let begun = Instant::now();
    loop {
        match config.open() {
            Ok(db) => return Ok(Some(db)),
            Err(error) if !is_locked(&error) => return Err(of_sled(error)),
            Err(_) if begun.elapsed() > LET_GO => return Ok(None),
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn is_locked(error: &sled::Error) -> bool {
    matches!(error, sled::Error::Io(error) if error.to_string().contains("could not acquire lock"))
}

/// Writes the first batch, or finds it written by a creation that was cut short after it.
fn create(db: &sled::Db, folder: &Folder, identity: Identity) -> Result<Meta, StoreError> {
    let meta = Meta::new(identity);
    match Meta::load(db)? {
        None if db.is_empty() => {}
        Some(found) if found == meta => {}
        _ => return Err(damaged("the identity file is missing beside a database that was written to")),
    }
    db.insert(META, meta.encode()).map_err(of_sled)?;
    db.flush().map_err(of_sled)?;
    folder.settle(identity)?;
    Ok(meta)
}

/// Compares what sled holds with what the folder remembers, and reads every row and record once.
fn check(db: &sled::Db, identity: Identity, reached: Revision) -> Result<Meta, StoreError> {
    let Some(meta) = Meta::load(db)? else { return Err(damaged("the database opened empty")) };
    if meta.identity != identity {
        return Err(damaged("the database is of another store than the identity file"));
    }
    if meta.revision < reached {
        let what = format!("the database is at revision {}, but had reached {reached}", meta.revision);
        return Err(damaged(&what));
    }
    let rows = count_rows(db)?;
    if rows != meta.rows {
        return Err(damaged(&format!("the database has {rows} rows, but had {}", meta.rows)));
    }
    check_history(db, &meta)?;
    Ok(meta)
}

fn count_rows(db: &sled::Db) -> Result<u64, StoreError> {
    let mut rows = 0;
    for entry in read::rows_of(db, &KeyRange::all()) {
        let (at, raw) = entry?;
        let key = layout::key_of_row(&at);
        cell::content(db, key, &raw)?.ok_or_else(|| damaged_key(key, "a piece of it is missing"))?;
        rows += 1;
    }
    Ok(rows)
}

fn check_history(db: &sled::Db, meta: &Meta) -> Result<(), StoreError> {
    for revision in (meta.oldest.0 + 1..=meta.revision.0).map(Revision) {
        if changes_of(db, revision)?.is_none() {
            return Err(damaged(&format!("the change log lacks revision {revision}")));
        }
    }
    Ok(())
}
