//! The canonical form of a JSON value: one text for each value, whatever its spelling.
//!
//! It is RFC 8785 with one deviation: a number is an exact decimal and never passes through a double. `FINGERPRINT.md`
//! states the rule in full.

mod number;
mod string;

use crate::json::{Elements, Kind, Node, SortedMembers};

/// Writes the canonical form of `node`, in pieces, into `sink`.
///
/// Takes memory for the nesting only. No piece is longer than the value's own text, and a number's exponent costs
/// nothing but its digits.
pub fn write(node: Node<'_>, sink: &mut impl FnMut(&str)) {
    let mut open = Vec::new();
    begin(node, &mut open, sink);
    while let Some(level) = open.last_mut() {
        match level.next_value(sink) {
            Some(value) => begin(value, &mut open, sink),
            None => {
                sink(level.closing());
                open.pop();
            }
        }
    }
}

/// The canonical form of `node`.
pub fn to_string(node: Node<'_>) -> String {
    let mut text = String::with_capacity(node.text().len());
    write(node, &mut |piece| text.push_str(piece));
    text
}

/// An object or array that is not closed yet.
enum Level<'a> {
    Array { rest: Elements<'a>, first: bool },
    Object { rest: SortedMembers<'a>, first: bool },
}

impl<'a> Level<'a> {
    /// The next value in it, once the comma and the name before it are written.
    fn next_value(&mut self, sink: &mut impl FnMut(&str)) -> Option<Node<'a>> {
        match self {
            Self::Array { rest, first } => {
                let value = rest.next()?;
                if !std::mem::take(first) {
                    sink(",");
                }
                Some(value)
            }
            Self::Object { rest, first } => {
                let (key, value) = rest.next()?;
                if !std::mem::take(first) {
                    sink(",");
                }
                string::write(key, sink);
                sink(":");
                Some(value)
            }
        }
    }

    fn closing(&self) -> &'static str {
        match self {
            Self::Array { .. } => "]",
            Self::Object { .. } => "}",
        }
    }
}

/// Writes a scalar, or opens an object or array.
fn begin<'a>(node: Node<'a>, open: &mut Vec<Level<'a>>, sink: &mut impl FnMut(&str)) {
    match node.kind() {
        Kind::Null | Kind::Bool => sink(node.text()),
        Kind::Number => number::write(node.text(), sink),
        Kind::String => string::write(node, sink),
        Kind::Array => {
            sink("[");
            open.push(Level::Array { rest: node.elements(), first: true });
        }
        Kind::Object => {
            sink("{");
            open.push(Level::Object { rest: node.sorted_members(), first: true });
        }
    }
}
