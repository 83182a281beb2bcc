//! Calls that their callers gave an id: each is made once, and asking again brings what came of it.
//!
//! What is known of them is in the memory of this process alone.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use toolgate_domain::{
    ClientId, Fault,
    limits::{CALL_ID_KEPT_MS, MAX_CALL_IDS_PER_CLIENT, MAX_KEPT_ANSWER_BYTES_PER_CLIENT},
};
use tracing::Instrument;

use crate::Called;

/// What came of a call.
type Outcome = Result<Arc<Called>, Fault>;
/// Tells the outcome once there is one.
type Telling = watch::Receiver<Option<Outcome>>;

/// Hash of a caller and the id it gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallKey(pub(crate) [u8; 32]);

/// Hash of a tool and arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked(pub(crate) [u8; 32]);

#[derive(Debug, Default)]
pub(crate) struct CallIds {
    of: Mutex<HashMap<ClientId, Known>>,
}

/// The calls of one client, so that no other's are let go for them (law 8).
#[derive(Debug, Default)]
struct Known {
    calls: HashMap<CallKey, Call>,
    /// Those that ended, the oldest first.
    ended: VecDeque<CallKey>,
    answer_bytes: usize,
    next: u64,
}

#[derive(Debug)]
struct Call {
    number: u64,
    asked: Asked,
    /// `None` where the answer was let go.
    telling: Option<Telling>,
    answer_bytes: usize,
}

impl CallIds {
    /// Makes the call, or waits for what comes of the one that was begun under its id. It goes on when its caller leaves.
    ///
    /// # Errors
    /// [`Fault::Invalid`] where the id belongs to another call, or the answer is not kept any more; what the call ends with.
    pub(crate) async fn once(
        self: &Arc<Self>,
        client: ClientId,
        key: CallKey,
        asked: Asked,
        call: impl Future<Output = Result<Called, Fault>> + Send + 'static,
    ) -> Result<Called, Fault> {
        let mut telling = self.join(client, key, asked, call)?;
        let outcome = telling.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
        let broken = || Err(Fault::Internal { cause: "a call broke off".to_owned() });
        outcome.unwrap_or_else(broken).map(Arc::unwrap_or_clone)
    }

    fn join(
        self: &Arc<Self>,
        client: ClientId,
        key: CallKey,
        asked: Asked,
        call: impl Future<Output = Result<Called, Fault>> + Send + 'static,
    ) -> Result<Telling, Fault> {
        let mut all = self.lock();
        let known = all.entry(client).or_default();
        if let Some(call) = known.calls.get(&key) {
            return call.joined(asked);
        }
        let (teller, telling) = watch::channel(None);
        let number = known.next;
        known.next += 1;
        let begun = Call { number, asked, telling: Some(telling.clone()), answer_bytes: 0 };
        known.calls.insert(key, begun);
        let guard = Remembered { ids: Arc::clone(self), client, key, number };
        let made = async move {
            let outcome = call.await.map(Arc::new);
            if has_run(&outcome) {
                guard.ids.end(client, key, &outcome);
                teller.send_replace(Some(outcome));
                tokio::time::sleep(Duration::from_millis(CALL_ID_KEPT_MS)).await;
                drop(guard);
            } else {
                drop(guard);
                teller.send_replace(Some(outcome));
            }
        };
        tokio::spawn(made.in_current_span());
        Ok(telling)
    }

    fn end(&self, client: ClientId, key: CallKey, outcome: &Outcome) {
        if let Some(known) = self.lock().get_mut(&client) {
            known.end(key, outcome.as_ref().map_or(0, |called| called.text().len()));
        }
    }

    fn forget(&self, client: ClientId, key: CallKey, number: u64) {
        let mut all = self.lock();
        let Some(known) = all.get_mut(&client) else { return };
        // The id may belong to a later call by now.
        if known.calls.get(&key).is_some_and(|call| call.number == number) {
            known.ended.retain(|ended| *ended != key);
            known.remove(key);
        }
        if known.calls.is_empty() {
            all.remove(&client);
        }
    }

    /// The books are whole even where a holder of the lock panicked.
    fn lock(&self) -> MutexGuard<'_, HashMap<ClientId, Known>> {
        self.of.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn end(&mut self, key: CallKey, answer_bytes: usize) {
        let Some(call) = self.calls.get_mut(&key) else { return };
        call.answer_bytes = answer_bytes;
        self.answer_bytes += answer_bytes;
        self.ended.push_back(key);
        if self.ended.len() > MAX_CALL_IDS_PER_CLIENT
            && let Some(oldest) = self.ended.pop_front()
        {
            self.remove(oldest);
        }
        for key in &self.ended {
            if self.answer_bytes <= MAX_KEPT_ANSWER_BYTES_PER_CLIENT {
                break;
            }
            if let Some(call) = self.calls.get_mut(key) {
                self.answer_bytes -= std::mem::take(&mut call.answer_bytes);
                call.telling = None;
            }
        }
    }

    fn remove(&mut self, key: CallKey) {
        if let Some(call) = self.calls.remove(&key) {
            self.answer_bytes -= call.answer_bytes;
        }
    }
}

impl Call {
    fn joined(&self, asked: Asked) -> Result<Telling, Fault> {
        if self.asked != asked {
            return Err(Fault::invalid(
                "call_id",
                "belongs to a call with another tool or other arguments; send a new one",
            ));
        }
        self.telling.clone().ok_or_else(|| {
            Fault::invalid("call_id", "belongs to a call that was answered, and the answer is not kept; send a new one to call again")
        })
    }
}

/// Forgets a call when dropped, also where the call broke off.
struct Remembered {
    ids: Arc<CallIds>,
    client: ClientId,
    key: CallKey,
    number: u64,
}

impl Drop for Remembered {
    fn drop(&mut self) {
        self.ids.forget(self.client, self.key, self.number);
    }
}

/// Whether the tool has run, or may have.
fn has_run(outcome: &Outcome) -> bool {
    match outcome {
        Ok(called) => matches!(**called, Called::Result(_)),
        Err(Fault::UpstreamRefused { .. } | Fault::UpstreamFailed { may_have_run: true, .. }) => true,
        Err(_) => false,
    }
}
