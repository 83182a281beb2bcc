use bytes::Bytes;

/// Keys from `start` (inclusive) to `end` (exclusive; `None` means no upper bound).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    /// The first key that may belong.
    pub start: Bytes,
    /// The first key past the range.
    pub end: Option<Bytes>,
}

impl KeyRange {
    /// Every key.
    pub fn all() -> Self {
        Self { start: Bytes::new(), end: None }
    }

    /// Every key that begins with `prefix`.
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        let start: Bytes = prefix.into();
        let end = successor(&start);
        Self { start, end }
    }

    /// Whether `key` lies in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= self.start.as_ref() && self.end.as_ref().is_none_or(|end| key < end.as_ref())
    }
}

/// The least byte string greater than everything that begins with `prefix`; `None` if there is none.
fn successor(prefix: &[u8]) -> Option<Bytes> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_range_holds_what_begins_with_the_prefix_and_nothing_else() {
        let range = KeyRange::prefix(&b"a\xff"[..]);
        assert!(range.contains(b"a\xff") && range.contains(b"a\xff\xff\xff"));
        assert!(!range.contains(b"b") && !range.contains(b"a\xfe\xff"));
        assert_eq!(KeyRange::prefix(&b"\xff\xff"[..]).end, None);
    }
}
