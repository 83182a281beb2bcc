//! The schema of one input as a tree without references, no deeper than the value that it is to judge.
//!
//! Nothing of a schema reaches the validator but what is copied here, so that nothing is ever fetched, no reference goes
//! round in a circle, and what a check costs is known before it begins.

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::data::{InexactNumber, data};
use super::problem::shown;
use crate::json::{Kind, Node};
use crate::limits::{
    MAX_CHECKED_PATTERNS, MAX_CHECKED_SCHEMA_BYTES, MAX_CHECKED_SCHEMA_DEPTH, MAX_CHECKED_SCHEMAS,
    MAX_CHECKED_UNEVALUATED,
};
use crate::schema::{Keyword, Place, Reference, has_own_base, is_assertion, keyword, resolve};

/// Where a schema stands and how it was reached.
#[derive(Clone, Copy)]
struct At {
    /// Levels of the value below the part that the schema applies to.
    value_depth: usize,
    /// Schemas around this one, counted through references.
    nesting: usize,
    /// A schema around it names a base for references of its own.
    rebased: bool,
}

/// Copies one input's schema.
pub(crate) struct Unfolding<'a> {
    root: Node<'a>,
    draft: Draft,
    schemas: usize,
    bytes: usize,
    patterns: usize,
    unevaluated: usize,
}

impl<'a> Unfolding<'a> {
    /// `root` is the whole `inputSchema`, in which local references are followed.
    pub(crate) fn new(root: Node<'a>, draft: Draft) -> Self {
        Self { root, draft, schemas: 0, bytes: 0, patterns: 0, unevaluated: 0 }
    }

    /// Copies `schema` for a value nested `value_depth` deep. `Err` says why that cannot be done.
    pub(crate) fn copy(&mut self, schema: Node<'a>, value_depth: usize) -> Result<Value, String> {
        self.schema(schema, At { value_depth, nesting: 0, rebased: false })
    }

    /// Bytes of what was copied, each schema counting for 64 of its own.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes + 64 * self.schemas
    }

    fn schema(&mut self, schema: Node<'a>, mut at: At) -> Result<Value, String> {
        self.schemas += 1;
        at.nesting += 1;
        if self.schemas > MAX_CHECKED_SCHEMAS || at.nesting > MAX_CHECKED_SCHEMA_DEPTH {
            return Err("the input's schema refers to itself without end, or is too large".to_owned());
        }
        if schema.kind() != Kind::Object {
            return self.assertion(schema);
        }
        at.rebased |= schema.span() != self.root.span() && has_own_base(schema);
        let reference = self.reference(schema, at)?;
        if self.draft <= Draft::Draft7
            && let Some(target) = reference
        {
            return Ok(target);
        }
        let mut copy = Map::new();
        for (name, value) in schema.members() {
            if let Some(value) = self.member(&name, value, at)? {
                copy.insert(name.into_owned(), value);
            }
        }
        if let Some(target) = reference {
            add_conjunct(&mut copy, target);
        }
        Ok(Value::Object(copy))
    }

    /// What a schema's `$ref` leads to.
    fn reference(&mut self, schema: Node<'a>, at: At) -> Result<Option<Value>, String> {
        for dynamic in ["$dynamicRef", "$recursiveRef"] {
            if schema.get(dynamic).is_some() {
                return Err(format!("`{dynamic}` is not followed"));
            }
        }
        let Some(reference) = schema.get("$ref").and_then(Node::as_str) else { return Ok(None) };
        match resolve(self.root, &reference) {
            Reference::Local(target) if !at.rebased => self.schema(target, at).map(Some),
            Reference::Missing if !at.rebased => {
                Err(format!("nothing stands where the reference `{}` leads", shown(&reference)))
            }
            _ => Err(format!("the reference `{}` is not followed", shown(&reference))),
        }
    }

    /// The copy of one keyword; `None` for what says nothing about this value.
    fn member(&mut self, name: &str, value: Node<'a>, at: At) -> Result<Option<Value>, String> {
        if name == "pattern" {
            self.count_patterns(1)?;
        }
        match keyword(name) {
            Some(Keyword { place: Place::Below, .. }) if at.value_depth == 0 => Ok(None),
            Some(keyword) => self.subschemas(name, keyword, value, at).map(Some),
            None if is_assertion(name) => self.assertion(value).map(Some),
            None => Ok(None),
        }
    }

    fn subschemas(
        &mut self,
        name: &str,
        keyword: Keyword,
        value: Node<'a>,
        mut at: At,
    ) -> Result<Value, String> {
        match name {
            "patternProperties" => self.count_patterns(value.members().count())?,
            "unevaluatedProperties" | "unevaluatedItems" => self.count_unevaluated()?,
            _ => {}
        }
        if keyword.place == Place::Below {
            at.value_depth -= 1;
        }
        if keyword.is_map(value) {
            let members = value.members().map(|(name, entry)| {
                self.count_bytes(name.len())?;
                // The lists of names in `dependencies`.
                let list = entry.kind() == Kind::Array;
                let copy = if list { self.assertion(entry) } else { self.schema(entry, at) };
                Ok((name.into_owned(), copy?))
            });
            return members.collect::<Result<_, String>>().map(Value::Object);
        }
        if keyword.is_list(value) {
            return value
                .elements()
                .map(|entry| self.schema(entry, at))
                .collect::<Result<_, _>>()
                .map(Value::Array);
        }
        self.schema(value, at)
    }

    fn assertion(&mut self, value: Node<'a>) -> Result<Value, String> {
        self.count_bytes(value.text().len())?;
        data(value).map_err(|InexactNumber| {
            "a number of the input's schema has more digits than can be compared".to_owned()
        })
    }

    fn count_bytes(&mut self, bytes: usize) -> Result<(), String> {
        self.bytes += bytes;
        within(self.bytes, MAX_CHECKED_SCHEMA_BYTES, "bytes")
    }

    fn count_patterns(&mut self, patterns: usize) -> Result<(), String> {
        self.patterns += patterns;
        within(self.patterns, MAX_CHECKED_PATTERNS, "patterns")
    }

    fn count_unevaluated(&mut self) -> Result<(), String> {
        self.unevaluated += 1;
        within(self.unevaluated, MAX_CHECKED_UNEVALUATED, "`unevaluated` keywords")
    }
}

fn within(found: usize, max: usize, of: &str) -> Result<(), String> {
    if found <= max { Ok(()) } else { Err(format!("the input's schema has more than {max} {of}")) }
}

/// `target` holds beside what the schema says itself.
fn add_conjunct(schema: &mut Map<String, Value>, target: Value) {
    match schema.get_mut("allOf") {
        Some(Value::Array(conjuncts)) => conjuncts.push(target),
        // No list: the schema is invalid and stays so.
        Some(_) => {}
        None => drop(schema.insert("allOf".to_owned(), Value::Array(vec![target]))),
    }
}
