//! Use case: what a tool server lists at this moment.
//!
//! It is asked through the port that syncs ask through, and nothing of the catalogue changes: what one list shows is
//! neither recorded nor ruled on. A server is asked by one caller at a time, and [`slots`] keeps what may be kept.

mod failure;
mod limits;
mod names;
mod reading;
mod slots;

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;
use toolgate_domain::{
    AgentId, ClientId, Fault, Moment, Upstream,
    agent::{Attachment, AttachmentKind},
    upstream::Auth,
};
use toolgate_store::Revision;
use toolgate_upstream::{Bounds, Listing};

use crate::{
    Catalog, Snapshot, UpstreamEntry,
    agents::AttachmentRef,
    endpoint::endpoint,
    sync::{Syncer, Syncs, Turns},
};
pub(crate) use slots::Slots;
use {
    failure::{Failure, failure, unreadable},
    limits::{DECLARED_ATTEMPTS, MAX_KEPT, MAX_LISTING_BYTES, MAX_TOTAL, UNAVAILABLE_KEPT},
    names::canonical_names_of,
    reading::{Parts, read},
    slots::{Kept, Slot},
};

/// Which server.
#[derive(Debug, Clone)]
pub struct ListServerTools {
    /// The tenant.
    pub client: ClientId,
    /// The agent that it is attached to.
    pub agent: AgentId,
    /// What is attached.
    pub attachment: AttachmentRef,
    /// What the answer must have reached.
    pub min_revision: Option<Revision>,
}

/// What a server lists, or why that is not known.
#[derive(Debug, Clone)]
pub struct ServerToolList {
    /// How it went.
    pub outcome: Outcome,
    /// When the server was asked, if it was.
    pub asked_at: Option<Moment>,
    /// Until when whoever asks next is told the same, if so.
    pub kept_until: Option<Moment>,
    /// Whether it was kept since an earlier question.
    pub from_cache: bool,
    /// Where agent and attachment were read from.
    pub snapshot: Arc<Snapshot>,
}

/// How it went to ask a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// In the server's order.
    Listed(Vec<ServerTool>),
    /// The server wants a credential that it was not sent.
    AuthRequired,
    /// It could not be listed whole; a sentence says why. It names no address.
    Unavailable(String),
}

/// One tool of a server's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTool {
    /// The server's own name of it.
    pub name: String,
    /// What agents call it by.
    pub canonical_name: String,
    /// If the server gives one.
    pub description: Option<String>,
    /// The exact text of an object.
    pub input_schema: Option<String>,
    /// The exact text of an object.
    pub annotations: Option<String>,
}

/// Asks tool servers what they list. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ServerTools {
    catalog: Catalog,
    syncer: Arc<Syncer>,
    turns: Arc<Turns>,
    bounds: Bounds,
    kept_for: Duration,
}

/// What was kept of a server's list, or is about to be: all but the names, which people may change.
#[derive(Debug, Clone)]
enum Told {
    Listed(Arc<[Parts]>),
    AuthRequired,
    Unavailable(String),
}

/// The server that is asked.
struct Found {
    snapshot: Arc<Snapshot>,
    entry: Arc<UpstreamEntry>,
}

impl ServerTools {
    /// Asks the servers of `catalog` in the way of `syncs`, and hears from there what makes a kept list void. A list that
    /// its server says nothing about is kept for `kept_for`.
    pub fn new(catalog: &Catalog, syncs: &Syncs, kept_for: Duration) -> Self {
        let syncer = Arc::clone(syncs.syncer());
        let listing = &syncer.limits.listing;
        let bounds = Bounds {
            total_timeout: listing.total_timeout.min(MAX_TOTAL),
            max_answer_bytes: listing.max_answer_bytes.min(MAX_LISTING_BYTES),
            max_listing_bytes: listing.max_listing_bytes.min(MAX_LISTING_BYTES),
            ..listing.clone()
        };
        Self { catalog: catalog.clone(), syncer, turns: Arc::default(), bounds, kept_for }
    }

    /// Lists what the server behind an attachment lists now, or did as long as that may be kept.
    ///
    /// # Errors
    /// [`Fault::AgentNotFound`]; [`Fault::AttachmentNotFound`]; [`Fault::AttachmentNotMcp`]; those of
    /// [`Catalog::snapshot`].
    pub async fn list(&self, ask: &ListServerTools) -> Result<ServerToolList, Fault> {
        for _ in 0..DECLARED_ATTEMPTS {
            let found = self.find(ask).await?;
            if let Some(kept) = self.told(&found).await? {
                return self.answer(found, kept).await;
            }
        }
        let found = self.find(ask).await?;
        let told = Told::Unavailable(failure::UNSETTLED.to_owned());
        self.answer(found, Kept::passing(told, self.syncer.clock.now())).await
    }

    async fn find(&self, ask: &ListServerTools) -> Result<Found, Fault> {
        let snapshot = self.catalog.snapshot(ask.client, ask.min_revision).await?;
        let agent = &snapshot.agent(ask.agent).ok_or(Fault::AgentNotFound)?.agent;
        let upstream = match ask.attachment.find(agent, &snapshot)? {
            Attachment { kind: AttachmentKind::Mcp(upstream), .. } => *upstream,
            Attachment { kind, .. } => return Err(Fault::AttachmentNotMcp { kind: kind.as_str() }),
        };
        let entry = Arc::clone(snapshot.upstream(upstream).ok_or(Fault::AttachmentNotFound)?);
        Ok(Found { snapshot, entry })
    }

