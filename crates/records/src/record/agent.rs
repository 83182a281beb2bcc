//! Rows of agents, and the acts about them in the log.

use toolgate_definition::names::Slug;
use toolgate_domain::{
    Agent, AgentId, AttachmentId, ClientId, UpstreamId,
    agent::{Attachment, AttachmentKind},
    ruling::{Act, AgentAct},
};

use super::read::{Reader, moment};
use crate::{RowError, stored};

pub(super) fn agent_row(agent: &Agent) -> stored::Agent {
    stored::Agent {
        name: agent.name.to_string(),
        display_name: agent.display_name.clone(),
        created_at_ms: agent.created_at.unix_ms(),
        updated_at_ms: agent.updated_at.unix_ms(),
        attachments: agent.attachments.iter().map(attachment_row).collect(),
    }
}

pub(super) fn read_agent(row: &Reader<'_>, client: ClientId, id: AgentId) -> Result<Agent, RowError> {
    let payload: stored::Agent = row.payload()?;
    let name: Slug = payload.name.parse().map_err(|error| row.wrong("name", format!("{error}")))?;
    let attachments = payload.attachments.into_iter().map(|attachment| read_attachment(row, attachment));
    Ok(Agent {
        id,
        client,
        name,
        display_name: payload.display_name,
        created_at: moment(payload.created_at_ms),
        updated_at: moment(payload.updated_at_ms),
        attachments: attachments.collect::<Result<_, _>>()?,
    })
}

fn attachment_row(attachment: &Attachment) -> stored::Attachment {
    let kind = match &attachment.kind {
        AttachmentKind::Mcp(upstream) => stored::AttachmentKind::Mcp(upstream.bytes().to_vec()),
        AttachmentKind::Function { parameters } => stored::AttachmentKind::Function(parameters.clone()),
        AttachmentKind::FileSearch { vector_store_id } => {
            stored::AttachmentKind::FileSearch(vector_store_id.clone())
        }
    };
    stored::Attachment {
        id: attachment.id.bytes().to_vec(),
        name: attachment.name.clone(),
        display_name: attachment.display_name.clone(),
        description: attachment.description.clone(),
        created_at_ms: attachment.created_at.unix_ms(),
        kind: Some(kind),
    }
}

fn read_attachment(row: &Reader<'_>, payload: stored::Attachment) -> Result<Attachment, RowError> {
    let kind = match payload.kind.ok_or_else(|| row.wrong("attachment.kind", "is absent"))? {
        stored::AttachmentKind::Mcp(id) => {
            AttachmentKind::Mcp(UpstreamId::from_bytes(row.fixed("attachment.mcp", &id)?))
        }
        stored::AttachmentKind::Function(parameters) => AttachmentKind::Function { parameters },
        stored::AttachmentKind::FileSearch(vector_store_id) => AttachmentKind::FileSearch { vector_store_id },
    };
    Ok(Attachment {
        id: AttachmentId::from_bytes(row.fixed("attachment.id", &payload.id)?),
        name: payload.name,
        kind,
        display_name: payload.display_name,
        description: payload.description,
        created_at: moment(payload.created_at_ms),
    })
}

pub(super) fn act_row(agent: AgentId, name: &str, act: &AgentAct) -> stored::AgentRuling {
    let act = match act {
        AgentAct::Create { display_name } => stored::AgentAct::Create(display_name.clone()),
        AgentAct::Delete => stored::AgentAct::Delete(stored::Nothing {}),
        AgentAct::Attach(attachment) => stored::AgentAct::Attach(attachment_row(attachment)),
        AgentAct::Detach { id, name } => {
            stored::AgentAct::Detach(stored::Detached { id: id.bytes().to_vec(), name: name.clone() })
        }
    };
    stored::AgentRuling { agent: agent.bytes().to_vec(), name: name.to_owned(), act: Some(act) }
}

pub(super) fn read_act(row: &Reader<'_>, payload: stored::AgentRuling) -> Result<Act, RowError> {
    let act = match payload.act.ok_or_else(|| row.wrong("ruling.agent.act", "is absent"))? {
        stored::AgentAct::Create(display_name) => AgentAct::Create { display_name },
        stored::AgentAct::Delete(_) => AgentAct::Delete,
        stored::AgentAct::Attach(attachment) => AgentAct::Attach(read_attachment(row, attachment)?),
        stored::AgentAct::Detach(stored::Detached { id, name }) => {
            let id = AttachmentId::from_bytes(row.fixed("ruling.agent.detach.id", &id)?);
            AgentAct::Detach { id, name }
        }
    };
    let agent = AgentId::from_bytes(row.fixed("ruling.agent.agent", &payload.agent)?);
    Ok(Act::Agent { agent, name: payload.name, act })
}
