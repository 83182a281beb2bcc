//! One client's catalogue in memory: loaded on first use, then advanced by the store's watch.

use std::{collections::HashSet, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use futures::StreamExt;
use tokio::sync::watch;
use toolgate_definition::Definition;
use toolgate_domain::{ClientId, Fault, limits, tool::SeenDefinition};
use toolgate_records::{Key, Record};
use toolgate_store::{
    Change, CommitEvents, KeyRange, Revision, Row, SharedStore, Watch, limits::SCAN_PAGE_ROWS,
};

use crate::{
    fault::{from_row_error, from_store_error, from_watch_error},
    snapshot::{Loaded, Snapshot, ToolKey, Update},
};

/// First pause before a broken watch is opened again; doubled up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The present snapshot of a client, and word of each new one.
#[derive(Debug)]
pub(crate) struct ReadModel {
    current: ArcSwap<Snapshot>,
    moved: watch::Sender<Revision>,
}

impl ReadModel {
    /// Loads `client` and keeps it up to date for as long as anybody holds the model.
    pub(crate) async fn load(store: SharedStore, client: ClientId) -> Result<Arc<Self>, Fault> {
        let (snapshot, watch) = load(&store, client).await?;
        let model = Arc::new(Self {
            moved: watch::Sender::new(snapshot.revision()),
            current: ArcSwap::from_pointee(snapshot),
        });
        tokio::spawn(follow(Arc::downgrade(&model), store, client, watch));
        Ok(model)
    }

    /// The present snapshot.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Tells when the snapshot moves.
    pub(crate) fn moves(&self) -> watch::Receiver<Revision> {
        self.moved.subscribe()
    }

    /// A snapshot that has reached `revision`, waiting [`limits::MIN_REVISION_WAIT_MS`] for it at most.
    pub(crate) async fn reached(&self, revision: Revision) -> Result<Arc<Snapshot>, Fault> {
        let mut moves = self.moves();
        let wait = moves.wait_for(|at| *at >= revision);
        match tokio::time::timeout(Duration::from_millis(limits::MIN_REVISION_WAIT_MS), wait).await {
            Ok(Ok(_)) => Ok(self.snapshot()),
            Ok(Err(_)) | Err(_) => Err(Fault::RevisionNotReached),
        }
    }

    fn publish(&self, snapshot: Snapshot) {
        let revision = snapshot.revision();
        self.current.store(Arc::new(snapshot));
        self.moved.send_replace(revision);
    }
}

/// Advances the model until nobody holds it any more, or the client is deleted.
async fn follow(model: std::sync::Weak<ReadModel>, store: SharedStore, client: ClientId, mut watch: Watch) {
    let mut pause = FIRST_PAUSE;
    loop {
        let fault = match advance(&model, &store, &mut watch).await {
            Ok(()) | Err(Fault::Draining) => return,
            Err(fault) => fault,
        };
        tracing::warn!(client.id = %client, fault = ?fault, "catalogue watch ended, loading again");
        loop {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            let Some(model) = model.upgrade() else { return };
            match load(&store, client).await {
                Ok((snapshot, fresh)) => {
                    model.publish(snapshot.succeeding(&model.snapshot()));
                    (watch, pause) = (fresh, FIRST_PAUSE);
                    break;
                }
                Err(Fault::Draining) => return,
                Err(Fault::ClientNotFound) => return model.publish(Snapshot::deleted(client)),
                Err(fault) => {
                    tracing::warn!(client.id = %client, fault = ?fault, "catalogue cannot be loaded")
                }
            }
        }
    }
}

/// Applies commits as they come. `Ok` when the model or the client is gone.
async fn advance(
    model: &std::sync::Weak<ReadModel>,
    store: &SharedStore,
    watch: &mut Watch,
) -> Result<(), Fault> {
    while let Some(events) = watch.next().await {
        let events = events.map_err(|error| from_watch_error(&error))?;
        let Some(model) = model.upgrade() else { return Ok(()) };
        let next = apply(store, &model.snapshot(), events).await?;
        let is_last = next.is_deleted();
        model.publish(next);
        if is_last {
            return Ok(());
        }
    }
    Err(Fault::Draining)
}

/// A scan, then the watch from its start until everything that the scan may have seen too early is in.
async fn load(store: &SharedStore, client: ClientId) -> Result<(Snapshot, Watch), Fault> {
    // What is left of a deleted client would be read in vain.
    let declared = store.get(&Key::Client(client).encode()).await;
    if declared.map_err(|error| from_store_error(&error))?.is_none() {
        return Err(Fault::ClientNotFound);
    }
    let range = Key::catalogue_of(client);
    let Scanned { rows: loaded, began, newest } = scan(store, &range).await?;
    if !loaded.iter().any(|row| matches!(row.record, Record::Client(..))) {
        return Err(Fault::ClientNotFound);
    }
    let empty = Snapshot::empty(client);
    let update = with_definitions(store, &empty, loaded).await?;
    let mut snapshot = empty.advanced(update, newest);
    let mut watch = store.watch(range, began).await.map_err(|error| from_watch_error(&error))?;
    let mut at = began;
    while at < newest {
        let events = watch.next().await.ok_or(Fault::Draining)?.map_err(|error| from_watch_error(&error))?;
        at = events.revision;
        snapshot = apply(store, &snapshot, events).await?;
    }
    if snapshot.is_deleted() {
        return Err(Fault::ClientNotFound);
    }
    Ok((snapshot.forgetting_who_left(), watch))
}

/// The rows of a catalogue without the definitions that are no longer listed.
struct Scanned {
    rows: Vec<Loaded>,
    began: Revision,
    /// Of all rows.
    newest: Revision,
}

/// Reads page by page: however long the history is, no more of it than a page is ever in memory.
async fn scan(store: &SharedStore, range: &KeyRange) -> Result<Scanned, Fault> {
    let mut scanned = Scanned { rows: Vec::new(), began: Revision::ZERO, newest: Revision::ZERO };
    let mut listed = HashSet::new();
    let mut next = Some(range.start.clone());
    while let Some(start) = next.take() {
        let rest = KeyRange { start, end: range.end.clone() };
        let page = store.scan(&rest, SCAN_PAGE_ROWS).await.map_err(|error| from_store_error(&error))?;
        if rest.start == range.start {
            scanned.began = page.revision;
        }
        for Row { key, value, version } in page.rows {
            scanned.newest = scanned.newest.max(version);
            let record = Record::decode(&key, &value).map_err(|error| from_row_error(&error))?;
            // Observed rows come before definitions; what changed between the two is looked up by itself.
            match &record {
                Record::Observed(client, upstream, name, observed) => {
                    let key = Key::Definition(*client, *upstream, name.clone(), observed.fingerprint);
                    listed.insert(key);
                }
                Record::Definition(..) if !listed.contains(&record.key()) => continue,
                _ => {}
            }
            scanned.rows.push(Loaded { record, version });
        }
        next = page.next;
    }
    Ok(scanned)
}

async fn apply(store: &SharedStore, snapshot: &Snapshot, events: CommitEvents) -> Result<Snapshot, Fault> {
    let CommitEvents { revision, changes } = events;
    let client = Key::Client(snapshot.client()).encode();
    if snapshot.is_deleted() || changes.iter().any(|change| change.key == client && change.value.is_none()) {
        return Ok(Snapshot::deleted(snapshot.client()));
    }
    let (mut rows, mut deleted) = (Vec::with_capacity(changes.len()), Vec::new());
    for Change { key, value } in changes {
        match value {
            Some(value) => {
                let record = Record::decode(&key, &value).map_err(|error| from_row_error(&error))?;
                rows.push(Loaded { record, version: revision });
            }
            None => deleted.extend(Key::decode(&key)),
        }
    }
    let update = with_definitions(store, snapshot, rows).await?;
    Ok(snapshot.advanced(Update { deleted, ..update }, revision))
}

/// Finds the text of each observed definition: in the same rows, in the snapshot, or in the store.
async fn with_definitions(
    store: &SharedStore,
    snapshot: &Snapshot,
    rows: Vec<Loaded>,
) -> Result<Update, Fault> {
    let mut wanted: std::collections::BTreeMap<ToolKey, Option<Arc<Definition>>> =
        std::collections::BTreeMap::new();
    let mut fingerprints = std::collections::BTreeMap::new();
    for Loaded { record, .. } in &rows {
        if let Record::Observed(_, upstream, name, observed) = record {
            let key = ToolKey { upstream: *upstream, name: Arc::from(name.as_str()) };
            wanted.insert(key.clone(), snapshot.held(&key, observed.fingerprint).cloned());
            fingerprints.insert(key, observed.fingerprint);
        }
    }
    for Loaded { record, .. } in &rows {
        if let Record::Definition(_, upstream, name, fingerprint, SeenDefinition { text: Some(text), .. }) =
            record
        {
            let key = ToolKey { upstream: *upstream, name: Arc::from(name.as_str()) };
            if fingerprints.get(&key) == Some(fingerprint) && wanted.get(&key).is_some_and(Option::is_none) {
                wanted.insert(key, Some(parse(text)?));
            }
        }
    }
    let mut update = Update { rows, definitions: Vec::with_capacity(wanted.len()), ..Update::default() };
    for (key, found) in wanted {
        let definition = match found {
            Some(definition) => Some(definition),
            None => read(store, snapshot.client(), &key, fingerprints[&key]).await?,
        };
        update.definitions.extend(definition.map(|definition| (key, definition)));
    }
    Ok(update)
}

/// The definition, or `None` for one that another one has replaced by now, and whose text was not kept: the commit that did
/// so is still to come.
async fn read(
    store: &SharedStore,
    client: ClientId,
    tool: &ToolKey,
    fingerprint: toolgate_definition::Fingerprint,
) -> Result<Option<Arc<Definition>>, Fault> {
    let key = Key::Definition(client, tool.upstream, tool.name.to_string(), fingerprint).encode();
    let row = store.get(&key).await.map_err(|error| from_store_error(&error))?;
    let row = row.ok_or_else(|| Fault::Internal { cause: format!("no text for {tool:?} {fingerprint}") })?;
    match Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))? {
        Record::Definition(.., seen) => seen.text.as_deref().map(parse).transpose(),
        other => Err(Fault::Internal { cause: format!("{:?} where a text belongs", other.key()) }),
    }
}

fn parse(text: &str) -> Result<Arc<Definition>, Fault> {
    let definition = Definition::parse(text).map_err(|error| Fault::Internal { cause: error.to_string() })?;
    Ok(Arc::new(definition))
}
