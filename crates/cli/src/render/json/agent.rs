//! Agents and what is attached to them.

use serde::Serialize;
use toolgate_api_proto::v1;

use super::Value;

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
pub(super) struct Attachment<'a> {
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
