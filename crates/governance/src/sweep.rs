//! Clearing away the rows of what was deleted: in batches, each of which may be the last before a kill.
//!
//! Nothing depends on when it happens. What is deleted is gone with the commit that put its tombstone, and whoever reads a
//! row that is left over judges it by that.

use std::{fmt, num::NonZeroUsize, time::Duration};

use toolgate_catalog::{Catalog, from_commit_error, from_row_error, from_store_error};
use toolgate_domain::{ClientId, Fault, UpstreamId};
use toolgate_records::{DeletedClient, Key, Record};
use toolgate_store::{Commit, CommitError, Condition, KeyRange, Row, Store, scan_all};

use crate::{Governance, rows::read};

/// Rows that one commit of a sweep touches.
const BATCH_ROWS: NonZeroUsize = NonZeroUsize::new(96).expect("96 is not zero");
/// Pause before a sweep that failed is begun again.
const PAUSE: Duration = Duration::from_secs(5);

/// What was deleted, and left rows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Deleted {
    Upstream(ClientId, UpstreamId),
    Client(ClientId),
}

impl Deleted {
    fn client(self) -> ClientId {
        match self {
            Self::Upstream(client, _) | Self::Client(client) => client,
        }
    }
}

impl fmt::Display for Deleted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Upstream(_, id) => write!(f, "upstream {id}"),
            Self::Client(id) => write!(f, "client {id}"),
        }
    }
}

/// What every commit of a sweep begins with: the conditions that what is swept is dead and nothing else is, and a row that
/// outlives the sweep.
pub(crate) struct Template {
    conditions: Vec<Condition>,
    progress: Record,
}

impl Template {
    fn commit(&self) -> Commit {
        let (key, value) = self.progress.encode();
        Commit { conditions: self.conditions.clone(), ..Commit::new() }.put(key, value)
    }

    /// Deletes every row of `range`. Harmless when done again, and beside another that does the same.
    pub(crate) async fn delete(&self, store: &dyn Store, range: &KeyRange) -> Result<(), Fault> {
        loop {
            let page = store.scan(range, BATCH_ROWS).await.map_err(|error| from_store_error(&error))?;
            if page.rows.is_empty() {
                return Ok(());
            }
            let commit = page.rows.into_iter().fold(self.commit(), |commit, row| commit.delete(row.key));
            store.commit(commit).await.map_err(|error| from_commit_error(&error))?;
        }
    }
}

impl Governance {
    /// Goes on with every sweep that was not ended, of clients that were deleted and in all others that can be read.
    ///
    /// # Errors
    /// The last failure of the store, after everything else was begun; asking again is harmless.
    pub async fn resume_sweeps(&self) -> Result<(), Fault> {
        let mut failed = Ok(());
        for client in unswept_clients(self.store()).await? {
            self.begin_sweep(Deleted::Client(client));
        }
        for client in self.catalog.clients().await? {
            match self.catalog.snapshot(client, None).await {
                Ok(snapshot) => {
                    snapshot.unswept().for_each(|id| self.begin_sweep(Deleted::Upstream(client, id)));
                }
                Err(fault) => failed = Err(fault),
            }
        }
        failed
    }

    /// Sweeps what was left, until it is done or the store is closed.
    pub(crate) fn begin_sweep(&self, deleted: Deleted) {
        let catalog = self.catalog.clone();
        tokio::spawn(async move {
            loop {
                let done = match deleted {
                    Deleted::Upstream(client, id) => sweep_upstream(&catalog, client, id).await,
                    Deleted::Client(client) => sweep_client(catalog.store().as_ref(), client).await,
                };
                match done {
                    Ok(()) => return tracing::info!(client.id = %deleted.client(), "swept {deleted}"),
                    // A client that is deleted is swept as a whole.
                    Err(Fault::Draining | Fault::ClientNotFound) => return,
                    Err(fault) => {
                        let client = deleted.client();
                        tracing::warn!(client.id = %client, fault = ?fault, "sweep of {deleted} failed");
                        tokio::time::sleep(PAUSE).await;
                    }
                }
            }
        });
    }
}

async fn unswept_clients(store: &dyn Store) -> Result<Vec<ClientId>, Fault> {
    let (rows, _) =
        scan_all(store, &Key::deleted_clients()).await.map_err(|error| from_store_error(&error))?;
    let mut unswept = Vec::new();
    for row in rows {
        let record = Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))?;
        if let Record::DeletedClient(client, DeletedClient { is_swept: false, .. }) = record {
            unswept.push(client);
        }
    }
    Ok(unswept)
}

