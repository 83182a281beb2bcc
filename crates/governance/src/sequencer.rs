//! One sequencer a client: it alone writes rulings about tools into the client's log, and puts those that wait together into
//! one commit.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{mpsc, oneshot};
use toolgate_catalog::from_commit_error;
use toolgate_domain::{ClientId, Clock, Fault, ToolId};
use toolgate_records::{ChainHead, Key, Record, chain};
use toolgate_store::{Commit, CommitError, Condition, Revision, SharedStore, Write};

use crate::{
    matter::{Judged, Matter, Outcome, put},
    rows::{read, read_head},
};

/// Rulings of one commit: each takes three conditions and two writes, the log's head one of both, the client a condition.
const MAX_BATCH: usize = 40;
/// Bytes after which a commit takes no further ruling; the largest is a fifth of what is left then.
const BATCH_BYTES: usize = 256 * 1024;
/// Rulings of one client that may wait.
const MAX_WAITING: usize = 4096;
/// How often a ruling that met another writer is judged anew.
const MAX_ATTEMPTS: usize = 16;

/// What became of a ruling.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    /// The commit that holds it; when nothing was to be written, the newest that it was judged on.
    pub(crate) revision: Revision,
    /// What was ruled about, after it.
    pub(crate) outcome: Outcome,
}

struct Job {
    matter: Matter,
    answer: oneshot::Sender<Result<Verdict, Fault>>,
}

/// The sequencers of all clients. They end when the last handle is dropped. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Sequencers {
    store: SharedStore,
    clock: Arc<dyn Clock>,
    queues: Arc<Mutex<HashMap<ClientId, mpsc::Sender<Job>>>>,
}

impl Sequencers {
    pub(crate) fn new(store: SharedStore, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, queues: Arc::default() }
    }

    /// Has a ruling judged and written. It is, even when the caller stops waiting.
    pub(crate) async fn submit(&self, matter: Matter) -> Result<Verdict, Fault> {
        let (answer, verdict) = oneshot::channel();
        let queue = self.queue(matter.client());
        queue.try_send(Job { matter, answer }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => {
                let (limit, value) = ("MAX_WAITING_RULINGS", MAX_WAITING as u64);
                Fault::LimitExceeded { limit, value, remedy: "try again in a moment" }
            }
            mpsc::error::TrySendError::Closed(_) => Fault::Draining,
        })?;
        verdict.await.map_err(|_| Fault::Draining)?
    }

    /// Lets go of a client that was deleted. What waits is still answered.
    pub(crate) fn forget(&self, client: ClientId) {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).remove(&client);
    }

    fn queue(&self, client: ClientId) -> mpsc::Sender<Job> {
        // The map is whole even where a holder of the lock panicked: each change of it is a single step.
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        match queues.get(&client) {
            // One that ended by a panic is followed by another: nothing of it was in memory alone.
            Some(queue) if !queue.is_closed() => queue.clone(),
            Some(_) | None => {
                let queue = self.begin(client);
                queues.insert(client, queue.clone());
                queue
            }
        }
    }

    fn begin(&self, client: ClientId) -> mpsc::Sender<Job> {
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        let sequencer = Sequencer { store: Arc::clone(&self.store), clock: Arc::clone(&self.clock), client };
        tokio::spawn(sequencer.run(receiver));
        sender
    }
}

struct Sequencer {
    store: SharedStore,
    clock: Arc<dyn Clock>,
    client: ClientId,
}

/// Rulings judged and not yet written.
struct Batch {
    commit: Commit,
    head: ChainHead,
    tools: HashSet<ToolId>,
    waiting: Vec<(Job, Outcome)>,
    /// A name changes hands in it.
    renames: bool,
    /// It is about more than one tool.
    is_full: bool,
    /// Rulings join the log with it.
    is_logged: bool,
}

impl Batch {
    /// Two rulings about one tool, or two about names, go into two commits: the second is judged on what the first wrote.
    /// One about an upstream or the client shares its commit with no other.
    fn admits(&self, job: &Job) -> bool {
        let bytes: usize = self.commit.writes.iter().map(Write::len_bytes).sum();
        let meets = match &job.matter {
            Matter::Tool(rule, _) => {
                self.tools.contains(&rule.tool) || (self.renames && job.matter.is_rename())
            }
            Matter::Deletion(_) | Matter::Update(_) | Matter::EndOfClient(_) => !self.waiting.is_empty(),
        };
        !meets && !self.is_full && bytes < BATCH_BYTES
    }
}

