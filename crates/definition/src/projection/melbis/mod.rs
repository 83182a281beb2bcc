//! The Melbis command with its table of inputs.

mod defaults;
mod inputs;
mod value_type;

use crate::json::{Document, Kind, Node, ParseError, ParseLimits};
use crate::limits::{MAX_DEFINITION_DEPTH, MAX_DOCUMENT_BYTES, SERVED_DEFINITION};
use crate::projection::refless;

/// What a Melbis command takes from a served definition. Its `files` is always `null`: MCP has no attachments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MelbisCommand {
    /// The whole description, else the title; empty when there is neither.
    pub descr: String,
    /// The table `params`.
    pub params: Vec<MelbisParam>,
}

/// One input: a row of `params`, its members in the order of the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MelbisParam {
    /// The exact key, dots and all.
    pub name: String,
    /// `str`, `datetime` (a string of the format `date-time`), `int`, `float`, `bool`, `null` or `json`; several joined by `/` in
    /// the order listed, as `int/null`. A list of one of the first five is that with `/json`, as `str/json`.
    pub value_type: String,
    /// Every call must have it, whichever branch of the schema it follows.
    pub required: bool,
    /// The default as listed: a string raw, anything else as JSON text without white space. A string that reads as JSON
    /// itself, or is empty, is JSON text too (`"null"`, `""` with the quotes), so that an empty text always means none.
    pub default: String,
    /// The description of the input, empty when it has none.
    pub descr: String,
}

/// Takes a served definition, as [`served_definition`](crate::served_definition) gives it.
///
/// The rows are the root's `properties` in the order listed, then those that only `allOf`, `anyOf`, `oneOf`, `if`, `then`,
/// `else` or `dependentSchemas` name. References are inlined as in [`refless`](super::refless()); one that cannot be is `json`.
///
/// # Errors
///
/// The text is no JSON within [`SERVED_DEFINITION`].
pub fn melbis_command(served: &str) -> Result<MelbisCommand, ParseError> {
    let document = Document::parse(served, &SERVED_DEFINITION)?;
    let root = document.root();
    let text = |name: &str| root.get(name).and_then(Node::as_str).filter(|text| !text.is_empty());
    let schema = root.get("inputSchema").filter(|schema| schema.kind() == Kind::Object);
    Ok(MelbisCommand {
        descr: text("description").or_else(|| text("title")).unwrap_or_default().into_owned(),
        params: schema.map(params).unwrap_or_default(),
    })
}

fn params(input_schema: Node<'_>) -> Vec<MelbisParam> {
    const LIMITS: ParseLimits =
        ParseLimits { max_bytes: MAX_DOCUMENT_BYTES, max_depth: MAX_DEFINITION_DEPTH };
    let refless = refless::of(input_schema, true);
    let document = Document::parse(&refless.text, &LIMITS).expect("a schema without references is JSON");
    inputs::inputs(document.root())
}
