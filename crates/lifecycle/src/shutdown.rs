//! The long tasks of the process and the way they end.

use std::fmt::Display;
use std::process::ExitCode;
use std::time::Duration;

use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{error, info, warn};

use crate::readiness::Readiness;
use crate::signals::Signal;

/// How long dropped tasks may take to be gone. A task that computes without a pause cannot be dropped before
/// its next.
const DROP_TIMEOUT: Duration = Duration::from_secs(2);

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything in progress was finished.
    Clean,
    /// Something in progress was dropped: the grace ran out, or a second signal came.
    Forced,
    /// A task that the process cannot be without failed.
    Crashed,
}

impl Outcome {
    /// The exit code as a number: 0 clean, 75 forced (`EX_TEMPFAIL`), 70 crashed (`EX_SOFTWARE`).
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Forced => 75,
            Self::Crashed => 70,
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome.code())
    }
}

/// Owns the long tasks of the process. Clones share them.
///
/// A task watches [`Shutdown::soft`] and ends on its own when it has finished what it was doing; one that has
/// not ended at the second phase is dropped where it waits.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    soft: CancellationToken,
    hard: CancellationToken,
    failed: CancellationToken,
    tasks: TaskTracker,
    readiness: Readiness,
}

impl Shutdown {
    /// Nothing runs yet. [`Shutdown::run`] sets `readiness` to draining when the stop begins.
    #[must_use]
    pub fn new(readiness: Readiness) -> Self {
        Self { readiness, ..Self::default() }
    }

    /// Cancelled when the first phase begins: take no new work, finish what was begun.
    #[must_use]
    pub fn soft(&self) -> &CancellationToken {
        &self.soft
    }

    /// Cancelled when the second phase begins: drop everything.
    #[must_use]
    pub fn hard(&self) -> &CancellationToken {
        &self.hard
    }

