//! `toolgate call`.

use serde_json::Value;
use tonic::Streaming;
use toolgate_api_proto::v1::{
    CallToolRequest, CallToolResponse, call_tool_request::Tool, call_tool_response::Event,
};

use crate::args::CallArgs;
use crate::connection::{Connection, call_within};
use crate::console::Console;
use crate::error::CommandError;
use crate::limits::TOOL_CALL_DEADLINE;
use crate::tool::is_id;

/// Calls a tool as the key's agent would, and prints what comes of it.
pub(crate) async fn run(
    args: CallArgs,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let CallArgs { tool, arguments, call_id } = args;
    let request = CallToolRequest {
        client_id: connection.client_id.clone(),
        tool: Some(if is_id(&tool) { Tool::ToolId(tool) } else { Tool::NamespacedName(tool) }),
        arguments_json: given(arguments, console)?,
        wants_progress: console.shows_progress,
        call_id,
        ..CallToolRequest::default()
    };
    let call = call_within(TOOL_CALL_DEADLINE, request);
    let events = connection.gateway().await?.call_tool(call).await?.into_inner();
    let result_json = result(events, console).await?;
    let result: Value = serde_json::from_str(&result_json).unwrap_or_default();
    if json {
        console.out.write_all(result_json.as_bytes())?;
        console.out.write_all(b"\n")?;
    } else {
        show(&result, console)?;
    }
    match result["isError"] == true {
        true => Err(CommandError::ToolFailed),
        false => Ok(()),
    }
}

fn given(arguments: Option<String>, console: &mut Console<'_>) -> Result<String, CommandError> {
    match arguments.as_deref() {
        Some("-") => {
            let mut text = String::new();
            console.input.read_to_string(&mut text)?;
            Ok(text)
        }
        _ => Ok(arguments.unwrap_or_default()),
    }
}

async fn result(
    mut events: Streaming<CallToolResponse>,
    console: &mut Console<'_>,
) -> Result<String, CommandError> {
    let mut is_progress_shown = false;
    let ended = loop {
        match events.message().await {
            Ok(Some(CallToolResponse { event: Some(Event::Progress(progress)) })) => {
                is_progress_shown = true;
                console.progress(&progress.progress_json)?;
            }
            Ok(Some(CallToolResponse { event: Some(Event::Result(result)) })) => {
                break Ok(result.result_json);
            }
            // Nobody asked for either.
            Ok(Some(CallToolResponse { event: Some(Event::Log(_) | Event::InputRequired(_)) })) => {}
            Ok(Some(CallToolResponse { event: None }) | None) => {
                break Err(CommandError::Incomplete { field: "result" });
            }
            Err(status) => break Err(status.into()),
        }
    };
    if is_progress_shown {
        console.progress("")?;
    }
    ended
}

/// Texts as they are, anything else by its kind; structured content where there is no text.
fn show(result: &Value, console: &mut Console<'_>) -> Result<(), CommandError> {
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    for block in blocks {
        match block["text"].as_str() {
            Some(text) => text.lines().try_for_each(|line| console.say(line))?,
            None => console.say(&format!("[{}]", block["type"].as_str().unwrap_or("unknown content")))?,
        }
    }
    match &result["structuredContent"] {
        Value::Null => Ok(()),
        structured if blocks.is_empty() => console.say(&structured.to_string()),
        _ => Ok(()),
    }
}
