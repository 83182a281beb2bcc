//! A list, taken apart entry by entry. Pure.

use std::collections::HashSet;

use toolgate_definition::projection;

/// What is told of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) input_schema: Option<String>,
    pub(super) annotations: Option<String>,
}

impl Parts {
    /// About what keeping it takes.
    pub(super) fn weight_bytes(&self) -> usize {
        let texts = [&self.description, &self.input_schema, &self.annotations].into_iter().flatten();
        size_of::<Self>() + self.name.len() + texts.map(String::len).sum::<usize>()
    }
}

/// In the order of the list, without entries that have no readable name, and of identical ones the first.
pub(super) fn read(entries: &[String]) -> Vec<Parts> {
    let mut seen = HashSet::new();
    let tools = entries.iter().filter_map(|entry| projection::ServerTool::read(entry));
    tools.filter(|tool| seen.insert(tool.fingerprint)).map(parts).collect()
}

fn parts(tool: projection::ServerTool<'_>) -> Parts {
    Parts {
        description: tool.description,
        input_schema: tool.input_schema_json.map(str::to_owned),
        annotations: tool.annotations_json.map(str::to_owned),
        name: tool.name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BR-083, BR-087
    #[test]
    fn what_is_listed_stays_in_its_order_and_its_spelling_and_an_identical_repeat_is_one() {
        let listed = [
            r#"{"name":"b","description":"d","inputSchema":{ "z":1.0,"a":9007199254740993 },"annotations":{}}"#,
            "null",
            r#"{"name":"a","annotations":{"readOnlyHint":"yes","vendor":1}}"#,
            r#"{ "annotations":{}, "description":"d", "inputSchema":{"a":9007199254740993,"z":1}, "name":"b" }"#,
            r#"{"description":"nameless"}"#,
            r#"{"name":"b","description":"another"}"#,
        ];
        let parts = read(&listed.map(str::to_owned));
        let names: Vec<_> = parts.iter().map(|parts| parts.name.as_str()).collect();
        assert_eq!(names, ["b", "a", "b"]);
        assert_eq!(parts[0].input_schema.as_deref(), Some(r#"{ "z":1.0,"a":9007199254740993 }"#));
        assert_eq!(parts[0].annotations.as_deref(), Some("{}"));
        assert_eq!(parts[1].annotations.as_deref(), Some(r#"{"readOnlyHint":"yes","vendor":1}"#));
        assert_eq!((parts[1].description.as_ref(), parts[1].input_schema.as_ref()), (None, None));
        assert_eq!((parts[2].description.as_deref(), parts[2].annotations.as_ref()), (Some("another"), None));
    }
}
