//! Whether what was read of an upstream's list is still what it lists.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use toolgate_store::Revision;

use super::limits::{FIRST_RETRY, NOTICE_GAP};

/// How the last listing of an upstream stands, for a call that is about to go by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// Nothing says that the upstream lists something else by now.
    Current {
        /// The catalogue that holds what was found; `None` where any does.
        revision: Option<Revision>,
    },
    /// It may list something else, or was not listed by this process yet.
    Doubtful {
        /// Whether a sync failed so lately that another is of no use.
        failed_lately: bool,
    },
}

/// Evidence that an upstream's list changed, against the last sync that was begun after it. Each doubt has a number.
#[derive(Debug, Default)]
pub(super) struct Doubt(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    raised: u64,
    /// The last number that a sync was begun after.
    settled: u64,
    listed_at: Option<Instant>,
    failed_at: Option<Instant>,
    called_at: Option<Instant>,
    revision: Option<Revision>,
}

impl Doubt {
    /// Of all that was read before now.
    pub(super) fn raise(&self) {
        self.state().raised += 1;
    }

    /// The same, on the word of a call; `false` where one raised it a moment ago. Calls that are wrong by themselves would
    /// have the upstream listed for each.
    pub(super) fn raise_by_call(&self, now: Instant) -> bool {
        let mut state = self.state();
        let is_new = state.called_at.is_none_or(|at| now.duration_since(at) >= NOTICE_GAP);
        if is_new {
            state.raised += 1;
            state.called_at = Some(now);
        }
        is_new
    }

    /// What a sync that begins now can settle.
    pub(super) fn mark(&self) -> u64 {
        self.state().raised
    }

    /// A sync read the list, and `revision` holds what it found new.
    pub(super) fn settle(&self, mark: u64, revision: Option<Revision>, now: Instant) {
        let mut state = self.state();
        state.settled = state.settled.max(mark);
        state.revision = state.revision.max(revision);
        state.listed_at = Some(now);
        state.failed_at = None;
    }

    /// A sync could not read it.
    pub(super) fn failed(&self, now: Instant) {
        self.state().failed_at = Some(now);
    }

    /// For a list that is too old after `max_age`.
    pub(super) fn listed(&self, max_age: Duration, now: Instant) -> Listed {
        let state = self.state();
        let within = |at: Option<Instant>, limit| at.is_some_and(|at| now.duration_since(at) < limit);
        match state.raised == state.settled && within(state.listed_at, max_age) {
            true => Listed::Current { revision: state.revision },
            false => Listed::Doubtful { failed_lately: within(state.failed_at, FIRST_RETRY) },
        }
    }

    /// Whole even where a holder of the lock panicked: each change is a few stores.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_AGE: Duration = Duration::from_secs(900);

    fn is_current(doubt: &Doubt, at: Instant) -> bool {
        matches!(doubt.listed(MAX_AGE, at), Listed::Current { .. })
    }

    #[test]
    fn a_list_is_doubtful_until_it_was_read_after_the_last_evidence_and_again_when_it_is_old() {
        let (doubt, start) = (Doubt::default(), Instant::now());
        assert!(!is_current(&doubt, start), "it was not read yet");
        doubt.settle(doubt.mark(), None, start);
        assert!(is_current(&doubt, start));
        let under_way = doubt.mark();
        doubt.raise();
        doubt.settle(under_way, None, start);
        assert!(!is_current(&doubt, start), "what that sync read may be what was there before");
        doubt.settle(doubt.mark(), Some(Revision::ZERO), start);
        assert_eq!(doubt.listed(MAX_AGE, start), Listed::Current { revision: Some(Revision::ZERO) });
        assert!(!is_current(&doubt, start + MAX_AGE));
    }

    #[test]
    fn a_failure_counts_as_late_for_a_while_and_settles_nothing() {
        let (doubt, start) = (Doubt::default(), Instant::now());
        doubt.failed(start);
        let at = |after| doubt.listed(MAX_AGE, start + after);
        assert_eq!(at(Duration::ZERO), Listed::Doubtful { failed_lately: true });
        assert_eq!(at(FIRST_RETRY), Listed::Doubtful { failed_lately: false });
    }

    #[test]
    fn calls_raise_a_doubt_only_so_often() {
        let (doubt, start) = (Doubt::default(), Instant::now());
        assert!(doubt.raise_by_call(start));
        assert!(!doubt.raise_by_call(start + NOTICE_GAP / 2));
        assert!(doubt.raise_by_call(start + NOTICE_GAP));
    }
}
