use std::fmt;
use std::sync::Arc;

use toolgate_sealing::Sealer;

/// What the face takes from whoever composes the process.
#[derive(Clone)]
pub struct McpSettings {
    /// Scheme, host and port under which callers reach the server, for example `https://tools.example.com`; `None` takes
    /// `http` and the `Host` of each request.
    pub public_origin: Option<String>,
    /// Version of the server, as told to clients.
    pub version: &'static str,
    /// Seals the ids of sessions.
    pub sealer: Arc<Sealer>,
    /// Draws the random number that tells two sessions of one credential apart.
    pub random: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Where in the operator's program tools are made and rights to them granted, as `tool_list` tells it.
    pub melbis_grant: Arc<str>,
}

impl fmt::Debug for McpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpSettings").field("public_origin", &self.public_origin).finish_non_exhaustive()
    }
}
