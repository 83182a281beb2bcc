//! Results in the shapes of protobuf JSON: the response message of the call, field names in lowerCamelCase, enum values
//! by name, times as RFC 3339, in the order of the fields. Fields with presence are left out when absent, all others
//! always stand. A definition is a string that holds its exact text. `list` gives all pages as one message.
//!
//! Characters that a reader would not see are written as `\uXXXX`.

use std::io::{self, Write};

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use toolgate_api_proto::v1;
use toolgate_definition::{diff, json::Node};

use crate::console::Console;
use crate::error::CommandError;
use crate::hidden::is_hidden;

/// Prints a message on a line of its own.
pub(crate) fn print(console: &mut Console<'_>, message: &impl Serialize) -> Result<(), CommandError> {
    let mut line = to_bytes(message)?;
    line.push(b'\n');
    Ok(console.out.write_all(&line)?)
}

/// Prints `{"<field>":[…]}` piece by piece, an element a line.
pub(crate) struct List<'f> {
    field: &'f str,
    is_open: bool,
}

impl<'f> List<'f> {
    pub(crate) fn new(field: &'f str) -> Self {
        Self { field, is_open: false }
    }

    pub(crate) fn push(
        &mut self,
        console: &mut Console<'_>,
        element: &impl Serialize,
    ) -> Result<(), CommandError> {
        self.separate(console)?;
        Ok(console.out.write_all(&to_bytes(element)?)?)
    }

    pub(crate) fn end(self, console: &mut Console<'_>) -> Result<(), CommandError> {
        match self.is_open {
            true => Ok(console.out.write_all(b"\n]}\n")?),
            false => Ok(writeln!(console.out, "{{\"{}\":[]}}", self.field)?),
        }
    }

    fn separate(&mut self, console: &mut Console<'_>) -> io::Result<()> {
        match std::mem::replace(&mut self.is_open, true) {
            true => console.out.write_all(b",\n"),
            false => writeln!(console.out, "{{\"{}\":[", self.field),
        }
    }
}

fn to_bytes(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    message.serialize(&mut Serializer::with_formatter(&mut bytes, Plain))?;
    Ok(bytes)
}

/// Compact, with hidden characters escaped.
struct Plain;

impl Formatter for Plain {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, hidden)) = rest.char_indices().find(|(_, character)| is_hidden(*character)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            for unit in hidden.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + hidden.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// An enum value: its name, or its number when this version does not know it.
#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Known(&'static str),
    Unknown(i32),
}

impl Value {
    fn of<E: TryFrom<i32>>(number: i32, name: fn(&E) -> &'static str) -> Self {
        E::try_from(number).map_or(Self::Unknown(number), |value| Self::Known(name(&value)))
    }
}

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

/// An answer of one upstream: `{"upstream": …, "revision": …}`.
#[derive(Serialize)]
pub(crate) struct UpstreamAnswer<'a> {
    upstream: Upstream<'a>,
    revision: &'a str,
    #[serde(flatten)]
    found: Option<Found>,
}

#[derive(Serialize)]
struct Found {
    added: i32,
    changed: i32,
    removed: i32,
    unchanged: i32,
}

impl<'a> UpstreamAnswer<'a> {
    pub(crate) fn new(upstream: &'a v1::Upstream, revision: &'a str) -> Self {
        Self { upstream: upstream.into(), revision, found: None }
    }

    /// `SyncUpstreamResponse`.
    pub(crate) fn of_sync(upstream: &'a v1::Upstream, response: &'a v1::SyncUpstreamResponse) -> Self {
        let v1::SyncUpstreamResponse { added, changed, removed, unchanged, .. } = *response;
        let found = Some(Found { added, changed, removed, unchanged });
        Self { found, ..Self::new(upstream, &response.revision) }
    }
}

/// `DeleteUpstreamResponse`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeletedUpstream<'a> {
    #[serde(flatten)]
    answer: UpstreamAnswer<'a>,
    tool_count: i32,
    approved_count: i32,
}

