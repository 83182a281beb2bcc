//! The data directory: the store in it, and the master key that its secrets are under.
//!
//! ```text
//! master.key      unless the settings name another file
//! bootstrap.key   if no operator key was given
//! store/          the store
//! store.begun     there once was a store
//! calls/          the log of calls; `calls.memory/` of a process whose store forgets
//! ```

use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::DirBuilderExt,
    path::Path,
    sync::Arc,
};

use toolgate_call_log::{ArgumentsKept, CallLog, CallLogOptions};
use toolgate_config::{LoggedArguments, LoggedCalls, Settings, StoreEngine};
use toolgate_sealing::{MasterKey, Sealer};
use toolgate_store::SharedStore;
use toolgate_store_memory::MemoryStore;
use toolgate_store_sled::{OpenError, SledStore};

use crate::{ambient::SystemClock, failure::Failure};

const CALLS_FOLDER: &str = "calls";
const FORGOTTEN_CALLS_FOLDER: &str = "calls.memory";
const STORE_FOLDER: &str = "store";
/// Outside the store's folder, so that it tells when that is lost. The master key cannot: it may stand elsewhere, or have
/// been put in place before the first start.
const BEGUN_FILE: &str = "store.begun";
const BEGUN_TEXT: &[u8] =
    b"A store was begun in the folder `store` beside this file. If it is lost, restore it from a \
backup.\nTo begin an empty store on purpose, remove this file as well.\n";

/// The store, and what it says of its health.
pub(crate) struct Engine {
    pub(crate) store: SharedStore,
    pub(crate) is_healthy: Box<dyn Fn() -> bool + Send + Sync>,
}

/// Opens the store, with its key. What is missing beside existing data is an error, never made anew.
pub(crate) async fn prepare(settings: &Settings) -> Result<(Engine, Arc<Sealer>), Failure> {
    let data_dir = &settings.store.data_dir;
    make_private(data_dir).map_err(|source| Failure::File { path: data_dir.clone(), source })?;
    match settings.store.engine {
        StoreEngine::Memory => {
            let master = match &settings.keys.master_key_file {
                Some(path) => MasterKey::load_or_create(path, false)?,
                None => MasterKey::ephemeral(),
            };
            let store = Arc::new(MemoryStore::new());
            Ok((Engine { store, is_healthy: Box::new(|| true) }, Arc::new(Sealer::new(&master))))
        }
        StoreEngine::Sled => {
            let (folder, begun) = (data_dir.join(STORE_FOLDER), data_dir.join(BEGUN_FILE));
            let must_exist = begun.exists();
            let master =
                MasterKey::load_or_create(&settings.master_key_path(), must_exist || folder.exists())?;
            let cache_bytes = u64::from(settings.store.sled_cache_mib) * 1024 * 1024;
            let options = toolgate_store_sled::Options { cache_bytes, must_exist, ..Default::default() };
            let opening = tokio::task::spawn_blocking(move || SledStore::open(&folder, options));
            let opened = opening.await.map_err(|error| Failure::Runtime(io::Error::other(error)))?;
            let store = Arc::new(opened.map_err(|error| of_opening(error, &begun))?);
            if !must_exist {
                note(&begun).map_err(|source| Failure::File { path: begun, source })?;
            }
            let asked = Arc::clone(&store);
            let engine = Engine { store, is_healthy: Box::new(move || asked.healthy()) };
            Ok((engine, Arc::new(Sealer::new(&master))))
        }
    }
}

/// Opens the log of calls. That of a store which forgets is begun anew.
pub(crate) fn call_log(settings: &Settings, sealer: &Arc<Sealer>) -> Result<Arc<CallLog>, Failure> {
    let forgets = settings.store.engine == StoreEngine::Memory;
    let folder = settings.store.data_dir.join(if forgets { FORGOTTEN_CALLS_FOLDER } else { CALLS_FOLDER });
    let failed = |source| Failure::File { path: folder.clone(), source };
    if forgets && folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    let arguments = match settings.audit.arguments {
        LoggedArguments::Hash => ArgumentsKept::Hash,
        LoggedArguments::Full => ArgumentsKept::Text,
        LoggedArguments::None => ArgumentsKept::Nothing,
    };
    let max_bytes = u64::from(settings.audit.calls_mib) * 1024 * 1024;
    let is_durable = settings.audit.calls == LoggedCalls::Durable;
    let options = CallLogOptions { folder: folder.clone(), max_bytes, arguments, is_durable };
    let log = CallLog::open(options, Arc::clone(sealer), Arc::new(SystemClock)).map_err(failed)?;
    Ok(Arc::new(log))
}

fn of_opening(error: OpenError, begun: &Path) -> Failure {
    match error {
        OpenError::Missing(folder) => Failure::StoreLost { folder, begun: begun.into() },
        other => other.into(),
    }
}

fn make_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Its being there is what counts: a stop in the middle of it loses nothing.
fn note(path: &Path) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(BEGUN_TEXT)?;
    file.sync_all()?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
