//! A definition in the documented shapes of other systems: pure text to text, nothing fetched, nothing filled in.
//!
//! [`ServerTool`] is the Prisme server tool, made of an entry as it was listed. The names in these shapes are computed in
//! [`names`](crate::names).

mod brief;
mod server_tool;

pub use brief::brief;
pub use server_tool::ServerTool;
