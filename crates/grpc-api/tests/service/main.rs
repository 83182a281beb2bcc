//! Both services as a caller has them, called in this process, over the store in memory and scripted tool servers.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test ends where it is surprised")]

mod access;
mod agents;
mod answers;
mod call_ids;
mod call_log;
mod call_moments;
mod calls;
mod http_walls;
mod questions;
mod ring;
mod server_tools;
mod tenants;
mod tool_definitions;
mod tool_units;
mod walls;
