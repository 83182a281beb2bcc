use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use toolgate_definition::{Definition, Fingerprint, arguments::InputSchema};
use toolgate_domain::limits::MAX_READY_SCHEMAS;

/// Input schemas that were made ready for a call before, by the fingerprint of their definition: equal fingerprints are
/// equal schemas.
#[derive(Debug, Default)]
pub(crate) struct Schemas {
    ready: Mutex<HashMap<Fingerprint, Arc<InputSchema>>>,
}

impl Schemas {
    /// That of a definition. Where there is no room for another, one that may be needed again is forgotten.
    pub(crate) fn of(&self, definition: &Arc<Definition>) -> Arc<InputSchema> {
        let fingerprint = definition.fingerprint();
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = ready.get(&fingerprint) {
            return Arc::clone(schema);
        }
        if ready.len() >= MAX_READY_SCHEMAS
            && let Some(other) = ready.keys().next().copied()
        {
            ready.remove(&other);
        }
        let schema = Arc::new(InputSchema::new(Arc::clone(definition)));
        ready.insert(fingerprint, Arc::clone(&schema));
        schema
    }
}
