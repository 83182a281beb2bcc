//! Movable clock, scripted tool servers and the harness around the real binary.

pub mod mcp_server;
