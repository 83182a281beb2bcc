use crate::Fingerprint;
use crate::json::{Document, Kind, Node};
use crate::limits::DEFINITION;

/// One entry of a server's listing in the parts that the Prisme shape gives, objects as the exact text that was listed.
///
/// A member of another kind than the shape documents is left out as if it were not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTool<'t> {
    /// What `name` stands for.
    pub name: String,
    /// What `description` stands for, when it is a string.
    pub description: Option<String>,
    /// The text of `inputSchema`, when it is an object.
    pub input_schema_json: Option<&'t str>,
    /// The text of `annotations`, when they are an object. The shape writes `null` otherwise.
    pub annotations_json: Option<&'t str>,
    /// Of the whole entry: two of one fingerprint are one entry, repeated.
    pub fingerprint: Fingerprint,
}

impl<'t> ServerTool<'t> {
    /// Takes one entry apart. `None` when it has no name to call it by: it is no JSON within [`DEFINITION`], no object, or
    /// its `name` is no string or empty. A definition's other faults do not matter here.
    pub fn read(entry: &'t str) -> Option<Self> {
        let document = Document::parse(entry, &DEFINITION).ok()?;
        let root = document.root();
        let object = |name: &str| {
            let value = root.get(name).filter(|value| value.kind() == Kind::Object)?;
            Some(&entry[value.span()])
        };
        let name = root.get("name").and_then(Node::as_str).filter(|name| !name.is_empty())?;
        Some(Self {
            name: name.into_owned(),
            description: root.get("description").and_then(Node::as_str).map(|text| text.into_owned()),
            input_schema_json: object("inputSchema"),
            annotations_json: object("annotations"),
            fingerprint: Fingerprint::of(&document),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BR-083, BR-087
    #[test]
    fn each_part_is_the_text_that_was_listed() {
        let entry = r#" {"inputSchema": {"b" : 1.0, "a":12345678901234567890} ,"name":"t\u0065st","x":0,
            "annotations":{ "vendor":1,"readOnlyHint":"yes"}, "description":"a\u0062" }"#;
        let tool = ServerTool::read(entry).expect("it has a name");
        assert_eq!((&*tool.name, tool.description.as_deref()), ("test", Some("ab")));
        assert_eq!(tool.input_schema_json, Some(r#"{"b" : 1.0, "a":12345678901234567890}"#));
        assert_eq!(tool.annotations_json, Some(r#"{ "vendor":1,"readOnlyHint":"yes"}"#));
    }

    /// BR-083
    #[test]
    fn an_absent_part_stays_absent_and_an_empty_one_empty() {
        for (annotations, left) in [("{}", Some("{}")), ("null", None), ("7", None), ("[]", None)] {
            let entry =
                format!(r#"{{"name":"t","annotations":{annotations},"inputSchema":null,"description":[]}}"#);
            let tool = ServerTool::read(&entry).expect("it has a name");
            assert_eq!(tool.annotations_json, left);
            assert_eq!((tool.description, tool.input_schema_json), (None, None));
        }
        let bare = ServerTool::read(r#"{"name":"t"}"#).expect("it has a name");
        assert_eq!((bare.annotations_json, bare.input_schema_json), (None, None));
    }

    #[test]
    fn an_entry_without_a_readable_name_is_no_tool() {
        let deep = format!(r#"{{"name":"t","x":{}{}}}"#, "[".repeat(128), "]".repeat(128));
        for entry in
            ["", "7", "[]", "{}", r#"{"name":""}"#, r#"{"name":7}"#, r#"{"name":"a","name":"b"}"#, &deep]
        {
            assert_eq!(ServerTool::read(entry), None, "{entry:.40}");
        }
    }
}
