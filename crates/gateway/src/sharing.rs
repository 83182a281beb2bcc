//! Which calls are one caller's.

use sha2::{Digest, Sha256};
use toolgate_definition::arguments::Arguments;
use toolgate_domain::{ToolId, Upstream, upstream::Isolation};
use toolgate_upstream::SessionKey;

use crate::{
    CallTool,
    call_ids::{Asked, CallKey},
};

/// Calls of one client to one upstream share what it keeps between them as the upstream was declared.
pub(crate) fn session_key(call: &CallTool, upstream: &Upstream) -> Option<SessionKey> {
    let (kind, who) = caller(call);
    let (kind, who, session) = match upstream.calls.isolation {
        Isolation::Shared => (&b"all"[..], &[][..], ""),
        Isolation::PerAgent => (kind, who, ""),
        Isolation::PerSession => (kind, who, call.session.as_deref()?),
    };
    let hash = hash(&[kind, call.client.bytes(), upstream.id.bytes(), who, session.as_bytes()]);
    Some(SessionKey(*hash.first_chunk().expect("a hash has 32 bytes")))
}

/// An id of a call is its agent's, or the key's where that is bound to none.
pub(crate) fn call_key(call: &CallTool, call_id: &str) -> CallKey {
    let (kind, who) = caller(call);
    CallKey(hash(&[kind, who, call_id.as_bytes()]))
}

/// What is asked for under an id.
pub(crate) fn asked(tool: ToolId, arguments: &Arguments) -> Asked {
    Asked(hash(&[tool.bytes(), arguments.canonical().as_bytes()]))
}

pub(crate) fn caller(call: &CallTool) -> (&'static [u8], &[u8]) {
    match &call.agent {
        Some(agent) => (b"agent", agent.bytes()),
        None => (b"a key", call.key.bytes()),
    }
}

/// Of parts of which only the last can be of any length: the first is one of three words of which none begins another.
fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}
