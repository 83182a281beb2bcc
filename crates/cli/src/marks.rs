//! Finds the hidden characters of a definition, and where they stand.
//!
//! A model reads what the JSON strings stand for, so `\u202e` written as an escape counts like the character itself.
//! The walk takes any text whatever: of one that is not JSON it still reports each hidden character.

use std::fmt::Write;
use std::str::Chars;

use crate::hidden::{escape, is_hidden};
use crate::limits::{MAX_MARKED_PLACES, MAX_MARKS_PER_PLACE};

/// The hidden characters of one string.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// JSON Pointer (RFC 6901) to the string, or to the member whose name it is.
    pub(crate) path: String,
    /// The string is the member's name, not its value.
    pub(crate) in_name: bool,
    /// In order, each as often as it stands there. Line ends and tabs are not among them.
    pub(crate) characters: Vec<char>,
}

/// The hidden characters of a JSON text, in text order.
pub(crate) fn find(json: &str) -> Vec<Marks> {
    let mut found = Vec::new();
    let mut open = Vec::new();
    let mut rest = json.chars();
    while let Some(character) = rest.next() {
        match character {
            '{' => open.push(Open::Object { key: String::new(), at_key: true }),
            '[' => open.push(Open::Array { index: 0 }),
            '}' | ']' => drop(open.pop()),
            ',' => open.last_mut().into_iter().for_each(Open::go_on),
            '"' => take_string(&mut rest, &mut open, &mut found),
            ':' => open.last_mut().into_iter().for_each(Open::enter_value),
            outside => report(&outside.to_string(), false, &open, &mut found),
        }
    }
    found
}

/// One line about them, for a person; `None` when there are none.
pub(crate) fn warning(json: &str) -> Option<String> {
    let found = find(json);
    let count: usize = found.iter().map(|marks| marks.characters.len()).sum();
    let places: Vec<_> = found.iter().take(MAX_MARKED_PLACES).map(describe).collect();
    let more = match found.len().saturating_sub(MAX_MARKED_PLACES) {
        0 => String::new(),
        more => format!("; and at {more} more places"),
    };
    let are = if count == 1 { "character that does" } else { "characters that do" };
    (count > 0)
        .then(|| format!("warning: the definition holds {count} {are} not show: {}{more}", places.join("; ")))
}

fn describe(marks: &Marks) -> String {
    let mut text = String::new();
    for character in marks.characters.iter().take(MAX_MARKS_PER_PLACE) {
        // Writing to a string cannot fail.
        let _ = write!(text, "U+{:04X} ", u32::from(*character));
    }
    if marks.characters.len() > MAX_MARKS_PER_PLACE {
        let _ = write!(text, "({} in all) ", marks.characters.len());
    }
    let place = if marks.in_name { "in the name of" } else { "at" };
    let path = if marks.path.is_empty() { "the root" } else { &marks.path };
    format!("{text}{place} {}", escape(path))
}

/// A bracket that is open, and where the walk stands behind it.
enum Open {
    Object { key: String, at_key: bool },
    Array { index: usize },
}

impl Open {
    fn go_on(&mut self) {
        match self {
            Self::Object { at_key, .. } => *at_key = true,
            Self::Array { index } => *index += 1,
        }
    }

    fn enter_value(&mut self) {
        if let Self::Object { at_key, .. } = self {
            *at_key = false;
        }
    }
}

fn take_string(rest: &mut Chars<'_>, open: &mut [Open], found: &mut Vec<Marks>) {
    let text = string(rest);
    let in_name = match open.last_mut() {
        Some(Open::Object { key, at_key: true }) => {
            key.clone_from(&text);
            true
        }
        _ => false,
    };
    report(&text, in_name, open, found);
}

/// What the string stands for whose opening quote was just passed.
fn string(rest: &mut Chars<'_>) -> String {
    let mut units = Vec::new();
    let mut buffer = [0; 2];
    while let Some(character) = rest.next() {
        match character {
            '"' => break,
            '\\' => units.extend(escape_unit(rest)),
            plain => units.extend_from_slice(plain.encode_utf16(&mut buffer)),
        }
    }
    String::from_utf16_lossy(&units)
}