impl<'a> DeletedUpstream<'a> {
    pub(crate) fn new(upstream: &'a v1::Upstream, response: &'a v1::DeleteUpstreamResponse) -> Self {
        let v1::DeleteUpstreamResponse { tool_count, approved_count, .. } = *response;
        Self { answer: UpstreamAnswer::new(upstream, &response.revision), tool_count, approved_count }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Upstream<'a> {
    id: &'a str,
    client_id: &'a str,
    slug: &'a str,
    display_name: &'a str,
    #[serde(flatten)]
    transport: Option<Transport<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<String>,
    health: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_complete_listing_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_attempt_time: Option<String>,
    last_error: &'a str,
    sync_issues: Vec<SyncIssue<'a>>,
    entries_read: i32,
    protocol_version: &'a str,
    name_policy: Value,
    etag: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Transport<'a> {
    Http { url: &'a str, header_names: &'a [String], allow_private: bool },
    Stdio { command: &'a str, args: &'a [String], env_names: &'a [String], arg_count: i32 },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SyncIssue<'a> {
    code: &'a str,
    tool_name: &'a str,
    position: i32,
    path: &'a str,
    message: &'a str,
    entries: i32,
}

impl<'a> From<&'a v1::Upstream> for Upstream<'a> {
    fn from(upstream: &'a v1::Upstream) -> Self {
        Self {
            id: &upstream.id,
            client_id: &upstream.client_id,
            slug: &upstream.slug,
            display_name: &upstream.display_name,
            transport: upstream.transport.as_ref().map(Transport::from),
            create_time: upstream.create_time.as_ref().map(ToString::to_string),
            health: Value::of(upstream.health, v1::UpstreamHealth::as_str_name),
            last_complete_listing_time: upstream.last_complete_listing_time.as_ref().map(ToString::to_string),
            last_attempt_time: upstream.last_attempt_time.as_ref().map(ToString::to_string),
            last_error: &upstream.last_error,
            sync_issues: upstream.sync_issues.iter().map(SyncIssue::from).collect(),
            entries_read: upstream.entries_read,
            protocol_version: &upstream.protocol_version,
            name_policy: Value::of(upstream.name_policy, v1::NamePolicy::as_str_name),
            etag: &upstream.etag,
        }
    }
}

impl<'a> From<&'a v1::upstream::Transport> for Transport<'a> {
    fn from(transport: &'a v1::upstream::Transport) -> Self {
        match transport {
            v1::upstream::Transport::Http(http) => Self::Http {
                url: &http.url,
                header_names: &http.header_names,
                allow_private: http.allow_private,
            },
            v1::upstream::Transport::Stdio(stdio) => Self::Stdio {
                command: &stdio.command,
                args: &stdio.args,
                env_names: &stdio.env_names,
                arg_count: stdio.arg_count,
            },
        }
    }
}

impl<'a> From<&'a v1::SyncIssue> for SyncIssue<'a> {
    fn from(issue: &'a v1::SyncIssue) -> Self {
        Self {
            code: &issue.code,
            tool_name: &issue.tool_name,
            position: issue.position,
            path: &issue.path,
            message: &issue.message,
            entries: issue.entries,
        }
    }
}

/// `CreateApiKeyResponse`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewKey<'a> {
    api_key: ApiKey<'a>,
    secret: &'a str,
}

/// `RevokeApiKeyResponse`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyAnswer<'a> {
    api_key: ApiKey<'a>,
}

impl<'a> KeyAnswer<'a> {
    pub(crate) fn new(key: &'a v1::ApiKey) -> Self {
        Self { api_key: key.into() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiKey<'a> {
    id: &'a str,
    client_id: &'a str,
    display_name: &'a str,
    scopes: &'a [String],
    operator: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expire_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoke_time: Option<String>,
    agent_id: &'a str,
}

impl<'a> NewKey<'a> {
    pub(crate) fn new(key: &'a v1::ApiKey, secret: &'a str) -> Self {
        Self { api_key: key.into(), secret }
    }
}

impl<'a> From<&'a v1::ApiKey> for ApiKey<'a> {
    fn from(key: &'a v1::ApiKey) -> Self {
        Self {
            id: &key.id,
            client_id: &key.client_id,
            display_name: &key.display_name,
            scopes: &key.scopes,
            operator: key.operator,
            create_time: key.create_time.as_ref().map(ToString::to_string),
            expire_time: key.expire_time.as_ref().map(ToString::to_string),
            revoke_time: key.revoke_time.as_ref().map(ToString::to_string),
            agent_id: &key.agent_id,
        }
    }
}

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

/// `CreateAgentResponse`, and the others with an agent and a revision.
#[derive(Serialize)]
pub(crate) struct AgentAnswer<'a> {
    agent: Agent<'a>,
    revision: &'a str,
}

