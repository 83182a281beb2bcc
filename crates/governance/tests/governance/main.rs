//! The catalogue and its governance together, in one process, over the store in memory and a scripted tool server.

mod catalogue;
mod rulings;
mod syncs;
mod workbench;
