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

use crate::{CallTool, Gateway, sharing::caller};

const STATE: &str = "requestState";

/// The question as its caller reads it: with a state of ours in the place of the upstream's.
///
/// # Errors
/// [`Fault::UpstreamFailed`] where the upstream's state is no string, or too long.
pub(crate) fn sealed(
    gateway: &Gateway,
    call: &CallTool,
    entry: &ToolEntry,
    question: &str,
) -> Result<String, Fault> {
    let broken = |problem: String| Fault::UpstreamFailed { problem, may_have_run: true };
    let members = scan::object(question).map_err(|error| broken(error.to_string()))?;
    let own = members.iter().find(|(name, _)| name == STATE).map(|(_, value)| text(value));
    let own = match own {
        None => None,
        Some(Some(own)) if own.len() <= MAX_UPSTREAM_STATE_BYTES => Some(own),
        Some(_) => {
            let limit = MAX_UPSTREAM_STATE_BYTES;
            return Err(broken(format!("its requestState is no string of at most {limit} bytes")));
        }
    };
    let until = gateway.clock.now().unix_ms().saturating_add(QUESTION_LIFETIME_MS);
    let own = own.map(|own| [&[1], own.as_bytes()].concat()).unwrap_or_default();
    let plain = [&until.to_be_bytes()[..], &asker(call, entry), &own].concat();
    let state = gateway.sealer.seal_token(TokenKind::Question, call.client.bytes(), &plain);
    let others = members.iter().filter(|(name, _)| name != STATE);
    let mut text: Vec<_> = others.map(|(name, value)| format!("{}:{value}", quote(name))).collect();
    text.push(format!(r#""{STATE}":{}"#, quote(&state)));
    Ok(format!("{{{}}}", text.join(",")))
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

/// Who asked what of which tool: an answer counts for that alone, so that nobody's consent is taken for something else.
fn asker(call: &CallTool, entry: &ToolEntry) -> [u8; 32] {
    let (kind, who) = caller(call);
    let mut hash = Sha256::new();
    let tool = &entry.tool;
    for part in [kind, who, tool.id.bytes(), tool.definition.fingerprint().as_bytes()] {
        hash.update(part);
    }
    hash.update(call.arguments.canonical());
    hash.finalize().into()
}

fn text(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}
