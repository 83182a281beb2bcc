//! MCP servers as upstreams: Streamable HTTP and stdio.
