//! OXP 1.0 servers as tool servers: listed, governed and called like any other.
//!
//! An entry of `GET /tools` becomes a definition in MCP's shape: `name`, `description` and both schemas as they are spelt, and
//! what MCP has no place for (id, version, requirements, anything unknown) in `_meta`, so the fingerprint covers all of it. A call
//! goes to the id that stands there.
//!
//! This crate must never know a catalogue, a store or a decision.
//!
//! Start reading at [`OxpServers`], then `entries` and `results`.

mod answer;
mod entries;
mod results;
mod servers;

pub use servers::OxpServers;

/// Where a definition keeps what OXP says of the tool.
const META: &str = "dev.toolgate/oxp";
/// The version of OXP that is spoken.
const SCHEMA: &str = "urn:oxp:1.0";