impl Sequencer {
    async fn run(self, mut queue: mpsc::Receiver<Job>) {
        let mut jobs = Vec::with_capacity(MAX_BATCH);
        while queue.recv_many(&mut jobs, MAX_BATCH).await > 0 {
            self.settle(std::mem::take(&mut jobs)).await;
        }
    }

    /// Writes as many together as it can; a commit that met another writer is taken apart and each ruling judged anew.
    async fn settle(&self, jobs: Vec<Job>) {
        let mut jobs = jobs.into_iter().peekable();
        while jobs.peek().is_some() {
            let mut batch = match self.open().await {
                Ok(batch) => batch,
                Err(fault) => return jobs.for_each(|job| answer(job, Err(fault.clone()))),
            };
            while let Some(job) = jobs.next_if(|job| batch.admits(job)) {
                self.judge_into(&mut batch, job).await;
            }
            for job in self.write(batch).await {
                self.settle_alone(job).await;
            }
        }
    }

    async fn settle_alone(&self, job: Job) {
        let mut job = Some(job);
        for _ in 0..MAX_ATTEMPTS {
            let Some(next) = job.take() else { return };
            let mut batch = match self.open().await {
                Ok(batch) => batch,
                Err(fault) => return answer(next, Err(fault)),
            };
            self.judge_into(&mut batch, next).await;
            job = self.write(batch).await.pop();
        }
        if let Some(job) = job {
            let cause = "other writers kept coming between".into();
            answer(job, Err(Fault::StoreUnavailable { outcome_unknown: false, cause }));
        }
    }

    /// An empty batch on the present end of the log, for as long as the client exists.
    async fn open(&self) -> Result<Batch, Fault> {
        let (client, end) = (Key::Client(self.client), Key::ChainHead(self.client));
        if read(self.store.as_ref(), &client).await?.0.is_none() {
            return Err(Fault::ClientNotFound);
        }
        let (head, version) = read_head(self.store.as_ref(), self.client).await?;
        let commit = Commit::new()
            .when(Condition::Equals(end.encode(), version))
            .when(Condition::Present(client.encode()));
        Ok(Batch {
            commit,
            head,
            tools: HashSet::new(),
            waiting: Vec::new(),
            renames: false,
            is_full: false,
            is_logged: false,
        })
    }

    /// Judges a ruling on the rows as they are; what is to be written goes into the batch on the condition that they stay.
    async fn judge_into(&self, batch: &mut Batch, job: Job) {
        let judged = match job.matter.judge(self.store.as_ref(), self.clock.now()).await {
            Err(fault) => return answer(job, Err(fault)),
            Ok(judged) => judged,
        };
        if judged.writes.is_empty() || job.matter.validate_only() {
            let Judged { newest: revision, outcome, .. } = judged;
            return answer(job, Ok(Verdict { revision, outcome }));
        }
        batch.commit.conditions.extend(judged.conditions);
        batch.commit.writes.extend(judged.writes);
        if let Some(ruling) = judged.ruling {
            let (chained, head) = chain::append(&batch.head, ruling);
            batch.commit.writes.push(put(&Record::Ruling(self.client, chained)));
            (batch.head, batch.is_logged) = (head, true);
        }
        batch.renames |= job.matter.is_rename();
        match &job.matter {
            Matter::Tool(rule, _) => drop(batch.tools.insert(rule.tool)),
            Matter::Deletion(_) | Matter::Update(_) | Matter::EndOfClient(_) => batch.is_full = true,
        }
        batch.waiting.push((job, judged.outcome));
    }

    /// Commits a batch and answers; gives back what has to be judged anew.
    async fn write(&self, batch: Batch) -> Vec<Job> {
        if batch.waiting.is_empty() {
            return Vec::new();
        }
        let mut commit = batch.commit;
        if batch.is_logged {
            commit.writes.push(put(&Record::ChainHead(self.client, batch.head)));
        }
        match self.store.commit(commit).await {
            Ok(revision) => {
                for (job, outcome) in batch.waiting {
                    answer(job, Ok(Verdict { revision, outcome }));
                }
                Vec::new()
            }
            Err(CommitError::Conflict(_)) => batch.waiting.into_iter().map(|(job, _)| job).collect(),
            Err(error) => {
                let fault = from_commit_error(&error);
                batch.waiting.into_iter().for_each(|(job, _)| answer(job, Err(fault.clone())));
                Vec::new()
            }
        }
    }
}

fn answer(job: Job, verdict: Result<Verdict, Fault>) {
    // A caller that went away needs no answer; the ruling stands.
    let _ = job.answer.send(verdict);
}
