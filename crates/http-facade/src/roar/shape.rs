//! `McpToolList`: 18 members a tool, all of them always there, in the documented order.

use prost_types::Timestamp;
use toolgate_api_proto::v1::{Effect, LockIssue, Tool, ToolState, ToolStatus};

use crate::json::{Object, write_array};
use crate::timestamp;

/// Bytes of a tool besides its texts: the members' names, ids, hashes, times and words. A little more than the most.
const FRAME_BYTES: usize = 1024;

/// A tool that does not fit the shape; a service never sends one.
#[derive(Debug, thiserror::Error)]
#[error("tool {tool}: `{field}` is missing or unknown")]
pub(super) struct NoShape {
    tool: String,
    field: &'static str,
}

/// The body for `tools`.
///
/// Definitions and locked inputs are copied as the text that they are.
pub(super) fn render(tools: &[Tool]) -> Result<Vec<u8>, NoShape> {
    let mut out = Vec::with_capacity(FRAME_BYTES + tools.iter().map(size_hint).sum::<usize>());
    let mut list = Object::open(&mut out);
    write_array(list.member("data"), tools, |out, tool| {
        write_tool(out, tool).map_err(|field| NoShape { tool: tool.id.clone(), field })
    })?;
    list.close();
    Ok(out)
}

fn size_hint(tool: &Tool) -> usize {
    let texts =
        [Some(&tool.definition_json), tool.fixed_args_json.as_ref(), tool.description_override.as_ref()];
    FRAME_BYTES + texts.into_iter().flatten().map(String::len).sum::<usize>()
}

/// The error is the field that does not fit.
fn write_tool(out: &mut Vec<u8>, tool: &Tool) -> Result<(), &'static str> {
    let mut object = Object::open(out);
    object.text("id", &tool.id);
    object.text("clientId", &tool.client_id);
    object.text("upstreamId", &tool.upstream_id);
    object.text("name", &tool.name);
    object.raw("definition", &tool.definition_json);
    object.text("definitionHash", &tool.definition_hash);
    object.text_or_null("approvedHash", tool.approved_hash.as_deref());
    object.text("status", status(tool.status())?);
    write_time(&mut object, "removedAt", tool.remove_time.as_ref())?;
    let overriding = tool.effect_override.is_some().then(|| effect(tool.effect_override()));
    object.text_or_null("effectOverride", overriding.transpose()?);
    object.text("effect", effect(tool.effect())?);
    write_time(&mut object, "createdAt", Some(tool.create_time.as_ref().ok_or("create_time")?))?;
    write_time(&mut object, "updatedAt", Some(tool.update_time.as_ref().ok_or("update_time")?))?;
    object.text("namespacedName", &tool.namespaced_name);
    object.text("state", state(tool.state())?);
    object.raw("fixedArgs", tool.fixed_args_json.as_deref().unwrap_or("null"));
    object.text_or_null("descriptionOverride", tool.description_override.as_deref());
    write_array(object.member("lockIssues"), &tool.lock_issues, |out, issue| {
        write_lock_issue(out, issue);
        Ok::<_, &'static str>(())
    })?;
    object.close();
    Ok(())
}

fn write_lock_issue(out: &mut Vec<u8>, issue: &LockIssue) {
    let mut object = Object::open(out);
    object.text("name", &issue.name);
    object.text("problem", &issue.problem);
    object.close();
}

fn write_time(
    object: &mut Object<'_>,
    member: &'static str,
    moment: Option<&Timestamp>,
) -> Result<(), &'static str> {
    match moment {
        Some(moment) => timestamp::write(object.member(member), moment).ok_or(member),
        None => {
            object.raw(member, "null");
            Ok(())
        }
    }
}

fn status(status: ToolStatus) -> Result<&'static str, &'static str> {
    match status {
        ToolStatus::Active => Ok("active"),
        ToolStatus::Disabled => Ok("disabled"),
        ToolStatus::Unspecified => Err("status"),
    }
}

fn effect(effect: Effect) -> Result<&'static str, &'static str> {
    match effect {
        Effect::Reads => Ok("reads"),
        Effect::Changes => Ok("changes"),
        Effect::Unspecified => Err("effect"),
    }
}

fn state(state: ToolState) -> Result<&'static str, &'static str> {
    match state {
        ToolState::Served => Ok("served"),
        ToolState::Removed => Ok("removed"),
        ToolState::Disabled => Ok("disabled"),
        ToolState::Unapproved => Ok("unapproved"),
        ToolState::Drifted => Ok("drifted"),
        ToolState::LockMismatch => Ok("lock_mismatch"),
        ToolState::BadName => Ok("bad_name"),
        ToolState::Unspecified => Err("state"),
    }
}
