use async_trait::async_trait;
use toolgate_outbound::Outbound;
use toolgate_upstream::{Bounds, Endpoint, Listing, ListingError, ToolServers};

use crate::http::HttpWire;
use crate::session_era;
use crate::stdio::{StdioAllow, StdioWire};
use crate::wording::Wording;

/// Reaches MCP servers.
#[derive(Debug)]
pub struct McpServers {
    outbound: Outbound,
    stdio_allow: StdioAllow,
}

impl McpServers {
    /// HTTP goes out through `outbound`; only commands in `stdio_allow` are started.
    pub fn new(outbound: Outbound, stdio_allow: StdioAllow) -> Self {
        Self { outbound, stdio_allow }
    }
}

#[async_trait]
impl ToolServers for McpServers {
    fn admits(&self, endpoint: &Endpoint) -> Result<(), ListingError> {
        match endpoint {
            Endpoint::Http { url, allow_private, .. } => {
                let checked = self.outbound.check(url, *allow_private);
                checked.map(drop).map_err(|refusal| ListingError::Refused(refusal.to_string()))
            }
            Endpoint::Stdio { command, args, .. } => self.stdio_allow.admit(command, args),
        }
    }

    async fn list_tools(&self, endpoint: &Endpoint, bounds: &Bounds) -> Result<Listing, ListingError> {
        let wording = Wording::new(endpoint);
        match self.list(endpoint, bounds).await {
            Ok(listing) => Ok(wording.clean_listing(listing)),
            Err(error) => Err(wording.clean_error(error)),
        }
    }
}

impl McpServers {
    /// A listing or an error whose texts may still hold anything.
    async fn list(&self, endpoint: &Endpoint, bounds: &Bounds) -> Result<Listing, ListingError> {
        match endpoint {
            Endpoint::Http { url, headers, allow_private } => {
                let wire = HttpWire::new(&self.outbound, url, headers, *allow_private)?;
                session_era::list(wire, bounds).await
            }
            Endpoint::Stdio { command, args, env } => {
                self.stdio_allow.admit(command, args)?;
                let wire = StdioWire::start(command, args, env)?;
                session_era::list(wire, bounds).await
            }
        }
    }
}
