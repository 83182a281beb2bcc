//! The port to a tool server: what the product asks of one, whatever it speaks.
//!
//! An implementation (`toolgate-upstream-mcp`) turns an [`Endpoint`] into a [`Listing`], and a [`ToolCall`] into a result.
//! Entries, arguments and results cross this port as exact JSON text; nothing here parses or judges one.
//!
//! This crate must never know a tenant, a store, an SDK or a wire format.
//!
//! Start reading at [`ToolServers`], then [`ToolCalls`].

mod call;
mod endpoint;
mod follow;
mod listing;
mod log_level;

pub use call::{
    CallAnswer, CallBounds, CallError, CallNotice, InputAnswers, SessionKey, ToolCall, TraceContext,
};
pub use endpoint::{Endpoint, RESERVED_HEADERS, Secret};
pub use follow::FollowEnd;
pub use listing::{Bounds, Incomplete, Listing, ListingEnd, ListingError};
pub use log_level::{LogLevel, NotALevel};

use async_trait::async_trait;

/// Reaches tool servers.
#[async_trait]
pub trait ToolServers: Send + Sync + std::fmt::Debug + 'static {
    /// Whether policy lets `endpoint` be reached at all: what can be said without a look-up or a connection. Every listing
    /// checks it again, and more.
    fn admits(&self, endpoint: &Endpoint) -> Result<(), ListingError>;

    /// Connects, reads the server's whole list of tools within `bounds`, and disconnects.
    ///
    /// `Err` means that not a single page was read. A failure after the first page is a [`Listing`] whose end is
    /// [`ListingEnd::Incomplete`]. Dropping the future abandons the listing and every process or connection of it.
    async fn list_tools(&self, endpoint: &Endpoint, bounds: &Bounds) -> Result<Listing, ListingError>;

    /// Calls `changed` once the server has agreed to tell when its list of tools changes, and each time it tells so.
    ///
    /// Lasts until the server ends it; `Err` means that it could not be begun or broke off. Nothing is told of a change
    /// that came before, so the first call means "look again". Dropping the future ends it.
    async fn follow(
        &self,
        endpoint: &Endpoint,
        bounds: &Bounds,
        changed: &(dyn Fn() + Send + Sync),
    ) -> Result<FollowEnd, ListingError>;
}

/// Calls tools.
#[async_trait]
pub trait ToolCalls: Send + Sync + std::fmt::Debug + 'static {
    /// Calls a tool once and answers the exact text of the result, whatever it says. Nothing is ever sent a second time
    /// unless the server said that it had not taken it.
    ///
    /// `told` hears what the server tells meanwhile. Dropping the future gives the call up and lets the server know.
    async fn call_tool(
        &self,
        endpoint: &Endpoint,
        call: &ToolCall<'_>,
        bounds: &CallBounds,
        told: &(dyn Fn(CallNotice) + Send + Sync),
    ) -> Result<CallAnswer, CallError>;
}
