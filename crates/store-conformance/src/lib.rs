//! The promises of the store port as callable tests.
//!
//! Each promise is a public async function over a [`Subject`]: one store, empty at the start, and the few things that a
//! test needs from outside the port. An engine's test file is a constructor and one line:
//!
//! ```text
//! async fn subject() -> Box<dyn Subject> { … }
//! toolgate_store_conformance::promise_tests!(subject; reads, commits, limits, watches, holds, closing, durability);
//! ```
//!
//! which makes a `#[test]` of each promise. An engine leaves out a module only when it cannot make that promise at all: a
//! store in memory leaves out `durability`. [`all`] runs every promise for a wrapper or a program.
//!
//! This crate must never know an engine.
//!
//! Start reading at `promises`, the list.

mod clock;
mod outcome;
mod promises;
mod subject;

pub mod closing;
pub mod commits;
pub mod durability;
pub mod holds;
pub mod limits;
pub mod reads;
pub mod watches;

pub use clock::SteppedClock;
pub use outcome::{Failed, Outcome};
pub use promises::{PROMISES, Promise, all, run};
pub use subject::{HISTORY_COMMITS, Subject, overwrite_history};
