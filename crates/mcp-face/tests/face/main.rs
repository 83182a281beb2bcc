//! The MCP face over a hand-written double of the catalogue.

#![cfg(test)]

mod double;

mod authorization;
mod batches;
mod calls;
mod lists;
mod messages;
mod notices;
mod sessions;
mod stateless;
mod tool_list;
