//! Use case: a call of a tool.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};
use toolgate_catalog::{Revision, Sight, Snapshot, ToolEntry, View, endpoint};
use toolgate_definition::{arguments::Arguments, scan};
use toolgate_domain::{
    AgentId, ClientId, Fault, KeyId, Tool, ToolId, Upstream,
    decision::{Admitted, CallDenial, Denial, decide, decide_call},
    upstream::{Auth, Isolation},
};
use toolgate_upstream::{CallError, CallNotice, ListingError, LogLevel, SessionKey, ToolCall};

use crate::{Gateway, freshness, gateway::BOUNDS};

/// JSON-RPC codes by which a server says that it does not know the tool, or not like this: its list may be another by now.
const SIGNS_OF_CHANGE: [i64; 2] = [-32601, -32602];

/// What both codes begin with. Some servers put an error of the protocol into the text of a result.
const SIGN_IN_A_TEXT: &str = "-3260";

/// What an upstream was registered with is for its syncs alone where each user has a credential of their own.
const NO_USER: &str = "it takes the credential of a user, and a key is no user";

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
    /// The caller's session, where it is in one: whatever names it.
    pub session: Option<String>,
    /// Whether the caller wants to hear of progress.
    pub wants_progress: bool,
    /// How much of the upstream's log of the call the caller wants to hear; `None` for nothing.
    pub log_level: Option<LogLevel>,
    /// What the catalogue must have reached.
    pub min_revision: Option<Revision>,
}

/// How a caller names a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolRef {
    /// By its id.
    Id(ToolId),
    /// By the name that agents call it.
    Name(String),
}

/// Calls. `told` hears what the upstream tells meanwhile; dropping the future gives the call up.
///
/// The answer is the exact text of the upstream's result, which may itself say that the tool failed.
///
/// # Errors
/// [`Fault::ToolNotFound`] for a tool that is not there for the caller, [`Fault::ToolNotServed`],
/// [`Fault::ArgumentsMisfit`], [`Fault::ListingStale`] and [`Fault::LimitExceeded`], all before anything is sent; [`Fault::UpstreamRefused`] and
/// [`Fault::UpstreamFailed`]; those of [`Catalog::snapshot`](toolgate_catalog::Catalog::snapshot).
pub async fn call_tool(
    gateway: &Gateway,
    call: CallTool,
    told: &(dyn Fn(CallNotice) + Send + Sync),
) -> Result<String, Fault> {
    let (mut reached, mut is_settled) = (call.min_revision, false);
    loop {
        let snapshot = gateway.catalog.snapshot(call.client, reached).await?;
        let sight = sight(&snapshot, &call);
        let (entry, upstream) = resolve(&snapshot, &sight, &call.tool)?;
        let admitted = admit(gateway, &sight, &entry.tool, call.arguments.clone())?;
        if upstream.auth() == Auth::PerUser {
            return Err(Fault::UpstreamFailed { problem: NO_USER.to_owned(), may_have_run: false });
        }
        if !std::mem::replace(&mut is_settled, true) {
            let settled = freshness::settled(gateway, upstream).await?;
            if settled.is_some_and(|settled| snapshot.revision() < settled) {
                reached = reached.max(settled);
                continue;
            }
        }
        match send(gateway, &call, &Decided { entry: &entry, upstream, admitted }, told).await {
            Sent::Called(called) => return called,
            Sent::Withdrawn => {}
        }
    }
}

/// What was decided to be sent.
struct Decided<'s> {
    entry: &'s Arc<ToolEntry>,
    upstream: &'s Upstream,
    admitted: Admitted,
}

enum Sent {
    Called(Result<String, Fault>),
    /// Nothing was sent: what it was decided by is no longer so.
    Withdrawn,
}

async fn send(
    gateway: &Gateway,
    call: &CallTool,
    decided: &Decided<'_>,
    told: &(dyn Fn(CallNotice) + Send + Sync),
) -> Sent {
    let Decided { entry, upstream, admitted } = decided;
    let _place = match gateway.room.take(upstream.id) {
        Ok(place) => place,
        Err(fault) => return Sent::Called(Err(fault)),
    };
    let endpoint = match endpoint(upstream, &gateway.sealer) {
        Ok(endpoint) => endpoint,
        Err(fault) => return Sent::Called(Err(fault)),
    };
    let was_withdrawn = AtomicBool::new(false);
    let may_leave = || {
        let stands = stands(gateway, call, entry);
        was_withdrawn.store(!stands, Ordering::Relaxed);
        stands
    };
    let sent = ToolCall {
        name: entry.tool.name(),
        arguments: admitted.arguments.text(),
        argument_headers: &admitted.headers,
        shares: session_key(call, upstream),
        may_leave: &may_leave,
        wants_progress: call.wants_progress,
        log_level: call.log_level,
    };
    match gateway.servers.call_tool(&endpoint, &sent, &BOUNDS, told).await {
        Err(_) if was_withdrawn.load(Ordering::Relaxed) => Sent::Withdrawn,
        called => {
            if is_sign_of_change(&called) {
                gateway.syncs.doubt(call.client, upstream.id);
            }
            Sent::Called(called.map_err(fault))
        }
    }
}

