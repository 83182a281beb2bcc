use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use toolgate_catalog::endpoint;
use toolgate_definition::scan;
use toolgate_domain::Fault;
use toolgate_upstream::{CallAnswer, CallError, CallNotice, InputAnswers, ListingError, ToolCall};

use crate::{
    CallTool, Called, Gateway, asking,
    deciding::{Decided, stands},
    gateway::BOUNDS,
    recording::Recording,
    sharing::session_key,
};

/// JSON-RPC codes by which a server says that it does not know the tool, or not like this: its list may be another by now.
const SIGNS_OF_CHANGE: [i64; 2] = [-32601, -32602];

/// What both begin with. Some servers put an error of the protocol into the text of a result.
const SIGN_IN_A_TEXT: &str = "-3260";

/// What became of a call that was to be sent.
pub(crate) enum Sent {
    Answered(Called),
    /// Nothing was sent: what it was decided by is no longer so.
    Withdrawn,
}

/// Sends what was decided, if it still stands when it leaves.
pub(crate) async fn send(
    gateway: &Gateway,
    call: &CallTool,
    decided: &Decided<'_>,
    told: &(dyn Fn(CallNotice) + Send + Sync),
    recording: &mut Recording,
) -> Result<Sent, Fault> {
    let Decided { entry, upstream, admitted } = decided;
    let state = call.answers.as_ref().and_then(|answers| answers.request_state.as_deref());
    let own_state = match state {
        Some(state) => asking::opened(gateway, call, entry, state)?,
        None => None,
    };
    let _place = gateway.room.take(upstream.id)?;
    let attempt = gateway.breaker.attempt(upstream.id, Instant::now())?;
    let endpoint = endpoint(upstream, &gateway.sealer)?;
    let was_withdrawn = AtomicBool::new(false);
    let may_leave = || {
        let stands = stands(gateway, call, entry);
        was_withdrawn.store(!stands, Ordering::Relaxed);
        stands
    };
    let sent = ToolCall {
        name: entry.tool.name(),
        definition: entry.tool.definition.text(),
        arguments: admitted.arguments.text(),
        argument_headers: &admitted.headers,
        shares: session_key(call, upstream),
        may_leave: &may_leave,
        wants_progress: call.wants_progress,
        log_level: call.log_level,
        elicitation: call.can_be_asked.as_ref().and_then(|asked| asked.elicitation.as_deref()),
        trace: None,
        answers: call.answers.as_ref().map(|answers| InputAnswers {
            responses: answers.responses.as_deref(),
            state: own_state.as_deref(),
        }),
    };
    recording.sends(admitted, entry.tool.effect()).await?;
    let called = gateway.servers.call_tool(&endpoint, &sent, &BOUNDS, told).await;
    if called.is_err() && was_withdrawn.load(Ordering::Relaxed) {
        return Ok(Sent::Withdrawn);
    }
    attempt.ended(&called, Instant::now());
    if is_sign_of_change(&called) {
        gateway.syncs.doubt(call.client, upstream.id);
    }
    match called.map_err(fault)? {
        CallAnswer::Result(result) => Ok(Sent::Answered(Called::Result(result))),
        CallAnswer::Asks(question) => {
            asking::sealed(gateway, call, entry, &question).map(Called::Asks).map(Sent::Answered)
        }
    }
}

/// Whether an upstream answers as if it did not know the tool, or not like this.
fn is_sign_of_change(called: &Result<CallAnswer, CallError>) -> bool {
    match called {
        Ok(CallAnswer::Asks(_)) => false,
        Ok(CallAnswer::Result(result)) => result.contains(SIGN_IN_A_TEXT) && is_error(result),
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
        ListingError::MissingCapability { capabilities_json } => {
            Fault::CapabilityMissing { capabilities_json }
        }
        other => Fault::UpstreamFailed { problem: other.to_string(), may_have_run: error.may_have_run },
    }
}
