//! The use case of a call: whoever calls a tool, over whatever face, calls it here.
//!
//! A call is resolved by the names and ids of one snapshot, which a sync renews where the upstream's list is in doubt, decided by the domain's one decision function, completed by
//! the locks, sent to the upstream under the tool's own name, and answered with the exact text of the result. What is
//! refused is refused before anything is sent. Where the
//! upstream asks for input first, that goes to the caller, and the answers come back in another call, which is decided anew. Every
//! call is recorded, one that was given up too.
//!
//! This crate must never know a transport of callers, a protocol of servers, or a store.
//!
//! Start reading at [`call_tool`].

mod asking;
mod breaker;
mod call_ids;
mod call_tool;
mod deciding;
mod freshness;
mod gateway;
mod recording;
mod room;
mod schemas;
mod sending;
mod sharing;

pub use call_tool::{Answers, CallTool, Called, CanBeAsked, ToolRef, call_tool};
pub use gateway::Gateway;
pub use recording::{CallRecords, CannotRecord};
pub use toolgate_upstream::{CallNotice, LogLevel};
