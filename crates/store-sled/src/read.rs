use std::{collections::BTreeMap, num::NonZeroUsize};

use bytes::Bytes;
use sled::IVec;
use toolgate_store::{KeyRange, Row, ScanPage, StoreError};

use crate::{
    cell::{self, Head, Source},
    error::{damaged_key, of_sled},
    layout,
    shared::Shared,
};

/// The durable row at `key`.
///
/// The tree is read first and the veil after it: what the tree gave is either on disk by then, or still veiled.
pub(crate) fn get(shared: &Shared, db: &sled::Db, key: &[u8]) -> Result<Option<Row>, StoreError> {
    let at = layout::row(key);
    let mut raw = db.raw(&at)?;
    loop {
        if let Some(former) = shared.veiled(key) {
            return Ok(former);
        }
        let Some(cell) = raw else { return Ok(None) };
        if let Some(row) = open(db, key, &cell)? {
            return Ok(Some(row));
        }
        // A piece is missing. If the row has not been overwritten meanwhile, that is damage.
        raw = db.raw(&at)?;
        if raw.as_ref() == Some(&cell) {
            return Err(damaged_key(key, "a piece of it is missing"));
        }
    }
}

fn open(db: &sled::Db, key: &[u8], cell: &IVec) -> Result<Option<Row>, StoreError> {
    let version = Head::read(key, cell)?.place.revision;
    let value = cell::content(db, key, cell)?;
    Ok(value.map(|value| Row { key: Bytes::copy_from_slice(key), value, version }))
}

/// A page of durable rows.
pub(crate) fn scan(
    shared: &Shared,
    db: &sled::Db,
    range: &KeyRange,
    limit: NonZeroUsize,
) -> Result<ScanPage, StoreError> {
    let revision = shared.revision();
    let mut rows = BTreeMap::new();
    let mut next = None;
    for entry in rows_of(db, range) {
        let (at, cell) = entry?;
        let key = layout::key_of_row(&at);
        if rows.len() == limit.get() {
            next = Some(Bytes::copy_from_slice(key));
            break;
        }
        // A cell with a missing piece has been overwritten since the iterator read it.
        if let Some(row) = open(db, key, &cell).transpose().or_else(|| get(shared, db, key).transpose()) {
            let row = row?;
            rows.insert(row.key.clone(), row);
        }
    }
    shared.veil_rows(&mut rows, &range.start, next.as_ref().or(range.end.as_ref()));
    if let Some(key) = rows.keys().nth(limit.get()).cloned() {
        rows.split_off(&key);
        next = Some(key);
    }
    Ok(ScanPage { rows: rows.into_values().collect(), revision, next })
}

/// The entries of the rows of `range`, as the tree has them.
///
/// sled puts pages out of its cache once they, or their like, were asked for some 60 times, and a scan asks for each page
/// once: ten thousand pages would stay however small the cache. So each row asks for its page again.
pub(crate) fn rows_of<'a>(
    db: &'a sled::Db,
    range: &KeyRange,
) -> impl Iterator<Item = Result<(IVec, IVec), StoreError>> + use<'a> {
    db.range(tree_range(range)).map(|entry| {
        let (at, cell) = entry.map_err(of_sled)?;
        db.raw(&at)?;
        Ok((at, cell))
    })
}

/// The keys of the rows of `range` in the tree. An end before the start gives an empty range: sled panics on an inverted one.
fn tree_range(range: &KeyRange) -> std::ops::Range<Vec<u8>> {
    let start = layout::row(&range.start);
    let end = range.end.as_ref().map_or_else(|| layout::ROWS_END.to_vec(), |end| layout::row(end));
    let end = end.max(start.clone());
    start..end
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::broadcast;
    use toolgate_store::{Commit, Leases, Revision};

    use super::*;
    use crate::{
        drain::Drain,
        meta::Meta,
        shared::{Running, Shared},
    };

    fn scanned(shared: &Shared, limit: usize) -> Vec<(Bytes, Bytes)> {
        let db = shared.running().unwrap().db;
        let limit = NonZeroUsize::new(limit).unwrap();
        let (mut found, mut range) = (Vec::new(), KeyRange::all());
        loop {
            let page = scan(shared, &db, &range, limit).unwrap();
            assert!(page.rows.len() <= limit.get());
            found.extend(page.rows.into_iter().map(|row| (row.key, row.value)));
            let Some(next) = page.next else { return found };
            range.start = next;
        }
    }

    fn rows(rows: &[(&'static str, &'static str)]) -> Vec<(Bytes, Bytes)> {
        rows.iter().map(|(key, value)| (Bytes::from(*key), Bytes::from(*value))).collect()
    }

    /// A batch that is in the tree and not on disk puts, overwrites and deletes.
    #[test]
    fn reads_see_what_is_on_disk_until_the_batch_is_too() {
        let db = sled::Config::new().temporary(true).flush_every_ms(None).open().unwrap();
        let leases = Leases::new(Arc::new(std::time::Duration::default), 0);
        let mut meta = Meta::new([7; 16]);
        let running = Running { db: db.clone(), live: broadcast::channel(1).0 };
        let shared = Shared::new(running, &meta);
        let mut write = |commit: Commit| {
            let mut drain = Drain::new(&db, &leases, meta);
            drain.add(commit).unwrap();
            let written = drain.finish();
            shared.hide(written.formers);
            db.apply_batch(written.batch).unwrap();
            meta = written.meta;
            meta
        };
        shared.reveal(&write(Commit::new().put("a", "1").put("c", "1").put("e", "1")));
        let next = write(Commit::new().put("a", "2").put("b", "2").delete("c").delete("e").put("d", "2"));

        let (before, after) =
            (rows(&[("a", "1"), ("c", "1"), ("e", "1")]), rows(&[("a", "2"), ("b", "2"), ("d", "2")]));
        assert!((1..5).all(|limit| scanned(&shared, limit) == before));
        assert_eq!(get(&shared, &db, b"a").unwrap().unwrap().version, Revision(1));
        assert_eq!(get(&shared, &db, b"b").unwrap(), None);
        assert_eq!(get(&shared, &db, b"c").unwrap().unwrap().value, "1");
        shared.reveal(&next);
        assert!((1..5).all(|limit| scanned(&shared, limit) == after));
        assert_eq!(get(&shared, &db, b"c").unwrap(), None);
    }
}
