//! The word of the table for what a schema takes.

use crate::json::{Decimal, Kind, Node};

/// What is not said otherwise.
const ANY: &str = "json";

/// The types of several schemas for one input, joined.
pub(super) fn value_type<'a>(schemas: impl IntoIterator<Item = Node<'a>>) -> String {
    let mut words = Words::default();
    schemas.into_iter().for_each(|schema| words.add_all(words_of(schema)));
    if words.0.is_empty() { ANY.to_owned() } else { words.0.join("/") }
}

/// Words in the order found, each once.
#[derive(Default)]
struct Words(Vec<&'static str>);

impl Words {
    fn add(&mut self, word: &'static str) {
        if !self.0.contains(&word) {
            self.0.push(word);
        }
    }

    fn add_all(&mut self, words: Self) {
        words.0.into_iter().for_each(|word| self.add(word));
    }
}

/// The words for what a schema says of the type, from the first of: `type`, `enum` or `const`, `allOf`, `anyOf`, `oneOf`.
/// None for a schema that says nothing.
fn words_of(schema: Node<'_>) -> Words {
    let mut words = Words::default();
    if let Some(listed) = schema.get("type") {
        for name in listed.as_str().into_iter().chain(listed.elements().filter_map(Node::as_str)) {
            add_named(&name, schema, &mut words);
        }
    } else if let Some(values) = schema.get("enum") {
        values.elements().for_each(|value| words.add(word_of_value(value)));
    } else if let Some(value) = schema.get("const") {
        words.add(word_of_value(value));
    } else {
        let all = schema.get("allOf").into_iter().flat_map(Node::elements).map(words_of);
        let mut typed = all.chain(["anyOf", "oneOf"].into_iter().map(|name| any_of(schema.get(name))));
        words.add_all(typed.find(|words| !words.0.is_empty()).unwrap_or_default());
    }
    words
}

fn any_of(branches: Option<Node<'_>>) -> Words {
    let mut words = Words::default();
    let branches = branches.into_iter().flat_map(Node::elements);
    for branch in branches.filter(|branch| branch.as_bool() != Some(false)) {
        let of_branch = words_of(branch);
        if of_branch.0.is_empty() {
            words.add(ANY);
        }
        words.add_all(of_branch);
    }
    words
}

fn add_named(name: &str, schema: Node<'_>, words: &mut Words) {
    match name {
        "string" if schema.get("format").and_then(Node::as_str).as_deref() == Some("date-time") => {
            words.add("datetime");
        }
        "string" => words.add("str"),
        "integer" => words.add("int"),
        "number" => words.add("float"),
        "boolean" => words.add("bool"),
        "null" => words.add("null"),
        "array" => {
            let items = schema.get("items").map(words_of).unwrap_or_default();
            if let [word @ ("str" | "datetime" | "int" | "float" | "bool")] = items.0[..] {
                words.add(word);
            }
            words.add(ANY);
        }
        _ => words.add(ANY),
    }
}

fn word_of_value(value: Node<'_>) -> &'static str {
    match value.kind() {
        Kind::Null => "null",
        Kind::Bool => "bool",
        Kind::String => "str",
        Kind::Number if is_integer(value.text()) => "int",
        Kind::Number => "float",
        Kind::Array | Kind::Object => ANY,
    }
}

/// Whether a number has no part after its point, as JSON Schema counts: `1.0` is an integer.
fn is_integer(token: &str) -> bool {
    let decimal = Decimal::read(token);
    decimal.len() == 0 || i64::try_from(decimal.len()).is_ok_and(|digits| digits <= decimal.point)
}
