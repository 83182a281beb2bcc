use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::SEPARATOR;
use crate::limits::MAX_SLUG_CHARS;

/// An upstream's short name, the first part of its tools' names: `^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$`, at most
/// [`MAX_SLUG_CHARS`] characters, no `__`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(Box<str>);

impl Slug {
    /// The slug's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// With `-` folded to `_`: the form in which it must be unique within its client.
    pub fn folded(&self) -> String {
        self.0.replace('-', "_")
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// The rule that a text breaks as a slug, and what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SlugError {
    /// Nothing stands there.
    #[error("a slug is empty; use 1 to {MAX_SLUG_CHARS} lower-case letters, digits, `-` and `_`")]
    Empty,
    /// It is over [`MAX_SLUG_CHARS`].
    #[error("a slug has more than {MAX_SLUG_CHARS} characters; shorten it")]
    TooLong,
    /// A character that no slug has.
    #[error("a slug holds {0:?}; use lower-case letters `a` to `z`, digits, `-` and `_` alone")]
    Character(char),
    /// Its first or last character is `-` or `_`.
    #[error("a slug starts or ends with `-` or `_`; start and end it with a letter or a digit")]
    Edge,
    /// It holds `__`.
    #[error("a slug holds `__`, which separates it from a tool's name; use one `_`")]
    Separator,
}

impl FromStr for Slug {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, SlugError> {
        let allowed = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '-' | '_');
        let at_edge = |character: char| matches!(character, '-' | '_');
        if text.is_empty() {
            return Err(SlugError::Empty);
        }
        if let Some(character) = text.chars().find(|&character| !allowed(character)) {
            return Err(SlugError::Character(character));
        }
        if text.len() > MAX_SLUG_CHARS {
            return Err(SlugError::TooLong);
        }
        if text.starts_with(at_edge) || text.ends_with(at_edge) {
            return Err(SlugError::Edge);
        }
        if text.contains(SEPARATOR) {
            return Err(SlugError::Separator);
        }
        Ok(Self(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_follows_its_rule() {
        for slug in ["a", "7", "github", "my-server_2", "a_b-c", &"s".repeat(64)] {
            assert_eq!(slug.parse::<Slug>().expect(slug).as_str(), slug);
        }
    }

    #[test]
    fn the_error_names_the_broken_rule() {
        for (text, error) in [
            ("", SlugError::Empty),
            ("GitHub", SlugError::Character('G')),
            ("my server", SlugError::Character(' ')),
            ("é", SlugError::Character('é')),
            ("a.b", SlugError::Character('.')),
            (&"s".repeat(65), SlugError::TooLong),
            ("-a", SlugError::Edge),
            ("a_", SlugError::Edge),
            ("_", SlugError::Edge),
            ("a__b", SlugError::Separator),
            ("a___b", SlugError::Separator),
        ] {
            assert_eq!(text.parse::<Slug>(), Err(error), "{text:?}");
        }
    }

    #[test]
    fn slugs_that_differ_in_a_dash_fold_to_one() {
        let [dash, underscore] = ["my-server", "my_server"].map(|text| text.parse::<Slug>().expect(text));
        assert_ne!(dash, underscore);
        assert_eq!(dash.folded(), underscore.folded());
    }
}
