//! Files of names and values: headers of an HTTP upstream, the environment of a stdio upstream.
//!
//! What stands in them is mostly secret, so no error repeats a value.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use crate::error::CommandError;

/// How a line of a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineForm {
    /// `Name: value`. Names differ by more than case; white space around the value is not part of it.
    Header,
    /// `NAME=value`. Everything after the first `=` is the value.
    Variable,
}

/// Reads a file of one pair a line. Empty lines and lines that begin with `#` are passed over.
///
/// # Errors
///
/// The file cannot be read, or the first line that is not of the form.
pub(crate) fn read(path: &Path, form: LineForm) -> Result<HashMap<String, String>, CommandError> {
    let unreadable = |source| CommandError::Unreadable { path: path.to_owned(), source };
    let text = fs::read_to_string(path).map_err(unreadable)?;
    parse(&text, form).map_err(|(line, problem)| CommandError::BadLine {
        path: path.to_owned(),
        line,
        problem,
        form,
    })
}

/// The pairs, or the number of the first bad line, from 1, and what is wrong with it.
fn parse(text: &str, form: LineForm) -> Result<HashMap<String, String>, (usize, &'static str)> {
    let mut pairs = HashMap::new();
    let mut seen = HashSet::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = form.split(line).map_err(|problem| (index + 1, problem))?;
        if !seen.insert(form.folded(name)) {
            return Err((index + 1, "the name stands on an earlier line already"));
        }
        pairs.insert(name.to_owned(), value.to_owned());
    }
    Ok(pairs)
}

impl LineForm {
    /// The form, for a hint.
    pub(crate) fn pattern(self) -> &'static str {
        match self {
            Self::Header => "Name: value",
            Self::Variable => "NAME=value",
        }
    }

    fn split(self, line: &str) -> Result<(&str, &str), &'static str> {
        let (name, value) = match self {
            Self::Header => {
                let (name, value) = line.split_once(':').ok_or("there is no `:` after a name")?;
                (name, value.trim())
            }
            Self::Variable => line.split_once('=').ok_or("there is no `=` after a name")?,
        };
        match self.is_name(name) {
            true => Ok((name, value)),
            false if name.is_empty() => Err("the name is empty"),
            false => Err("the name holds a character that no name may have"),
        }
    }

    fn is_name(self, name: &str) -> bool {
        let is_allowed = match self {
            // A token of RFC 9110, section 5.6.2.
            Self::Header => |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte),
            Self::Variable => |byte: u8| byte.is_ascii_graphic(),
        };
        !name.is_empty() && name.bytes().all(is_allowed)
    }

    fn folded(self, name: &str) -> String {
        match self {
            Self::Header => name.to_ascii_lowercase(),
            Self::Variable => name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str, form: LineForm) -> Vec<(String, String)> {
        let mut pairs: Vec<_> = parse(text, form).unwrap().into_iter().collect();
        pairs.sort();
        pairs
    }

    #[test]
    fn headers_are_read_with_comments_and_any_line_end() {
        let text = "# for the tests\r\nAuthorization:  Bearer a:b#c \r\n\r\nX-Empty:\n";
        let expected = [("Authorization", "Bearer a:b#c"), ("X-Empty", "")];
        assert_eq!(pairs(text, LineForm::Header), expected.map(|(name, value)| (name.into(), value.into())));
    }

    #[test]
    fn a_variable_keeps_its_value_as_written() {
        let expected = [("PATH", "/bin"), ("TOKEN", " a=b ")];
        assert_eq!(
            pairs("TOKEN= a=b \nPATH=/bin", LineForm::Variable),
            expected.map(|(name, value)| (name.into(), value.into()))
        );
    }

    #[test]
    fn a_bad_line_is_named_by_its_number() {
        let cases = [
            ("A: 1\n\nnot a header", LineForm::Header, 3),
            (": nameless", LineForm::Header, 1),
            ("# ok\nBad Name: x", LineForm::Header, 2),
            ("X-Key: 1\nx-key: 2", LineForm::Header, 2),
            ("A=1\nB", LineForm::Variable, 2),
            ("export A=1", LineForm::Variable, 1),
            ("A=1\nA=2", LineForm::Variable, 2),
        ];
        for (text, form, line) in cases {
            assert_eq!(parse(text, form).map_err(|(line, _)| line), Err(line), "{text:?}");
        }
    }
}
