//! Use case: a call of a tool.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use toolgate_catalog::{Revision, Sight, Snapshot, ToolEntry, View, endpoint};
use toolgate_definition::arguments::Arguments;
use toolgate_domain::{
    AgentId, ClientId, Fault, KeyId, Tool, ToolId, Upstream,
    decision::{Admitted, CallDenial, Denial, decide, decide_call},
    upstream::Auth,
};
use toolgate_upstream::{CallError, CallNotice, ListingError, LogLevel, SessionKey, ToolCall};

use crate::{Gateway, gateway::BOUNDS};

/// JSON-RPC codes by which a server says that it does not know the tool, or not like this: its list may be another by now.
const SIGNS_OF_CHANGE: [i64; 2] = [-32601, -32602];

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
/// [`Fault::ArgumentsMisfit`] and [`Fault::LimitExceeded`], all before anything is sent; [`Fault::UpstreamRefused`] and
/// [`Fault::UpstreamFailed`]; those of [`Catalog::snapshot`](toolgate_catalog::Catalog::snapshot).
pub async fn call_tool(
    gateway: &Gateway,
    call: CallTool,
    told: &(dyn Fn(CallNotice) + Send + Sync),
) -> Result<String, Fault> {
    let snapshot = gateway.catalog.snapshot(call.client, call.min_revision).await?;
    let sight = snapshot.sight(View::Raw, call.agent);
    let (entry, upstream) = resolve(&snapshot, &sight, &call.tool)?;
    let admitted = admit(gateway, &sight, &entry.tool, call.arguments.clone())?;
    if upstream.auth() == Auth::PerUser {
        return Err(Fault::UpstreamFailed { problem: NO_USER.to_owned(), may_have_run: false });
    }
    let _place = gateway.room.take(upstream.id)?;
    let endpoint = endpoint(upstream, &gateway.sealer)?;
    let sent = ToolCall {
        name: entry.tool.name(),
        arguments: admitted.arguments.text(),
        argument_headers: &admitted.headers,
        shares: session_key(&call, upstream),
        wants_progress: call.wants_progress,
        log_level: call.log_level,
    };
    let called = gateway.servers.call_tool(&endpoint, &sent, &BOUNDS, told).await;
    called.map_err(|error| {
        look_again(gateway, &call, upstream, &error);
        fault(error)
    })
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

/// Calls share what a server keeps between them where they are of one agent, or of one key that is bound to none, to one
/// upstream of one client: the isolation `per_agent`.
fn session_key(call: &CallTool, upstream: &Upstream) -> SessionKey {
    let (kind, who) = match &call.agent {
        Some(agent) => (b"agent", agent.bytes()),
        None => (b"a key", call.key.bytes()),
    };
    let mut hash = Sha256::new();
    for part in [&kind[..], who, call.client.bytes(), upstream.id.bytes()] {
        hash.update(part);
    }
    SessionKey(*hash.finalize().first_chunk().expect("a hash has 32 bytes"))
}

/// Asks for a sync where the server's answer is a sign that its list changed. Nobody waits for it.
fn look_again(gateway: &Gateway, call: &CallTool, upstream: &Upstream, error: &CallError) {
    if let ListingError::Rpc { code, .. } = &error.error
        && SIGNS_OF_CHANGE.contains(code)
    {
        // Where so many syncs are asked for already, one is coming.
        let _ = gateway.syncs.request(call.client, upstream.id);
    }
}

fn fault(error: CallError) -> Fault {
    match error.error {
        ListingError::Rpc { code, message } => Fault::UpstreamRefused { code, message },
        other => Fault::UpstreamFailed { problem: other.to_string(), may_have_run: error.may_have_run },
    }
}
