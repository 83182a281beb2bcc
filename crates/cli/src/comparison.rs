//! Two definitions beside each other. Only what a reader has to look at is shown, and all of that.

use toolgate_definition::canonical;
use toolgate_definition::diff::{Difference, diff};
use toolgate_definition::json::{Document, Kind};
use toolgate_definition::limits::DEFINITION;

use crate::error::CommandError;
use crate::limits::{CONTEXT_CHARS, MAX_WHOLE_STRING_CHARS};

/// Two definitions of one tool.
pub(crate) struct Comparison<'t> {
    old: Document<'t>,
    new: Document<'t>,
}

impl<'t> Comparison<'t> {
    /// Of two texts, each with its fingerprint.
    pub(crate) fn new(
        (from, old): (&str, &'t str),
        (to, new): (&str, &'t str),
    ) -> Result<Self, CommandError> {
        let parse = |hash: &str, text| {
            Document::parse(text, &DEFINITION).map_err(|error| CommandError::UnreadableText {
                hash: hash.to_owned(),
                problem: error.to_string(),
            })
        };
        Ok(Self { old: parse(from, old)?, new: parse(to, new)? })
    }

    /// The places in which they differ.
    pub(crate) fn differences(&self) -> Vec<Difference<'_>> {
        diff(&self.old, &self.new)
    }

    /// The same for a person: each place, and under it what was there and what is. A value takes one line, written in
    /// canonical form.
    pub(crate) fn lines(&self) -> Vec<String> {
        let differences = self.differences();
        if differences.is_empty() {
            return vec!["no difference".to_owned()];
        }
        differences.iter().flat_map(lines).collect()
    }
}

fn lines(difference: &Difference<'_>) -> Vec<String> {
    let Difference { path, old, new } = difference;
    let (before, after) = match (old, new) {
        (Some(old), Some(new)) if old.kind() == Kind::String && new.kind() == Kind::String => {
            let (old, new) = where_they_differ(&canonical::to_string(*old), &canonical::to_string(*new));
            (Some(old), Some(new))
        }
        _ => (old.map(canonical::to_string), new.map(canonical::to_string)),
    };
    let mut lines = vec![if path.is_empty() { "(the whole definition)".to_owned() } else { path.clone() }];
    lines.extend(before.map(|value| format!("- {value}")));
    lines.extend(after.map(|value| format!("+ {value}")));
    lines
}

/// Two strings without what both begin and end with, but for some characters around what differs. `…` stands for the rest.
fn where_they_differ(old: &str, new: &str) -> (String, String) {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    if old.len().max(new.len()) <= MAX_WHOLE_STRING_CHARS {
        return (old.into_iter().collect(), new.into_iter().collect());
    }
    let is_same = |(old, new): &(&char, &char)| old == new;
    let head = old.iter().zip(&new).take_while(is_same).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(is_same).count();
    (around(&old, head, tail), around(&new, head, tail))
}

fn around(text: &[char], head: usize, tail: usize) -> String {
    let (start, cut) = (head.saturating_sub(CONTEXT_CHARS), tail.saturating_sub(CONTEXT_CHARS));
    let shown: String = text[start..text.len() - cut].iter().collect();
    let dots = |is_cut| if is_cut { "…" } else { "" };
    format!("{}{shown}{}", dots(start > 0), dots(cut > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(old: &str, new: &str) -> Vec<String> {
        Comparison::new(("a", old), ("b", new)).unwrap().lines()
    }

    #[test]
    fn each_place_is_shown_with_what_was_there_and_what_is() {
        assert_eq!(
            compared(
                r#"{"a":1.0,"b":[1],"c":null}"#,
                r#"{"c":null,"a":1,"b":{"y":2,"x":"\u0041"},"d":"\n"}"#
            ),
            ["/b", "- [1]", r#"+ {"x":"A","y":2}"#, "/d", r#"+ "\n""#]
        );
        assert_eq!(compared("{}", "{ }"), ["no difference"]);
        assert_eq!(compared("1", "2"), ["(the whole definition)", "- 1", "+ 2"]);
    }

    #[test]
    fn of_long_strings_the_place_is_shown_in_which_they_differ() {
        let text = |word: &str| format!("\"{} {word} {}\"", "é".repeat(150), "b".repeat(150));
        let context = |word: &str| format!("…{} {word} {}…", "é".repeat(59), "b".repeat(58));
        assert_eq!(
            compared(&text("reads"), &text("mails"))[1..],
            [format!("- {}", context("reads")), format!("+ {}", context("mails"))]
        );
        let short = compared(r#""reads""#, r#""mails""#);
        assert_eq!(short[1..], [r#"- "reads""#, r#"+ "mails""#]);
        let longer = format!("\"{}\"", "x".repeat(301));
        let shown = compared(&format!("\"{}\"", "x".repeat(300)), &longer);
        assert_ne!(shown[1], shown[2][..], "however alike they are, what differs is there");
    }
}
