//! The log of calls.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::Serialize;
use toolgate_api_proto::v1;

use super::Value;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoggedCall<'a> {
    sequence: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<String>,
    outcome: Value,
    subject: &'a str,
    agent_id: &'a str,
    tool_id: &'a str,
    upstream_id: &'a str,
    namespaced_name: &'a str,
    definition_hash: &'a str,
    tool_state: Value,
    upstream_code: String,
    may_have_run: bool,
    duration_us: String,
    arguments_bytes: String,
    arguments_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments_json: Option<&'a str>,
    result_bytes: String,
    unjudged_reason: &'a str,
    missing_count: String,
    forwarded_sequence: String,
    stored: String,
    hash: String,
}

impl<'a> From<&'a v1::LoggedCall> for LoggedCall<'a> {
    fn from(row: &'a v1::LoggedCall) -> Self {
        Self {
            sequence: row.sequence.to_string(),
            create_time: row.create_time.as_ref().map(ToString::to_string),
            outcome: Value::of(row.outcome, v1::CallOutcome::as_str_name),
            subject: &row.subject,
            agent_id: &row.agent_id,
            tool_id: &row.tool_id,
            upstream_id: &row.upstream_id,
            namespaced_name: &row.namespaced_name,
            definition_hash: &row.definition_hash,
            tool_state: Value::of(row.tool_state, v1::ToolState::as_str_name),
            upstream_code: row.upstream_code.to_string(),
            may_have_run: row.may_have_run,
            duration_us: row.duration_us.to_string(),
            arguments_bytes: row.arguments_bytes.to_string(),
            arguments_hash: BASE64.encode(&row.arguments_hash),
            arguments_json: row.arguments_json.as_deref(),
            result_bytes: row.result_bytes.to_string(),
            unjudged_reason: &row.unjudged_reason,
            missing_count: row.missing_count.to_string(),
            forwarded_sequence: row.forwarded_sequence.to_string(),
            stored: BASE64.encode(&row.stored),
            hash: BASE64.encode(&row.hash),
        }
    }
}
