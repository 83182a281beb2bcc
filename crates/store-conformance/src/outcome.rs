use std::{error::Error, fmt};

/// How a promise's test ended: an error of the store, or [`Failed`].
pub type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// A promise that the store did not keep.
#[derive(Debug)]
pub struct Failed(pub String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Failed {}

/// Fails unless the store did as promised.
pub(crate) fn promised(kept: bool, what: impl Into<String>) -> Outcome {
    if kept { Ok(()) } else { Err(Failed(what.into()).into()) }
}

/// Fails unless `found` is what was promised.
pub(crate) fn same<T: PartialEq + fmt::Debug>(found: T, expected: T, what: &str) -> Outcome {
    promised(found == expected, format!("{what}: expected {expected:?}, found {found:?}"))
}
