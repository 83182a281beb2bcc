use std::{fs::File, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use toolgate_store::{
    Change, Commit, CommitError, CommitEvents, Hold, HoldName, Leases, Revision, StoreError, Write,
};

use crate::{
    drain::{Drain, Written},
    error::{engine, guarded, is_full, of_sled},
    folder::Folder,
    limits::{DRAIN_BYTES, DRAIN_COMMITS, LIVE_COMMIT_BYTES},
    marker::Marker,
    meta::Meta,
    shared::{Running, Shared, Stop, Told},
};

/// A commit's events, or why it was refused.
type Judged = Result<CommitEvents, CommitError>;
type Answer = oneshot::Sender<Result<Revision, CommitError>>;

/// What the committer is asked. Leases pass through it too, so that a commit and the loss of a lease have one order.
pub(crate) enum Request {
    Commit(Commit, Answer),
    Hold(HoldName, Duration, oneshot::Sender<Option<Hold>>),
    Renew(Hold, Duration, oneshot::Sender<bool>),
    Release(Hold, oneshot::Sender<()>),
    Close,
}

/// The bounds that the committer keeps.
pub(crate) struct Bounds {
    pub(crate) history_commits: u64,
    pub(crate) history_bytes: u64,
    pub(crate) reserve_bytes: u64,
}

/// The one thread that writes.
///
/// Never two: more than six concurrent `flush_async` calls of sled 0.34 deadlock. Never `flush` alone: it ends in
/// `sync_file_range`, which survives a kill of the process but not a loss of power.
pub(crate) struct Committer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) running: Running,
    /// Our own descriptor of sled's file: to sync any descriptor of a file is to sync the file.
    pub(crate) file: File,
    pub(crate) folder: Arc<Folder>,
    pub(crate) marker: Marker,
    pub(crate) meta: Meta,
    pub(crate) leases: Leases,
    pub(crate) bounds: Bounds,
    pub(crate) had_room: bool,
    pub(crate) requests: mpsc::Receiver<Request>,
}

impl Committer {
    /// Works until it is asked to close, the store is dropped, or a write fails.
    pub(crate) fn run(mut self) {
        let mut next = None;
        let stop = loop {
            let Some(request) = next.take().or_else(|| self.requests.blocking_recv()) else {
                break Stop::Closed;
            };
            match request {
                Request::Commit(commit, answer) => match self.drain((commit, answer), &mut next) {
                    Ok(()) => {}
                    Err(stop) => break stop,
                },
                Request::Close => break Stop::Closed,
                lease => self.lease(lease),
            }
        };
        self.end(stop);
    }

    fn lease(&mut self, request: Request) {
        match request {
            Request::Hold(name, ttl, answer) => drop(answer.send(self.leases.take(&name, ttl))),
            Request::Renew(hold, ttl, answer) => drop(answer.send(self.leases.renew(&hold, ttl))),
            Request::Release(hold, answer) => {
                self.leases.release(&hold);
                // Whoever asked may have gone; then nobody needs the answer.
                let _gone = answer.send(());
            }
            Request::Commit(..) | Request::Close => {}
        }
    }

    /// Takes the commits that wait, up to the bounds of a drain; what is not a commit is left in `next`.
    fn gather(&mut self, first: (Commit, Answer), next: &mut Option<Request>) -> Vec<(Commit, Answer)> {
        let size = |commit: &Commit| commit.writes.iter().map(Write::len_bytes).sum::<usize>();
        let mut bytes = size(&first.0);
        let mut jobs = vec![first];
        while jobs.len() < DRAIN_COMMITS && bytes < DRAIN_BYTES {
            match self.requests.try_recv() {
                Ok(Request::Commit(commit, answer)) => {
                    bytes += size(&commit);
                    jobs.push((commit, answer));
                }
                other => {
                    *next = other.ok();
                    break;
                }
            }
        }
        jobs
    }

    /// One round: judge what waits, make it durable, tell it.
    fn drain(&mut self, first: (Commit, Answer), next: &mut Option<Request>) -> Result<(), Stop> {
        let (commits, answers): (Vec<_>, Vec<_>) = self.gather(first, next).into_iter().unzip();
        if !self.has_room() {
            answers.into_iter().for_each(|answer| tell(answer, Err(CommitError::Full)));
            return Ok(());
        }
        let (judged, drain) = match self.judge(commits) {
            Ok(judged) => judged,
            Err(error) => return Err(give_up(answers, &error)),
        };
        let written = match drain {
            Some(drain) => self.write(drain).and_then(|meta| self.sync().map(|()| self.reveal(meta))),
            None => Ok(()),
        };
        match written {
            Ok(()) => self.acknowledge(judged, answers),
            Err(error) => return Err(abandon(judged, answers, error)),
        }
        Ok(())
    }