/// The UTF-16 code unit of the escape whose backslash was just passed.
fn escape_unit(rest: &mut Chars<'_>) -> Option<u16> {
    let byte = match rest.next()? {
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'u' => return four_digits(rest),
        other => return u16::try_from(u32::from(other)).ok(),
    };
    Some(byte.into())
}

fn four_digits(rest: &mut Chars<'_>) -> Option<u16> {
    let digits = rest.as_str().get(..4)?;
    let unit = u16::from_str_radix(digits, 16).ok()?;
    *rest = rest.as_str()[4..].chars();
    Some(unit)
}

fn report(text: &str, in_name: bool, open: &[Open], found: &mut Vec<Marks>) {
    let is_mark = |character: &char| is_hidden(*character) && !matches!(character, '\n' | '\r' | '\t');
    let characters: Vec<_> = text.chars().filter(is_mark).collect();
    if !characters.is_empty() {
        found.push(Marks { path: path(open), in_name, characters });
    }
}

fn path(open: &[Open]) -> String {
    let token = |open: &Open| match open {
        Open::Object { key, .. } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Open::Array { index } => format!("/{index}"),
    };
    open.iter().map(token).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(json: &str) -> Vec<(String, bool, String)> {
        let plain = |marks: Marks| (marks.path, marks.in_name, marks.characters.iter().collect());
        find(json).into_iter().map(plain).collect()
    }

    #[test]
    fn marks_in_values_names_enums_and_titles_are_found() {
        let json = "{\"description\":\"safe \u{202e}cod.exe\u{202c}\",\"inputSchema\":{\"properties\":{\
                    \"a/\u{200b}b\":{\"title\":\"x\",\"enum\":[\"one\",{\"n\":\"\u{feff}\"}]}}},\"z\":\"\u{ad}\"}";
        let expected = [
            ("/description", false, "\u{202e}\u{202c}"),
            ("/inputSchema/properties/a~1\u{200b}b", true, "\u{200b}"),
            ("/inputSchema/properties/a~1\u{200b}b/enum/1/n", false, "\u{feff}"),
            ("/z", false, "\u{ad}"),
        ];
        assert_eq!(
            found(json),
            expected.map(|(path, name, marks)| (path.to_owned(), name, marks.to_owned()))
        );
    }

    #[test]
    fn an_escaped_mark_counts_like_the_mark() {
        let json = r#"{"d":"Reads\tnotes.\n\udb40\udc49\udb40\udc67 \\u202e \"\u202E\u0007"}"#;
        assert_eq!(found(json), [("/d".to_owned(), false, "\u{e0049}\u{e0067}\u{202e}\u{7}".to_owned())]);
    }

    #[test]
    fn the_warning_counts_everything_and_names_the_first_places() {
        assert_eq!(warning(r#"{"d":"plain\n"}"#), None);
        assert_eq!(
            warning(r#"{"d":"\u200b"}"#).as_deref(),
            Some("warning: the definition holds 1 character that does not show: U+200B at /d")
        );
        let many = format!("[{}]", vec![format!("\"{}\"", "\u{e0041}".repeat(9)); 10].join(","));
        let warning = warning(&many).unwrap();
        assert!(
            warning.starts_with("warning: the definition holds 90 characters that do not show: U+E0041 ")
        );
        assert!(warning.contains("U+E0041 (9 in all) at /0; "), "{warning}");
        assert!(warning.ends_with("at /7; and at 2 more places"), "{warning}");
    }

    #[test]
    fn a_text_that_is_no_json_is_read_to_its_end() {
        assert_eq!(found("}]:,\u{202e}{\"\\u12"), [(String::new(), false, "\u{202e}".to_owned())]);
        assert_eq!(found("\"\\ud83d \u{200b}"), [(String::new(), false, "\u{200b}".to_owned())]);
    }

    proptest! {
        #[test]
        fn every_hidden_character_of_a_string_is_found(text in ".*[\u{200b}\u{202e}\u{e0041}\u{7}].*", name in ".*") {
            let json = serde_json::to_string(&[serde_json::json!({ &name: &text })]).unwrap();
            let expected: Vec<_> =
                text.chars().filter(|c| is_hidden(*c) && !matches!(c, '\n' | '\r' | '\t')).collect();
            let values: Vec<_> = find(&json).into_iter().filter(|marks| !marks.in_name).collect();
            prop_assert_eq!(values.len(), 1);
            prop_assert_eq!(&values[0].characters, &expected);
        }
    }
}
