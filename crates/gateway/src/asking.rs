//! What an upstream asks for before it can give a result (2026-07-28, "Multi Round-Trip Requests"): the question goes to the
//! caller with the upstream's state sealed in one of ours, and both come back with the answers.

use sha2::{Digest, Sha256};
use toolgate_catalog::ToolEntry;
use toolgate_definition::{json::quote, scan};
use toolgate_domain::{
    Fault,
    limits::{MAX_UPSTREAM_STATE_BYTES, QUESTION_LIFETIME_MS},
};
use toolgate_sealing::TokenKind;

use crate::{CallTool, CanBeAsked, Gateway, sharing::caller};

const STATE: &str = "requestState";
const REQUESTS: &str = "inputRequests";
/// What a caller has to declare to be asked: the one kind of question there is.
const ELICITATION: &str = r#"{"elicitation":{}}"#;
const ONCE_MORE: &str = "it has to be called once more with a state that it gives, which is what MCP clients of revision 2026-07-28 do";

/// The question as its caller reads it: with a state of ours in the place of the upstream's.
///
/// # Errors
/// [`Fault::CapabilityMissing`] where the caller cannot be asked; [`Fault::UpstreamFailed`] where it cannot call once more
/// either, or where the upstream asks for nothing, or its state is no string, or too long.
pub(crate) fn sealed(
    gateway: &Gateway,
    call: &CallTool,
    entry: &ToolEntry,
    question: &str,
) -> Result<String, Fault> {
    let members = scan::object(question).map_err(|error| broken(error.to_string()))?;
    let member = |wanted| members.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value);
    let own = member(STATE).map(own_state).transpose()?;
    let requests = member(REQUESTS).map(scan::object).transpose();
    let requests = requests.map_err(|error| broken(error.to_string()))?;
    if own.is_none() && requests.is_none() {
        return Err(broken("it asks for nothing".to_owned()));
    }
    check_caller(call, requests.is_some_and(|requests| !requests.is_empty()))?;
    let until = gateway.clock.now().unix_ms().saturating_add(QUESTION_LIFETIME_MS);
    let own = own.map(|own| [&[1], own.as_bytes()].concat()).unwrap_or_default();
    let plain = [&until.to_be_bytes()[..], &asker(call, entry), &own].concat();
    let state = gateway.sealer.seal_token(TokenKind::Question, call.client.bytes(), &plain);
    let others = members.iter().filter(|(name, _)| name != STATE);
    let mut text: Vec<_> = others.map(|(name, value)| format!("{}:{value}", quote(name))).collect();
    text.push(format!(r#""{STATE}":{}"#, quote(&state)));
    Ok(format!("{{{}}}", text.join(",")))
}

/// Whether the caller can answer: input where the upstream `asks` for some, else no more than to call once more.
fn check_caller(call: &CallTool, asks: bool) -> Result<(), Fault> {
    match (&call.can_be_asked, asks) {
        (Some(CanBeAsked { elicitation: Some(_) }), _) | (Some(_), false) => Ok(()),
        (_, true) => Err(Fault::CapabilityMissing { capabilities_json: ELICITATION.to_owned() }),
        (None, false) => Err(broken(ONCE_MORE.to_owned())),
    }
}

fn own_state(json: &str) -> Result<String, Fault> {
    let state = serde_json::from_str(json).ok();
    state.filter(|state: &String| state.len() <= MAX_UPSTREAM_STATE_BYTES).ok_or_else(|| {
        broken(format!("its requestState is no string of at most {MAX_UPSTREAM_STATE_BYTES} bytes"))
    })
}

fn broken(problem: String) -> Fault {
    Fault::UpstreamFailed { problem, may_have_run: true }
}

/// The upstream's own state, where it gave one, out of what a caller sends back.
///
/// # Errors
/// [`Fault::Invalid`] where that was not given for this call, or is too old.
pub(crate) fn opened(
    gateway: &Gateway,
    call: &CallTool,
    entry: &ToolEntry,
    state: &str,
) -> Result<Option<String>, Fault> {
    let foreign = || {
        Fault::invalid(
            "request_state",
            "does not belong to this call of this tool as it is now; call without it to be asked anew",
        )
    };
    let plain = gateway.sealer.open_token(TokenKind::Question, call.client.bytes(), state);
    let plain = plain.map_err(|_| foreign())?;
    let (until, rest) = plain.split_first_chunk::<8>().ok_or_else(foreign)?;
    let (asked, own) = rest.split_first_chunk::<32>().ok_or_else(foreign)?;
    if *asked != asker(call, entry) {
        return Err(foreign());
    }
    if i64::from_be_bytes(*until) <= gateway.clock.now().unix_ms() {
        return Err(Fault::invalid("request_state", "has expired; call without it to be asked anew"));
    }
    let own = own.split_first().map(|(_, own)| String::from_utf8(own.to_vec()));
    own.transpose().map_err(|_| foreign())
}

/// Who asked what of which tool of which server: an answer counts for that alone, so that nobody's consent is taken for
/// something else, and no server is sent the state of another.
fn asker(call: &CallTool, entry: &ToolEntry) -> [u8; 32] {
    let (kind, who) = caller(call);
    let mut hash = Sha256::new();
    let tool = &entry.tool;
    for part in [kind, who, tool.id.bytes(), tool.definition.fingerprint().as_bytes()] {
        hash.update(part);
    }
    hash.update(tool.binding_epoch.to_be_bytes());
    hash.update(call.arguments.canonical());
    hash.finalize().into()
}
