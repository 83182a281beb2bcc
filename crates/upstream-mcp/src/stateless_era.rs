//! The revisions without sessions: 2026-07-28.

use toolgate_upstream::{Bounds, Listing, ListingError};

use crate::conversation::{Conversation, Wire};
use crate::envelope::Envelope;
use crate::pages;
use crate::session_era::server_name;

/// Reads a server's whole list of tools.
pub(crate) async fn list<W: Wire>(
    conversation: &mut Conversation<W>,
    revision: &'static str,
    bounds: &Bounds,
) -> Result<Listing, ListingError> {
    conversation.envelope = Envelope::Declaring(revision);
    let (pages, end) = pages::read(conversation, bounds).await?;
    Ok(Listing {
        end,
        protocol_version: revision.to_owned(),
        server_name: pages.server_info().and_then(server_name),
        ttl: pages.ttl(),
        public_ttl: pages.public_ttl(),
        binds_headers: W::HAS_HEADERS,
        entries: pages.into_entries(),
    })
}
