//! The store on one machine: sled behind a single committer.
//!
//! sled gives an ordered tree, an atomic batch and a log. This crate adds what the port promises beyond that: versions,
//! conditions, a change log for watches, leases, a real sync before each answer, and the certainty that a damaged folder
//! is refused rather than opened empty.
//!
//! Everything is written by one thread, the *committer*. It takes the commits that wait, judges them one after the other,
//! writes those that hold as one batch, syncs the file once, and then answers all of them: the more writers, the cheaper
//! each commit. Readers read the tree themselves, and get the former row of a key whose new one is not on disk yet.
//!
//! What it cannot promise: damage after the last mark (written once a second and at closing) that takes whole commits away
//! cannot be told from commits that were never made. A commit that meets a full disk inside sled ends all writing until the
//! store is opened again; the reserve of free space makes that unlikely.
//!
//! This crate must never know a tenant, a tool, a codec of rows or a transport.
//!
//! Start reading at `committer`, then `drain` (how a commit is judged and written), `layout` and `cell` (what is on disk),
//! `read` and `tail` (gets, scans and watches), `opening` and `folder` (what is checked before anything is served).

mod cell;
mod committer;
mod drain;
mod error;
mod folder;
mod layout;
pub mod limits;
mod marker;
mod meta;
mod opening;
mod read;
mod record;
mod shared;
mod store;
mod tail;

pub use error::OpenError;
pub use store::{Options, SledStore};