    /// What the server tells, or told before; `None` when it is declared differently by now.
    async fn told(&self, found: &Found) -> Result<Option<Kept>, Fault> {
        let (upstream, declared) = (&found.entry.upstream, found.entry.declared);
        if upstream.auth() == Auth::PerUser {
            return Ok(Some(Kept::unasked(Told::AuthRequired)));
        }
        let slot = self.syncer.slots.of(upstream.id);
        if let Some(kept) = slot.kept(declared, self.syncer.clock.now()) {
            return Ok(Some(kept));
        }
        tokio::select! {
            () = slot.ended() => Ok(None),
            kept = self.ask_in_turn(&slot, found) => kept,
        }
    }

    /// Whoever waits for a turn finds what was told meanwhile, if it was kept.
    async fn ask_in_turn(&self, slot: &Slot, found: &Found) -> Result<Option<Kept>, Fault> {
        let now = || self.syncer.clock.now();
        let Ok(_turn) = timeout(self.bounds.total_timeout, slot.turn()).await else {
            return Ok(Some(Kept::passing(Told::Unavailable(failure::BUSY.to_owned()), now())));
        };
        let (upstream, declared) = (&found.entry.upstream, found.entry.declared);
        if let Some(kept) = slot.kept(declared, now()) {
            return Ok(Some(kept));
        }
        let (asked_at, heard) = (now(), slot.heard());
        let (told, life) = self.ask(upstream).await?;
        if !self.is_declared_still(found).await? {
            return Ok(None);
        }
        let Some(life) = life.filter(|life| !life.is_zero()) else {
            return Ok(Some(Kept::passing(told, asked_at)));
        };
        let kept = Kept::until(told, asked_at, now().plus(life));
        self.syncer.slots.keep(slot, declared, heard, &kept, now());
        Ok(Some(kept))
    }

    async fn is_declared_still(&self, found: &Found) -> Result<bool, Fault> {
        let snapshot = self.catalog.snapshot(found.snapshot.client(), None).await?;
        let now = snapshot.upstream(found.entry.upstream.id).map(|entry| entry.declared);
        Ok(now == Some(found.entry.declared))
    }

    /// Asks the server, and says how long that may be kept.
    async fn ask(&self, upstream: &Upstream) -> Result<(Told, Option<Duration>), Fault> {
        let unavailable = |why: String| Ok((Told::Unavailable(why), Some(UNAVAILABLE_KEPT)));
        let endpoint = match endpoint(upstream, &self.syncer.sealer) {
            Ok(endpoint) => endpoint,
            Err(fault) => return unavailable(unreadable(&fault)),
        };
        let listing = self.turns.listing(self.syncer.servers.list_tools(&endpoint, &self.bounds));
        let listing = match timeout(self.bounds.total_timeout, listing).await {
            Ok(listing) => listing,
            Err(_) => return unavailable(failure::SILENT.to_owned()),
        };
        match failure(listing) {
            Ok(listing) => {
                let life = self.life(upstream, &listing);
                let _turn = self.turns.work().await;
                let parts = tokio::task::spawn_blocking(move || read(&listing.entries)).await;
                let parts = parts.map_err(|error| Fault::Internal { cause: error.to_string() })?;
                Ok((Told::Listed(parts.into()), life))
            }
            Err(Failure::AuthRequired) => Ok((Told::AuthRequired, None)),
            Err(Failure::Unavailable(why)) => unavailable(why),
        }
    }

    /// How long a list may be kept. One that a credential was sent for, never.
    fn life(&self, upstream: &Upstream, listing: &Listing) -> Option<Duration> {
        let unsaid = listing.ttl.map_or(self.kept_for, |ttl| ttl.min(self.kept_for));
        let life = listing.public_ttl.map_or(unsaid, |ttl| ttl.min(MAX_KEPT));
        (upstream.auth() == Auth::None).then_some(life)
    }

    async fn answer(&self, found: Found, kept: Kept) -> Result<ServerToolList, Fault> {
        let Kept { told, asked_at, until, from_cache } = kept;
        let snapshot = Arc::clone(&found.snapshot);
        let outcome = match told {
            Told::Listed(parts) => {
                let named = tokio::task::spawn_blocking(move || named(&found, &parts)).await;
                Outcome::Listed(named.map_err(|error| Fault::Internal { cause: error.to_string() })?)
            }
            Told::AuthRequired => Outcome::AuthRequired,
            Told::Unavailable(why) => Outcome::Unavailable(why),
        };
        Ok(ServerToolList { outcome, asked_at, kept_until: until, from_cache, snapshot })
    }
}

fn named(found: &Found, parts: &[Parts]) -> Vec<ServerTool> {
    let names = canonical_names_of(&found.snapshot, &found.entry.upstream, parts);
    let tool = |parts: &Parts| {
        let Parts { name, description, input_schema, annotations } = parts.clone();
        let canonical_name = names.get(name.as_str()).cloned().unwrap_or_default();
        ServerTool { name, canonical_name, description, input_schema, annotations }
    };
    parts.iter().map(tool).collect()
}

impl Told {
    /// About what keeping it takes.
    fn weight_bytes(&self) -> usize {
        match self {
            Self::Listed(parts) => parts.iter().map(Parts::weight_bytes).sum(),
            Self::AuthRequired => 0,
            Self::Unavailable(why) => why.len(),
        }
    }
}