    /// Runs a task that the process cannot be without: its error or its panic stops the process, and is
    /// logged here, once. The name is for the log.
    pub fn spawn<E, F>(&self, name: &'static str, task: F)
    where
        E: Display + Send + 'static,
        F: Future<Output = Result<(), E>> + Send + 'static,
    {
        let (hard, failed) = (self.hard.clone(), self.failed.clone());
        self.tasks.spawn(async move {
            let mut running = tokio::spawn(task);
            let ended = tokio::select! {
                ended = &mut running => ended,
                () = hard.cancelled() => {
                    running.abort();
                    running.await
                }
            };
            if is_failure(name, ended) {
                failed.cancel();
            }
        });
    }

    /// Waits for the end of the process: runs until `next_signal` gives the first signal or a task fails,
    /// lets the tasks finish for `grace` at most or until the next signal, and drops what is left.
    ///
    /// `next_signal` is [`Signals::next`](crate::Signals::next) everywhere but in tests.
    pub async fn run(&self, mut next_signal: impl AsyncFnMut() -> Signal, grace: Duration) -> Outcome {
        tokio::select! {
            signal = next_signal() => info!(%signal, grace_s = grace.as_secs(), "{signal}: stopping"),
            () = self.failed.cancelled() => {}
        }
        self.readiness.drain();
        self.soft.cancel();
        self.tasks.close();
        let finished = tokio::select! {
            biased;
            () = self.tasks.wait() => true,
            signal = next_signal() => {
                warn!(%signal, "{signal} again: dropping work in progress");
                false
            }
            () = tokio::time::sleep(grace) => {
                warn!(grace_s = grace.as_secs(), tasks = self.tasks.len(), "grace is over: dropping work in progress");
                false
            }
        };
        if !finished {
            self.drop_tasks().await;
        }
        self.outcome(finished)
    }

    async fn drop_tasks(&self) {
        self.hard.cancel();
        if tokio::time::timeout(DROP_TIMEOUT, self.tasks.wait()).await.is_err() {
            warn!(tasks = self.tasks.len(), "tasks do not end: leaving them");
        }
    }

    fn outcome(&self, finished: bool) -> Outcome {
        match (self.failed.is_cancelled(), finished) {
            (true, _) => Outcome::Crashed,
            (false, true) => Outcome::Clean,
            (false, false) => Outcome::Forced,
        }
    }
}

/// Logs a failure. A task that was dropped has not failed.
fn is_failure<E: Display>(name: &'static str, ended: Result<Result<(), E>, JoinError>) -> bool {
    match ended {
        Ok(Ok(())) => false,
        Ok(Err(error)) => {
            error!(task = name, %error, "task {name} failed: {error}");
            true
        }
        Err(join) if join.is_panic() => {
            error!(task = name, "task {name} panicked");
            true
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::pending;

    use tokio::sync::mpsc;
    use tokio::time::Instant;

    use super::*;
    use crate::readiness::Phase;

    const GRACE: Duration = Duration::from_secs(20);

    /// A signal source that gives what a test sends, then nothing more.
    fn fake(signals: &[Signal]) -> impl AsyncFnMut() -> Signal {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for signal in signals {
            sender.send(*signal).unwrap();
        }
        async move || match receiver.recv().await {
            Some(signal) => signal,
            None => pending().await,
        }
    }

    fn done() -> Result<(), Infallible> {
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_ends_within_the_grace_ends_clean() {
        let readiness = Readiness::default();
        readiness.ready();
        let shutdown = Shutdown::new(readiness.clone());
        let soft = shutdown.soft().clone();
        shutdown.spawn("finishes", async move {
            soft.cancelled().await;
            tokio::time::sleep(GRACE / 2).await;
            done()
        });
        let started = Instant::now();
        assert_eq!(shutdown.run(fake(&[Signal::Terminate]), GRACE).await, Outcome::Clean);
        assert_eq!(started.elapsed(), GRACE / 2);
        assert_eq!(readiness.state().phase, Phase::Draining);
        assert!(!shutdown.hard().is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_outlasts_the_grace_is_dropped() {
        let shutdown = Shutdown::default();
        let (held, mut dropped) = mpsc::channel::<()>(1);
        shutdown.spawn("hangs", async move {
            let _held = held;
            pending::<()>().await;
            done()
        });
        let started = Instant::now();
        assert_eq!(shutdown.run(fake(&[Signal::Terminate]), GRACE).await, Outcome::Forced);
        assert_eq!(started.elapsed(), GRACE);
        assert_eq!(dropped.try_recv(), Err(mpsc::error::TryRecvError::Disconnected), "the task is gone");
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_signal_does_not_wait_for_the_grace() {
        let shutdown = Shutdown::default();
        shutdown.spawn("hangs", async {
            pending::<()>().await;
            done()
        });
        let started = Instant::now();
        let signals = fake(&[Signal::Interrupt, Signal::Interrupt]);
        assert_eq!(shutdown.run(signals, GRACE).await, Outcome::Forced);
        assert_eq!(started.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_task_stops_the_others_and_counts_as_a_crash() {
        let shutdown = Shutdown::default();
        let soft = shutdown.soft().clone();
        shutdown.spawn("listener", async { Err("address in use") });
        shutdown.spawn("finishes", async move {
            soft.cancelled().await;
            done()
        });
        assert_eq!(shutdown.run(fake(&[]), GRACE).await, Outcome::Crashed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_in_a_task_counts_as_a_crash() {
        let shutdown = Shutdown::default();
        shutdown.spawn("panics", async {
            assert_eq!(1 + 1, 3, "on purpose");
            done()
        });
        assert_eq!(shutdown.run(fake(&[]), GRACE).await, Outcome::Crashed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_while_stopping_counts_as_a_crash() {
        let shutdown = Shutdown::default();
        let soft = shutdown.soft().clone();
        shutdown.spawn("fails late", async move {
            soft.cancelled().await;
            Err("cannot flush")
        });
        assert_eq!(shutdown.run(fake(&[Signal::Terminate]), GRACE).await, Outcome::Crashed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ends_early_stops_nothing() {
        let shutdown = Shutdown::default();
        shutdown.spawn("one job", async { done() });
        let running = shutdown.run(fake(&[]), GRACE);
        assert!(tokio::time::timeout(GRACE, running).await.is_err(), "still running");
    }

    #[test]
    fn every_outcome_has_an_exit_code_of_its_own() {
        let codes = [Outcome::Clean, Outcome::Forced, Outcome::Crashed].map(Outcome::code);
        assert_eq!(codes, [0, 75, 70]);
    }
}
