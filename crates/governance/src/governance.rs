use std::sync::Arc;

use toolgate_catalog::{Catalog, sync::Syncs};
use toolgate_domain::{Clock, Entropy};
use toolgate_sealing::Sealer;
use toolgate_store::Store;
use toolgate_upstream::ToolServers;

use crate::sequencer::Sequencers;

/// Everything that the use cases of governance work with. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Governance {
    pub(crate) catalog: Catalog,
    pub(crate) syncs: Syncs,
    pub(crate) servers: Arc<dyn ToolServers>,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) sequencers: Sequencers,
}

impl Governance {
    /// Over the store of `catalog`.
    pub fn new(
        catalog: Catalog,
        syncs: Syncs,
        servers: Arc<dyn ToolServers>,
        sealer: Arc<Sealer>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let sequencers = Sequencers::new(Arc::clone(catalog.store()), Arc::clone(&clock));
        Self { catalog, syncs, servers, sealer, clock, entropy, sequencers }
    }

    /// The catalogue that is governed.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The syncs of its upstreams.
    pub fn syncs(&self) -> &Syncs {
        &self.syncs
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.catalog.store().as_ref()
    }
}
