//! Tools to the wire; views and states from it.

use toolgate_api_proto::v1 as pb;
use toolgate_catalog::{ToolEntry, View};
use toolgate_definition::Effect;
use toolgate_domain::{Fault, ToolState};

use super::fields::timestamp;
use crate::tokens::Tokens;

/// The message of a tool in a view.
pub(crate) fn to_proto(entry: &ToolEntry, view: View, tokens: &Tokens<'_>) -> pb::Tool {
    let tool = &entry.tool;
    let definition = match view {
        View::Raw => tool.definition.text(),
        // A tool that is not served has no definition for an agent, even if it got this far.
        View::Served => tool.served_definition().unwrap_or_default(),
    };
    let status = if tool.ruled.disabled { pb::ToolStatus::Disabled } else { pb::ToolStatus::Active };
    pb::Tool {
        id: tool.id.to_string(),
        client_id: tool.client.to_string(),
        upstream_id: tool.upstream.to_string(),
        name: tool.name().to_owned(),
        namespaced_name: tool.namespaced_name(),
        definition_json: definition.to_owned(),
        definition_hash: tool.observed.fingerprint.to_string(),
        approved_hash: tool.approved().map(|fingerprint| fingerprint.to_string()),
        status: status.into(),
        state: state_to_proto(tool.state()).into(),
        remedy: tool.remedy().to_owned(),
        effect: effect_to_proto(tool.effect()).into(),
        effect_override: None,
        description_override: None,
        fixed_args_json: None,
        lock_issues: Vec::new(),
        create_time: Some(timestamp(tool.observed.first_seen_at)),
        update_time: Some(timestamp(tool.updated_at())),
        remove_time: tool.observed.removed_at.map(timestamp),
        etag: tokens.tool(entry),
    }
}

fn state_to_proto(state: ToolState) -> pb::ToolState {
    match state {
        ToolState::Served => pb::ToolState::Served,
        ToolState::Removed => pb::ToolState::Removed,
        ToolState::Disabled => pb::ToolState::Disabled,
        ToolState::Unapproved => pb::ToolState::Unapproved,
        ToolState::Drifted => pb::ToolState::Drifted,
        ToolState::LockMismatch => pb::ToolState::LockMismatch,
        ToolState::BadName => pb::ToolState::BadName,
    }
}

fn effect_to_proto(effect: Effect) -> pb::Effect {
    match effect {
        Effect::Reads => pb::Effect::Reads,
        Effect::Changes => pb::Effect::Changes,
    }
}

/// The states of a filter.
pub(crate) fn states_from_proto(states: &[i32]) -> Result<Vec<ToolState>, Fault> {
    if states.len() > ToolState::ALL.len() {
        return Err(Fault::invalid("states", "has more than 7 entries"));
    }
    states.iter().enumerate().map(|(index, state)| state_from_proto(index, *state)).collect()
}

fn state_from_proto(index: usize, state: i32) -> Result<ToolState, Fault> {
    match pb::ToolState::try_from(state) {
        Ok(pb::ToolState::Served) => Ok(ToolState::Served),
        Ok(pb::ToolState::Removed) => Ok(ToolState::Removed),
        Ok(pb::ToolState::Disabled) => Ok(ToolState::Disabled),
        Ok(pb::ToolState::Unapproved) => Ok(ToolState::Unapproved),
        Ok(pb::ToolState::Drifted) => Ok(ToolState::Drifted),
        Ok(pb::ToolState::LockMismatch) => Ok(ToolState::LockMismatch),
        Ok(pb::ToolState::BadName) => Ok(ToolState::BadName),
        Ok(pb::ToolState::Unspecified) | Err(_) => {
            Err(Fault::invalid(format!("states[{index}]"), "is not a state"))
        }
    }
}

/// The view of a request.
pub(crate) fn view_from_proto(view: i32) -> Result<View, Fault> {
    match pb::ToolView::try_from(view) {
        Ok(pb::ToolView::Unspecified | pb::ToolView::Raw) => Ok(View::Raw),
        Ok(pb::ToolView::Served) => Ok(View::Served),
        Err(_) => Err(Fault::invalid("view", "is not a view; use RAW or SERVED")),
    }
}
