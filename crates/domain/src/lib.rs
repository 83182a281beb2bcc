//! The vocabulary of the product and its pure decisions: client, upstream, tool, agent, ruling, credential, and what follows
//! from them (state, effect, names, who may use what).
//!
//! Nothing here waits, reads a clock, draws a random number or fails for a reason outside its arguments: time, randomness
//! and the caller come in from outside.
//!
//! This crate must never know a store, an encoding, a wire format or a transport.
//!
//! Start reading at [`tool::Tool`], then [`state`], [`decision`] and [`fault`].

pub mod agent;
pub mod ambient;
pub mod call;
pub mod caller;
pub mod credential;
pub mod decision;
pub mod fault;
pub mod free_text;
pub mod ids;
pub mod limits;
pub mod moment;
pub mod oxp_version;
pub mod ruling;
pub mod state;
pub mod sync_issue;
pub mod sync_status;
pub mod tool;
pub mod upstream;

pub use agent::Agent;
pub use ambient::{Clock, Entropy};
pub use call::{CallOutcome, CallRecord, CallRefusal, CalledTool};
pub use caller::{Caller, Scope, Scopes};
pub use fault::{Fault, Violation};
pub use ids::{AgentId, AttachmentId, ClientId, KeyId, ToolId, UpstreamId};
pub use moment::Moment;
pub use oxp_version::{OxpVersion, OxpVersions};
pub use state::ToolState;
pub use tool::Tool;
pub use upstream::Upstream;
