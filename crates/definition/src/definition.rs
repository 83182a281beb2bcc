use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::json::{Document, Kind, Node, decode};
use crate::limits::{DEFINITION, MAX_NAME_BYTES};
use crate::{DefinitionFault, Fingerprint, scan};

/// The JSON object that an upstream lists for one tool, exactly as listed.
///
/// It keeps its text, its name, its fingerprint and where its best-known members stand; other members are read from
/// [`document`](Self::document).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    text: Arc<str>,
    name: Arc<str>,
    fingerprint: Fingerprint,
    read_only_hint: bool,
    title: Option<Span>,
    description: Option<Span>,
    input_schema: Span,
    output_schema: Option<Span>,
    annotations: Option<Span>,
}

impl Definition {
    /// Takes one entry of a listing.
    ///
    /// # Errors
    ///
    /// The first of: what is wrong with the text as JSON within [`DEFINITION`], with its kind, with its `name`, with its
    /// `inputSchema` (MCP's `Tool` requires both). Nothing else is judged here.
    pub fn parse(text: &str) -> Result<Self, DefinitionFault> {
        let document = Document::parse(text, &DEFINITION)?;
        let root = document.root();
        if root.kind() != Kind::Object {
            return Err(DefinitionFault::NotAnObject { found: root.kind() });
        }
        let name = checked_name(root)?;
        let input_schema = checked_input_schema(root)?;
        let annotations = root.get("annotations");
        let annotation = |key| annotations.and_then(|annotations| annotations.get(key));
        let string = |node: &Node<'_>| node.kind() == Kind::String;
        let title = root.get("title").filter(string).or_else(|| annotation("title").filter(string));
        Ok(Self {
            text: text.into(),
            name: name.into(),
            fingerprint: Fingerprint::of(&document),
            read_only_hint: annotation("readOnlyHint").and_then(Node::as_bool) == Some(true),
            title: title.map(Span::of),
            description: root.get("description").filter(string).map(Span::of),
            input_schema: Span::of(input_schema),
            output_schema: root.get("outputSchema").map(Span::of),
            annotations: annotations.map(Span::of),
        })
    }

    /// The text that was listed, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The upstream's own name of the tool, verbatim: any string of 1 to [`MAX_NAME_BYTES`] bytes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hash of the whole definition.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// `title`, else `annotations.title`, when it is a string. A caller falls back to [`name`](Self::name).
    pub fn title(&self) -> Option<Cow<'_, str>> {
        self.string(self.title)
    }

    /// `description`, when it is a string.
    pub fn description(&self) -> Option<Cow<'_, str>> {
        self.string(self.description)
    }

    /// Whether `annotations.readOnlyHint` is the boolean `true`. Anything else, absence included, is false (MCP's default).
    pub fn read_only_hint(&self) -> bool {
        self.read_only_hint
    }

    /// The exact text of `inputSchema`, always an object.
    pub fn input_schema_text(&self) -> &str {
        self.slice(self.input_schema)
    }

    /// The exact text of `outputSchema`, of whatever kind it is.
    pub fn output_schema_text(&self) -> Option<&str> {
        self.output_schema.map(|span| self.slice(span))
    }

    /// The exact text of `annotations`, of whatever kind they are.
    pub fn annotations_text(&self) -> Option<&str> {
        self.annotations.map(|span| self.slice(span))
    }

    /// The whole definition as a tree, read again from its text.
    pub fn document(&self) -> Document<'_> {
        Document::parse(&self.text, &DEFINITION).expect("the text was parsed when the definition was made")
    }

    fn slice(&self, span: Span) -> &str {
        &self.text[span.range()]
    }

    fn string(&self, span: Option<Span>) -> Option<Cow<'_, str>> {
        span.map(|span| decode(self.slice(span)))
    }
}

/// Where a member's value stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn of(node: Node<'_>) -> Self {
        let Range { start, end } = node.span();
        Self { start: start as u32, end: end as u32 }
    }

    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

