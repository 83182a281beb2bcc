//! Tools, what they were before, and what changed.

use serde::Serialize;
use toolgate_api_proto::v1;
use toolgate_definition::{diff, json::Node};

use super::Value;

/// An answer of one tool: `{"tool": …, "revision": …}`.
#[derive(Serialize)]
pub(crate) struct ToolAnswer<'a> {
    tool: Tool<'a>,
    revision: &'a str,
}

impl<'a> ToolAnswer<'a> {
    pub(crate) fn new(tool: &'a v1::Tool, revision: &'a str) -> Self {
        Self { tool: tool.into(), revision }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tool<'a> {
    id: &'a str,
    client_id: &'a str,
    upstream_id: &'a str,
    name: &'a str,
    namespaced_name: &'a str,
    definition_json: &'a str,
    definition_hash: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    approved_hash: Option<&'a str>,
    status: Value,
    state: Value,
    remedy: &'a str,
    effect: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect_override: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description_override: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed_args_json: Option<&'a str>,
    lock_issues: Vec<LockIssue<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    update_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remove_time: Option<String>,
    etag: &'a str,
}

#[derive(Serialize)]
struct LockIssue<'a> {
    name: &'a str,
    problem: &'a str,
}

impl<'a> From<&'a v1::Tool> for Tool<'a> {
    fn from(tool: &'a v1::Tool) -> Self {
        let lock_issue = |issue: &'a v1::LockIssue| LockIssue { name: &issue.name, problem: &issue.problem };
        Self {
            id: &tool.id,
            client_id: &tool.client_id,
            upstream_id: &tool.upstream_id,
            name: &tool.name,
            namespaced_name: &tool.namespaced_name,
            definition_json: &tool.definition_json,
            definition_hash: &tool.definition_hash,
            approved_hash: tool.approved_hash.as_deref(),
            status: Value::of(tool.status, v1::ToolStatus::as_str_name),
            state: Value::of(tool.state, v1::ToolState::as_str_name),
            remedy: &tool.remedy,
            effect: Value::of(tool.effect, v1::Effect::as_str_name),
            effect_override: tool.effect_override.map(|effect| Value::of(effect, v1::Effect::as_str_name)),
            description_override: tool.description_override.as_deref(),
            fixed_args_json: tool.fixed_args_json.as_deref(),
            lock_issues: tool.lock_issues.iter().map(lock_issue).collect(),
            create_time: tool.create_time.as_ref().map(ToString::to_string),
            update_time: tool.update_time.as_ref().map(ToString::to_string),
            remove_time: tool.remove_time.as_ref().map(ToString::to_string),
            etag: &tool.etag,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ObservedDefinition<'a> {
    definition_hash: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition_json: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_time: Option<String>,
    current: bool,
    approved: bool,
}

impl<'a> From<&'a v1::ObservedDefinition> for ObservedDefinition<'a> {
    fn from(one: &'a v1::ObservedDefinition) -> Self {
        Self {
            definition_hash: &one.definition_hash,
            definition_json: one.definition_json.as_deref(),
            create_time: one.create_time.as_ref().map(ToString::to_string),
            return_time: one.return_time.as_ref().map(ToString::to_string),
            current: one.current,
            approved: one.approved,
        }
    }
}

/// What differs between two definitions: `{"toolId": …, "from": …, "to": …, "differences": […]}`. It is made here; no
/// message has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Diff<'a> {
    tool_id: &'a str,
    from: &'a str,
    to: &'a str,
    differences: Vec<Difference<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Difference<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_json: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_json: Option<&'a str>,
}

impl<'a> Diff<'a> {
    pub(crate) fn new(
        tool_id: &'a str,
        from: &'a str,
        to: &'a str,
        found: &'a [diff::Difference<'_>],
    ) -> Self {
        let difference = |one: &'a diff::Difference<'_>| Difference {
            path: &one.path,
            old_json: one.old.map(Node::text),
            new_json: one.new.map(Node::text),
        };
        Self { tool_id, from, to, differences: found.iter().map(difference).collect() }
    }
}

/// `WatchToolsResponse`.
#[derive(Serialize)]
pub(crate) struct Changes<'a> {
    changes: Vec<Change<'a>>,
    revision: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Change<'a> {
    kind: Value,
    tool_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<Tool<'a>>,
}

impl<'a> From<&'a v1::WatchToolsResponse> for Changes<'a> {
    fn from(message: &'a v1::WatchToolsResponse) -> Self {
        let change = |change: &'a v1::ToolChange| Change {
            kind: Value::of(change.kind, v1::ToolChangeKind::as_str_name),
            tool_id: &change.tool_id,
            tool: change.tool.as_ref().map(Tool::from),
        };
        Self { changes: message.changes.iter().map(change).collect(), revision: &message.revision }
    }
}
