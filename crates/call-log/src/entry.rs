//! What the log holds, and its codec.

use prost::Message;
use toolgate_definition::Fingerprint;
use toolgate_domain::{
    AgentId, CallOutcome, CallRecord, CallRefusal, CalledTool, ClientId, KeyId, Moment, ToolId, ToolState,
    UpstreamId,
};

use crate::stored::{self, Kind, Outcome};

/// An entry of one client's chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A call.
    Call {
        /// Everything but its arguments.
        record: Box<CallRecord>,
        /// Bytes of its arguments: as they were sent, or as they came where nothing was sent.
        arguments_bytes: u64,
        /// What is kept of them.
        arguments: KeptArguments,
    },
    /// Calls are missing here.
    Gap(Gap),
}

/// What is kept of a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptArguments {
    /// Nothing.
    Nothing,
    /// A hash under a key of this installation and the client.
    Hash([u8; 32]),
    /// Their exact text.
    Text(String),
}

/// Calls that are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Whose.
    pub client: ClientId,
    /// When it was noticed.
    pub at: Moment,
    /// Why.
    pub reason: GapReason,
    /// How many; 0 where nobody knows.
    pub calls: u64,
}

/// Why calls are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapReason {
    /// The server did not end in order: the last calls before may be missing.
    Crash,
    /// They came faster than they could be written, or the disk refused them.
    NotWritten,
}

/// An entry with its place in its client's chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedEntry {
    /// Counted from 1 without gaps, on this replica.
    pub sequence: u64,
    /// What it says.
    pub entry: Entry,
    /// The bytes that `hash` covers, after the hash before it.
    pub stored: Vec<u8>,
    /// SHA-256 of the hash before and `stored`.
    pub hash: [u8; 32],
}

impl Entry {
    /// Whose chain it belongs to.
    pub fn client(&self) -> ClientId {
        match self {
            Self::Call { record, .. } => record.client,
            Self::Gap(gap) => gap.client,
        }
    }

    /// When it came.
    pub fn at(&self) -> Moment {
        match self {
            Self::Call { record, .. } => record.at,
            Self::Gap(gap) => gap.at,
        }
    }

    pub(crate) fn encode(&self, sequence: u64) -> Vec<u8> {
        let kind = match self {
            Self::Call { record, arguments_bytes, arguments } => {
                Kind::Call(Box::new(call(record, sequence, *arguments_bytes, arguments)))
            }
            Self::Gap(gap) => Kind::Gap(stored::Gap {
                client: gap.client.bytes().to_vec(),
                sequence,
                at_ms: gap.at.unix_ms(),
                reason: if gap.reason == GapReason::Crash { 1 } else { 2 },
                calls: gap.calls,
            }),
        };
        stored::Payload { kind: Some(kind) }.encode_to_vec()
    }

    /// The entry and its sequence number; `None` for what is no entry of this version.
    pub(crate) fn of(kind: Kind) -> Option<(u64, Self)> {
        match kind {
            Kind::Call(call) => Some((call.sequence, of_call(*call)?)),
            Kind::Gap(gap) => {
                let reason = if gap.reason == 1 { GapReason::Crash } else { GapReason::NotWritten };
                let (client, at) =
                    (ClientId::from_bytes(fixed(&gap.client)?), Moment::from_unix_ms(gap.at_ms));
                Some((gap.sequence, Self::Gap(Gap { client, at, reason, calls: gap.calls })))
            }
            Kind::Beginning(_) | Kind::End(_) => None,
        }
    }
}

fn call(record: &CallRecord, sequence: u64, arguments_bytes: u64, kept: &KeptArguments) -> stored::Call {
    let tool = record.tool.as_ref();
    let mut call = stored::Call {
        client: record.client.bytes().to_vec(),
        sequence,
        at_ms: record.at.unix_ms(),
        key: record.key.bytes().to_vec(),
        agent: record.agent.map(|id| id.bytes().to_vec()).unwrap_or_default(),
        name: record.name.clone(),
        tool: tool.map(|tool| tool.id.bytes().to_vec()).unwrap_or_default(),
        upstream: tool.map(|tool| tool.upstream.bytes().to_vec()).unwrap_or_default(),
        fingerprint: tool.map(|tool| tool.fingerprint.as_bytes().to_vec()).unwrap_or_default(),
        duration_us: record.duration_us,
        unjudged: record.unjudged.clone(),
        arguments_bytes,
        arguments_hash: Vec::new(),
        arguments: None,
        outcome: Some(outcome(record.outcome)),
        forwarded_row: record.forwarded_row,
    };
    match kept {
        KeptArguments::Nothing => {}
        KeptArguments::Hash(hash) => call.arguments_hash = hash.to_vec(),
        KeptArguments::Text(text) => call.arguments = Some(text.clone()),
    }
    call
}

fn outcome(outcome: CallOutcome) -> Outcome {
    match outcome {
        CallOutcome::Forwarded => Outcome::Forwarded(true),
        CallOutcome::Asked => Outcome::Asked(true),
        CallOutcome::Answered { is_error, result_bytes } => {
            Outcome::Answered(stored::Answered { is_error, result_bytes })
        }
        CallOutcome::Refused(refusal) => Outcome::Refused(refusal_number(refusal)),
        CallOutcome::UpstreamRefused { code } => Outcome::UpstreamRefused(code),
        CallOutcome::UpstreamFailed { may_have_run } => Outcome::UpstreamFailed(may_have_run),
        CallOutcome::Cancelled { may_have_run } => Outcome::Cancelled(may_have_run),
    }
}

