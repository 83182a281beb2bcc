//! The log of calls to the wire.

use toolgate_api_proto::v1 as pb;
use toolgate_call_log::{Entry, KeptArguments, LoggedEntry};
use toolgate_domain::{CallOutcome, CallRecord, CallRefusal};

use super::{fields::timestamp, tool::state_to_proto};

/// The message of a row of the log.
pub(crate) fn to_proto(row: LoggedEntry) -> pb::LoggedCall {
    let mut call = pb::LoggedCall {
        sequence: number(row.sequence),
        create_time: Some(timestamp(row.entry.at())),
        stored: row.stored,
        hash: row.hash.to_vec(),
        ..Default::default()
    };
    match row.entry {
        Entry::Gap(gap) => {
            call.set_outcome(pb::CallOutcome::Missing);
            call.missing_count = number(gap.calls);
        }
        Entry::Call { record, arguments_bytes, arguments } => {
            call.arguments_bytes = number(arguments_bytes);
            match arguments {
                KeptArguments::Nothing => {}
                KeptArguments::Hash(hash) => call.arguments_hash = hash.to_vec(),
                KeptArguments::Text(text) => call.arguments_json = Some(text),
            }
            fill(&mut call, *record);
        }
    }
    call
}

fn fill(call: &mut pb::LoggedCall, record: CallRecord) {
    call.subject = format!("key:{}", record.key);
    call.agent_id = record.agent.map(|id| id.to_string()).unwrap_or_default();
    call.namespaced_name = record.name;
    if let Some(tool) = record.tool {
        call.tool_id = tool.id.to_string();
        call.upstream_id = tool.upstream.to_string();
        call.definition_hash = tool.fingerprint.to_string();
    }
    call.duration_us = number(record.duration_us);
    call.forwarded_sequence = record.forwarded_row.map(number).unwrap_or_default();
    call.unjudged_reason = record.unjudged.unwrap_or_default();
    let outcome = outcome(call, record.outcome);
    call.set_outcome(outcome);
}

fn outcome(call: &mut pb::LoggedCall, outcome: CallOutcome) -> pb::CallOutcome {
    match outcome {
        CallOutcome::Asked => pb::CallOutcome::InputRequired,
        CallOutcome::Forwarded => pb::CallOutcome::Forwarded,
        CallOutcome::Answered { is_error, result_bytes } => {
            call.result_bytes = number(result_bytes);
            if is_error { pb::CallOutcome::ToolError } else { pb::CallOutcome::Ok }
        }
        CallOutcome::UpstreamRefused { code } => {
            call.upstream_code = code;
            pb::CallOutcome::UpstreamRefused
        }
        CallOutcome::UpstreamFailed { may_have_run } => {
            call.may_have_run = may_have_run;
            pb::CallOutcome::UpstreamFailed
        }
        CallOutcome::Cancelled { may_have_run } => {
            call.may_have_run = may_have_run;
            pb::CallOutcome::Cancelled
        }
        CallOutcome::Refused(refusal) => match refusal {
            CallRefusal::NotFound => pb::CallOutcome::ToolNotFound,
            CallRefusal::NotServed(state) => {
                call.set_tool_state(state_to_proto(state));
                pb::CallOutcome::ToolNotServed
            }
            CallRefusal::ArgumentsMisfit => pb::CallOutcome::ArgumentsMisfit,
            CallRefusal::TooMany => pb::CallOutcome::LimitExceeded,
            CallRefusal::Stale => pb::CallOutcome::ListingStale,
            CallRefusal::Undecided => pb::CallOutcome::Undecided,
        },
    }
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
