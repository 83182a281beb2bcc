use std::path::PathBuf;

/// Headers, in lower case, that belong to the protocol or to the connection itself; an endpoint cannot set them.
pub const RESERVED_HEADERS: [&str; 16] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// A value that is never printed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Where a tool server is, with everything needed to reach it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// An MCP server over Streamable HTTP.
    Http {
        /// Absolute `http` or `https` URL.
        url: String,
        /// Headers to send with each request, in order, values secret.
        headers: Vec<(String, Secret)>,
        /// Whether loopback and private addresses may be connected to (an `mcp:admin` declared it).
        allow_private: bool,
    },
    /// An OXP 1.0 server.
    Oxp {
        /// Absolute `http` or `https` URL that `/tools` and `/tools/call` stand below.
        url: String,
        /// As for [`Endpoint::Http`].
        headers: Vec<(String, Secret)>,
        /// As for [`Endpoint::Http`].
        allow_private: bool,
    },
    /// An MCP server as a child process.
    Stdio {
        /// Absolute path of the program.
        command: PathBuf,
        /// Its arguments.
        args: Vec<String>,
        /// The child's environment, whole: nothing is inherited.
        env: Vec<(String, Secret)>,
    },
}
