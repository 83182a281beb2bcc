//! Bringing the catalogue up to date with what an upstream lists.
//!
//! A sync reads a listing ([`toolgate_upstream`]), judges each entry alone ([`reading`]), compares with what was observed
//! before ([`plan`]), and writes the difference in commits that are each consistent alone and harmless when done again:
//! texts with their tools first (within what is kept of earlier ones, [`history`]), then removals, then the upstream's own listing row ([`run`]). One upstream is synced by
//! one task at a time ([`Syncs`]), which also hears of changes from a server that tells them ([`follow`]) and knows whether what was
//! read is still to be relied on ([`doubt`]), and no upstream ever waits for another's server ([`turns`]).

mod doubt;
mod follow;
mod history;
mod limits;
mod naming;
mod pace;
mod plan;
mod reading;
mod rows;
mod run;
mod supervisor;
mod tally;
mod turns;
mod write;

pub use doubt::Listed;
pub use history::HistoryLimits;
pub use limits::SyncLimits;
pub(crate) use run::Syncer;
pub use run::{Report, Summary};
pub use supervisor::Syncs;
pub use tally::SyncTally;
pub(crate) use turns::Turns;
