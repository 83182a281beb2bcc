//! Locks: inputs of a tool to which a reviewer gave a fixed value.

mod check;
mod data;
mod obstacle;
mod problem;
mod unfold;

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::json::{Document, Kind, ParseError};
use crate::limits::{LOCKS, MAX_LOCKS, MAX_LOCKS_BYTES};

pub use check::check;
pub(crate) use check::validator;
pub(crate) use data::{depth, rounded};
pub(crate) use problem::shown;
pub use problem::{LockIssue, LockProblem};
pub(crate) use unfold::Unfolding;

/// The fixed inputs of a tool: each name with the exact JSON text of its value.
///
/// Two of them are equal when they fix the same names to values that are spelt alike. Within [`MAX_LOCKS`] and
/// [`MAX_LOCKS_BYTES`] always.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Locks {
    values: BTreeMap<String, Box<str>>,
}

impl Locks {
    /// Reads a JSON object of name to value.
    ///
    /// # Errors
    ///
    /// What is wrong with the text as JSON within [`LOCKS`] (a name that stands twice included), with its kind, or with
    /// the number of its members.
    pub fn parse(text: &str) -> Result<Self, LocksError> {
        let document = Document::parse(text, &LOCKS)?;
        let root = document.root();
        if root.kind() != Kind::Object {
            return Err(LocksError::NotAnObject { found: root.kind() });
        }
        let values = root.members().map(|(name, value)| (name.into_owned(), value.text().into()));
        Self { values: values.collect() }.within_limits()
    }

    /// One JSON object without white space between its members, ordered by name (code point by code point); the values
    /// are spelt as they were given.
    pub fn to_json(&self) -> String {
        let mut text = String::from("{");
        for (name, value) in self.iter() {
            text.push_str(if text.len() > 1 { "," } else { "" });
            text.push_str(&crate::json::quote(name));
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        text
    }

    /// These locks without the names in `remove`, then with those of `set`, which take the place of equal names. A name
    /// that is removed and not there changes nothing.
    ///
    /// # Errors
    ///
    /// The result would be over a limit.
    pub fn merge(mut self, set: Self, remove: &[impl AsRef<str>]) -> Result<Self, LocksError> {
        for name in remove {
            self.values.remove(name.as_ref());
        }
        self.values.extend(set.values);
        self.within_limits()
    }

    /// Whether an input is locked.
    pub fn contains(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The exact text of a locked input's value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|value| &**value)
    }

    /// Names and values, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), &**value))
    }

    /// How many inputs are locked.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no input is locked.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn within_limits(self) -> Result<Self, LocksError> {
        if self.len() > MAX_LOCKS {
            return Err(LocksError::TooMany { found: self.len() });
        }
        match self.to_json().len() {
            ..=MAX_LOCKS_BYTES => Ok(self),
            bytes => Err(LocksError::TooLarge { bytes }),
        }
    }
}

impl fmt::Debug for Locks {
    /// The names alone: a value may be a secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.values.keys()).finish()
    }
}

/// Why a text is not taken as locks.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LocksError {
    /// It is not taken as JSON.
    #[error(transparent)]
    Json(#[from] ParseError),
    /// It is another kind of value.
    #[error("locks must be an object of name to value, this is {found}")]
    NotAnObject {
        /// What it is.
        found: Kind,
    },
    /// More names than [`MAX_LOCKS`].
    #[error("{found} inputs are locked, at most {MAX_LOCKS} are taken")]
    TooMany {
        /// How many there would be.
        found: usize,
    },
    /// More text than [`MAX_LOCKS_BYTES`].
    #[error("the locks have {bytes} bytes, at most {MAX_LOCKS_BYTES} are taken")]
    TooLarge {
        /// How many there would be.
        bytes: usize,
    },
}
