//! The log of calls: append-only segments on this machine, hash-chained per client, written off the path of calls.
//!
//! A call is handed to one thread through a bounded queue and never waits for the disk; where the queue is full, or the
//! disk refuses, the calls that are missing are counted and the count stands in the log. What is missing after a crash is
//! said there too. The log is bounded: the oldest segments go, and each segment begins with where every client's chain
//! stood, so what is left can still be proved.
//!
//! This crate must never know a transport, a store or how a call is decided.
//!
//! Start reading at [`CallLog`], then `frame`, `entry` and `writer`.

mod entry;
mod folder;
mod frame;
mod limits;
mod log;
mod read;
mod stored;
mod writer;

pub use entry::{Entry, Gap, GapReason, KeptArguments, LoggedEntry};
pub use frame::{Broken, Frame, read_frame};
pub use log::{ArgumentsKept, CallLog, CallLogOptions};
pub use read::{CallFilter, CallPage, ListCalls, Position};
