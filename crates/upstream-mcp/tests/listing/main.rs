//! Listings and calls of scripted servers: what comes out of the port for what a server does.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod calls;
mod events;
mod failures;
mod notices;
mod paging;
mod revisions;
mod sessions;
mod streams;
// Looks at the children through /proc.
#[cfg(target_os = "linux")]
mod stdio;

use std::time::Duration;

use toolgate_outbound::{Outbound, Private};
use toolgate_test_support::mcp_server::ScriptedServer;
use toolgate_upstream::{Bounds, Endpoint, Listing, ListingEnd, ListingError, Secret, ToolServers};
use toolgate_upstream_mcp::{McpServers, StdioAllow};

const A: &str = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
const B: &str = r#"{"name":"b","inputSchema":{"type":"object"}}"#;
const C: &str = r#"{"name":"c","inputSchema":{"type":"object"}}"#;

/// Generous where a test does not come to it, so that a busy machine changes nothing.
fn bounds() -> Bounds {
    Bounds {
        connect_timeout: Duration::from_secs(20),
        answer_timeout: Duration::from_secs(20),
        total_timeout: Duration::from_secs(30),
        max_pages: 10,
        max_answer_bytes: 1 << 20,
        max_listing_bytes: 4 << 20,
        max_entries: 1000,
    }
}

fn servers() -> McpServers {
    McpServers::new(Outbound::new(Private::Declared).unwrap(), StdioAllow::default())
}

fn endpoint(server: &ScriptedServer) -> Endpoint {
    let headers = vec![("authorization".to_owned(), Secret::new("Bearer s3cret-token"))];
    Endpoint::Http { url: server.url(), headers, allow_private: true }
}

async fn list(server: &ScriptedServer) -> Result<Listing, ListingError> {
    list_within(server, &bounds()).await
}

async fn list_within(server: &ScriptedServer, bounds: &Bounds) -> Result<Listing, ListingError> {
    servers().list_tools(&endpoint(server), bounds).await
}

#[track_caller]
fn assert_complete<T: AsRef<str>>(listing: Result<Listing, ListingError>, entries: &[T]) {
    let listing = listing.unwrap();
    assert_eq!(listing.entries, entries.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    assert_eq!(listing.end, ListingEnd::Complete);
}

#[track_caller]
fn assert_protocol_error(listing: Result<Listing, ListingError>, part: &str) {
    match listing {
        Err(ListingError::Protocol(text)) => assert!(text.contains(part), "{text}"),
        other => panic!("{other:?}"),
    }
}