/// Whether what a call was decided by is so still: a ruling that was acknowledged stops each call that has not left.
fn stands(gateway: &Gateway, call: &CallTool, entry: &Arc<ToolEntry>) -> bool {
    gateway.catalog.present(call.client).is_some_and(|present| {
        let reaches = sight(&present, call).reaches(entry.tool.upstream);
        reaches && present.tool(entry.tool.id).is_some_and(|now| Arc::ptr_eq(now, entry))
    })
}

/// What there is for the caller.
fn sight(snapshot: &Snapshot, call: &CallTool) -> Sight {
    snapshot.sight(View::Raw, call.agent)
}

/// The tool by the stored mapping of names, never by taking a name apart. Of several that go by one name, a caller means
/// the one that it can use.
fn resolve<'s>(
    snapshot: &'s Snapshot,
    sight: &Sight,
    tool: &ToolRef,
) -> Result<(Arc<ToolEntry>, &'s Upstream), Fault> {
    let entry = match tool {
        ToolRef::Id(id) => snapshot.tool(*id).filter(|entry| sight.holds(&entry.tool)),
        ToolRef::Name(name) => {
            let reached = || snapshot.tools_named(name).filter(|entry| sight.holds(&entry.tool));
            let usable = |entry: &&Arc<ToolEntry>| decide(sight.reach(), &entry.tool).is_ok();
            reached().find(usable).or_else(|| reached().next())
        }
    };
    let entry = entry.ok_or(Fault::ToolNotFound)?;
    let upstream = snapshot.upstream(entry.tool.upstream).ok_or(Fault::ToolNotFound)?;
    Ok((Arc::clone(entry), &upstream.upstream))
}

fn admit(gateway: &Gateway, sight: &Sight, tool: &Tool, arguments: Arguments) -> Result<Admitted, Fault> {
    let schema = gateway.schemas.of(&tool.definition);
    decide_call(sight.reach(), tool, arguments, &schema).map_err(|denial| match denial {
        CallDenial::Tool(Denial::NotReached) => Fault::ToolNotFound,
        CallDenial::Tool(Denial::NotServed(state)) => Fault::ToolNotServed { state, remedy: tool.remedy() },
        CallDenial::Misfits(misfits) => Fault::ArgumentsMisfit(misfits),
    })
}

/// Calls of one client to one upstream share what it keeps between them as the upstream was declared.
fn session_key(call: &CallTool, upstream: &Upstream) -> Option<SessionKey> {
    let (kind, who) = match &call.agent {
        Some(agent) => (b"agent", &agent.bytes()[..]),
        None => (b"a key", &call.key.bytes()[..]),
    };
    let (kind, who, session) = match upstream.calls.isolation {
        Isolation::Shared => (b"all  ", &[][..], ""),
        Isolation::PerAgent => (kind, who, ""),
        Isolation::PerSession => (kind, who, call.session.as_deref()?),
    };
    let mut hash = Sha256::new();
    for part in [&kind[..], call.client.bytes(), upstream.id.bytes(), who, session.as_bytes()] {
        hash.update(part);
    }
    Some(SessionKey(*hash.finalize().first_chunk().expect("a hash has 32 bytes")))
}

/// Whether an upstream answers as if it did not know the tool, or not like this.
fn is_sign_of_change(called: &Result<String, CallError>) -> bool {
    match called {
        Ok(result) => result.contains(SIGN_IN_A_TEXT) && is_error(result),
        Err(CallError { error: ListingError::Rpc { code, .. }, .. }) => SIGNS_OF_CHANGE.contains(code),
        Err(_) => false,
    }
}

fn is_error(result: &str) -> bool {
    scan::object(result)
        .is_ok_and(|members| members.iter().any(|(name, value)| name == "isError" && *value == "true"))
}

fn fault(error: CallError) -> Fault {
    match error.error {
        ListingError::Rpc { code, message } => Fault::UpstreamRefused { code, message },
        other => Fault::UpstreamFailed { problem: other.to_string(), may_have_run: error.may_have_run },
    }
}
