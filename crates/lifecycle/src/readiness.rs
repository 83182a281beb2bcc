//! Whether the process wants work.

use std::collections::BTreeMap;

use tokio::sync::watch;

/// How far the process has come. Phases only move forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Not ready yet.
    Starting,
    /// Takes work.
    Ready,
    /// Stopping: takes no new work.
    Draining,
}

/// Readiness at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadinessState {
    /// How far the process has come.
    pub phase: Phase,
    /// What works less well than it should: component to reason, for an operator. Empty when all is well.
    pub degraded: BTreeMap<&'static str, String>,
}

impl ReadinessState {
    /// Whether work should be sent here. A degraded process goes on taking work: its answers are still better
    /// than none.
    #[must_use]
    pub fn takes_work(&self) -> bool {
        self.phase == Phase::Ready
    }
}

/// The readiness of the process. Clones share it.
#[derive(Debug, Clone)]
pub struct Readiness(watch::Sender<ReadinessState>);

impl Default for Readiness {
    /// Starting, with nothing degraded.
    fn default() -> Self {
        Self(watch::Sender::new(ReadinessState { phase: Phase::Starting, degraded: BTreeMap::new() }))
    }
}

impl Readiness {
    /// The process takes work from now on. Does nothing once it is draining.
    pub fn ready(&self) {
        self.advance(Phase::Ready);
    }

    /// The process takes no new work from now on, for good.
    pub fn drain(&self) {
        self.advance(Phase::Draining);
    }

    /// A component works less well than it should; the reason replaces an earlier one of the same component.
    pub fn degrade(&self, component: &'static str, reason: impl Into<String>) {
        let reason = reason.into();
        self.0.send_if_modified(|state| {
            let changed = state.degraded.get(component) != Some(&reason);
            state.degraded.insert(component, reason);
            changed
        });
    }

    /// A component works as it should again.
    pub fn recover(&self, component: &'static str) {
        self.0.send_if_modified(|state| state.degraded.remove(component).is_some());
    }

    /// Readiness now.
    #[must_use]
    pub fn state(&self) -> ReadinessState {
        self.0.borrow().clone()
    }

    /// Readiness now and each change of it.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<ReadinessState> {
        self.0.subscribe()
    }

    fn advance(&self, phase: Phase) {
        self.0.send_if_modified(|state| {
            let forward = state.phase < phase;
            state.phase = state.phase.max(phase);
            forward
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_ready_process_takes_work() {
        let readiness = Readiness::default();
        assert!(!readiness.state().takes_work());
        readiness.ready();
        assert!(readiness.state().takes_work());
        readiness.drain();
        assert!(!readiness.state().takes_work());
    }

    #[test]
    fn a_draining_process_never_becomes_ready_again() {
        let readiness = Readiness::default();
        readiness.drain();
        readiness.ready();
        assert_eq!(readiness.state().phase, Phase::Draining);
    }

    #[test]
    fn a_degraded_process_takes_work_and_says_what_is_wrong_until_it_recovers() {
        let readiness = Readiness::default();
        readiness.ready();
        readiness.degrade("store", "cut off");
        readiness.degrade("traces", "no collector");
        assert!(readiness.state().takes_work());
        assert_eq!(readiness.state().degraded["store"], "cut off");
        readiness.recover("store");
        assert_eq!(readiness.state().degraded.into_keys().collect::<Vec<_>>(), ["traces"]);
    }

    #[test]
    fn subscribers_hear_of_changes_alone() {
        let readiness = Readiness::default();
        let mut subscriber = readiness.subscribe();
        readiness.recover("store");
        assert!(!subscriber.has_changed().unwrap());
        readiness.degrade("store", "cut off");
        assert!(subscriber.has_changed().unwrap());
        subscriber.mark_unchanged();
        readiness.degrade("store", "cut off");
        assert!(!subscriber.has_changed().unwrap());
    }
}
