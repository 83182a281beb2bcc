//! Every tool server, by what it speaks.

use toolgate_upstream::{
    Bounds, CallAnswer, CallBounds, CallError, CallNotice, Endpoint, FollowEnd, Listing, ListingError,
    ToolCall, ToolCalls, ToolServers,
};
use toolgate_upstream_mcp::McpServers;
use toolgate_upstream_oxp::OxpServers;

#[derive(Debug)]
pub(crate) struct Upstreams {
    pub(crate) mcp: McpServers,
    pub(crate) oxp: OxpServers,
}

impl Upstreams {
    fn servers(&self, endpoint: &Endpoint) -> &dyn ToolServers {
        match endpoint {
            Endpoint::Http { .. } | Endpoint::Stdio { .. } => &self.mcp,
            Endpoint::Oxp { .. } => &self.oxp,
        }
    }
}

#[tonic::async_trait]
impl ToolServers for Upstreams {
    fn admits(&self, endpoint: &Endpoint) -> Result<(), ListingError> {
        self.servers(endpoint).admits(endpoint)
    }

    async fn list_tools(&self, endpoint: &Endpoint, bounds: &Bounds) -> Result<Listing, ListingError> {
        self.servers(endpoint).list_tools(endpoint, bounds).await
    }

    async fn follow(
        &self,
        endpoint: &Endpoint,
        bounds: &Bounds,
        changed: &(dyn Fn() + Send + Sync),
    ) -> Result<FollowEnd, ListingError> {
        self.servers(endpoint).follow(endpoint, bounds, changed).await
    }
}

#[tonic::async_trait]
impl ToolCalls for Upstreams {
    async fn call_tool(
        &self,
        endpoint: &Endpoint,
        call: &ToolCall<'_>,
        bounds: &CallBounds,
        told: &(dyn Fn(CallNotice) + Send + Sync),
    ) -> Result<CallAnswer, CallError> {
        match endpoint {
            Endpoint::Http { .. } | Endpoint::Stdio { .. } => {
                self.mcp.call_tool(endpoint, call, bounds, told).await
            }
            Endpoint::Oxp { .. } => self.oxp.call_tool(endpoint, call, bounds, told).await,
        }
    }
}
