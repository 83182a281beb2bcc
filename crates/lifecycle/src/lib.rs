//! Signals, the two phases of a stop, and readiness.
//!
//! A process starts, becomes ready, and stops in two phases: first it takes no new work and finishes what it
//! has, then, after a time of grace or at a second signal, what is left is dropped. [`Shutdown`] owns the
//! long tasks and walks through the phases; [`Readiness`] says at any time whether the process wants work;
//! [`Outcome`] is how it ended.
//!
//! The crate must never know what the tasks do, nor how readiness is shown.
//!
//! Start reading at [`Shutdown`].

mod readiness;
mod shutdown;
mod signals;

pub use readiness::{Phase, Readiness, ReadinessState};
pub use shutdown::{Outcome, Shutdown};
pub use signals::{Signal, Signals};
