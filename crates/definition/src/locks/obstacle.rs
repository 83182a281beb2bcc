//! What stands against taking a locked input out of a schema: places where an agent would still read of it, and
//! references that would lead nowhere.
//!
//! An input can be taken out of a plain object schema. Where the root combines schemas (`allOf`, `if`, `$ref`, …), the
//! parts of it that speak of the same object must not name the input.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Locks;
use super::problem::shown;
use crate::json::{Kind, Node};
use crate::schema::{Keyword, Place, Reference, has_own_base, is_edited, keyword, named_members, resolve};

/// The locked names that cannot be taken out of the schema `root`, each with a reason.
pub(super) fn obstacles(root: Node<'_>, locks: &Locks) -> BTreeMap<String, String> {
    let mut search = Search { root, locks, found: BTreeMap::new(), seen: BTreeSet::new() };
    search.same_object();
    search.references();
    search.found
}

struct Search<'a> {
    root: Node<'a>,
    locks: &'a Locks,
    found: BTreeMap<String, String>,
    /// Starts of the schemas that were looked at.
    seen: BTreeSet<usize>,
}

impl<'a> Search<'a> {
    /// Looks at the root and at every schema that applies to the same object.
    fn same_object(&mut self) {
        let mut open = vec![self.root];
        while let Some(schema) = open.pop() {
            if !self.seen.insert(schema.span().start) {
                continue;
            }
            if schema.span() != self.root.span() && has_own_base(schema) {
                self.report_all(|| "a schema beside it has a base for references of its own".to_owned());
            }
            for (name, value) in schema.members() {
                self.keyword(schema, &name, value, &mut open);
            }
        }
    }

    fn keyword(&mut self, schema: Node<'a>, name: &str, value: Node<'a>, open: &mut Vec<Node<'a>>) {
        let at_root = schema.span() == self.root.span();
        if !(at_root && is_edited(name)) {
            for named in named(name, value) {
                self.report(&named, || format!("`{}` names it too", shown(name)));
            }
            if name == "patternProperties" {
                self.patterns(value);
            }
        }
        match keyword(name) {
            Some(keyword @ Keyword { place: Place::Here, .. }) if keyword.is_map(value) => {
                let kept = value.members().filter(|(key, _)| !(at_root && self.locks.contains(key)));
                open.extend(kept.map(|(_, schema)| schema));
            }
            Some(keyword @ Keyword { place: Place::Here, .. }) if keyword.is_list(value) => {
                open.extend(value.elements());
            }
            Some(Keyword { place: Place::Here, .. }) => open.push(value),
            _ => self.reference(name, value, open),
        }
    }

    /// A pattern names what stands in it letter by letter.
    fn patterns(&mut self, patterns: Node<'a>) {
        for (pattern, _) in patterns.members() {
            let letters = pattern.replace('\\', "");
            let locks = self.locks;
            for (name, _) in locks.iter().filter(|(name, _)| letters.contains(name)) {
                self.report(name, || "`patternProperties` names it too".to_owned());
            }
        }
    }

    fn reference(&mut self, name: &str, value: Node<'a>, open: &mut Vec<Node<'a>>) {
        let followed = match (name, value.as_str()) {
            ("$ref", Some(reference)) => resolve(self.root, &reference),
            ("$dynamicRef" | "$recursiveRef", _) => Reference::NotAPointer,
            _ => return,
        };
        match followed {
            Reference::Local(target) => open.push(target),
            Reference::Missing | Reference::NotAPointer => {
                self.report_all(|| format!("`{name}` is not followed, and may name it"));
            }
        }
    }

