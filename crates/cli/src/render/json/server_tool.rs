//! What a tool server lists at this moment.

use serde::Serialize;
use toolgate_api_proto::v1;

use super::Value;

/// `ListServerToolsResponse`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerTools<'a> {
    status: Value,
    tools: Vec<ServerTool<'a>>,
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    list_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expire_time: Option<String>,
    from_cache: bool,
    revision: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerTool<'a> {
    name: &'a str,
    canonical_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema_json: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations_json: Option<&'a str>,
}

impl<'a> From<&'a v1::ListServerToolsResponse> for ServerTools<'a> {
    fn from(list: &'a v1::ListServerToolsResponse) -> Self {
        Self {
            status: Value::of(list.status, v1::ServerToolsStatus::as_str_name),
            tools: list.tools.iter().map(ServerTool::from).collect(),
            error: &list.error,
            list_time: list.list_time.as_ref().map(ToString::to_string),
            expire_time: list.expire_time.as_ref().map(ToString::to_string),
            from_cache: list.from_cache,
            revision: &list.revision,
        }
    }
}

impl<'a> From<&'a v1::ServerTool> for ServerTool<'a> {
    fn from(tool: &'a v1::ServerTool) -> Self {
        Self {
            name: &tool.name,
            canonical_name: &tool.canonical_name,
            description: tool.description.as_deref(),
            input_schema_json: tool.input_schema_json.as_deref(),
            annotations_json: tool.annotations_json.as_deref(),
        }
    }
}
