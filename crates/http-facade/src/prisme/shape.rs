//! `ToolCapabilities`. Its members are the documented ones and no other.

use std::convert::Infallible;

use toolgate_api_proto::v1::{ListServerToolsResponse, ServerTool, ServerToolsStatus};

use crate::json::{Object, write_array};

/// Bytes of a tool besides its texts. A little more than the most.
const FRAME_BYTES: usize = 256;

/// An answer that says nothing; a service never sends one.
#[derive(Debug, thiserror::Error)]
#[error("the status of a server's list is missing or unknown")]
pub(super) struct NoStatus;

/// The body for `list`. Schemas and annotations are copied as the text that they are.
pub(super) fn render(list: &ListServerToolsResponse) -> Result<Vec<u8>, NoStatus> {
    let (status, tools, error) = match list.status() {
        ServerToolsStatus::Ok => ("ok", &list.tools[..], None),
        ServerToolsStatus::AuthRequired => ("auth_required", &[][..], None),
        ServerToolsStatus::Unavailable => ("unavailable", &[][..], Some(list.error.as_str())),
        ServerToolsStatus::Unspecified => return Err(NoStatus),
    };
    let mut out = Vec::with_capacity(FRAME_BYTES + tools.iter().map(size_hint).sum::<usize>());
    let mut object = Object::open(&mut out);
    object.text("status", status);
    let Ok(()) = write_array(object.member("items"), tools, |out, tool| {
        write_tool(out, tool);
        Ok::<_, Infallible>(())
    });
    if let Some(error) = error {
        object.text("error", error);
    }
    object.close();
    Ok(out)
}

fn size_hint(tool: &ServerTool) -> usize {
    let texts = [&tool.description, &tool.input_schema_json, &tool.annotations_json];
    FRAME_BYTES + texts.into_iter().flatten().map(String::len).sum::<usize>()
}

fn write_tool(out: &mut Vec<u8>, tool: &ServerTool) {
    let mut object = Object::open(out);
    object.text("name", &tool.name);
    object.text("canonical_name", &tool.canonical_name);
    if let Some(description) = &tool.description {
        object.text("description", description);
    }
    if let Some(schema) = &tool.input_schema_json {
        object.raw("inputSchema", schema);
    }
    object.raw("annotations", tool.annotations_json.as_deref().unwrap_or("null"));
    object.close();
}
