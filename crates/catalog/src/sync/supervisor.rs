//! One task an upstream: it alone syncs it, on schedule and on request.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep};
use toolgate_domain::{ClientId, Clock, Fault, UpstreamId, sync_status::Health};
use toolgate_sealing::Sealer;
use toolgate_upstream::ToolServers;

use super::{
    Listed, SyncLimits, SyncTally,
    doubt::Doubt,
    follow,
    limits::STALE_AFTER_INTERVALS,
    pace::{noticed, pause},
    run::{Report, Syncer},
    turns::Turns,
};
use crate::{Catalog, server_tools::Slots};

/// Requests that may wait for one upstream.
const MAX_WAITING: usize = 256;

type Waiter = Option<oneshot::Sender<Result<Report, Fault>>>;

/// The tasks that sync upstreams. They end when the last handle is dropped. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Syncs {
    syncer: Arc<Syncer>,
    tasks: Arc<Mutex<HashMap<UpstreamId, Task>>>,
}

/// The way to the task of one upstream.
#[derive(Debug, Clone)]
struct Task {
    asks: mpsc::Sender<Waiter>,
    signals: Arc<Signals>,
}

impl Syncs {
    /// No tasks yet.
    pub fn new(
        catalog: &Catalog,
        servers: Arc<dyn ToolServers>,
        sealer: Arc<Sealer>,
        clock: Arc<dyn Clock>,
        limits: SyncLimits,
    ) -> Self {
        let store = Arc::clone(catalog.store());
        let (slots, turns, tally) = (Slots::default(), Turns::default(), Arc::default());
        let syncer = Syncer { store, servers, sealer, clock, limits, slots, turns, tally };
        Self { syncer: Arc::new(syncer), tasks: Arc::default() }
    }

    pub(crate) fn syncer(&self) -> &Arc<Syncer> {
        &self.syncer
    }

    /// How syncs ended so far.
    pub fn tally(&self) -> &Arc<SyncTally> {
        &self.syncer.tally
    }

    /// Begins to sync an upstream on schedule, at once for the first time. Harmless when it is synced already.
    pub fn keep(&self, client: ClientId, upstream: UpstreamId) {
        self.task(client, upstream);
    }

    /// Begins to sync every upstream of every client that can be read.
    ///
    /// # Errors
    /// The last failure of the store, after everything else was begun; asking again is harmless.
    pub async fn keep_all(&self, catalog: &Catalog) -> Result<(), Fault> {
        let mut failed = Ok(());
        for client in catalog.clients().await? {
            match catalog.snapshot(client, None).await {
                Ok(snapshot) => snapshot.upstreams().for_each(|entry| self.keep(client, entry.upstream.id)),
                Err(fault) => failed = Err(fault),
            }
        }
        failed
    }

    /// Asks for a sync without waiting for it.
    ///
    /// # Errors
    /// [`Fault::LimitExceeded`] when too many requests wait for this upstream.
    pub fn request(&self, client: ClientId, upstream: UpstreamId) -> Result<(), Fault> {
        self.enqueue(client, upstream, None)
    }

    /// Syncs an upstream and waits for it. All who ask while a sync is under way share the one after it, which sees what
    /// they saw.
    ///
    /// # Errors
    /// [`Fault::UpstreamNotFound`], [`Fault::ClientNotFound`], a failure of the store, [`Fault::LimitExceeded`] as in
    /// [`Syncs::request`].
    pub async fn sync(&self, client: ClientId, upstream: UpstreamId) -> Result<Report, Fault> {
        let (sender, receiver) = oneshot::channel();
        self.enqueue(client, upstream, Some(sender))?;
        receiver.await.map_err(|_| Fault::Draining)?
    }

    /// How the last listing of an upstream stands: what a call that is about to be made goes by.
    pub fn listed(&self, upstream: UpstreamId) -> Listed {
        let signals = self.tasks().get(&upstream).map(|task| Arc::clone(&task.signals));
        let max_age = self.syncer.limits.interval * STALE_AFTER_INTERVALS;
        match signals {
            Some(signals) => signals.doubt.listed(max_age, Instant::now()),
            None => Listed::Doubtful { failed_lately: false },
        }
    }

    /// A call found a sign that the upstream lists something else by now: a sync is asked for, unless one was lately for
    /// the same reason. Nobody waits for it.
    pub fn doubt(&self, client: ClientId, upstream: UpstreamId) {
        if self.task(client, upstream).signals.doubt.raise_by_call(Instant::now()) {
            // Where so many syncs are asked for already, one is coming.
            let _ = self.request(client, upstream);
        }
    }

    /// Abandons what is under way for an upstream that is declared differently now, and syncs it at once.
    pub fn begin_anew(&self, client: ClientId, upstream: UpstreamId) {
        self.syncer.slots.end(upstream);
        let signals = self.task(client, upstream).signals;
        signals.doubt.raise();
        signals.void.notify_one();
    }

    /// Tells the task of an upstream that was deleted, alone or with its client, so that it ends at once.
    pub fn end(&self, upstream: UpstreamId) {
        self.syncer.slots.end(upstream);
        if let Some(task) = self.tasks().remove(&upstream) {
            task.signals.void.notify_one();
        }
    }

