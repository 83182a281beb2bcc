//! A definition in the documented shapes of other systems: pure text to text, nothing fetched, nothing filled in.
//!
//! [`oxp_tool`] gives the parts of an OXP tool definition and [`melbis_command`] those of a Melbis command, both of a served
//! definition; [`ServerTool`] is a Prisme server tool, made of an entry as it was listed. The names in these shapes are
//! computed in [`names`](crate::names).

mod brief;
mod melbis;
mod oxp;
mod refless;
mod server_tool;

pub use brief::brief;
pub use melbis::{MelbisCommand, MelbisParam, melbis_command};
pub use oxp::{OxpTool, oxp_tool};
pub use refless::{Cut, CutReason, Refless, refless, refless_input};
pub use server_tool::ServerTool;
