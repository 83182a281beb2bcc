//! Use case: a call of a tool.

use std::{collections::BTreeMap, fmt};

use toolgate_catalog::Revision;
use toolgate_definition::arguments::Arguments;
use toolgate_domain::{AgentId, ClientId, Fault, KeyId, ToolId};
use toolgate_upstream::{CallNotice, LogLevel};

use crate::{
    Gateway,
    deciding::decided,
    freshness,
    recording::Recording,
    sending::{Sent, send},
    sharing::{asked, call_key},
};

/// Which call.
#[derive(Debug, Clone)]
pub struct CallTool {
    /// The tenant.
    pub client: ClientId,
    /// The agent that calls, if one does.
    pub agent: Option<AgentId>,
    /// The credential that calls.
    pub key: KeyId,
    /// The tool.
    pub tool: ToolRef,
    /// As the caller sent them.
    pub arguments: Arguments,
    /// The id that the caller gave the call, by which it is made once; of [`MAX_CALL_ID_BYTES`] at most.
    ///
    /// [`MAX_CALL_ID_BYTES`]: toolgate_domain::limits::MAX_CALL_ID_BYTES
    pub call_id: Option<String>,
    /// The caller's session, where it is in one: whatever names it.
    pub session: Option<String>,
    /// Whether the caller wants to hear of progress.
    pub wants_progress: bool,
    /// How much of the upstream's log of the call the caller wants to hear; `None` for nothing.
    pub log_level: Option<LogLevel>,
    /// The headers that repeat arguments, as the caller sent them: names in lower case without their prefix, values in clear
    /// text. `None` where its transport has none, so that nothing is to be repeated.
    pub argument_headers: Option<BTreeMap<String, String>>,
    /// What the caller can be asked; `None` where it does not know `input_required`.
    pub can_be_asked: Option<CanBeAsked>,
    /// What the caller answers to what the upstream asked for before.
    pub answers: Option<Answers>,
    /// What the catalogue must have reached.
    pub min_revision: Option<Revision>,
}

/// A caller that knows `input_required`.
#[derive(Debug, Clone)]
pub struct CanBeAsked {
    /// JSON text of its capability `elicitation`, if it declares that. Without it, it can be told to call once more.
    pub elicitation: Option<String>,
}

/// Answers to what an upstream asked for.
#[derive(Clone)]
pub struct Answers {
    /// JSON text of an object.
    pub responses: Option<String>,
    /// What came with the question, as it came. Without it the answers reach the upstream without any state of its own, as if
    /// it had not been asked.
    pub request_state: Option<String>,
}

impl fmt::Debug for Answers {
    /// Without what was answered.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").finish_non_exhaustive()
    }
}

/// What came of a call that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Called {
    /// The exact text of the upstream's result, which may itself say that the tool failed.
    Result(String),
    /// The text of a result that asks for input first. The state in it is ours.
    Asks(String),
}

/// How a caller names a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolRef {
    /// By its id.
    Id(ToolId),
    /// By the name that agents call it.
    Name(String),
    /// By its OXP id, with or without a version.
    OxpId(String),
}

impl Called {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Result(text) | Self::Asks(text) => text,
        }
    }
}

/// Calls, and records the call whatever comes of it. `told` hears what the upstream tells meanwhile; dropping the future gives the call up.
///
/// A call with an id is made once: asking again with the same tool and equal arguments brings what came of it, once it is
/// decided that the caller may still make it. It goes on when its caller leaves, and nobody hears of its progress.
///
/// # Errors
/// [`Fault::ToolNotFound`] for a tool that is not there for the caller, [`Fault::ToolNotServed`],
/// [`Fault::ArgumentsMisfit`], [`Fault::ListingStale`], [`Fault::LimitExceeded`] and [`Fault::Invalid`], all before anything
/// is sent; [`Fault::UpstreamRefused`], [`Fault::CapabilityMissing`] and [`Fault::UpstreamFailed`]; those of
/// [`Catalog::snapshot`](toolgate_catalog::Catalog::snapshot).
pub async fn call_tool(
    gateway: &Gateway,
    call: CallTool,
    told: &(dyn Fn(CallNotice) + Send + Sync),
) -> Result<Called, Fault> {
    let Some(call_id) = &call.call_id else { return make(gateway, &call, told).await };
    let tool = admitted(gateway, &call).await?;
    let (client, key, asked) = (call.client, call_key(&call, call_id), asked(tool, &call.arguments));
    let own = gateway.clone();
    let call = CallTool { wants_progress: false, log_level: None, ..call };
    let made = async move { make(&own, &call, &|_| {}).await };
    gateway.call_ids.once(client, key, asked, made).await
}

/// The tool of a call, if the call may be made now: whoever may not is recorded, and told nothing of what came of it before.
async fn admitted(gateway: &Gateway, call: &CallTool) -> Result<ToolId, Fault> {
    let mut recording = Recording::begin(gateway, call);
    let decided = match gateway.catalog.snapshot(call.client, call.min_revision).await {
        Ok(snapshot) => {
            decided(gateway, &snapshot, call, &mut recording).map(|decided| decided.entry.tool.id)
        }
        Err(fault) => Err(fault),
    };
    match &decided {
        Ok(_) => recording.discard(),
        Err(fault) => recording.end(Err(fault)),
    }
    decided
}

async fn make(
    gateway: &Gateway,
    call: &CallTool,
    told: &(dyn Fn(CallNotice) + Send + Sync),
) -> Result<Called, Fault> {
    let mut recording = Recording::begin(gateway, call);
    let called = carry_out(gateway, call, told, &mut recording).await;
    recording.end(called.as_ref());
    called
}

/// Decides until what was decided still stands when the call leaves. Between any two attempts lies a ruling.
async fn carry_out(
    gateway: &Gateway,
    call: &CallTool,
    told: &(dyn Fn(CallNotice) + Send + Sync),
    recording: &mut Recording,
) -> Result<Called, Fault> {
    let (mut reached, mut is_settled) = (call.min_revision, false);
    loop {
        let snapshot = gateway.catalog.snapshot(call.client, reached).await?;
        let decided = decided(gateway, &snapshot, call, recording)?;
        if !std::mem::replace(&mut is_settled, true) {
            let settled = freshness::settled(gateway, decided.upstream).await?;
            if settled.is_some_and(|settled| snapshot.revision() < settled) {
                reached = reached.max(settled);
                continue;
            }
        }
        match send(gateway, call, &decided, told, recording).await? {
            Sent::Answered(called) => return Ok(called),
            Sent::Withdrawn => {}
        }
    }
}