impl<'a> AgentAnswer<'a> {
    pub(crate) fn new(agent: &'a v1::Agent, revision: &'a str) -> Self {
        Self { agent: agent.into(), revision }
    }
}

/// `AttachAgentToolResponse`.
#[derive(Serialize)]
pub(crate) struct AttachAnswer<'a> {
    agent: Agent<'a>,
    attachment: Attachment<'a>,
    revision: &'a str,
}

impl<'a> AttachAnswer<'a> {
    pub(crate) fn new(agent: &'a v1::Agent, attachment: &'a v1::AgentAttachment, revision: &'a str) -> Self {
        Self { agent: agent.into(), attachment: attachment.into(), revision }
    }
}

/// `DeleteAgentResponse`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentDeletion<'a> {
    agent: Agent<'a>,
    revision: &'a str,
    api_key_count: i32,
}

impl<'a> AgentDeletion<'a> {
    pub(crate) fn new(agent: &'a v1::Agent, revision: &'a str, api_key_count: i32) -> Self {
        Self { agent: agent.into(), revision, api_key_count }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Agent<'a> {
    id: &'a str,
    client_id: &'a str,
    name: &'a str,
    display_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    update_time: Option<String>,
    etag: &'a str,
    attachments: Vec<Attachment<'a>>,
}

impl<'a> From<&'a v1::Agent> for Agent<'a> {
    fn from(agent: &'a v1::Agent) -> Self {
        Self {
            id: &agent.id,
            client_id: &agent.client_id,
            name: &agent.name,
            display_name: &agent.display_name,
            create_time: agent.create_time.as_ref().map(ToString::to_string),
            update_time: agent.update_time.as_ref().map(ToString::to_string),
            etag: &agent.etag,
            attachments: agent.attachments.iter().map(Attachment::from).collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Attachment<'a> {
    id: &'a str,
    name: &'a str,
    r#type: Value,
    upstream_id: &'a str,
    display_name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<String>,
    parameters_json: &'a str,
    vector_store_id: &'a str,
}

impl<'a> From<&'a v1::AgentAttachment> for Attachment<'a> {
    fn from(attachment: &'a v1::AgentAttachment) -> Self {
        Self {
            id: &attachment.id,
            name: &attachment.name,
            r#type: Value::of(attachment.r#type, v1::AgentAttachmentType::as_str_name),
            upstream_id: &attachment.upstream_id,
            display_name: &attachment.display_name,
            description: &attachment.description,
            create_time: attachment.create_time.as_ref().map(ToString::to_string),
            parameters_json: &attachment.parameters_json,
            vector_store_id: &attachment.vector_store_id,
        }
    }
}

/// `CreateClientResponse`.
#[derive(Serialize)]
pub(crate) struct ClientAnswer<'a> {
    client: Client<'a>,
}

impl<'a> ClientAnswer<'a> {
    pub(crate) fn new(client: &'a v1::Client) -> Self {
        Self { client: client.into() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Client<'a> {
    id: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<String>,
}

impl<'a> From<&'a v1::Client> for Client<'a> {
    fn from(client: &'a v1::Client) -> Self {
        let create_time = client.create_time.as_ref().map(ToString::to_string);
        Self { id: &client.id, name: &client.name, create_time }
    }
}

/// `DeleteClientResponse`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeletedClient<'a> {
    client: Client<'a>,
    upstream_count: i32,
    tool_count: i32,
    api_key_count: i32,
}

impl<'a> DeletedClient<'a> {
    pub(crate) fn new(gone: &'a v1::DeleteClientResponse) -> Result<Self, CommandError> {
        let client = gone.client.as_ref().ok_or(CommandError::Incomplete { field: "client" })?;
        let v1::DeleteClientResponse { upstream_count, tool_count, api_key_count, .. } = *gone;
        Ok(Self { client: client.into(), upstream_count, tool_count, api_key_count })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_read_back_as_they_were() {
        let text = "a\u{1b}[2J\u{9b}\u{202e}\u{e0049}\u{7f} \"ü\u{200b}\n";
        let json = String::from_utf8(to_bytes(&text).unwrap()).unwrap();
        assert_eq!(json, r#""a\u001b[2J\u009b\u202e\udb40\udc49\u007f \"ü\u200b\n""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
