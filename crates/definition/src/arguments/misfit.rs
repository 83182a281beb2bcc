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
        let tells = locks.contains(&first) || locks.iter().any(|(name, _)| problem.contains(name));
        match tells {
            true => Self {
                path: String::new(),
                problem: "they do not fit the input schema as a whole".to_owned(),
            },
            false => Self { path: shown(&path), problem: shown(&problem) },
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(formatter, "arguments: {}", self.problem),
            path => write!(formatter, "{path}: {}", self.problem),
        }
    }
}
