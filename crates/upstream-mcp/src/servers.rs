use async_trait::async_trait;
use toolgate_outbound::Outbound;
use toolgate_upstream::{
    Bounds, CallAnswer, CallBounds, CallError, CallNotice, Endpoint, FollowEnd, Listing, ListingError,
    ToolCall, ToolCalls, ToolServers,
};

use crate::call::{Called, Calling, Lines};
use crate::conversation::{Conversation, Wire};
use crate::eras::{self, Era, Known};
use crate::follow::follow;
use crate::http::{HttpWire, StreamsWire};
use crate::known_eras::KnownEras;
use crate::stdio::{StdioAllow, StdioWire};
use crate::wording::Wording;
use crate::{session_era, stateless_era};

/// Reaches MCP servers.
#[derive(Debug)]
pub struct McpServers {
    outbound: Outbound,
    stdio_allow: StdioAllow,
    known_eras: KnownEras,
    lines: Lines,
}

impl McpServers {
    /// HTTP goes out through `outbound`; only commands in `stdio_allow` are started.
    pub fn new(outbound: Outbound, stdio_allow: StdioAllow) -> Self {
        Self { outbound, stdio_allow, known_eras: KnownEras::default(), lines: Lines::default() }
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
            Endpoint::Oxp { .. } => Err(not_mcp()),
        }
    }

    async fn list_tools(&self, endpoint: &Endpoint, bounds: &Bounds) -> Result<Listing, ListingError> {
        let wording = Wording::new(endpoint);
        match self.list(endpoint, bounds).await {
            Ok(listing) => Ok(wording.clean_listing(listing)),
            Err(error) => Err(wording.clean_error(error)),
        }
    }

    async fn follow(
        &self,
        endpoint: &Endpoint,
        bounds: &Bounds,
        changed: &(dyn Fn() + Send + Sync),
    ) -> Result<FollowEnd, ListingError> {
        let Endpoint::Http { url, headers, allow_private } = endpoint else {
            return Ok(FollowEnd::NotOffered);
        };
        let known = self.known_eras.get(endpoint);
        if known.is_some_and(|known| !known.tells_changes) {
            return Ok(FollowEnd::NotOffered);
        }
        let wire = HttpWire::new(&self.outbound, url, headers, *allow_private)?;
        let followed = follow(wire, known.map(|known| known.era), bounds, changed).await;
        followed.map_err(|error| Wording::new(endpoint).clean_error(error))
    }
}

#[async_trait]
impl ToolCalls for McpServers {
    async fn call_tool(
        &self,
        endpoint: &Endpoint,
        call: &ToolCall<'_>,
        bounds: &CallBounds,
        told: &(dyn Fn(CallNotice) + Send + Sync),
    ) -> Result<CallAnswer, CallError> {
        let known = self.known_eras.get(endpoint);
        let calling = Calling { endpoint, call, bounds, told, known };
        let (found, called) = match endpoint {
            Endpoint::Http { url, headers, allow_private } => {
                let wire =
                    || Ok(HttpWire::new(&self.outbound, url, headers, *allow_private)?.calling(call, told));
                self.call_over_http(calling, wire).await
            }
            Endpoint::Stdio { command, args, env } => {
                let start = || {
                    self.stdio_allow.admit(command, args)?;
                    StdioWire::start(command, args, env)
                };
                calling.over_channel(&self.lines, start).await
            }
            Endpoint::Oxp { .. } => (None, Err(CallError { error: not_mcp(), may_have_run: false })),
        };
        match found {
            Some(found) if known.is_none() => self.known_eras.remember(endpoint, found),
            Some(_) => {}
            None => self.known_eras.forget(endpoint),
        }
        let clean = |error| Wording::new(endpoint).clean_error(error);
        called.map_err(|CallError { error, may_have_run }| CallError { error: clean(error), may_have_run })
    }
}

