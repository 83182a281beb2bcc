//! Single rows that a sync reads.

use toolgate_definition::Fingerprint;
use toolgate_domain::tool::SeenDefinition;
use toolgate_records::{Key, NameHolder, Record};
use toolgate_store::{Revision, SharedStore, StoreError};

/// Who holds a name, and the version of the row that says so.
pub(super) async fn holder(
    store: &SharedStore,
    key: &Key,
) -> Result<(Option<NameHolder>, Revision), StoreError> {
    match read(store, key).await? {
        Some((Record::NameClaim(_, _, holder), version)) => Ok((holder, version)),
        Some((other, _)) => Err(misplaced(&other)),
        None => Ok((None, Revision::ZERO)),
    }
}

/// What is kept of a definition, and the version of its row.
pub(super) async fn seen(
    store: &SharedStore,
    key: &Key,
) -> Result<Option<(SeenDefinition, Revision)>, StoreError> {
    match read(store, key).await? {
        Some((Record::Definition(.., seen), version)) => Ok(Some((seen, version))),
        Some((other, _)) => Err(misplaced(&other)),
        None => Ok(None),
    }
}

/// Whether there is an approval of `fingerprint`, one for an earlier endpoint too, and the version of the row that says so.
pub(super) async fn is_approved(
    store: &SharedStore,
    key: &Key,
    fingerprint: Fingerprint,
) -> Result<(bool, Revision), StoreError> {
    match read(store, key).await? {
        Some((Record::Ruled(.., ruled), version)) => {
            Ok((ruled.approval.is_some_and(|approval| approval.fingerprint == fingerprint), version))
        }
        Some((other, _)) => Err(misplaced(&other)),
        None => Ok((false, Revision::ZERO)),
    }
}

async fn read(store: &SharedStore, key: &Key) -> Result<Option<(Record, Revision)>, StoreError> {
    let Some(row) = store.get(&key.encode()).await? else { return Ok(None) };
    let record =
        Record::decode(&row.key, &row.value).map_err(|error| StoreError::Damaged(error.to_string()))?;
    Ok(Some((record, row.version)))
}

fn misplaced(record: &Record) -> StoreError {
    StoreError::Damaged(format!("{:?} holds another kind of row", record.key()))
}
