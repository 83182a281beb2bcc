use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::message::Id;

/// A session's id and a request's: no session reaches into another.
type Key = (String, String);

/// The calls of sessions that are under way on this replica, so that a client can cancel one. A stateless client ends the
/// request instead.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(Mutex<HashMap<Key, Arc<Notify>>>);

/// One of them, until this is dropped.
#[derive(Debug)]
pub(crate) struct Cancellable {
    under_way: Arc<UnderWay>,
    key: Key,
    cancelled: Arc<Notify>,
}

impl UnderWay {
    /// Begins one. Of two with the same ids the later one can be cancelled.
    pub(crate) fn begin(self: &Arc<Self>, session: &str, request: &Id) -> Cancellable {
        let (key, cancelled) = ((session.to_owned(), request.text().to_owned()), Arc::new(Notify::new()));
        self.lock().insert(key.clone(), Arc::clone(&cancelled));
        Cancellable { under_way: Arc::clone(self), key, cancelled }
    }

    /// Cancels one, if it is there: it may have ended meanwhile, or be on another replica.
    pub(crate) fn cancel(&self, session: &str, request: &str) {
        if let Some(cancelled) = self.lock().get(&(session.to_owned(), request.to_owned())) {
            cancelled.notify_one();
        }
    }

    /// The map is whole even where a holder of the lock panicked.
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cancellable {
    pub(crate) async fn cancelled(&self) {
        self.cancelled.notified().await;
    }
}

impl Drop for Cancellable {
    fn drop(&mut self) {
        let mut under_way = self.under_way.lock();
        if under_way.get(&self.key).is_some_and(|present| Arc::ptr_eq(present, &self.cancelled)) {
            under_way.remove(&self.key);
        }
    }
}