impl McpServers {
    /// Over Streamable HTTP or, where the server is known to speak it or is not known at all and refuses the other, HTTP+SSE.
    async fn call_over_http<'w>(
        &self,
        calling: Calling<'_>,
        wire: impl Fn() -> Result<HttpWire<'w>, ListingError>,
    ) -> Called {
        let streams = || wire().map(StreamsWire::new);
        match calling.known {
            Some(Known { era: Era::Streams, .. }) => calling.over_channel(&self.lines, streams).await,
            Some(_) => calling.over_http(&self.lines, wire).await,
            None => match calling.over_http(&self.lines, &wire).await {
                (_, Err(CallError { error, may_have_run: false })) if eras::may_be_older(&error) => {
                    Calling { known: Some(eras::STREAMS), ..calling }.over_channel(&self.lines, streams).await
                }
                called => called,
            },
        }
    }

    /// A listing or an error whose texts may still hold anything.
    async fn list(&self, endpoint: &Endpoint, bounds: &Bounds) -> Result<Listing, ListingError> {
        let known = self.known_eras.get(endpoint);
        let outcome = match endpoint {
            Endpoint::Http { url, headers, allow_private } => {
                let wire = || HttpWire::new(&self.outbound, url, headers, *allow_private);
                match known {
                    Some(Known { era: Era::Streams, .. }) => {
                        let listed = list_over(StreamsWire::new(wire()?), known, bounds).await;
                        listed.map_err(|unlisted| unlisted.error)
                    }
                    _ => match list_over(wire()?, known, bounds).await {
                        Err(Unlisted { error, is_opened: false }) if eras::may_be_older(&error) => {
                            let wire = StreamsWire::new(wire()?);
                            let older = list_over(wire, Some(eras::STREAMS), bounds).await;
                            older.map_err(|_| error)
                        }
                        listed => listed.map_err(|unlisted| unlisted.error),
                    },
                }
            }
            Endpoint::Stdio { command, args, env } => {
                self.stdio_allow.admit(command, args)?;
                let wire = StdioWire::start(command, args, env)?;
                list_over(wire, known, bounds).await.map_err(|unlisted| unlisted.error)
            }
            Endpoint::Oxp { .. } => Err(not_mcp()),
        };
        match &outcome {
            Ok((known, _)) => self.known_eras.remember(endpoint, *known),
            Err(_) => self.known_eras.forget(endpoint),
        }
        outcome.map(|(_, listing)| listing)
    }
}

fn not_mcp() -> ListingError {
    ListingError::Refused("it does not speak MCP".into())
}

/// Why there is no listing.
struct Unlisted {
    error: ListingError,
    /// Whether a session was opened before.
    is_opened: bool,
}

/// Lists in the era that is known, or is found out first, and tells what is known now.
async fn list_over<W: Wire>(
    wire: W,
    known: Option<Known>,
    bounds: &Bounds,
) -> Result<(Known, Listing), Unlisted> {
    let mut conversation = Conversation::new(wire, bounds);
    let outcome = list_in_era(&mut conversation, known, bounds).await;
    let is_opened = conversation.is_opened;
    conversation.end().await;
    outcome.map_err(|error| Unlisted { error, is_opened })
}

async fn list_in_era<W: Wire>(
    conversation: &mut Conversation<W>,
    known: Option<Known>,
    bounds: &Bounds,
) -> Result<(Known, Listing), ListingError> {
    let opening = conversation.opening(bounds);
    let known = match known {
        Some(known) => known,
        None => eras::find(conversation, opening).await?,
    };
    match known.era {
        Era::Stateless(revision) => {
            let listing = stateless_era::list(conversation, revision, bounds).await?;
            Ok((known, listing))
        }
        Era::Session | Era::Streams => {
            let (tells_changes, listing) = session_era::list(conversation, bounds, opening).await?;
            Ok((Known { tells_changes, ..known }, listing))
        }
    }
}
