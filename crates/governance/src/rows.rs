//! Single rows of the store.

use toolgate_catalog::{from_row_error, from_store_error};
use toolgate_domain::{ClientId, Fault};
use toolgate_records::{ChainHead, Key, Record};
use toolgate_store::{KeyRange, Revision, Store};

/// The record at `key` with its version; 0 where there is none.
pub(crate) async fn read(store: &dyn Store, key: &Key) -> Result<(Option<Record>, Revision), Fault> {
    let Some(row) = store.get(&key.encode()).await.map_err(|error| from_store_error(&error))? else {
        return Ok((None, Revision::ZERO));
    };
    let record = Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))?;
    Ok((Some(record), row.version))
}

/// The end of a client's log with the version of its row.
pub(crate) async fn read_head(store: &dyn Store, client: ClientId) -> Result<(ChainHead, Revision), Fault> {
    Ok(match read(store, &Key::ChainHead(client)).await? {
        (Some(Record::ChainHead(_, head)), version) => (head, version),
        (_, version) => (ChainHead::EMPTY, version),
    })
}

/// What of `range` comes after `key`.
pub(crate) fn after(range: KeyRange, key: &Key) -> KeyRange {
    let mut start = key.encode().to_vec();
    start.push(0);
    KeyRange { start: start.into(), ..range }
}
