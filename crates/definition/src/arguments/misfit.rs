use std::fmt;

use jsonschema::ValidationError;

use crate::locks::{Locks, shown};

/// One thing about arguments that breaks the input schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// JSON Pointer to the value; empty for the arguments as a whole.
    pub path: String,
    /// What is wrong, without the value.
    pub problem: String,
}

impl Misfit {
    /// Says nothing of locked inputs: their names are not the caller's to know.
    pub(super) fn new(error: &ValidationError<'_>, locks: &Locks) -> Self {
        let path = error.instance_path().as_str().to_owned();
        let problem = error.masked().to_string();
        let first = path.split('/').nth(1).unwrap_or_default().replace("~1", "/").replace("~0", "~");
        let tells = locks.contains(&first) || locks.iter().any(|(name, _)| has_word(&problem, name));
        match tells {
            true => Self {
                path: String::new(),
                problem: "they do not fit the input schema as a whole".to_owned(),
            },
            false => Self { path: shown(&path), problem: shown(&problem) },
        }
    }
}

/// Whether a text holds a name that is no part of a longer word: `n` is no word of "integer".
fn has_word(text: &str, name: &str) -> bool {
    let is_inside = |neighbour: Option<char>| neighbour.is_some_and(|at| at.is_alphanumeric() || at == '_');
    text.match_indices(name).any(|(at, found)| {
        let (before, after) = (&text[..at], &text[at + found.len()..]);
        !is_inside(before.chars().next_back()) && !is_inside(after.chars().next())
    })
}

impl fmt::Display for Misfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(formatter, "arguments: {}", self.problem),
            path => write!(formatter, "{path}: {}", self.problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_where_it_stands_alone() {
        for (text, name, is_found) in [
            (r#"is not of type "integer""#, "n", false),
            (r#""n" is a required property"#, "n", true),
            ("'a b' was unexpected", "a b", true),
            ("n", "n", true),
            ("nn n_ 1n", "n", false),
            ("('\u{e9}t\u{e9}' was unexpected)", "\u{e9}t\u{e9}", true),
            ("('-n' was unexpected)", "-n", true),
        ] {
            assert_eq!(has_word(text, name), is_found, "{text} {name}");
        }
    }
}
