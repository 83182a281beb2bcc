//! The catalogue and its governance together, in one process, over the store in memory and a scripted tool server.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test ends where it is surprised")]

mod agents;
mod audit;
mod catalogue;
mod client_deletions;
mod clients;
mod counting_store;
mod deletions;
mod history;
mod keys;
mod limits;
mod names;
mod notices;
mod overrides;
mod races;
mod read_model;
mod rulings;
mod server_tools;
mod syncs;
mod troubled_store;
mod turns;
mod updates;
mod watches;
mod workbench;
