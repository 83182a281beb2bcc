use std::collections::BTreeSet;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::data::{data, depth};
use super::obstacle::obstacles;
use super::problem::shown;
use super::unfold::Unfolding;
use super::{LockIssue, LockProblem, Locks};
use crate::Definition;
use crate::json::{Document, Node};
use crate::limits::{LOCKS, MAX_CHECK_PRODUCT_BYTES, MAX_PATTERN_BYTES};
use crate::schema::{Keyword, Place, Reference, dialect, has_own_base, keyword, resolve};

/// The locks that do not fit a definition, ordered by name, each with the first check that fails.
///
/// A value is judged by the schema that `inputSchema.properties` has for its name, or else by those that branches of
/// `inputSchema` have, of which one has to take it; in the dialect that `$schema` names
/// (drafts 4 to 2020-12, which is the default). Local references are followed from `inputSchema` on; anchors, dynamic
/// references and other documents are not, and nothing is ever fetched. `format` and the content keywords judge nothing,
/// and conditions on the input as a whole are left to the call.
///
/// Numbers are compared exactly. One that a 64-bit integer or a double cannot hold is not rounded but makes its lock
/// [`CannotBeChecked`](LockProblem::CannotBeChecked), and so does a schema beyond the bounds in [`limits`](crate::limits)
/// or with a pattern that needs backtracking.
pub fn check(definition: &Definition, locks: &Locks) -> Vec<LockIssue> {
    if locks.is_empty() {
        return Vec::new();
    }
    let document = definition.document();
    let schema = document.root().get("inputSchema").expect("a definition has an `inputSchema`");
    let mut obstacles = obstacles(schema, locks);
    let issues = locks.iter().filter_map(|(name, value)| {
        let problem = fits(schema, name, value).err();
        let problem = problem.or_else(|| obstacles.remove(name).map(LockProblem::CannotBeRemoved));
        problem.map(|problem| LockIssue { name: name.to_owned(), problem })
    });
    issues.collect()
}

/// Where only branches of the schema declare the input, one of them has to take the value.
fn fits(root: Node<'_>, name: &str, value: &str) -> Result<(), LockProblem> {
    let mut problem = LockProblem::NoSuchInput;
    for schema in declared(root, name) {
        match fits_schema(root, schema, value) {
            Ok(()) => return Ok(()),
            Err(found) => problem = found,
        }
    }
    Err(problem)
}

/// The schemas of an input: that of the root's own `properties`, else those of the schemas that apply to the same object.
fn declared<'a>(root: Node<'a>, name: &str) -> Vec<Node<'a>> {
    let of = |schema: Node<'a>| schema.get("properties").and_then(|properties| properties.get(name));
    if let Some(own) = of(root) {
        return vec![own];
    }
    let (mut open, mut seen, mut found) = (vec![root], BTreeSet::new(), Vec::new());
    while let Some(schema) = open.pop() {
        if !seen.insert(schema.span().start) || has_own_base(schema) && schema.span() != root.span() {
            continue;
        }
        found.extend(of(schema));
        for (keyword, value) in schema.members() {
            open.extend(branches(root, &keyword, value));
        }
    }
    found
}

/// Schemas that may apply to the object that a schema with this member applies to.
fn branches<'a>(root: Node<'a>, name: &str, value: Node<'a>) -> Vec<Node<'a>> {
    match (name, keyword(name)) {
        ("not", _) => Vec::new(),
        ("$ref", _) => match value.as_str().map(|reference| resolve(root, &reference)) {
            Some(Reference::Local(target)) => vec![target],
            _ => Vec::new(),
        },
        (_, Some(keyword @ Keyword { place: Place::Here, .. })) if keyword.is_map(value) => {
            value.members().map(|(_, schema)| schema).collect()
        }
        (_, Some(keyword @ Keyword { place: Place::Here, .. })) if keyword.is_list(value) => {
            value.elements().collect()
        }
        (_, Some(Keyword { place: Place::Here, .. })) => vec![value],
        _ => Vec::new(),
    }
}

fn fits_schema(root: Node<'_>, schema: Node<'_>, value: &str) -> Result<(), LockProblem> {
    let cannot = |reason: &str| LockProblem::CannotBeChecked(reason.to_owned());
    let draft = dialect(root).ok_or_else(|| LockProblem::CannotBeChecked(unknown_dialect(root)))?;
    let document = Document::parse(value, &LOCKS).expect("a lock's value was parsed when it was set");
    let given = data(document.root())
        .map_err(|_| cannot("a number of the value has more digits than can be compared"))?;
    let mut unfolding = Unfolding::new(root, draft);
    let schema = unfolding.copy(schema, depth(&given)).map_err(LockProblem::CannotBeChecked)?;
    if unfolding.bytes().saturating_mul(value.len()) > MAX_CHECK_PRODUCT_BYTES {
        return Err(cannot("the value and the input's schema are too large together"));
    }
    judge(draft, &schema, &given)
}

fn judge(draft: Draft, schema: &Value, value: &Value) -> Result<(), LockProblem> {
    let validator = validator(draft, schema).map_err(|error| {
        LockProblem::CannotBeChecked(format!("the input's schema is not usable: {}", message(&error)))
    })?;
    validator.validate(value).map_err(|error| LockProblem::DoesNotFit(message(&error)))
}

/// A validator that fetches nothing and whose patterns do not backtrack: its time is linear in the value.
pub(crate) fn validator(draft: Draft, schema: &Value) -> Result<Validator, ValidationError<'static>> {
    let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
    let options = jsonschema::options().with_draft(draft).should_validate_formats(false);
    options.offline().with_pattern_options(patterns).build(schema)
}

/// What the validator says, without the value and without names that stand in it.
fn message(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { .. }
        | ValidationErrorKind::UnevaluatedProperties { .. }
        | ValidationErrorKind::PropertyNames { .. } => {
            format!("a property of value is not allowed by \"{}\"", error.kind().keyword())
        }
        _ => shown(&error.masked().to_string()),
    }
}

fn unknown_dialect(root: Node<'_>) -> String {
    match root.get("$schema").and_then(Node::as_str) {
        Some(named) => format!("the dialect `{}` is unknown", shown(&named)),
        None => "`$schema` is no string".to_owned(),
    }
}