    fn tasks(&self) -> MutexGuard<'_, HashMap<UpstreamId, Task>> {
        // The map is whole even where a holder of the lock panicked: each change of it is a single step.
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue(&self, client: ClientId, upstream: UpstreamId, waiter: Waiter) -> Result<(), Fault> {
        self.task(client, upstream).asks.try_send(waiter).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => {
                let (limit, value) = ("MAX_WAITING_SYNCS", MAX_WAITING as u64);
                Fault::LimitExceeded { limit, value, remedy: "try again in a moment" }
            }
            mpsc::error::TrySendError::Closed(_) => Fault::Draining,
        })
    }

    fn task(&self, client: ClientId, upstream: UpstreamId) -> Task {
        let mut tasks = self.tasks();
        match tasks.get(&upstream) {
            // One that ended, as for an upstream that was not there yet, or by a panic, is followed by another.
            Some(task) if !task.asks.is_closed() => task.clone(),
            Some(_) | None => {
                let (asks, asked) = mpsc::channel(MAX_WAITING);
                let task = Task { asks, signals: Arc::default() };
                let signals = Arc::clone(&task.signals);
                tokio::spawn(run(Arc::clone(&self.syncer), client, upstream, asked, signals));
                tasks.insert(upstream, task.clone());
                task
            }
        }
    }
}

/// All that is done for one upstream, until nobody can ask any more or the upstream is gone.
async fn run(
    syncer: Arc<Syncer>,
    client: ClientId,
    upstream: UpstreamId,
    asks: mpsc::Receiver<Waiter>,
    signals: Arc<Signals>,
) {
    let (synced, followed) = watch::channel(false);
    tokio::select! {
        () = sync(&syncer, client, upstream, asks, &signals, &synced) => {}
        () = follow::follow(&syncer, client, upstream, followed, &signals) => {}
    }
}

/// What moves a task beside requests and time, and what is known of its upstream.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// The server tells that its list changed.
    notices: Notify,
    /// What is under way is of no use: the upstream is declared differently, or gone.
    void: Notify,
    doubt: Doubt,
}

impl Signals {
    /// The server tells that its list changed.
    pub(super) fn notice(&self) {
        self.doubt.raise();
        self.notices.notify_one();
    }
}

/// Syncs now, and then on request, on notice or when it is time. Tells after each sync whether it went well.
async fn sync(
    syncer: &Syncer,
    client: ClientId,
    upstream: UpstreamId,
    mut asks: mpsc::Receiver<Waiter>,
    signals: &Signals,
    synced: &watch::Sender<bool>,
) {
    let mut failures = 0;
    let mut waiters = Vec::new();
    let mut noticed_at = None;
    loop {
        // Whatever was asked before a sync begins is answered by it.
        while let Ok(waiter) = asks.try_recv() {
            waiters.extend(waiter);
        }
        let mark = signals.doubt.mark();
        let result = tokio::select! {
            result = syncer.sync(client, upstream) => result,
            () = signals.void.notified() => {
                synced.send_replace(false);
                continue;
            }
        };
        log(client, upstream, &result);
        syncer.tally.count(&result);
        let fine = is_fine(&result);
        failures = if fine { 0 } else { failures + 1 };
        match &result {
            Ok(report) if is_listed(&result) => signals.doubt.settle(mark, report.revision, Instant::now()),
            Ok(_) | Err(_) => signals.doubt.failed(Instant::now()),
        }
        synced.send_replace(is_listed(&result));
        let ttl = result.as_ref().ok().and_then(|report| report.ttl);
        let gone = matches!(result, Err(Fault::UpstreamNotFound | Fault::ClientNotFound));
        for waiter in waiters.drain(..) {
            // A waiter that went away needs no answer.
            let _ = waiter.send(result.clone());
        }
        if gone {
            return;
        }
        tokio::select! {
            asked = asks.recv() => match asked {
                Some(waiter) => waiters.extend(waiter),
                None => return,
            },
            () = signals.void.notified() => {
                failures = 0;
                synced.send_replace(false);
            }
            () = noticed(&signals.notices, noticed_at) => noticed_at = Some(Instant::now()),
            () = sleep(pause(syncer.limits.interval, upstream, failures, ttl)) => {}
        }
    }
}

fn is_fine(result: &Result<Report, Fault>) -> bool {
    matches!(result, Ok(report) if report.health != Health::Unavailable)
}

/// A server that is not listed is asked for nothing else.
fn is_listed(result: &Result<Report, Fault>) -> bool {
    matches!(result, Ok(Report { health: Health::Ok | Health::Incomplete, .. }))
}

fn log(client: ClientId, upstream: UpstreamId, result: &Result<Report, Fault>) {
    match result {
        Ok(report) if report.health == Health::Unavailable => tracing::warn!(
            client.id = %client,
            upstream.id = %upstream,
            "upstream {upstream} could not be listed; its status says why"
        ),
        Ok(report) if report.health == Health::Unknown => tracing::debug!(
            client.id = %client,
            upstream.id = %upstream,
            "upstream {upstream} is not synced; its status says why"
        ),
        Ok(report) => tracing::info!(
            client.id = %client,
            upstream.id = %upstream,
            health = ?report.health,
            added = report.summary.added,
            changed = report.summary.changed,
            removed = report.summary.removed,
            "upstream {upstream} synced"
        ),
        Err(fault) => tracing::error!(
            client.id = %client,
            upstream.id = %upstream,
            fault = ?fault,
            "upstream {upstream} could not be synced"
        ),
    }
}