fn refusal_number(refusal: CallRefusal) -> i32 {
    match refusal {
        CallRefusal::NotFound => 1,
        CallRefusal::ArgumentsMisfit => 2,
        CallRefusal::TooMany => 3,
        CallRefusal::Undecided => 4,
        CallRefusal::Stale => 5,
        CallRefusal::NotServed(state) => match state {
            ToolState::Served => 10,
            ToolState::Removed => 11,
            ToolState::Disabled => 12,
            ToolState::Unapproved => 13,
            ToolState::Drifted => 14,
            ToolState::LockMismatch => 15,
            ToolState::BadName => 16,
        },
    }
}

fn refusal(number: i32) -> Option<CallRefusal> {
    let states = ToolState::ALL.into_iter().map(CallRefusal::NotServed);
    let others = [
        CallRefusal::NotFound,
        CallRefusal::ArgumentsMisfit,
        CallRefusal::TooMany,
        CallRefusal::Undecided,
        CallRefusal::Stale,
    ];
    others.into_iter().chain(states).find(|refusal| refusal_number(*refusal) == number)
}

fn of_call(call: stored::Call) -> Option<Entry> {
    let arguments = match (call.arguments, fixed(&call.arguments_hash)) {
        (Some(text), _) => KeptArguments::Text(text),
        (None, Some(hash)) => KeptArguments::Hash(hash),
        (None, None) => KeptArguments::Nothing,
    };
    let tool = match call.tool.is_empty() {
        true => None,
        false => Some(CalledTool {
            id: ToolId::from_bytes(fixed(&call.tool)?),
            upstream: UpstreamId::from_bytes(fixed(&call.upstream)?),
            fingerprint: Fingerprint::from_bytes(fixed(&call.fingerprint)?),
        }),
    };
    let outcome = match call.outcome? {
        Outcome::Answered(stored::Answered { is_error, result_bytes }) => {
            CallOutcome::Answered { is_error, result_bytes }
        }
        Outcome::Refused(number) => CallOutcome::Refused(refusal(number)?),
        Outcome::UpstreamRefused(code) => CallOutcome::UpstreamRefused { code },
        Outcome::UpstreamFailed(may_have_run) => CallOutcome::UpstreamFailed { may_have_run },
        Outcome::Cancelled(may_have_run) => CallOutcome::Cancelled { may_have_run },
        Outcome::Forwarded(_) => CallOutcome::Forwarded,
        Outcome::Asked(_) => CallOutcome::Asked,
    };
    let record = CallRecord {
        at: Moment::from_unix_ms(call.at_ms),
        client: ClientId::from_bytes(fixed(&call.client)?),
        key: KeyId::from_bytes(fixed(&call.key)?),
        agent: fixed(&call.agent).map(AgentId::from_bytes),
        name: call.name,
        tool,
        outcome,
        duration_us: call.duration_us,
        unjudged: call.unjudged,
        forwarded_row: call.forwarded_row,
    };
    Some(Entry::Call { record: Box::new(record), arguments_bytes: call.arguments_bytes, arguments })
}

pub(crate) fn fixed<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_reads_back_as_it_was_written() {
        let refusals = [1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 16]
            .map(|number| CallOutcome::Refused(refusal(number).expect("it is the number of one")));
        let others = [
            CallOutcome::Answered { is_error: true, result_bytes: 7 },
            CallOutcome::UpstreamRefused { code: -32602 },
            CallOutcome::UpstreamFailed { may_have_run: true },
            CallOutcome::Cancelled { may_have_run: false },
            CallOutcome::Forwarded,
            CallOutcome::Asked,
        ];
        for outcome in refusals.into_iter().chain(others) {
            for arguments in
                [KeptArguments::Nothing, KeptArguments::Hash([9; 32]), KeptArguments::Text("{}".into())]
            {
                let entry = Entry::Call { record: Box::new(record(outcome)), arguments_bytes: 2, arguments };
                let payload = stored::Payload::decode(&entry.encode(5)[..]).unwrap();
                assert_eq!(Entry::of(payload.kind.unwrap()), Some((5, entry)));
            }
        }
    }

    fn record(outcome: CallOutcome) -> CallRecord {
        let tool = CalledTool {
            id: ToolId::from_bytes([3; 16]),
            upstream: UpstreamId::from_bytes([4; 16]),
            fingerprint: Fingerprint::from_bytes([5; 32]),
        };
        CallRecord {
            at: Moment::from_unix_ms(1),
            client: ClientId::from_bytes([1; 16]),
            key: KeyId::from_bytes([2; 16]),
            agent: Some(AgentId::from_bytes([6; 16])),
            name: "srv__a".into(),
            tool: Some(tool),
            outcome,
            duration_us: 12,
            unjudged: Some("it is too deep".into()),
            forwarded_row: Some(4),
        }
    }
}
