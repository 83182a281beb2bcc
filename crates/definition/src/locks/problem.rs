use thiserror::Error;

use crate::limits::MAX_PROBLEM_CHARS;

/// A lock that does not fit its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockIssue {
    /// The input.
    pub name: String,
    /// What is wrong, as a phrase for a person through its `Display`. The lock's value is never part of it.
    pub problem: LockProblem,
}

/// What is wrong with a lock: the first check that fails, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LockProblem {
    /// `inputSchema.properties` has no such member. That additional properties are allowed does not help: a lock on an
    /// input that is not declared is a slip, or the input was renamed.
    #[error("no such input")]
    NoSuchInput,
    /// The value breaks the schema of the input.
    #[error("value does not fit: {0}")]
    DoesNotFit(String),
    /// The schema of the input cannot be evaluated.
    #[error("cannot be checked: {0}")]
    CannotBeChecked(String),
    /// Agents would still read of the input, or read a reference to nothing.
    #[error("cannot be removed: {0}")]
    CannotBeRemoved(String),
}

/// Text of a schema as it can stand in a line: control and invisible characters escaped, cut at [`MAX_PROBLEM_CHARS`].
pub(crate) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_PROBLEM_CHARS + 1).flat_map(escaped).collect();
    if let Some((cut, _)) = shown.char_indices().nth(MAX_PROBLEM_CHARS) {
        shown.truncate(cut);
        shown.push('…');
    }
    shown
}

fn escaped(character: char) -> impl Iterator<Item = char> {
    let plain = matches!(character, '"' | '\'' | '\\').then_some(character);
    plain.into_iter().chain(plain.is_none().then(|| character.escape_debug()).into_iter().flatten())
}
