//! The id of a session: a sealed token that says which revision was agreed on, good for one credential.
//!
//! Nothing is kept of a session, so any replica takes its id, and it ends with the credential and not before.

use std::sync::Arc;

use toolgate_sealing::{Sealer, TokenKind};

use crate::caller::Caller;
use crate::limits::MAX_SESSION_ID_BYTES;
use crate::session_era::REVISIONS;

/// Seals and opens ids.
#[derive(Clone)]
pub(crate) struct SessionTokens {
    sealer: Arc<Sealer>,
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl SessionTokens {
    pub(crate) fn new(sealer: Arc<Sealer>, random: Arc<dyn Fn() -> u64 + Send + Sync>) -> Self {
        Self { sealer, random }
    }

    /// A new session's id. The random part tells two sessions of one credential apart.
    pub(crate) fn seal(&self, caller: &Caller, revision: &str) -> String {
        let nonce = [(self.random)(), (self.random)()].map(u64::to_be_bytes).concat();
        let plain = [&nonce, revision.as_bytes()].concat();
        self.sealer.seal_token(TokenKind::Session, &binding(caller), &plain)
    }

    /// The revision of the session; `None` for an id that was not given to this credential here.
    pub(crate) fn open(&self, caller: &Caller, id: &str) -> Option<&'static str> {
        if id.len() > MAX_SESSION_ID_BYTES {
            return None;
        }
        let plain = self.sealer.open_token(TokenKind::Session, &binding(caller), id).ok()?;
        let (_, revision) = plain.split_first_chunk::<16>()?;
        REVISIONS.into_iter().find(|known| known.as_bytes() == revision)
    }
}

fn binding(caller: &Caller) -> [u8; 16] {
    let digest = caller.digest();
    let (half, _) = digest.split_first_chunk::<16>().expect("a digest is longer than its half");
    *half
}
