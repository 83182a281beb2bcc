//! Tools to the wire; views and states from it.

use toolgate_api_proto::v1 as pb;
use toolgate_catalog::{
    ToolEntry, View, list_definitions::ListedDefinition, list_tool_definitions::ToolDefinition,
};
use toolgate_definition::{
    Effect, Fingerprint,
    locks::{LockIssue, Locks},
};
use toolgate_domain::{Fault, ToolState, limits};

use super::fields::timestamp;
use crate::tokens::Tokens;

/// The message of a tool in a view.
pub(crate) fn to_proto(entry: &ToolEntry, view: View, tokens: &Tokens<'_>) -> pb::Tool {
    let tool = &entry.tool;
    let (definition, locks) = match view {
        View::Raw => (tool.definition.text().to_owned(), Some(&tool.ruled.locks)),
        // A tool that is not served has no definition for an agent, even if it got this far; what is locked never has.
        View::Served => (tool.served_definition().unwrap_or_default(), None),
    };
    let status = if tool.ruled.disabled { pb::ToolStatus::Disabled } else { pb::ToolStatus::Active };
    pb::Tool {
        id: tool.id.to_string(),
        client_id: tool.client.to_string(),
        upstream_id: tool.upstream.to_string(),
        name: tool.name().to_owned(),
        namespaced_name: tool.namespaced_name(),
        definition_json: definition,
        definition_hash: tool.observed.fingerprint.to_string(),
        approved_hash: tool.approved().map(|fingerprint| fingerprint.to_string()),
        status: status.into(),
        state: state_to_proto(tool.state()).into(),
        remedy: tool.remedy().to_owned(),
        effect: effect_to_proto(tool.effect()).into(),
        effect_override: tool.ruled.effect.map(|effect| effect_to_proto(effect).into()),
        description_override: tool.ruled.description.clone(),
        fixed_args_json: locks.filter(|locks| !locks.is_empty()).map(Locks::to_json),
        lock_issues: tool.lock_issues.iter().map(lock_issue_to_proto).collect(),
        create_time: Some(timestamp(tool.observed.first_seen_at)),
        update_time: Some(timestamp(tool.updated_at())),
        remove_time: tool.observed.removed_at.map(timestamp),
        etag: tokens.tool(entry),
    }
}

/// The message of one of a tool's definitions.
pub(crate) fn definition_to_proto(listed: ListedDefinition) -> pb::ObservedDefinition {
    let ListedDefinition { fingerprint, seen, current, approved } = listed;
    pb::ObservedDefinition {
        definition_hash: fingerprint.to_string(),
        definition_json: seen.text,
        create_time: seen.first_seen_at.map(timestamp),
        return_time: seen.returned_at.map(timestamp),
        current,
        approved,
    }
}

/// The message of a served tool in the OXP shape.
pub(crate) fn tool_definition_to_proto(definition: ToolDefinition) -> pb::ToolDefinition {
    let ToolDefinition { id, name, description, version, input_schema, output_schema, takes_user_of } =
        definition;
    let requirements = takes_user_of.map(|provider| pb::ToolRequirements {
        authorization: vec![pb::AuthorizationRequirement { id: provider }],
        user_id: true,
    });
    pb::ToolDefinition {
        id,
        name,
        description,
        version,
        input_schema_json: input_schema,
        output_schema_json: output_schema,
        requirements,
    }
}

/// The fingerprints that a list of definitions is limited to.
pub(crate) fn hashes_from_proto(hashes: &[String]) -> Result<Vec<Fingerprint>, Fault> {
    if hashes.len() > limits::MAX_DEFINITION_HASHES {
        let most = limits::MAX_DEFINITION_HASHES;
        return Err(Fault::invalid("definition_hashes", format!("has more than {most} entries")));
    }
    let field = |index| format!("definition_hashes[{index}]");
    let hash = |(index, text): (usize, &String)| {
        text.parse().map_err(|error| Fault::invalid(field(index), format!("{error}")))
    };
    hashes.iter().enumerate().map(hash).collect()
}

pub(crate) fn state_to_proto(state: ToolState) -> pb::ToolState {
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

pub(crate) fn effect_to_proto(effect: Effect) -> pb::Effect {
    match effect {
        Effect::Reads => pb::Effect::Reads,
        Effect::Changes => pb::Effect::Changes,
    }
}

fn lock_issue_to_proto(issue: &LockIssue) -> pb::LockIssue {
    pb::LockIssue { name: issue.name.clone(), problem: issue.problem.to_string() }
}

/// The effect of a request; `None` when unspecified.
pub(crate) fn effect_from_proto(effect: i32) -> Result<Option<Effect>, Fault> {
    match pb::Effect::try_from(effect) {
        Ok(pb::Effect::Unspecified) => Ok(None),
        Ok(pb::Effect::Reads) => Ok(Some(Effect::Reads)),
        Ok(pb::Effect::Changes) => Ok(Some(Effect::Changes)),
        Err(_) => Err(Fault::invalid("effect", "is not an effect; use READS or CHANGES")),
    }
}

/// The locks of a request; none for the empty text.
pub(crate) fn locks_from_proto(set_json: &str) -> Result<Locks, Fault> {
    if set_json.is_empty() {
        return Ok(Locks::default());
    }
    Locks::parse(set_json).map_err(|error| Fault::invalid("set_json", format!("is not taken: {error}")))
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
