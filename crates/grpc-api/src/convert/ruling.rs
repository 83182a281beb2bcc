//! Rulings to the wire.

use toolgate_api_proto::v1 as pb;
use toolgate_domain::ruling::{Act, AgentAct};
use toolgate_governance::LoggedRuling;

use super::{agent::attachment_to_proto, fields::timestamp, tool::effect_to_proto};

/// The message of a row of the log.
pub(crate) fn to_proto(row: LoggedRuling) -> pb::Ruling {
    let LoggedRuling { ruling, stored, hash } = row;
    let tool_id = ruling.tool().map(|id| id.to_string()).unwrap_or_default();
    let common = pb::Ruling {
        sequence: i64::try_from(ruling.sequence).unwrap_or(i64::MAX),
        create_time: Some(timestamp(ruling.at)),
        subject: ruling.subject,
        upstream_id: ruling.upstream.map(|id| id.to_string()).unwrap_or_default(),
        tool_id,
        tool_name: ruling.tool_name,
        stored,
        hash: hash.to_vec(),
        ..Default::default()
    };
    with_act(common, ruling.act)
}

fn with_act(mut row: pb::Ruling, act: Act) -> pb::Ruling {
    let act = match act {
        Act::Approve { fingerprint, .. } => {
            row.definition_hash = fingerprint.to_string();
            pb::RulingAct::Approve
        }
        Act::RevokeApproval => pb::RulingAct::RevokeApproval,
        Act::Disable => pb::RulingAct::Disable,
        Act::Enable => pb::RulingAct::Enable,
        Act::SetEffect(effect) => {
            row.effect_override = effect.map(|effect| effect_to_proto(effect).into());
            pb::RulingAct::SetEffect
        }
        Act::SetDescription(text) => {
            row.description_override = text;
            pb::RulingAct::SetDescription
        }
        Act::Rename(name) => {
            row.served_name = name;
            pb::RulingAct::Rename
        }
        Act::SetLocks(locks) => {
            row.fixed_args_json = Some(locks.to_json());
            pb::RulingAct::SetLocks
        }
        Act::DeleteUpstream { slug, tool_count } => {
            row.upstream_slug = slug;
            row.tool_count = i32::try_from(tool_count).unwrap_or(i32::MAX);
            pb::RulingAct::DeleteUpstream
        }
        Act::DeleteClient => pb::RulingAct::DeleteClient,
        Act::ChangeEndpoint { before, after, keeps_approvals } => {
            (row.endpoint_before, row.endpoint_after) = (before, after);
            row.approvals_kept = keeps_approvals;
            pb::RulingAct::ChangeEndpoint
        }
        Act::Agent { agent, name, act } => {
            row.agent_id = agent.to_string();
            row.agent_name = name;
            with_agent_act(&mut row, act)
        }
    };
    row.set_act(act);
    row
}

fn with_agent_act(row: &mut pb::Ruling, act: AgentAct) -> pb::RulingAct {
    match act {
        AgentAct::Create { .. } => pb::RulingAct::CreateAgent,
        AgentAct::Delete => pb::RulingAct::DeleteAgent,
        AgentAct::Attach(attachment) => {
            row.attachment = Some(attachment_to_proto(&attachment));
            pb::RulingAct::AttachAgentTool
        }
        AgentAct::Detach { id, name } => {
            let id = id.to_string();
            row.attachment = Some(pb::AgentAttachment { id, name, ..Default::default() });
            pb::RulingAct::DetachAgentTool
        }
    }
}
