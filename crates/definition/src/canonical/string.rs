//! Strings: only what must be escaped is, in the shortest way (RFC 8785 section 3.2.2.2).

use crate::json::{Node, Piece, Pieces};

/// Writes a string or a key. One written without escapes is its own canonical form.
pub(super) fn write(node: Node<'_>, sink: &mut impl FnMut(&str)) {
    let Some(content) = node.escaped_content() else { return sink(node.text()) };
    sink("\"");
    for piece in Pieces::new(content) {
        match piece {
            Piece::Run(run) => sink(run),
            Piece::Escape(character) => write_char(character, sink),
        }
    }
    sink("\"");
}

fn write_char(character: char, sink: &mut impl FnMut(&str)) {
    match character {
        '"' => sink("\\\""),
        '\\' => sink("\\\\"),
        '\u{8}' => sink("\\b"),
        '\t' => sink("\\t"),
        '\n' => sink("\\n"),
        '\u{c}' => sink("\\f"),
        '\r' => sink("\\r"),
        '\0'..='\u{1f}' => sink(&format!("\\u{:04x}", character as u32)),
        plain => sink(plain.encode_utf8(&mut [0; 4])),
    }
}
