use std::{collections::HashMap, sync::Arc};

use arc_swap::ArcSwap;
use tokio::sync::Mutex;
use toolgate_domain::{ClientId, Fault};
use toolgate_records::{Key, Record};
use toolgate_store::{Revision, SharedStore, scan_all};

use crate::{Snapshot, from_row_error, from_store_error, read_model::ReadModel};

/// The catalogues of all clients. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Catalog {
    store: SharedStore,
    models: Arc<ArcSwap<HashMap<ClientId, Arc<ReadModel>>>>,
    /// Held while a client is loaded, so that two first callers load it once. Readers never take it.
    loading: Arc<Mutex<()>>,
}

impl Catalog {
    /// Over `store`; clients are loaded when they are first asked for.
    pub fn new(store: SharedStore) -> Self {
        Self { store, models: Arc::default(), loading: Arc::default() }
    }

    /// The store that the catalogues are kept in.
    pub fn store(&self) -> &SharedStore {
        &self.store
    }

    /// The present snapshot of `client`, or the first one that has reached `min_revision`.
    ///
    /// # Errors
    /// [`Fault::ClientNotFound`], [`Fault::RevisionNotReached`], or a failure of the store.
    pub async fn snapshot(
        &self,
        client: ClientId,
        min_revision: Option<Revision>,
    ) -> Result<Arc<Snapshot>, Fault> {
        let model = self.model(client).await?;
        let snapshot = match min_revision {
            None => model.snapshot(),
            Some(revision) => model.reached(revision).await?,
        };
        if snapshot.is_deleted() { Err(self.forget(client)) } else { Ok(snapshot) }
    }

    /// The present snapshot of a client that was asked for before.
    pub fn present(&self, client: ClientId) -> Option<Arc<Snapshot>> {
        let snapshot = self.models.load().get(&client)?.snapshot();
        (!snapshot.is_deleted()).then_some(snapshot)
    }

    /// Lets go of the model of a client that was deleted. Its id never comes back.
    fn forget(&self, client: ClientId) -> Fault {
        self.models.rcu(|models| {
            let mut next = HashMap::clone(models);
            next.remove(&client);
            next
        });
        Fault::ClientNotFound
    }

    /// Every client there is, in the order of their names.
    ///
    /// # Errors
    /// Failures of the store.
    pub async fn clients(&self) -> Result<Vec<ClientId>, Fault> {
        let rows = scan_all(self.store.as_ref(), &Key::client_names()).await;
        let (rows, _) = rows.map_err(|error| from_store_error(&error))?;
        let mut clients = Vec::with_capacity(rows.len());
        for row in rows {
            let record = Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))?;
            if let Record::ClientName(_, client) = record {
                clients.push(client);
            }
        }
        Ok(clients)
    }

    /// The model of `client`, loaded now if it is not yet.
    pub(crate) async fn model(&self, client: ClientId) -> Result<Arc<ReadModel>, Fault> {
        if let Some(model) = self.models.load().get(&client) {
            return Ok(Arc::clone(model));
        }
        let _one_at_a_time = self.loading.lock().await;
        if let Some(model) = self.models.load().get(&client) {
            return Ok(Arc::clone(model));
        }
        let model = ReadModel::load(Arc::clone(&self.store), client).await?;
        self.models.rcu(|models| {
            let mut next = HashMap::clone(models);
            next.insert(client, Arc::clone(&model));
            next
        });
        Ok(model)
    }
}
