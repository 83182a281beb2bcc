//! The running server, as its users meet it: the real binary, real tool servers, and clients in other languages.
//!
//! Each module is a theme. `steps` has what they all do, `refusal` reads what a refused call says, `door` can be shut before
//! a tool server, and `installed` knows where other people's tools are.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a scenario ends where something is not as it must be"
)]

mod door;
mod installed;
mod refusal;
mod steps;

mod agents;
mod call_log;
mod calls;
mod command_line;
mod conformance;
mod corpus;
mod crash;
mod deleted_clients;
mod demo;
mod deploy;
mod faults;
mod history;
mod isolation;
mod keys;
mod listings;
mod mcp_clients;
mod mcp_endpoint;
mod melbis;
mod metrics;
mod node_client;
mod openapi;
mod outgoing;
mod oxp;
mod prisme;
mod process;
mod python_client;
mod real_servers;
mod revisions;
mod rights;
mod roar;
mod scale;
mod shapes;
mod sizes;
mod telemetry;
mod tokens;
mod upstreams;

/// Says what was measured, or not run, past the capture of the test harness.
fn report(line: &str) {
    use std::io::Write;
    // A closed standard error is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}
