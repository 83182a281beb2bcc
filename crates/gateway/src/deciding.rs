use std::sync::Arc;

use toolgate_catalog::{Sight, Snapshot, ToolEntry, View};
use toolgate_definition::{arguments::Arguments, names::OxpToolId};
use toolgate_domain::{
    Fault, Tool, Upstream,
    decision::{Admitted, CallDenial, Denial, decide, decide_call},
    upstream::Auth,
};

use crate::{CallTool, Gateway, ToolRef, recording::Recording};

/// What an upstream was registered with is for its syncs alone where each user has a credential of their own.
const NO_USER: &str = "it takes the credential of a user, and a key is no user";

/// A call that may be made.
pub(crate) struct Decided<'s> {
    pub(crate) entry: &'s Arc<ToolEntry>,
    pub(crate) upstream: &'s Upstream,
    pub(crate) admitted: Admitted,
}

/// Decides over one snapshot.
pub(crate) fn decided<'s>(
    gateway: &Gateway,
    snapshot: &'s Snapshot,
    call: &CallTool,
    recording: &mut Recording,
) -> Result<Decided<'s>, Fault> {
    let sight = sight(snapshot, call);
    let entry = resolve(snapshot, &sight, &call.tool)?.ok_or(Fault::ToolNotFound)?;
    recording.found(entry);
    let upstream = &snapshot.upstream(entry.tool.upstream).ok_or(Fault::ToolNotFound)?.upstream;
    let admitted = admit(gateway, &sight, &entry.tool, call.arguments.clone())?;
    check_headers(gateway, &entry.tool, call)?;
    if upstream.auth() == Auth::PerUser {
        return Err(Fault::UpstreamFailed { problem: NO_USER.to_owned(), may_have_run: false });
    }
    Ok(Decided { entry, upstream, admitted })
}

/// Whether what a call was decided by is so still: a ruling that was acknowledged stops each call that has not left.
pub(crate) fn stands(gateway: &Gateway, call: &CallTool, entry: &Arc<ToolEntry>) -> bool {
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
) -> Result<Option<&'s Arc<ToolEntry>>, Fault> {
    match tool {
        ToolRef::Id(id) => Ok(snapshot.tool(*id).filter(|entry| sight.holds(&entry.tool))),
        ToolRef::Name(name) => {
            let reached = || snapshot.tools_named(name).filter(|entry| sight.holds(&entry.tool));
            let usable = |entry: &&Arc<ToolEntry>| decide(sight.reach(), &entry.tool).is_ok();
            Ok(reached().find(usable).or_else(|| reached().next()))
        }
        ToolRef::OxpId(id) => by_oxp_id(snapshot, sight, id),
    }
}

/// Where a tool is served, it is in one version alone.
fn by_oxp_id<'s>(
    snapshot: &'s Snapshot,
    sight: &Sight,
    text: &str,
) -> Result<Option<&'s Arc<ToolEntry>>, Fault> {
    let misspelt =
        || Fault::invalid("oxp_id", "is no tool id; send `Toolkit.Tool`, or `Toolkit.Tool@x.y.z` as listed");
    let OxpToolId { id, version } = OxpToolId::parse(text).ok_or_else(misspelt)?;
    let Some(entry) = snapshot.tool_by_oxp_id(id).filter(|entry| sight.holds(&entry.tool)) else {
        return Ok(None);
    };
    let served = entry.tool.oxp_version().filter(|_| decide(sight.reach(), &entry.tool).is_ok());
    match (version, served) {
        (Some(asked), Some(served)) if asked != [served.major, 0, 0] => Err(Fault::invalid(
            "oxp_id",
            format!("asks for another version than {served}, which is the one that is served"),
        )),
        _ => Ok(Some(entry)),
    }
}

fn check_headers(gateway: &Gateway, tool: &Tool, call: &CallTool) -> Result<(), Fault> {
    let Some(received) = &call.argument_headers else { return Ok(()) };
    let schema = gateway.schemas.of(&tool.definition);
    match schema.headers().mismatch(&call.arguments, &tool.ruled.locks, received) {
        Some(header) => Err(Fault::ArgumentHeaderMismatch { header: header.to_owned() }),
        None => Ok(()),
    }
}

fn admit(gateway: &Gateway, sight: &Sight, tool: &Tool, arguments: Arguments) -> Result<Admitted, Fault> {
    let schema = gateway.schemas.of(&tool.definition);
    decide_call(sight.reach(), tool, arguments, &schema).map_err(|denial| match denial {
        CallDenial::Tool(Denial::NotReached) => Fault::ToolNotFound,
        CallDenial::Tool(Denial::NotServed(state)) => Fault::ToolNotServed { state, remedy: tool.remedy() },
        CallDenial::Misfits(misfits) => Fault::ArgumentsMisfit(misfits),
    })
}
