//! What differs between two values.
//!
//! Values are compared, never spellings: the order of members, the look of an equal number and the escapes of an equal
//! string differ in nothing. Two documents have no difference exactly when they have one
//! [`Fingerprint`](crate::Fingerprint).

use std::borrow::Cow;

use crate::canonical;
use crate::json::{Document, Kind, Node, Pointer};

/// A place where two values differ. At least one of the two has something there.
#[derive(Debug, Clone)]
pub struct Difference<'a> {
    /// JSON Pointer (RFC 6901), empty for the root. In an array, the place in the document that has a value there, which
    /// is the same in both where both have one. Longer than
    /// [`MAX_ERROR_PATH_BYTES`](crate::limits::MAX_ERROR_PATH_BYTES), it is cut and ends in `…`.
    pub path: String,
    /// What the old value has there.
    pub old: Option<Node<'a>>,
    /// What the new value has there.
    pub new: Option<Node<'a>>,
}

/// The smallest places in which `new` differs from `old`: members of an object by their names, elements of an array by
/// their order, without the beginning and the end that both arrays share.
///
/// Members come in canonical order, and what was added to an object after the rest of it. Costs the size of both texts for
/// each level of nesting.
pub fn diff<'a>(old: &'a Document<'_>, new: &'a Document<'_>) -> Vec<Difference<'a>> {
    let mut walk = Walk { places: Vec::new(), open: Vec::new() };
    let mut differences = Vec::new();
    walk.open.push(Pair { place: None, old: Some(old.root()), new: Some(new.root()) });
    while let Some(pair) = walk.open.pop() {
        let Pair { place, old, new } = pair;
        let inside = walk.open.len();
        match (old, new) {
            (Some(old), Some(new)) if are_equal(old, new) => {}
            (Some(old), Some(new)) if old.kind() == new.kind() && old.kind() == Kind::Object => {
                walk.enter_objects(place, old, new);
            }
            (Some(old), Some(new)) if old.kind() == new.kind() && old.kind() == Kind::Array => {
                walk.enter_arrays(place, old, new);
            }
            _ => differences.push(Difference { path: walk.path(place), old, new }),
        }
        walk.open[inside..].reverse();
    }
    differences
}

/// Two values that stand at one place, or one of them.
struct Pair<'a> {
    /// `None` at the root.
    place: Option<usize>,
    old: Option<Node<'a>>,
    new: Option<Node<'a>>,
}

/// A step of a pointer, and the place that it leads on from.
struct Place<'a> {
    outer: Option<usize>,
    token: Cow<'a, str>,
}

/// What is still to be compared. Places are written out for differences alone.
struct Walk<'a> {
    places: Vec<Place<'a>>,
    open: Vec<Pair<'a>>,
}

impl<'a> Walk<'a> {
    fn enter_objects(&mut self, outer: Option<usize>, old: Node<'a>, new: Node<'a>) {
        for (name, value) in named(old) {
            let other = new.get(&name);
            self.push(outer, name, Some(value), other);
        }
        for (name, value) in named(new).filter(|(name, _)| old.get(name).is_none()) {
            self.push(outer, name, None, Some(value));
        }
    }