    /// Looks at every reference that would stay.
    fn references(&mut self) {
        let removed = self.removed();
        let starts: BTreeSet<_> = removed.iter().map(|(_, gone)| gone.span().start).collect();
        let anchored: Vec<_> = removed
            .iter()
            .filter(|(_, value)| any(*value, is_anchor))
            .map(|(name, _)| name.clone())
            .collect();
        let mut open = vec![self.root];
        while let Some(node) = open.pop() {
            if starts.contains(&node.span().start) {
                continue;
            }
            if let Some(reference) = node.get("$ref").and_then(Node::as_str) {
                self.kept_reference(&reference, &removed, &anchored);
            }
            open.extend(node.elements());
            open.extend(node.members().map(|(_, value)| value));
        }
    }

    fn kept_reference(&mut self, reference: &str, removed: &[(String, Node<'_>)], anchored: &[String]) {
        let reason = || format!("the reference `{}` needs its schema", shown(reference));
        match resolve(self.root, reference) {
            Reference::Local(target) => {
                for (name, gone) in removed {
                    if overlap(&target.span(), &gone.span()) {
                        self.report(name, reason);
                    }
                }
            }
            Reference::NotAPointer => anchored.iter().for_each(|name| self.report(name, reason)),
            Reference::Missing => {}
        }
    }

    /// The schemas that go with the locked inputs.
    fn removed(&self) -> Vec<(String, Node<'a>)> {
        let maps = self.root.members().filter(|(name, _)| named_members(name));
        let members = maps.flat_map(|(_, map)| map.members());
        let locked = members.filter(|(name, _)| self.locks.contains(name));
        locked.map(|(name, value)| (name.into_owned(), value)).collect()
    }

    fn report(&mut self, name: &str, reason: impl FnOnce() -> String) {
        if self.locks.contains(name) && !self.found.contains_key(name) {
            self.found.insert(name.to_owned(), reason());
        }
    }

    fn report_all(&mut self, reason: impl Fn() -> String) {
        for (name, _) in self.locks.iter() {
            if !self.found.contains_key(name) {
                self.found.insert(name.to_owned(), reason());
            }
        }
    }
}

/// The members of the object that a keyword names. Extensions count: Gemini's `propertyOrdering`, an `x-order`.
fn named(keyword: &str, value: Node<'_>) -> Vec<String> {
    let mut names = Vec::new();
    match keyword {
        "type" | "patternProperties" => return names,
        "propertyNames" => strings(value, &mut names),
        _ => names.extend(value.elements().filter_map(Node::as_str).map(String::from)),
    }
    let keys = |object: Node<'_>| object.members().map(|(key, _)| key.into_owned()).collect::<Vec<_>>();
    if named_members(keyword)
        || matches!(keyword, "const" | "default" | "example")
        || keyword.starts_with("x-")
    {
        names.extend(keys(value));
    }
    if matches!(keyword, "dependentRequired" | "dependencies") {
        let lists = value.members().flat_map(|(_, list)| list.elements());
        names.extend(lists.filter_map(Node::as_str).map(String::from));
    }
    if matches!(keyword, "examples" | "enum") {
        names.extend(value.elements().flat_map(keys));
    }
    names
}

/// Every string in a value.
fn strings(value: Node<'_>, found: &mut Vec<String>) {
    any(value, |node| {
        found.extend(node.as_str().map(String::from));
        false
    });
}

/// Whether something in a value is as asked.
fn any(value: Node<'_>, mut is: impl FnMut(Node<'_>) -> bool) -> bool {
    let mut open = vec![value];
    while let Some(node) = open.pop() {
        if is(node) {
            return true;
        }
        open.extend(node.elements());
        open.extend(node.members().map(|(_, value)| value));
    }
    false
}

/// Whether a reference may lead to this schema by a name.
fn is_anchor(schema: Node<'_>) -> bool {
    let names = ["$id", "id", "$anchor", "$dynamicAnchor"];
    names.into_iter().any(|name| schema.get(name).is_some_and(|name| name.kind() == Kind::String))
}

fn overlap(left: &Range<usize>, right: &Range<usize>) -> bool {
    left.start < right.end && right.start < left.end
}
