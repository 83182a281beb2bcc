use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{has_own_base, keyword};
use crate::json::{Kind, Node};

/// The schemas in `base` to which a reference can lead by a name alone: `$anchor` and `$dynamicAnchor`, in older drafts an
/// `$id` or `id` that is a fragment. Those of schemas with a base of their own are not among them.
pub(crate) fn anchors(base: Node<'_>) -> BTreeMap<Cow<'_, str>, Node<'_>> {
    let mut found = BTreeMap::new();
    let mut open = vec![base];
    while let Some(schema) = open.pop() {
        if schema.span() != base.span() && has_own_base(schema) {
            continue;
        }
        for (name, value) in schema.members() {
            match (&*name, value.as_str()) {
                ("$anchor" | "$dynamicAnchor", Some(anchor)) => drop(found.entry(anchor).or_insert(schema)),
                ("$id" | "id", Some(identifier)) => {
                    if let Some(anchor) = identifier.strip_prefix('#') {
                        found.entry(Cow::Owned(anchor.to_owned())).or_insert(schema);
                    }
                }
                _ => open.extend(subschemas(&name, value)),
            }
        }
    }
    found
}

fn subschemas<'a>(name: &str, value: Node<'a>) -> Vec<Node<'a>> {
    let is_map = match name {
        "$defs" | "definitions" => true,
        "contentSchema" => false,
        _ => match keyword(name) {
            Some(keyword) => keyword.is_map(value),
            None => return Vec::new(),
        },
    };
    match value.kind() {
        Kind::Array => value.elements().collect(),
        _ if is_map => value.members().map(|(_, schema)| schema).collect(),
        _ => vec![value],
    }
}
