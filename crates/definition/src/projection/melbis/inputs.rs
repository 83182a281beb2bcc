//! The inputs that a schema names, in whichever of its branches.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::MelbisParam;
use super::defaults::default_text;
use super::value_type::value_type;
use crate::json::Node;
use crate::schema::{Keyword, Place, keyword};

type Names<'a> = BTreeSet<Cow<'a, str>>;

/// The rows of a schema without references.
pub(super) fn inputs(root: Node<'_>) -> Vec<MelbisParam> {
    let mut mentions = Mentions::default();
    mentions.collect(root);
    let required = required(root).unwrap_or_default();
    let rows = mentions.in_order.into_iter().map(|(name, schemas)| MelbisParam {
        value_type: value_type(schemas.iter().copied()),
        required: required.contains(&name),
        default: first_note(&schemas, "default").map(default_text).unwrap_or_default(),
        descr: first_note(&schemas, "description").and_then(Node::as_str).unwrap_or_default().into_owned(),
        name: name.into_owned(),
    });
    rows.collect()
}

/// Every input with the schemas that speak of it.
#[derive(Default)]
struct Mentions<'a> {
    in_order: Vec<(Cow<'a, str>, Vec<Node<'a>>)>,
    places: BTreeMap<Cow<'a, str>, usize>,
}

impl<'a> Mentions<'a> {
    fn collect(&mut self, schema: Node<'a>) {
        let properties = schema.get("properties").into_iter().flat_map(Node::members);
        properties.for_each(|(name, schema)| self.add(name, schema));
        for (name, value) in schema.members().filter(|(name, _)| name != "not") {
            match keyword(&name) {
                Some(keyword @ Keyword { place: Place::Here, .. }) if keyword.is_map(value) => {
                    value.members().for_each(|(_, schema)| self.collect(schema));
                }
                Some(keyword @ Keyword { place: Place::Here, .. }) if keyword.is_list(value) => {
                    value.elements().for_each(|schema| self.collect(schema));
                }
                Some(Keyword { place: Place::Here, .. }) => self.collect(value),
                _ => {}
            }
        }
    }

    fn add(&mut self, name: Cow<'a, str>, schema: Node<'a>) {
        let place = *self.places.entry(name.clone()).or_insert(self.in_order.len());
        if place == self.in_order.len() {
            self.in_order.push((name, Vec::new()));
        }
        self.in_order[place].1.push(schema);
    }
}

/// The inputs that every way through a schema requires; `None` where there is no way.
fn required(schema: Node<'_>) -> Option<Names<'_>> {
    if schema.as_bool() == Some(false) {
        return None;
    }
    let listed = schema.get("required").into_iter().flat_map(Node::elements);
    let mut names: Names<'_> = listed.filter_map(Node::as_str).collect();
    for conjunct in schema.get("allOf").into_iter().flat_map(Node::elements) {
        names.extend(required(conjunct)?);
    }
    for branches in ["anyOf", "oneOf"].into_iter().filter_map(|name| schema.get(name)) {
        if branches.elements().next().is_some() {
            names.extend(by_all(branches.elements())?);
        }
    }
    if let (Some(_), Some(then), Some(other)) = (schema.get("if"), schema.get("then"), schema.get("else")) {
        names.extend(by_all([then, other])?);
    }
    Some(names)
}

fn by_all<'a>(branches: impl IntoIterator<Item = Node<'a>>) -> Option<Names<'a>> {
    branches.into_iter().filter_map(required).reduce(|mut names, others| {
        names.retain(|name| others.contains(name));
        names
    })
}

/// The first such member of schemas for one input, or of what they are composed of.
fn first_note<'a>(schemas: &[Node<'a>], name: &str) -> Option<Node<'a>> {
    schemas.iter().find_map(|schema| {
        let composed = || schema.get("allOf").into_iter().flat_map(Node::elements);
        schema.get(name).or_else(|| composed().find_map(|conjunct| conjunct.get(name)))
    })
}
