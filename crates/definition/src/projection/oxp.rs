//! The OXP 1.0 tool definition.

use super::refless::{self, Refless};
use crate::json::{Document, Kind, Node, ParseError};
use crate::limits::SERVED_DEFINITION;

/// What an OXP tool definition takes from a served definition. Its `id` is [`oxp_id`](crate::names::oxp_id) with a version,
/// its `name` the one that the tool is served under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OxpTool {
    /// The description, else the title, else the tool's own name: the first that is not blank.
    pub description: String,
    /// The input schema without references, with `properties` always.
    pub input_schema: Option<Refless>,
    /// The output schema without references. `None` when none is stated, in which case the shape has no such member: `null`
    /// there would claim that the tool returns nothing.
    pub output_schema: Option<Refless>,
}

/// Takes a served definition, as [`served_definition`](crate::served_definition) gives it.
///
/// # Errors
///
/// The text is no JSON within [`SERVED_DEFINITION`].
pub fn oxp_tool(served: &str) -> Result<OxpTool, ParseError> {
    let document = Document::parse(served, &SERVED_DEFINITION)?;
    let root = document.root();
    let schema =
        |name: &str| root.get(name).filter(|schema| matches!(schema.kind(), Kind::Object | Kind::Bool));
    Ok(OxpTool {
        description: description(root),
        input_schema: schema("inputSchema").map(|schema| refless::of(schema, true)),
        output_schema: schema("outputSchema").map(|schema| refless::of(schema, false)),
    })
}

fn description(root: Node<'_>) -> String {
    let annotated = root.get("annotations").and_then(|annotations| annotations.get("title"));
    let texts = [root.get("description"), root.get("title"), annotated, root.get("name")];
    let mut texts = texts.into_iter().flatten().filter_map(Node::as_str);
    texts.find(|text| !text.trim().is_empty()).unwrap_or_default().into_owned()
}
