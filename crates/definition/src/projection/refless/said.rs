//! What a schema says beside its reference.

use crate::json::{Kind, Node};
use crate::schema::{is_assertion, keyword};

/// Whether a schema without references has no place for this keyword.
pub(super) fn is_left_out(name: &str, value: Node<'_>) -> bool {
    match name {
        "$ref" | "$dynamicRef" | "$recursiveRef" | "$defs" | "definitions" => true,
        "$id" | "id" | "$anchor" | "$dynamicAnchor" => value.kind() == Kind::String,
        "$recursiveAnchor" => value.kind() == Kind::Bool,
        "properties" => value.is_null(),
        _ => false,
    }
}

/// Whether a keyword may refuse a value; the others are notes.
pub(super) fn judges(name: &str) -> bool {
    keyword(name).is_some() || is_assertion(name) || name == "format" || name.starts_with("content")
}

/// Whether a schema says anything beside its `$ref` that judges a value and that its target does not say alike.
pub(super) fn is_judged_beside(schema: Node<'_>, target: Node<'_>) -> bool {
    let said_alike = |name: &str, value: Node<'_>| {
        is_assertion(name) && target.get(name).is_some_and(|other| other.text() == value.text())
    };
    let mut members = schema.members().filter(|(name, value)| judges(name) && !is_left_out(name, *value));
    members.any(|(name, value)| !said_alike(&name, value))
}

/// Objects and arrays around the innermost value; 1 for a boolean, which may be written as an object.
pub(super) fn nesting(node: Node<'_>) -> usize {
    match node.kind() {
        Kind::Object => 1 + node.members().map(|(_, value)| nesting(value)).max().unwrap_or(0),
        Kind::Array => 1 + node.elements().map(nesting).max().unwrap_or(0),
        Kind::Bool => 1,
        _ => 0,
    }
}
