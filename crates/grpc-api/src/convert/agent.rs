//! Agents to the wire; what is to be attached from it.

use toolgate_api_proto::v1 as pb;
use toolgate_catalog::{AgentEntry, Snapshot, agents::AgentRef, upstreams::UpstreamRef};
use toolgate_domain::{
    Fault,
    agent::{Attachment, AttachmentKind},
};
use toolgate_governance::AttachedKind;

use super::fields::timestamp;
use crate::tokens::Tokens;

/// The message of an agent, without what a deleted upstream took along.
pub(crate) fn to_proto(entry: &AgentEntry, snapshot: &Snapshot, tokens: &Tokens<'_>) -> pb::Agent {
    let agent = &entry.agent;
    pb::Agent {
        id: agent.id.to_string(),
        client_id: agent.client.to_string(),
        name: agent.name.to_string(),
        display_name: agent.display_name.clone(),
        create_time: Some(timestamp(agent.created_at)),
        update_time: Some(timestamp(agent.updated_at)),
        etag: tokens.agent(entry),
        attachments: snapshot.attachments(agent).map(attachment_to_proto).collect(),
    }
}

/// The message of an attachment.
pub(crate) fn attachment_to_proto(attachment: &Attachment) -> pb::AgentAttachment {
    let mut message = pb::AgentAttachment {
        id: attachment.id.to_string(),
        name: attachment.name.clone(),
        display_name: attachment.display_name.clone(),
        description: attachment.description.clone(),
        create_time: Some(timestamp(attachment.created_at)),
        ..Default::default()
    };
    let kind = match &attachment.kind {
        AttachmentKind::Mcp(upstream) => {
            message.upstream_id = upstream.to_string();
            pb::AgentAttachmentType::Mcp
        }
        AttachmentKind::Function { parameters } => {
            message.parameters_json.clone_from(parameters);
            pb::AgentAttachmentType::Function
        }
        AttachmentKind::FileSearch { vector_store_id } => {
            message.vector_store_id.clone_from(vector_store_id);
            pb::AgentAttachmentType::FileSearch
        }
    };
    message.set_type(kind);
    message
}

/// How a request names an agent that it must name.
pub(crate) fn required_agent(text: &str, field: &str) -> Result<AgentRef, Fault> {
    if text.is_empty() {
        return Err(Fault::invalid(field, "is required: an agent's id or name"));
    }
    Ok(AgentRef::parse(text))
}

/// What a request attaches. A field that belongs to another type is refused, not dropped.
pub(crate) fn kind_from_proto(ask: &pb::AttachAgentToolRequest) -> Result<AttachedKind, Fault> {
    let own: &[&str] = match ask.r#type() {
        pb::AgentAttachmentType::Unspecified => {
            return Err(Fault::invalid("type", "is required: MCP, FUNCTION or FILE_SEARCH"));
        }
        pb::AgentAttachmentType::Mcp => &["upstream_id"],
        pb::AgentAttachmentType::Function => &["parameters_json"],
        pb::AgentAttachmentType::FileSearch => &["vector_store_id"],
    };
    for (field, value) in [
        ("upstream_id", &ask.upstream_id),
        ("parameters_json", &ask.parameters_json),
        ("vector_store_id", &ask.vector_store_id),
    ] {
        if !value.is_empty() && !own.contains(&field) {
            return Err(Fault::invalid(field, "does not belong to this type; leave it empty"));
        }
    }
    match ask.r#type() {
        pb::AgentAttachmentType::Mcp if ask.upstream_id.is_empty() => {
            Err(Fault::invalid("upstream_id", "is required: an upstream's id or slug"))
        }
        pb::AgentAttachmentType::Mcp => Ok(AttachedKind::Mcp(UpstreamRef::parse(&ask.upstream_id))),
        pb::AgentAttachmentType::FileSearch => Ok(AttachedKind::FileSearch(ask.vector_store_id.clone())),
        pb::AgentAttachmentType::Unspecified | pb::AgentAttachmentType::Function => {
            Ok(AttachedKind::Function(ask.parameters_json.clone()))
        }
    }
}