    /// Logs when that changes.
    fn has_room(&mut self) -> bool {
        let room = self.folder.has_room(self.bounds.reserve_bytes);
        match (room, self.had_room) {
            (false, true) => {
                tracing::error!("the disk is nearly full: commits are refused until there is room")
            }
            (true, false) => tracing::info!("the disk has room again: commits are taken"),
            _ => {}
        }
        self.had_room = room;
        room
    }

    /// Judges commits, each on what those before it leave; what is to be written, if anything.
    fn judge(&self, commits: Vec<Commit>) -> Result<(Vec<Judged>, Option<Written>), StoreError> {
        guarded(|| {
            let mut drain = Drain::new(&self.running.db, &self.leases, self.meta);
            let judged: Vec<_> = commits.into_iter().map(|commit| drain.add(commit)).collect();
            if judged.iter().all(Result::is_err) {
                return Ok((judged, None));
            }
            drain.compact(self.bounds.history_commits, self.bounds.history_bytes)?;
            Ok((judged, Some(drain.finish())))
        })
    }

    /// Hands a drain to the file. It is hidden from readers until it is durable.
    fn write(&self, drain: Written) -> Result<Meta, StoreError> {
        self.shared.hide(drain.formers);
        guarded(|| {
            self.running.db.apply_batch(drain.batch).map_err(of_sled)?;
            self.running.db.flush().map_err(of_sled)?;
            Ok(drain.meta)
        })
    }

    /// Makes what was written survive a loss of power.
    fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(engine)
    }

    fn reveal(&mut self, meta: Meta) {
        self.shared.reveal(&meta);
        self.meta = meta;
    }

    /// Tells watchers and callers of what is durable.
    fn acknowledge(&self, judged: Vec<Judged>, answers: Vec<Answer>) {
        for (judged, answer) in judged.into_iter().zip(answers) {
            let outcome = judged.map(|events| {
                let revision = events.revision;
                self.publish(events);
                revision
            });
            tell(answer, outcome);
        }
    }

    fn publish(&self, events: CommitEvents) {
        let len = |change: &Change| change.key.len() + change.value.as_ref().map_or(0, Bytes::len);
        let small = events.changes.iter().map(len).sum::<usize>() <= LIVE_COMMIT_BYTES;
        let told = if small { Told::Whole(Arc::new(events)) } else { Told::Logged(events.revision) };
        // Without watchers there is nobody to tell.
        drop(self.running.live.send(told));
    }

    /// Everything answered is durable already; the last mark says how far that is.
    fn end(self, stop: Stop) {
        self.marker.stop();
        if let Err(error) = self.folder.write_mark(self.meta.identity, self.meta.revision) {
            tracing::warn!(%error, "the store stops without a last mark");
        }
        if let Stop::Failed(why) = &stop {
            tracing::error!(error = %why, "the store stopped");
            // The destructor of a broken engine would flush, and could wait for ever.
            std::mem::forget(self.running.db);
        }
        self.shared.stop(stop);
    }
}

/// Whoever asked may have gone; then nobody needs the answer.
fn tell(answer: Answer, outcome: Result<Revision, CommitError>) {
    drop(answer.send(outcome));
}

/// Nothing was written, and nothing will be.
fn give_up(answers: Vec<Answer>, error: &StoreError) -> Stop {
    answers.into_iter().for_each(|answer| tell(answer, Err(engine(error.to_string()).into())));
    Stop::Failed(error.to_string())
}

/// The drain may be on disk or not: only opening the store again will tell.
fn abandon(judged: Vec<Judged>, answers: Vec<Answer>, error: StoreError) -> Stop {
    for (judged, answer) in judged.into_iter().zip(answers) {
        tell(answer, judged.and_then(|_| Err(CommitError::Unknown(error.to_string().into()))));
    }
    if is_full(&error) { Stop::Full } else { Stop::Failed(error.to_string()) }
}
