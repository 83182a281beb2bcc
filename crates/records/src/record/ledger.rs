//! Rows of the log of rulings.

use prost::Message;
use toolgate_domain::{
    UpstreamId,
    ruling::{Act, Ruling},
    tool::Approval,
};

use super::{
    agent::{act_row, read_act},
    catalogue::{approval_row, effect_row, locks_text, read_approval, read_effect, read_locks},
    read::{Reader, moment},
};
use crate::{RowError, stored};

/// A ruling as it stands in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainedRuling {
    /// What was ruled.
    pub ruling: Ruling,
    /// SHA-256 of the hash before and this ruling's own bytes ([`crate::chain`]).
    pub hash: [u8; 32],
}

/// The end of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainHead {
    /// Of the last row; 0 for an empty log.
    pub sequence: u64,
    /// Of the last row; all zero for an empty log.
    pub hash: [u8; 32],
}

impl ChainHead {
    /// Of a log without rows.
    pub const EMPTY: Self = Self { sequence: 0, hash: [0; 32] };
}

/// The bytes of a ruling that the chain's hash covers.
pub(crate) fn ruling_bytes(ruling: &Ruling) -> Vec<u8> {
    ruling_row(ruling).encode_to_vec()
}

fn ruling_row(ruling: &Ruling) -> stored::Ruling {
    let act = match &ruling.act {
        Act::Approve { fingerprint, binding_epoch } => stored::Act::Approve(approval_row(&Approval {
            fingerprint: *fingerprint,
            binding_epoch: *binding_epoch,
        })),
        Act::RevokeApproval => stored::Act::RevokeApproval(stored::Nothing {}),
        Act::Disable => stored::Act::Disable(stored::Nothing {}),
        Act::Enable => stored::Act::Enable(stored::Nothing {}),
        Act::SetEffect(effect) => {
            stored::Act::SetEffect(stored::MaybeEffect { effect: effect.map(effect_row) })
        }
        Act::SetDescription(text) => stored::Act::SetDescription(stored::MaybeText { text: text.clone() }),
        Act::Rename(text) => stored::Act::Rename(stored::MaybeText { text: text.clone() }),
        Act::SetLocks(locks) => stored::Act::SetLocks(locks_text(locks)),
        Act::DeleteClient => stored::Act::DeleteClient(stored::Nothing {}),
        Act::DeleteUpstream { slug, tool_count } => {
            let (slug, tool_count) = (slug.clone(), *tool_count);
            stored::Act::DeleteUpstream(stored::DeletedUpstream { slug, tool_count })
        }
        Act::ChangeEndpoint { before, after, keeps_approvals } => {
            stored::Act::ChangeEndpoint(stored::ChangedEndpoint {
                before: before.clone(),
                after: after.clone(),
                keeps_approvals: *keeps_approvals,
            })
        }
        Act::Agent { agent, name, act } => stored::Act::Agent(act_row(*agent, name, act)),
    };
    stored::Ruling {
        sequence: ruling.sequence,
        at_ms: ruling.at.unix_ms(),
        subject: ruling.subject.clone(),
        upstream: ruling.upstream.map(|upstream| upstream.bytes().to_vec()).unwrap_or_default(),
        tool_name: ruling.tool_name.clone(),
        act: Some(act),
    }
}

pub(super) fn chained_row(chained: &ChainedRuling) -> stored::Chained {
    stored::Chained { ruling: ruling_bytes(&chained.ruling), hash: chained.hash.to_vec() }
}

pub(super) fn read_chained(row: &Reader<'_>, sequence: u64) -> Result<ChainedRuling, RowError> {
    let payload: stored::Chained = row.payload()?;
    let ruling =
        stored::Ruling::decode(payload.ruling.as_slice()).map_err(|e| row.wrong("ruling", e.to_string()))?;
    if ruling.sequence != sequence {
        return Err(row.wrong("ruling.sequence", format!("is {}, the key says {sequence}", ruling.sequence)));
    }
    Ok(ChainedRuling { ruling: read_ruling(row, ruling)?, hash: row.fixed("hash", &payload.hash)? })
}

fn read_ruling(row: &Reader<'_>, payload: stored::Ruling) -> Result<Ruling, RowError> {
    let act = match payload.act.ok_or_else(|| row.wrong("ruling.act", "is absent"))? {
        stored::Act::Approve(approval) => {
            let approval = read_approval(row, &approval)?;
            Act::Approve { fingerprint: approval.fingerprint, binding_epoch: approval.binding_epoch }
        }
        stored::Act::RevokeApproval(_) => Act::RevokeApproval,
        stored::Act::Disable(_) => Act::Disable,
        stored::Act::Enable(_) => Act::Enable,
        stored::Act::SetEffect(payload) => Act::SetEffect(payload.effect.map(read_effect)),
        stored::Act::SetDescription(payload) => Act::SetDescription(payload.text),
        stored::Act::Rename(payload) => Act::Rename(payload.text),
        stored::Act::SetLocks(text) => Act::SetLocks(read_locks(row, &text)?),
        stored::Act::DeleteClient(_) => Act::DeleteClient,
        stored::Act::DeleteUpstream(stored::DeletedUpstream { slug, tool_count }) => {
            Act::DeleteUpstream { slug, tool_count }
        }
        stored::Act::ChangeEndpoint(stored::ChangedEndpoint { before, after, keeps_approvals }) => {
            Act::ChangeEndpoint { before, after, keeps_approvals }
        }
        stored::Act::Agent(payload) => read_act(row, payload)?,
    };
    let upstream = match payload.upstream.as_slice() {
        [] => None,
        bytes => Some(UpstreamId::from_bytes(row.fixed("ruling.upstream", bytes)?)),
    };
    Ok(Ruling {
        sequence: payload.sequence,
        at: moment(payload.at_ms),
        subject: payload.subject,
        upstream,
        tool_name: payload.tool_name,
        act,
    })
}

pub(super) fn head_row(head: &ChainHead) -> stored::ChainHead {
    stored::ChainHead { sequence: head.sequence, hash: head.hash.to_vec() }
}

pub(super) fn read_head(row: &Reader<'_>) -> Result<ChainHead, RowError> {
    let payload: stored::ChainHead = row.payload()?;
    Ok(ChainHead { sequence: payload.sequence, hash: row.fixed("hash", &payload.hash)? })
}
