//! Arguments of a call: read as they were sent, completed by the locks, judged by the approved input schema.

mod misfit;
mod schema;

use std::fmt;

use thiserror::Error;

use crate::json::{Document, Kind, ParseError, quote};
use crate::limits::ARGUMENTS;
use crate::locks::Locks;
use crate::surgery::Edits;

pub use misfit::Misfit;
pub use schema::{InputSchema, Judgement};

/// The arguments of one call: the exact text of a JSON object within [`ARGUMENTS`].
#[derive(Clone, PartialEq, Eq)]
pub struct Arguments(String);

impl Arguments {
    /// Those of a call that sends none, which are the same as an empty object.
    pub fn none() -> Self {
        Self("{}".to_owned())
    }

    /// Takes what a caller sent.
    ///
    /// # Errors
    ///
    /// It is not JSON within [`ARGUMENTS`] (a name that stands twice in one object included), or no object.
    pub fn parse(text: &str) -> Result<Self, ArgumentsError> {
        let document = Document::parse(text, &ARGUMENTS)?;
        match document.root().kind() {
            Kind::Object => Ok(Self(document.root().text().to_owned())),
            found => Err(ArgumentsError::NotAnObject { found }),
        }
    }

    /// These arguments with every lock in them (law 6): in the place of what was sent under its name, else at the end.
    /// All else stays byte for byte.
    #[must_use]
    pub fn with(self, locks: &Locks) -> Self {
        if locks.is_empty() {
            return self;
        }
        let document = self.document();
        let root = document.root();
        let mut edits = Edits::default();
        let mut appended = String::new();
        let mut is_empty = root.members().next().is_none();
        for (name, value) in locks.iter() {
            if let Some(sent) = root.get(name) {
                edits.replace(sent.span(), value.to_owned());
                continue;
            }
            if !std::mem::take(&mut is_empty) {
                appended.push(',');
            }
            appended.push_str(&quote(name));
            appended.push(':');
            appended.push_str(value);
        }
        let end = root.span().end - 1;
        edits.replace(end..end, appended);
        let changed = edits.apply(&self.0);
        Self(changed)
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The same for arguments that are equal by value, whatever their order and spelling.
    pub fn canonical(&self) -> String {
        crate::canonical::to_string(self.document().root())
    }

    pub(crate) fn document(&self) -> Document<'_> {
        let limits = crate::json::ParseLimits { max_bytes: usize::MAX, ..ARGUMENTS };
        Document::parse(&self.0, &limits).expect("arguments were parsed when they were made")
    }
}

impl fmt::Debug for Arguments {
    /// Their size alone: they may hold secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Arguments({} bytes)", self.0.len())
    }
}

/// Why a text is not taken as arguments.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ArgumentsError {
    /// It is not taken as JSON.
    #[error(transparent)]
    Json(#[from] ParseError),
    /// It is another kind of value; `null` too, which is not the same as sending none.
    #[error("is {found}; send an object")]
    NotAnObject {
        /// What it is.
        found: Kind,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(sent: &str, locks: &str) -> String {
        Arguments::parse(sent).unwrap().with(&Locks::parse(locks).unwrap()).text().to_owned()
    }

    #[test]
    fn law_06_a_lock_takes_the_place_of_what_was_sent() {
        for (sent, locks, completed_to) in [
            ("{}", r#"{"a":1}"#, r#"{"a":1}"#),
            ("{ }", r#"{"a":1,"b":[]}"#, r#"{ "a":1,"b":[]}"#),
            (r#"{"b":2}"#, r#"{"a":1.0}"#, r#"{"b":2,"a":1.0}"#),
            (r#"{"a":{"x":1},"b":2}"#, r#"{"a":1}"#, r#"{"a":1,"b":2}"#),
            (r#"{ "\u0061" : "mine", "b":2 }"#, r#"{"a":null}"#, r#"{ "\u0061" : null, "b":2 }"#),
            (r#"{"a":1,"b":2}"#, r#"{"b":3,"a":4}"#, r#"{"a":4,"b":3}"#),
            (r#"{"A":1}"#, r#"{"a":2}"#, r#"{"A":1,"a":2}"#),
        ] {
            assert_eq!(completed(sent, locks), completed_to, "{sent} {locks}");
        }
    }

    /// BR-079.
    #[test]
    fn what_is_not_locked_stays_byte_for_byte() {
        let sent = r#" { "n": 9007199254740993, "x":1.0, "e" : 1E400, "s":"\u00e9", "z":null } "#;
        assert_eq!(Arguments::parse(sent).unwrap().with(&Locks::default()).text(), sent.trim());
        assert_eq!(completed(sent, r#"{"l":1}"#), sent.trim().replace(" }", r#" ,"l":1}"#));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        for (sent, problem) in [
            ("null", "is null; send an object"),
            ("[]", "is an array; send an object"),
            (r#"{"a":1,"\u0061":2}"#, ""),
            (r#"{"a":{"b":1,"b":2}}"#, ""),
            ("{", ""),
            ("", ""),
        ] {
            let refused = Arguments::parse(sent).unwrap_err().to_string();
            assert!(refused.contains(problem), "{sent}: {refused}");
        }
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        assert!(Arguments::parse(&deep).is_err());
    }
}
