//! `toolgate tool live`: what a tool server lists at this moment.

use toolgate_api_proto::v1::{ListServerToolsRequest, ListServerToolsResponse, ServerToolsStatus};

use crate::connection::{Connection, call_within};
use crate::console::Console;
use crate::error::CommandError;
use crate::limits::{LIVE_DEADLINE, MAX_LIVE_MESSAGE_BYTES};
use crate::render::{json, text};

pub(crate) async fn run(
    agent: String,
    attachment: String,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let request = ListServerToolsRequest {
        agent_id: agent,
        attachment_id: attachment.clone(),
        client_id: connection.client_id.clone(),
        ..Default::default()
    };
    console.progress(&format!("asking {attachment} for its tools"))?;
    let mut catalog = connection.catalog().await?.max_decoding_message_size(MAX_LIVE_MESSAGE_BYTES);
    let answer = catalog.list_server_tools(call_within(LIVE_DEADLINE, request)).await;
    console.progress("")?;
    let list = answer?.into_inner();
    match json {
        true => json::print(console, &json::ServerTools::from(&list))?,
        false => print(&list, console)?,
    }
    judge(list, attachment)
}

fn print(list: &ListServerToolsResponse, console: &mut Console<'_>) -> Result<(), CommandError> {
    if list.status() != ServerToolsStatus::Ok {
        return Ok(());
    }
    let mut table = text::server_tools();
    list.tools.iter().for_each(|tool| table.push(text::server_tool_row(tool)));
    table.lines().try_for_each(|line| console.say(&line))?;
    match &list.list_time {
        Some(time) if list.from_cache => console.note(&format!("as the server listed them at {time}")),
        Some(_) | None => Ok(()),
    }
}

fn judge(list: ListServerToolsResponse, slug: String) -> Result<(), CommandError> {
    match list.status() {
        ServerToolsStatus::Ok => Ok(()),
        ServerToolsStatus::AuthRequired => Err(CommandError::NotListed {
            slug,
            cause: "it wants the credential of a user, or another one".into(),
        }),
        ServerToolsStatus::Unavailable => Err(CommandError::NotListed { slug, cause: list.error }),
        ServerToolsStatus::Unspecified => Err(CommandError::Incomplete { field: "status" }),
    }
}
