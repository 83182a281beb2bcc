//! `If-None-Match` (RFC 9110, 13.1.2).

use http::HeaderMap;
use http::header::IF_NONE_MATCH;

/// What the caller already holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum IfNoneMatch {
    /// `*`: anything.
    Any,
    /// Answers with these tags, their quotes and `W/` prefixes taken off. Empty without the header.
    Tags(Vec<String>),
}

impl IfNoneMatch {
    /// Reads all lines of the header as one list. From the first malformed tag on, nothing is taken to be held, which
    /// makes the answer a full one.
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let lines = || headers.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
        if lines().any(|line| line.trim() == "*") {
            return Self::Any;
        }
        Self::Tags(lines().flat_map(tags).map(str::to_owned).collect())
    }

    /// The same of tags that have `suffix` behind them; those that do not are of other answers.
    pub(crate) fn without_suffix(self, suffix: &str) -> Self {
        match self {
            Self::Any => Self::Any,
            Self::Tags(tags) => {
                let tags = tags.iter().filter_map(|tag| tag.strip_suffix(suffix));
                Self::Tags(tags.map(str::to_owned).collect())
            }
        }
    }

    /// Whether an answer with this tag is held. The comparison is the weak one.
    pub(crate) fn holds(&self, etag: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Tags(tags) => tags.iter().any(|tag| tag == etag),
        }
    }

    /// The tag to ask the service about when there is no better one.
    pub(crate) fn first(&self) -> Option<&str> {
        match self {
            Self::Any => None,
            Self::Tags(tags) => tags.first().map(String::as_str),
        }
    }
}

/// The opaque parts of a list of entity tags. A comma may stand inside one, so the list is walked by its quotes.
fn tags(mut rest: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let list = rest.trim_start_matches([' ', '\t', ',']);
        let (tag, after) = list.strip_prefix("W/").unwrap_or(list).strip_prefix('"')?.split_once('"')?;
        let after = after.trim_start_matches([' ', '\t']);
        rest = after;
        (after.is_empty() || after.starts_with(',')).then_some(tag)
    })
    .fuse()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(lines: &[&str]) -> IfNoneMatch {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(IF_NONE_MATCH, HeaderValue::from_str(line).unwrap());
        }
        IfNoneMatch::read(&headers)
    }

    #[test]
    fn lists_weak_prefixes_and_several_lines_are_read() {
        let expected = IfNoneMatch::Tags(["a", "b,c", "", "d"].map(str::to_owned).into());
        assert_eq!(read(&[r#""a" ,, W/"b,c""#, r#","","d","#]), expected);
        assert_eq!(read(&[]), IfNoneMatch::Tags(Vec::new()));
    }

    #[test]
    fn a_star_is_any_answer() {
        assert!(read(&[" * "]).holds("x"));
        assert!(!read(&[r#""*""#]).holds("x"));
    }

    #[test]
    fn malformed_tags_hold_nothing() {
        for line in ["a", r#"w/"a""#, r#""a"#, r#"a""#, r#"W"a""#, r#""a"b"#] {
            assert!(!read(&[line]).holds("a"), "{line}");
        }
    }
}
