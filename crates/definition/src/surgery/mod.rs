//! What an agent reads: a definition with its overrides in place and its locked inputs taken out.

mod edits;

pub(crate) use edits::Edits;

use crate::json::{Node, quote};
use crate::locks::Locks;
use crate::{Definition, Effect};

/// The text of the definition that an agent reads.
///
/// - `name` takes the place of the definition's own.
/// - `description` takes the place of the definition's own, or follows `name` where there is none.
/// - `effect` is written into `annotations.readOnlyHint`: true for [`Effect::Reads`], false for [`Effect::Changes`].
/// - Locked inputs leave `inputSchema`: its `properties`, `required`, `dependentRequired`, `dependencies` and
///   `dependentSchemas`, and the objects in its `default`, `example` and `examples`. A list of names that this empties goes
///   too (draft 4 forbids an empty one). `minProperties` and `maxProperties` are lessened by the number of locks, which are
///   always sent.
///
/// All else is the listed text byte for byte, definitions in `$defs` that nothing needs any more included; where there is
/// nothing to change the whole text is.
///
/// The locks must fit ([`check`](crate::locks::check)): what stands in the way of taking an input out is found there, not
/// here.
pub fn served_definition(
    definition: &Definition,
    name: Option<&str>,
    description: Option<&str>,
    effect: Option<Effect>,
    locks: &Locks,
) -> String {
    let document = definition.document();
    let root = document.root();
    let mut edits = Edits::default();
    if let Some(name) = name {
        set_name(root, name, &mut edits);
    }
    if let Some(description) = description {
        set_description(root, description, &mut edits);
    }
    if let Some(effect) = effect {
        set_hint(root, effect, &mut edits);
    }
    if let Some(schema) = root.get("inputSchema").filter(|_| !locks.is_empty()) {
        take_out(schema, locks, &mut edits);
    }
    edits.apply(definition.text())
}

/// A name that stays the same keeps its spelling.
fn set_name(root: Node<'_>, name: &str, edits: &mut Edits) {
    if let Some(present) = root.get("name").filter(|present| present.as_str().as_deref() != Some(name)) {
        edits.replace(present.span(), quote(name));
    }
}

fn set_description(root: Node<'_>, description: &str, edits: &mut Edits) {
    let text = quote(description);
    match (root.get("description"), root.get("name")) {
        (Some(present), _) => edits.replace(present.span(), text),
        (None, name) => add_after(name, &format!("\"description\":{text}"), edits),
    }
}

fn set_hint(root: Node<'_>, effect: Effect, edits: &mut Edits) {
    let value = (effect == Effect::Reads).to_string();
    let member = format!("\"readOnlyHint\":{value}");
    match root.get("annotations") {
        None => add_after(last_of(root), &format!("\"annotations\":{{{member}}}"), edits),
        Some(annotations) => match (annotations.get("readOnlyHint"), last_of(annotations)) {
            (Some(present), _) => edits.replace(present.span(), value),
            (None, Some(last)) => add_after(Some(last), &member, edits),
            // Empty, or no object at all.
            (None, None) => edits.replace(annotations.span(), format!("{{{member}}}")),
        },
    }
}

fn last_of(object: Node<'_>) -> Option<Node<'_>> {
    object.members().last().map(|(_, value)| value)
}

/// Adds a member after the one whose value is `before`.
fn add_after(before: Option<Node<'_>>, member: &str, edits: &mut Edits) {
    let end = before.expect("a definition has members").span().end;
    edits.replace(end..end, format!(",{member}"));
}

fn take_out(schema: Node<'_>, locks: &Locks, edits: &mut Edits) {
    let mut emptied = Vec::new();
    for (name, value) in schema.members() {
        let mut goes = false;
        match &*name {
            "properties" | "dependentSchemas" | "default" | "example" => take_members(value, locks, edits),
            "examples" => value.elements().for_each(|example| take_members(example, locks, edits)),
            "dependentRequired" | "dependencies" => take_dependencies(value, locks, edits),
            "required" => goes = take_names(value, locks, edits),
            "minProperties" | "maxProperties" => lessen(value, locks.len(), edits),
            _ => {}
        }
        emptied.push(goes);
    }
    edits.remove(&schema.member_spans().zip(emptied).collect::<Vec<_>>());
}

/// Removes the members that bear a locked name.
fn take_members(object: Node<'_>, locks: &Locks, edits: &mut Edits) {
    let goes = object.members().map(|(name, _)| locks.contains(&name));
    edits.remove(&object.member_spans().zip(goes).collect::<Vec<_>>());
}

/// Removes what a locked name asks for, and locked names from what other names ask for.
fn take_dependencies(dependencies: Node<'_>, locks: &Locks, edits: &mut Edits) {
    let goes =
        dependencies.members().map(|(name, asked)| locks.contains(&name) || take_names(asked, locks, edits));
    let goes: Vec<_> = goes.collect();
    edits.remove(&dependencies.member_spans().zip(goes).collect::<Vec<_>>());
}

/// Removes locked names from a list, or answers true, and changes nothing, when no other would be left.
fn take_names(list: Node<'_>, locks: &Locks, edits: &mut Edits) -> bool {
    let is_locked = |name: Node<'_>| name.as_str().is_some_and(|name| locks.contains(&name));
    let names: Vec<_> = list.elements().map(|name| (name.span(), is_locked(name))).collect();
    let emptied = !names.is_empty() && names.iter().all(|(_, goes)| *goes);
    if !emptied {
        edits.remove(&names);
    }
    emptied
}

fn lessen(count: Node<'_>, by: usize, edits: &mut Edits) {
    if let Ok(present) = count.text().parse::<u64>() {
        edits.replace(count.span(), present.saturating_sub(by as u64).to_string());
    }
}
