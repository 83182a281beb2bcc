use std::{
    any::Any,
    error::Error,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
};

use thiserror::Error as ThisError;
use toolgate_store::StoreError;

use crate::limits::SHOWN_KEY_BYTES;

/// A store that did not open.
#[derive(Debug, ThisError)]
pub enum OpenError {
    /// Another process, or another store of this one, has the folder open.
    #[error("the store {0} is in use by another process; stop it, or choose another folder")]
    InUse(PathBuf),
    /// There is no store where one must be.
    #[error("the store {0} is missing; restore the folder from a backup")]
    Missing(PathBuf),
    /// The folder is damaged, or the disk failed.
    #[error("cannot open the store {folder}: {source}")]
    Store {
        /// The folder of the store.
        folder: PathBuf,
        /// What is wrong with it.
        source: StoreError,
    },
}

/// sled panicked; what it had in memory is not to be trusted any more.
#[derive(Debug, ThisError)]
#[error("the storage engine panicked: {0}")]
pub(crate) struct Panicked(String);

/// Runs what touches sled. sled has some hundred places that panic on bytes it does not expect; none may reach a caller.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(engine(Panicked(panic_text(&*panic)))))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message").into()
}

/// Wraps any other failure of the engine.
pub(crate) fn engine(error: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
    StoreError::Engine(error.into())
}

/// Tells damage, which will not go away, from the rest.
pub(crate) fn of_sled(error: sled::Error) -> StoreError {
    match error {
        sled::Error::Corruption { at, .. } => {
            let place = at.map_or_else(|| "at an unknown place".into(), |at| format!("at {at:?}"));
            StoreError::Damaged(format!("the storage engine found unreadable bytes {place}"))
        }
        sled::Error::Io(error) => engine(error),
        other => engine(other),
    }
}

/// A key whose bytes on disk are not what was written.
pub(crate) fn damaged_key(key: &[u8], what: &str) -> StoreError {
    let shown = &key[..key.len().min(SHOWN_KEY_BYTES)];
    StoreError::Damaged(format!("key \"{}\": {what}", shown.escape_ascii()))
}

/// Whether the disk, or the part of it that the process may use, is full.
pub(crate) fn is_full(error: &StoreError) -> bool {
    let StoreError::Engine(source) = error else { return false };
    let kind = source.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
}
