//! Movable clock, scripted tool servers and the harness around the real binary.
//!
//! For tests alone: nothing here is part of the product.

pub mod ambient;
pub mod mcp_server;
pub mod scripted_servers;
