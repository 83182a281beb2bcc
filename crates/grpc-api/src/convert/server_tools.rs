//! What a tool server lists at this moment, to the wire.

use toolgate_api_proto::v1 as pb;
use toolgate_catalog::server_tools::{Outcome, ServerTool, ServerToolList};

use super::fields::timestamp;
use crate::tokens::Tokens;

/// The answer that tells of a list.
pub(crate) fn to_proto(list: ServerToolList, tokens: &Tokens<'_>) -> pb::ListServerToolsResponse {
    let (status, tools, error) = match list.outcome {
        Outcome::Listed(tools) => (pb::ServerToolsStatus::Ok, tools, String::new()),
        Outcome::AuthRequired => (pb::ServerToolsStatus::AuthRequired, Vec::new(), String::new()),
        Outcome::Unavailable(why) => (pb::ServerToolsStatus::Unavailable, Vec::new(), why),
    };
    pb::ListServerToolsResponse {
        status: status.into(),
        tools: tools.into_iter().map(tool_to_proto).collect(),
        error,
        list_time: list.asked_at.map(timestamp),
        expire_time: list.kept_until.map(timestamp),
        from_cache: list.from_cache,
        revision: tokens.revision(list.snapshot.revision()),
    }
}

fn tool_to_proto(tool: ServerTool) -> pb::ServerTool {
    let ServerTool { name, canonical_name, description, input_schema, annotations } = tool;
    pb::ServerTool {
        name,
        canonical_name,
        description,
        input_schema_json: input_schema,
        annotations_json: annotations,
    }
}
