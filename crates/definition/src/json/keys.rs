//! The order of an object's keys: by UTF-16 code unit, as RFC 8785 section 3.2.3 asks.

use std::cmp::Ordering;

use super::document::{Document, position};

/// Appends the keys of the object at `object`, the last one in the document, to its sorted keys in canonical order.
///
/// `Err` is the entry of the first key in the text that stands for the same name as one before it.
pub(super) fn sort(document: &mut Document<'_>, object: u32, escaped: bool) -> Result<(), u32> {
    let mut sorted_keys = std::mem::take(&mut document.sorted_keys);
    let start = sorted_keys.len();
    let mut key = object + 1;
    while key < position(document.entries.len()) {
        sorted_keys.push(key);
        key = document.entry(key + 1).next;
    }
    let keys = &mut sorted_keys[start..];
    if escaped {
        keys.sort_by_cached_key(|&key| document.string_at(key).encode_utf16().collect::<Vec<_>>());
    } else {
        let raw = |key| &document.text[document.entry(key).content()];
        keys.sort_unstable_by(|&l, &r| compare(raw(l), raw(r)).then(l.cmp(&r)));
    }
    let same = |pair: &&[u32]| document.string_at(pair[0]) == document.string_at(pair[1]);
    let repeated = keys.windows(2).filter(same).map(|pair| pair[1]).min();
    document.sorted_keys = sorted_keys;
    repeated.map_or(Ok(()), Err)
}

/// Compares two decoded keys.
///
/// The order of UTF-8 bytes is the order of code points. UTF-16 differs from it in one place: a surrogate pair (lead bytes
/// F0 to F4 in UTF-8) sorts before U+E000 to U+FFFF (lead bytes EE and EF).
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    let differing = left.bytes().zip(right.bytes()).find(|(l, r)| l != r);
    match differing {
        None => left.len().cmp(&right.len()),
        Some((l, r)) => utf16_rank(l).cmp(&utf16_rank(r)),
    }
}

/// Moves the lead bytes EE and EF behind F4; F5 and F6 occur in no UTF-8 text.
fn utf16_rank(byte: u8) -> u8 {
    match byte {
        0xee | 0xef => byte + 7,
        _ => byte,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Characters on both sides of every place where UTF-8 and UTF-16 could order differently.
    const BORDERS: &str = "[a\u{7f}\u{d7ff}\u{e000}\u{fb33}\u{ffff}\u{10000}\u{10ffff}]{0,4}";

    proptest! {
        #[test]
        fn keys_sort_by_utf16_code_unit(left in BORDERS, right in BORDERS, any in any::<String>()) {
            for (l, r) in [(&left, &right), (&left, &any), (&left, &left)] {
                prop_assert_eq!(compare(l, r), l.encode_utf16().cmp(r.encode_utf16()));
            }
        }
    }
}