    fn enter_arrays(&mut self, outer: Option<usize>, old: Node<'a>, new: Node<'a>) {
        let (old, new): (Vec<_>, Vec<_>) = (old.elements().collect(), new.elements().collect());
        let same = |(old, new): &(&Node<'a>, &Node<'a>)| are_equal(**old, **new);
        let head = old.iter().zip(&new).take_while(same).count();
        let (old_rest, new_rest) = (&old[head..], &new[head..]);
        let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
        for index in head..old.len().max(new.len()) - tail {
            let at = |all: &[Node<'a>]| all[..all.len() - tail].get(index).copied();
            self.push(outer, index.to_string().into(), at(&old), at(&new));
        }
    }

    fn push(
        &mut self,
        outer: Option<usize>,
        token: Cow<'a, str>,
        old: Option<Node<'a>>,
        new: Option<Node<'a>>,
    ) {
        self.places.push(Place { outer, token });
        self.open.push(Pair { place: Some(self.places.len() - 1), old, new });
    }

    fn path(&self, mut place: Option<usize>) -> String {
        let mut tokens = Vec::new();
        while let Some(index) = place {
            let step = &self.places[index];
            tokens.push(&step.token);
            place = step.outer;
        }
        let mut pointer = Pointer::default();
        tokens.into_iter().rev().for_each(|token| pointer.push(token));
        pointer.into_string()
    }
}

/// An object's members in canonical order.
fn named(object: Node<'_>) -> impl Iterator<Item = (Cow<'_, str>, Node<'_>)> {
    object.sorted_members().filter_map(|(key, value)| Some((key.as_str()?, value)))
}

fn are_equal(old: Node<'_>, new: Node<'_>) -> bool {
    old.text() == new.text()
        || old.kind() == new.kind() && canonical::to_string(old) == canonical::to_string(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::DEFINITION;

    /// Each difference as `path: old -> new`, with `-` for nothing.
    fn differences(old: &str, new: &str) -> Vec<String> {
        let [old, new] = [old, new].map(|text| Document::parse(text, &DEFINITION).expect(text));
        let text = |node: Option<Node<'_>>| node.map_or("-".to_owned(), |node| node.text().to_owned());
        let line =
            |found: Difference<'_>| format!("{}: {} -> {}", found.path, text(found.old), text(found.new));
        diff(&old, &new).into_iter().map(line).collect()
    }

    #[test]
    fn another_spelling_is_no_difference() {
        let one = r#"{"a":[1.0,100,"\u0041"],"b":{}}"#;
        assert!(differences(one, r#"{ "b" : {}, "a":[1, 1e2, "A"] }"#).is_empty());
    }

    #[test]
    fn members_are_told_apart_by_name_in_one_order() {
        let old = r#"{"b":1,"a":{"x":true,"y":null},"gone":[]}"#;
        let new = r#"{"new":{},"a":{"y":false,"x":true},"b":"1"}"#;
        assert_eq!(
            differences(old, new),
            ["/a/y: null -> false", "/b: 1 -> \"1\"", "/gone: [] -> -", "/new: - -> {}"]
        );
        assert_eq!(differences(r#"{"a/b":{"~":1}}"#, r#"{"a/b":{"~":2}}"#), ["/a~1b/~0: 1 -> 2"]);
        assert_eq!(differences("[]", "{}"), [": [] -> {}"]);
    }

    #[test]
    fn an_element_put_in_or_taken_out_is_one_difference() {
        assert_eq!(differences("[1,2,3]", "[0,1,2,3]"), ["/0: - -> 0"]);
        assert_eq!(differences("[1,2,3]", "[1,3]"), ["/1: 2 -> -"]);
        assert_eq!(differences("[1,1]", "[1,1,1]"), ["/2: - -> 1"]);
        assert_eq!(differences("[1,2,3]", "[1,4,5,3]"), ["/1: 2 -> 4", "/2: - -> 5"]);
        assert_eq!(differences(r#"[{"a":1,"b":2}]"#, r#"[{"a":1,"b":3}]"#), ["/0/b: 2 -> 3"]);
        assert_eq!(differences(r#"["a","b"]"#, r#"["b","a"]"#).len(), 2, "the order of elements counts");
    }

    #[test]
    fn an_invisible_character_is_a_difference() {
        assert_eq!(differences("\"a\"", "\"a\u{200b}\"").len(), 1);
        assert_eq!(differences("\"a\u{200b}\"", r#""a\u200b""#), Vec::<String>::new());
    }

    #[test]
    fn a_deep_value_is_compared_to_its_end() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(127), "]".repeat(127));
        let [found] = &differences(&deep("1"), &deep("2"))[..] else { panic!("one place differs") };
        assert_eq!(*found, format!("{}: 1 -> 2", "/0".repeat(127)));
    }
}
