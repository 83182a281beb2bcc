//! Conversions between the wire and the domain, by hand, each in one named function.

pub(crate) mod agent;
pub(crate) mod api_key;
pub(crate) mod call;
pub(crate) mod fields;
pub(crate) mod ruling;
pub(crate) mod server_tools;
pub(crate) mod tool;
pub(crate) mod tool_unit;
pub(crate) mod upstream;
pub(crate) mod upstream_change;
