//! What servers told lately, for as long as it may be told again, and whose turn it is to ask them.
//!
//! A slot belongs to one upstream, whose id is no other's, of whatever tenant. What is in it counts only for the very
//! declaration of the upstream that it was asked under. Nothing that a credential was sent for is ever put here, but
//! that a server could not be listed.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::{Mutex as Turn, MutexGuard as TurnTaken, watch};
use toolgate_domain::{Moment, UpstreamId};
use toolgate_store::Revision;

use super::{Told, limits::MAX_KEPT_BYTES};

/// What a server told, and how it may be told on.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) told: Told,
    pub(super) asked_at: Option<Moment>,
    pub(super) until: Option<Moment>,
    pub(super) from_cache: bool,
}

impl Kept {
    /// By no server.
    pub(super) fn unasked(told: Told) -> Self {
        Self { told, asked_at: None, until: None, from_cache: false }
    }

    /// For whoever asked alone.
    pub(super) fn passing(told: Told, asked_at: Moment) -> Self {
        Self { asked_at: Some(asked_at), ..Self::unasked(told) }
    }

    /// For everybody until then.
    pub(super) fn until(told: Told, asked_at: Moment, until: Moment) -> Self {
        Self { until: Some(until), ..Self::passing(told, asked_at) }
    }

    /// A clock that was set back makes nothing last longer.
    fn is_good(&self, now: Moment) -> bool {
        self.asked_at.is_some_and(|at| at <= now) && self.until.is_some_and(|until| now < until)
    }
}

/// All slots. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots(Arc<Mutex<HashMap<UpstreamId, Arc<Slot>>>>);

/// What is known of one server.
#[derive(Debug)]
pub(super) struct Slot {
    turn: Turn<()>,
    content: Mutex<Option<Content>>,
    /// How often the server told that its list changed.
    notices: AtomicU64,
    ended: watch::Sender<bool>,
}

#[derive(Debug)]
struct Content {
    declared: Revision,
    heard: u64,
    bytes: usize,
    kept: Kept,
}

impl Slots {
    /// The slot of an upstream.
    pub(super) fn of(&self, upstream: UpstreamId) -> Arc<Slot> {
        Arc::clone(lock(&self.0).entry(upstream).or_default())
    }

    /// The upstream's server tells that its list changed. What it tells now may be from before.
    pub(crate) fn forget(&self, upstream: UpstreamId) {
        if let Some(slot) = lock(&self.0).get(&upstream) {
            slot.notices.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// The upstream is declared differently, or gone: nobody is to wait for what its server tells.
    pub(crate) fn end(&self, upstream: UpstreamId) {
        if let Some(slot) = lock(&self.0).remove(&upstream) {
            slot.ended.send_replace(true);
        }
    }

    /// Keeps what was told, unless the server told of a change since `heard`, or there is no room.
    pub(super) fn keep(&self, slot: &Slot, declared: Revision, heard: u64, kept: &Kept, now: Moment) {
        let mut slots = lock(&self.0);
        let (others, bytes) =
            (slots.values().map(|slot| slot.clean(now)).sum::<usize>(), kept.told.weight_bytes());
        slots.retain(|_, slot| Arc::strong_count(slot) > 1 || lock(&slot.content).is_some());
        if others + bytes <= MAX_KEPT_BYTES {
            let kept = Kept { from_cache: true, ..kept.clone() };
            *lock(&slot.content) = Some(Content { declared, heard, bytes, kept });
        }
    }
}

impl Default for Slot {
    fn default() -> Self {
        let ended = watch::Sender::new(false);
        Self { turn: Turn::default(), content: Mutex::default(), notices: AtomicU64::new(0), ended }
    }
}

impl Slot {
    /// What is kept, if it is still good.
    pub(super) fn kept(&self, declared: Revision, now: Moment) -> Option<Kept> {
        let content = lock(&self.content);
        let good = content.as_ref().filter(|content| self.holds(content, now));
        good.filter(|content| content.declared == declared).map(|content| content.kept.clone())
    }

    fn holds(&self, content: &Content, now: Moment) -> bool {
        content.heard == self.heard() && content.kept.is_good(now)
    }

    /// Lets go of what is no longer good, and tells what is left in bytes.
    fn clean(&self, now: Moment) -> usize {
        let mut content = lock(&self.content);
        *content = content.take().filter(|content| self.holds(content, now));
        content.as_ref().map_or(0, |content| content.bytes)
    }

    /// How often the server told of a change so far.
    pub(super) fn heard(&self) -> u64 {
        self.notices.load(Ordering::SeqCst)
    }

    /// Waits until nobody else asks the server.
    pub(super) async fn turn(&self) -> TurnTaken<'_, ()> {
        self.turn.lock().await
    }

    /// Waits for the end of the upstream as it is declared.
    pub(super) async fn ended(&self) {
        // The sender is this slot's own.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }
}

/// What is locked is whole even where a holder panicked: each change of it is a single step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
