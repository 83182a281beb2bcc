use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolgate_domain::{
    Fault, UpstreamId,
    limits::{FIRST_BREAK_MS, LONGEST_BREAK_MS, MAX_FAILURES_IN_A_ROW},
};
use toolgate_upstream::{CallError, ListingError};

/// Upstreams that calls do not reach. After [`MAX_FAILURES_IN_A_ROW`] calls that did not, the next ones are refused at once
/// for a while; then one goes, and decides whether the others may.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    /// Of upstreams that failed last.
    circuits: Mutex<HashMap<UpstreamId, Circuit>>,
}

#[derive(Debug, Default)]
struct Circuit {
    failures: u32,
    broken_until: Option<Instant>,
    is_tried: bool,
}

/// Leave for one call.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    breaker: &'a Breaker,
    upstream: UpstreamId,
}

impl Breaker {
    /// Lets a call go.
    ///
    /// # Errors
    /// [`Fault::UpstreamFailed`] while the upstream is given time.
    pub(crate) fn attempt(&self, upstream: UpstreamId, now: Instant) -> Result<Attempt<'_>, Fault> {
        if let Some(circuit) = self.lock().get_mut(&upstream)
            && let Some(until) = circuit.broken_until
        {
            if now < until || circuit.is_tried {
                return Err(Fault::UpstreamFailed { problem: resting(circuit, now), may_have_run: false });
            }
            circuit.is_tried = true;
        }
        Ok(Attempt { breaker: self, upstream })
    }

    /// The circuits are whole even where a holder of the lock panicked.
    fn lock(&self) -> MutexGuard<'_, HashMap<UpstreamId, Circuit>> {
        self.circuits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt<'_> {
    /// How the call ended.
    pub(crate) fn ended<T>(self, called: &Result<T, CallError>, now: Instant) {
        let mut circuits = self.breaker.lock();
        match called.as_ref().map_err(is_unreached) {
            Ok(_) | Err(Some(false)) => drop(circuits.remove(&self.upstream)),
            Err(Some(true)) => circuits.entry(self.upstream).or_default().fail(now),
            // Neither: it is reached, or not, and does not say.
            Err(None) => {}
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if let Some(circuit) = self.breaker.lock().get_mut(&self.upstream) {
            circuit.is_tried = false;
        }
    }
}

impl Circuit {
    fn fail(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if let Some(doublings) = self.failures.checked_sub(MAX_FAILURES_IN_A_ROW) {
            let pause = FIRST_BREAK_MS.saturating_mul(1 << doublings.min(16)).min(LONGEST_BREAK_MS);
            self.broken_until = Some(now + Duration::from_millis(pause));
        }
    }
}

/// Whether a call did not reach its upstream; `None` where a slow tool may be the cause.
fn is_unreached(error: &CallError) -> Option<bool> {
    match &error.error {
        ListingError::Connect(_) => Some(true),
        ListingError::Status(status) => Some(*status >= 500),
        ListingError::Timeout(_) => (!error.may_have_run).then_some(true),
        ListingError::Protocol(_) | ListingError::TooLarge(_) | ListingError::Refused(_) => None,
        ListingError::Unauthorized { .. }
        | ListingError::Rpc { .. }
        | ListingError::MissingCapability { .. } => Some(false),
    }
}

fn resting(circuit: &Circuit, now: Instant) -> String {
    let left = circuit.broken_until.map(|until| until.saturating_duration_since(now)).unwrap_or_default();
    format!("it failed {} calls in a row; it is tried again in {} ms", circuit.failures, left.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: UpstreamId = UpstreamId::from_bytes([1; 16]);
    const OTHER: UpstreamId = UpstreamId::from_bytes([2; 16]);

    fn failed(error: ListingError, may_have_run: bool) -> Result<(), CallError> {
        Err(CallError { error, may_have_run })
    }

    fn down() -> Result<(), CallError> {
        failed(ListingError::Connect("connection refused".into()), false)
    }

    fn broken(now: Instant) -> Breaker {
        let breaker = Breaker::default();
        for _ in 0..MAX_FAILURES_IN_A_ROW {
            breaker.attempt(ONE, now).unwrap().ended(&down(), now);
        }
        breaker
    }

    #[test]
    fn law_08_calls_of_an_upstream_that_is_down_are_refused_at_once_and_of_no_other() {
        let now = Instant::now();
        let breaker = broken(now);
        let refused = breaker.attempt(ONE, now).unwrap_err();
        assert!(refused.to_string().contains("5 calls in a row"), "{refused}");
        breaker.attempt(OTHER, now).unwrap();
    }

    #[test]
    fn one_call_goes_after_a_while_and_decides_for_the_others() {
        let start = Instant::now();
        let breaker = broken(start);
        let later = start + Duration::from_millis(FIRST_BREAK_MS);
        let first = breaker.attempt(ONE, later).unwrap();
        assert!(breaker.attempt(ONE, later).is_err(), "one at a time");
        first.ended(&down(), later);
        assert!(breaker.attempt(ONE, later + Duration::from_millis(FIRST_BREAK_MS)).is_err(), "longer now");
        let later = later + Duration::from_millis(2 * FIRST_BREAK_MS);
        drop(breaker.attempt(ONE, later).unwrap());
        let again = breaker.attempt(ONE, later).expect("one that was given up decides nothing");
        again.ended(&Ok(()), later);
        for _ in 1..MAX_FAILURES_IN_A_ROW {
            breaker.attempt(ONE, later).unwrap().ended(&down(), later);
        }
        breaker.attempt(ONE, later).unwrap();
    }

    #[test]
    fn it_never_rests_longer_than_the_limit() {
        let mut now = Instant::now();
        let breaker = broken(now);
        for _ in 0..40 {
            now += Duration::from_millis(LONGEST_BREAK_MS);
            breaker.attempt(ONE, now).unwrap().ended(&down(), now);
        }
    }

    #[test]
    fn what_an_upstream_answers_and_a_slow_tool_break_nothing() {
        let now = Instant::now();
        for error in [
            failed(ListingError::Rpc { code: -32603, message: String::new() }, false),
            failed(ListingError::Status(404), false),
            failed(ListingError::Timeout("the call".into()), true),
        ] {
            let breaker = Breaker::default();
            for _ in 0..20 {
                breaker.attempt(ONE, now).unwrap().ended(&error, now);
            }
        }
    }
}
