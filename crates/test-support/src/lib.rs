//! Movable clock, scripted tool servers and the harness around the real binary.
//!
//! For tests alone: nothing here is part of the product.

#![expect(clippy::panic, reason = "a test ends where the harness finds that it cannot go on")]

pub mod ambient;
pub mod eventually;
pub mod mcp_server;
pub mod scripted_servers;
pub mod server;
