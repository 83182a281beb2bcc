//! The log of rulings.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::Serialize;
use toolgate_api_proto::v1;

use super::{Value, agent::Attachment};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ruling<'a> {
    sequence: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<String>,
    subject: &'a str,
    upstream_id: &'a str,
    tool_id: &'a str,
    tool_name: &'a str,
    act: Value,
    definition_hash: &'a str,
    stored: String,
    hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect_override: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description_override: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    served_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed_args_json: Option<&'a str>,
    upstream_slug: &'a str,
    tool_count: i32,
    endpoint_before: &'a str,
    endpoint_after: &'a str,
    approvals_kept: bool,
    agent_id: &'a str,
    agent_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    attachment: Option<Attachment<'a>>,
}

impl<'a> From<&'a v1::Ruling> for Ruling<'a> {
    fn from(row: &'a v1::Ruling) -> Self {
        Self {
            sequence: row.sequence.to_string(),
            create_time: row.create_time.as_ref().map(ToString::to_string),
            subject: &row.subject,
            upstream_id: &row.upstream_id,
            tool_id: &row.tool_id,
            tool_name: &row.tool_name,
            act: Value::of(row.act, v1::RulingAct::as_str_name),
            definition_hash: &row.definition_hash,
            stored: BASE64.encode(&row.stored),
            hash: BASE64.encode(&row.hash),
            effect_override: row.effect_override.map(|effect| Value::of(effect, v1::Effect::as_str_name)),
            description_override: row.description_override.as_deref(),
            served_name: row.served_name.as_deref(),
            fixed_args_json: row.fixed_args_json.as_deref(),
            upstream_slug: &row.upstream_slug,
            tool_count: row.tool_count,
            endpoint_before: &row.endpoint_before,
            endpoint_after: &row.endpoint_after,
            approvals_kept: row.approvals_kept,
            agent_id: &row.agent_id,
            agent_name: &row.agent_name,
            attachment: row.attachment.as_ref().map(Attachment::from),
        }
    }
}

/// `VerifyRulingsResponse`, of a log that holds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Proof {
    count: String,
    head_hash: String,
    problem: &'static str,
}

impl Proof {
    pub(crate) fn new(count: i64, head_hash: &[u8]) -> Self {
        Self { count: count.to_string(), head_hash: BASE64.encode(head_hash), problem: "" }
    }
}
