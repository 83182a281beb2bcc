use crate::json::{Kind, Node};

/// Where a `$ref` leads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reference<'a> {
    /// To this value of the same document.
    Local(Node<'a>),
    /// To a place of the same document where nothing stands.
    Missing,
    /// To an anchor, another document, or into a schema with a base of its own. None of them is looked for.
    NotAPointer,
}

/// Follows a JSON Pointer in a URI fragment (RFC 6901 section 6) from `root`, the schema's own document.
pub(crate) fn resolve<'a>(root: Node<'a>, reference: &str) -> Reference<'a> {
    let Some(pointer) = reference.strip_prefix('#').and_then(decode_percent) else {
        return Reference::NotAPointer;
    };
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Reference::NotAPointer;
    }
    let tokens = pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"));
    let mut node = root;
    for token in tokens {
        if node.span() != root.span() && has_own_base(node) {
            return Reference::NotAPointer;
        }
        match step(node, &token) {
            Some(next) => node = next,
            None => return Reference::Missing,
        }
    }
    Reference::Local(node)
}

fn step<'a>(node: Node<'a>, token: &str) -> Option<Node<'a>> {
    match node.kind() {
        Kind::Array => node.elements().nth(token.parse().ok()?),
        _ => node.get(token),
    }
}

/// Whether references in this schema are relative to something else than the root. An identifier that is a fragment is
/// an anchor in older drafts, and where references lead to anchors they are not followed.
pub(crate) fn has_own_base(schema: Node<'_>) -> bool {
    let identifier = ["$id", "id"].into_iter().find_map(|name| schema.get(name)?.as_str());
    identifier.is_some_and(|identifier| !identifier.starts_with('#'))
}

/// `None` when a `%` does not begin two hexadecimal digits, or the octets are no UTF-8.
fn decode_percent(text: &str) -> Option<String> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        octets.push(match byte {
            b'%' => hex_digit(rest.next()?)? << 4 | hex_digit(rest.next()?)?,
            other => other,
        });
    }
    String::from_utf8(octets).ok()
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;
    use crate::limits::DEFINITION;

    #[test]
    fn a_pointer_names_each_key_exactly() {
        let text = r#"{"a.b":1,"a/b":2,"a~b":3,"é":4,"":5,"a":{"b":6,"":7},"l":[8,9],"%41":10,"~1":11}"#;
        let document = Document::parse(text, &DEFINITION).expect("the text is JSON");
        for (reference, found) in [
            ("#/a.b", "1"),
            ("#/a%2Eb", "1"),
            ("#/a~1b", "2"),
            ("#/a%7E0b", "3"),
            ("#/%C3%A9", "4"),
            ("#/é", "4"),
            ("#/", "5"),
            ("#/a/b", "6"),
            ("#/a/", "7"),
            ("#/l/1", "9"),
            ("#/%2541", "10"),
            ("#/~01", "11"),
            ("#", text),
        ] {
            let Reference::Local(node) = resolve(document.root(), reference) else { panic!("{reference}") };
            assert_eq!(node.text(), found, "{reference}");
        }
        for missing in ["#/b", "#/a/b/c", "#/l/2", "#/l/x", "#/A"] {
            assert!(matches!(resolve(document.root(), missing), Reference::Missing), "{missing}");
        }
        for other in ["", "a", "#a", "http://h/#/a", "other.json#/a", "#/%", "#/%4", "#/%zz", "#/%ff"] {
            assert!(matches!(resolve(document.root(), other), Reference::NotAPointer), "{other}");
        }
    }
}