fn checked_name(definition: Node<'_>) -> Result<Cow<'_, str>, DefinitionFault> {
    let node = definition.get("name").ok_or(DefinitionFault::NameMissing)?;
    let name = node.as_str().ok_or(DefinitionFault::NameNotAString { found: node.kind() })?;
    match name.len() {
        0 => Err(DefinitionFault::NameEmpty),
        1..=MAX_NAME_BYTES => Ok(name),
        bytes => Err(DefinitionFault::NameTooLong { bytes }),
    }
}

fn checked_input_schema(definition: Node<'_>) -> Result<Node<'_>, DefinitionFault> {
    let schema = definition.get("inputSchema").ok_or(DefinitionFault::InputSchemaMissing)?;
    match schema.kind() {
        Kind::Object => Ok(schema),
        found => Err(DefinitionFault::InputSchemaNotAnObject { found }),
    }
}

/// The name that a faulty entry seems to bear, for reports only: its first `name`, if that is a string, cut to
/// [`MAX_NAME_BYTES`]. Nothing after it is read.
pub fn claimed_name(text: &str) -> Option<String> {
    let (_, value) = scan::members(text).map_while(Result::ok).find(|(key, _)| key == "name")?;
    let document = Document::parse(value, &DEFINITION).ok()?;
    let mut name = document.root().as_str()?.into_owned();
    name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(text: &str) -> Definition {
        Definition::parse(text).unwrap_or_else(|fault| panic!("{fault}: {text}"))
    }

    #[test]
    fn known_members_are_read_from_the_text() {
        let full = definition(
            r#"{"name":"t\u0065st", "title":"A \"test\"", "description":"does\n", "inputSchema": {"type" : "object"},
                "outputSchema":null, "annotations":{"readOnlyHint":true,"title":"other"}, "x":1.0}"#,
        );
        assert_eq!(full.name(), "test");
        assert_eq!(full.title().as_deref(), Some("A \"test\""));
        assert_eq!(full.description().as_deref(), Some("does\n"));
        assert_eq!(full.input_schema_text(), r#"{"type" : "object"}"#);
        assert_eq!(full.output_schema_text(), Some("null"));
        assert_eq!(full.annotations_text(), Some(r#"{"readOnlyHint":true,"title":"other"}"#));
        assert_eq!(full.document().root().get("x").map(Node::text), Some("1.0"));
        assert!(full.read_only_hint());

        let bare = definition(r#"{"inputSchema":{},"name":"t","description":null,"title":7}"#);
        assert_eq!((bare.title(), bare.description()), (None, None));
        assert_eq!((bare.output_schema_text(), bare.annotations_text()), (None, None));
        assert!(!bare.read_only_hint());
    }

    #[test]
    fn the_title_falls_back_to_the_annotation() {
        let annotated =
            definition(r#"{"name":"t","title":null,"inputSchema":{},"annotations":{"title":"T"}}"#);
        assert_eq!(annotated.title().as_deref(), Some("T"));
    }

    #[test]
    fn only_the_boolean_true_claims_to_read_only() {
        for hint in ["false", "null", "1", "\"true\"", "[true]", "{\"true\":true}"] {
            let text =
                format!(r#"{{"name":"t","inputSchema":{{}},"annotations":{{"readOnlyHint":{hint}}}}}"#);
            assert!(!definition(&text).read_only_hint(), "{hint}");
        }
        for annotations in ["null", "true", "[]", "\"readOnlyHint\""] {
            let text = format!(r#"{{"name":"t","inputSchema":{{}},"annotations":{annotations}}}"#);
            assert!(!definition(&text).read_only_hint(), "{annotations}");
        }
        assert!(!definition(r#"{"name":"t","inputSchema":{},"readOnlyHint":true}"#).read_only_hint());
    }

    #[test]
    fn each_fault_has_its_code() {
        let long = format!(r#"{{"name":"{}","inputSchema":{{}}}}"#, "n".repeat(MAX_NAME_BYTES + 1));
        let deep = format!(r#"{{"name":"t","inputSchema":{{}},"x":{}{}}}"#, "[".repeat(128), "]".repeat(128));
        let large = format!(r#"{{"name":"t","inputSchema":{{}},"x":"{}"}}"#, "x".repeat(256 * 1024));
        for (text, code) in [
            ("42", "NOT_AN_OBJECT"),
            ("null", "NOT_AN_OBJECT"),
            ("[]", "NOT_AN_OBJECT"),
            (r#"{"inputSchema":{"type":"object"}}"#, "NAME_MISSING"),
            (r#"{"name":7,"inputSchema":{}}"#, "NAME_NOT_A_STRING"),
            (r#"{"name":null,"inputSchema":{}}"#, "NAME_NOT_A_STRING"),
            (r#"{"name":"","inputSchema":{}}"#, "NAME_EMPTY"),
            (&long, "NAME_TOO_LONG"),
            (r#"{"name":"bad"}"#, "INPUT_SCHEMA_MISSING"),
            (r#"{"name":"bad","inputSchema":null}"#, "INPUT_SCHEMA_NOT_AN_OBJECT"),
            (r#"{"name":"bad","inputSchema":true}"#, "INPUT_SCHEMA_NOT_AN_OBJECT"),
            (r#"{"name":"bad","inputSchema":[]}"#, "INPUT_SCHEMA_NOT_AN_OBJECT"),
            (r#"{"name":"t","inputSchema":{},"description":"a","description":"b"}"#, "DUPLICATE_KEY"),
            (r#"{"name":"t","inputSchema":{},"description":"\udc00"}"#, "LONE_SURROGATE"),
            (r#"{"name":"t","inputSchema":{},"x":1e1234567890123456789}"#, "EXPONENT_TOO_LONG"),
            (&deep, "TOO_DEEP"),
            (&large, "TOO_LARGE"),
            (r#"{"name":"t","inputSchema":{}"#, "MALFORMED"),
            ("", "MALFORMED"),
        ] {
            assert_eq!(Definition::parse(text).map_err(|fault| fault.code()), Err(code), "{text:.80}");
        }
    }

    #[test]
    fn a_definition_at_every_limit_is_taken() {
        let shell = |name: &str, x: &str| format!(r#"{{"name":"{name}","inputSchema":{{}},"x":{x}}}"#);
        definition(&shell(&"n".repeat(MAX_NAME_BYTES), "0"));
        definition(&shell("t", &format!("{}{}", "[".repeat(127), "]".repeat(127))));
        let room = 256 * 1024 - shell("t", "\"\"").len();
        definition(&shell("t", &format!("\"{}\"", "x".repeat(room))));
    }

    #[test]
    fn a_fault_says_where() {
        let text = r#"{"name":"b","inputSchema":{"type":"object","properties":{"p":{},"a/b":[{"p":1,"\u0070":2}]}}}"#;
        let fault = Definition::parse(text).expect_err("`p` stands twice");
        assert_eq!(
            fault.to_string(),
            "a member stands twice in one object, at byte 78 in /inputSchema/properties/a~1b/0/p"
        );
    }

    #[test]
    fn a_faulty_entry_is_reported_under_the_name_it_claims() {
        for (text, name) in [
            (r#"{"name":"bad"}"#, Some("bad")),
            (r#"{"x":{"name":"inner"},"n\u0061me":"outer","y":[}"#, Some("outer")),
            (r#"{"name":"a","name":"b"}"#, Some("a")),
            (r#"{"name":7}"#, None),
            (r#"{"x":,"name":"a"}"#, None),
            ("42", None),
            ("", None),
        ] {
            assert_eq!(claimed_name(text).as_deref(), name, "{text}");
        }
        let long = format!(r#"{{"name":"{}"}}"#, "é".repeat(MAX_NAME_BYTES));
        assert_eq!(claimed_name(&long).map(|name| name.len()), Some(MAX_NAME_BYTES));
    }
}
