use std::sync::Arc;
use std::time::Duration;

use toolgate_catalog::{Catalog, sync::Syncs};
use toolgate_domain::{Clock, limits};
use toolgate_sealing::Sealer;
use toolgate_upstream::{CallBounds, ToolCalls};

use crate::{CallRecords, breaker::Breaker, call_ids::CallIds, room::Room, schemas::Schemas};

/// Everything that calls work with. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gateway {
    pub(crate) catalog: Catalog,
    pub(crate) syncs: Syncs,
    pub(crate) servers: Arc<dyn ToolCalls>,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) records: Arc<dyn CallRecords>,
    pub(crate) schemas: Arc<Schemas>,
    pub(crate) room: Arc<Room>,
    pub(crate) breaker: Arc<Breaker>,
    pub(crate) call_ids: Arc<CallIds>,
}

impl Gateway {
    /// Calls tools of `catalog` through `servers`. A sync is asked of `syncs` where a call finds that a listing is old;
    /// every call is told to `records`.
    pub fn new(
        catalog: Catalog,
        syncs: Syncs,
        servers: Arc<dyn ToolCalls>,
        sealer: Arc<Sealer>,
        clock: Arc<dyn Clock>,
        records: Arc<dyn CallRecords>,
    ) -> Self {
        let (schemas, room, breaker, call_ids) = Default::default();
        Self { catalog, syncs, servers, sealer, clock, records, schemas, room, breaker, call_ids }
    }
}

/// What one call may cost.
pub(crate) const BOUNDS: CallBounds = CallBounds {
    connect_timeout: Duration::from_millis(limits::CALL_CONNECT_TIMEOUT_MS),
    total_timeout: Duration::from_millis(limits::CALL_TIMEOUT_MS),
    max_answer_bytes: limits::MAX_CALL_ANSWER_BYTES,
};