async fn sweep_client(store: &dyn Store, client: ClientId) -> Result<(), Fault> {
    let tombstone = Key::DeletedClient(client);
    let (Some(Record::DeletedClient(_, deleted)), _) = read(store, &tombstone).await? else {
        return Ok(());
    };
    let template = |is_swept| Template {
        conditions: vec![
            Condition::Present(tombstone.encode()),
            Condition::Absent(Key::Client(client).encode()),
        ],
        progress: Record::DeletedClient(client, DeletedClient { is_swept, ..deleted.clone() }),
    };
    let begun = template(false);
    release_keys(store, client, &begun).await?;
    for range in &Key::swept_of(client) {
        begun.delete(store, range).await?;
    }
    let end = template(true).commit();
    store.commit(end).await.map(|_| ()).map_err(|error| from_commit_error(&error))
}

/// Deletes what is kept of a client's keys elsewhere, before the rows that lead there.
async fn release_keys(store: &dyn Store, client: ClientId, template: &Template) -> Result<(), Fault> {
    let mut range = Key::api_keys_of(client);
    loop {
        let page = store.scan(&range, BATCH_ROWS).await.map_err(|error| from_store_error(&error))?;
        let ids = page.rows.iter().filter_map(|row| match Key::decode(&row.key) {
            Ok(Key::ApiKey(_, id)) => Some(id),
            _ => None,
        });
        let commit = ids.fold(template.commit(), |commit, id| commit.delete(Key::ApiKeyOwner(id).encode()));
        store.commit(commit).await.map_err(|error| from_commit_error(&error))?;
        let Some(next) = page.next else { return Ok(()) };
        range.start = next;
    }
}

async fn sweep_upstream(catalog: &Catalog, client: ClientId, id: UpstreamId) -> Result<(), Fault> {
    let store = catalog.store().as_ref();
    let progress = |done| Record::UpstreamSweep(client, id, done);
    let template = |done| Template {
        conditions: vec![
            Condition::Present(Key::UpstreamTombstone(client, id).encode()),
            Condition::Present(Key::Client(client).encode()),
        ],
        progress: progress(done),
    };
    let begun = template(false);
    begun.delete(store, &Key::observed_of(client, id)).await?;
    begun.delete(store, &Key::ruled_of(client, id)).await?;
    release_names(catalog, client, id, &begun).await?;
    let end = template(true).commit();
    store.commit(end).await.map(|_| ()).map_err(|error| from_commit_error(&error))
}

/// Deletes the claims of an upstream, which are void. One for a name that another tool goes by is given up instead: that
/// tool became the name's only one, and remembers since when by the row's version.
async fn release_names(
    catalog: &Catalog,
    client: ClientId,
    id: UpstreamId,
    template: &Template,
) -> Result<(), Fault> {
    let store = catalog.store().as_ref();
    let mut range = Key::name_claims_of(client);
    loop {
        let page = store.scan(&range, BATCH_ROWS).await.map_err(|error| from_store_error(&error))?;
        let snapshot = catalog.snapshot(client, None).await?;
        let (mut commit, mut is_needed) = (template.commit(), false);
        for row in &page.rows {
            let Some(name) = name_held_by(row, id)? else { continue };
            is_needed = true;
            commit = commit.when(Condition::Equals(row.key.clone(), row.version));
            commit = if snapshot.is_a_tools_name(&name) {
                let (key, value) = Record::NameClaim(client, name, None).encode();
                commit.put(key, value)
            } else {
                commit.delete(row.key.clone())
            };
        }
        match if is_needed { store.commit(commit).await.map(|_| ()) } else { Ok(()) } {
            Ok(()) => {}
            // Another tool took one of the names; the others are looked at again.
            Err(CommitError::Conflict(condition)) if condition >= template.conditions.len() => continue,
            Err(error) => return Err(from_commit_error(&error)),
        }
        let Some(next) = page.next else { return Ok(()) };
        range.start = next;
    }
}

fn name_held_by(row: &Row, id: UpstreamId) -> Result<Option<String>, Fault> {
    match Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))? {
        Record::NameClaim(_, name, Some(holder)) if holder.upstream == id => Ok(Some(name)),
        _ => Ok(None),
    }
}
