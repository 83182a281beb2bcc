//! The tokens of JSON, each a span of bytes. The parser and the scanner both stand on these.

use super::ParseErrorKind;
use super::decimal::Decimal;
use super::string::read_escape;
use crate::limits::{MAX_DOCUMENT_BYTES, MAX_EXPONENT_DIGITS};

/// The largest exponent that has no more digits than are allowed.
const MAX_EXPONENT: u64 = 10_u64.pow(MAX_EXPONENT_DIGITS as u32) - 1;

/// What a token breaks, and the byte where it does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LexError {
    pub(crate) kind: ParseErrorKind,
    pub(crate) at: usize,
}

/// A string token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StringToken {
    /// Just after the closing quote.
    pub(crate) end: usize,
    /// A backslash stands in it.
    pub(crate) escaped: bool,
}

/// Refuses a text that is too large or starts with a byte order mark.
pub(crate) fn check_start(text: &str, max_bytes: usize) -> Result<(), LexError> {
    let max_bytes = max_bytes.min(MAX_DOCUMENT_BYTES);
    if text.len() > max_bytes {
        return Err(LexError { kind: ParseErrorKind::TooLarge { max_bytes }, at: max_bytes });
    }
    if text.starts_with('\u{feff}') {
        return Err(LexError { kind: ParseErrorKind::ByteOrderMark, at: 0 });
    }
    Ok(())
}

/// Refuses anything but white space from `at` on.
pub(crate) fn check_end(bytes: &[u8], at: usize) -> Result<(), LexError> {
    let at = skip_whitespace(bytes, at);
    if at < bytes.len() { Err(LexError { kind: ParseErrorKind::TrailingText, at }) } else { Ok(()) }
}

/// The error for what stands at `at`, or for a text that ends there.
pub(crate) fn unexpected(bytes: &[u8], at: usize, expected: &'static str) -> LexError {
    match at < bytes.len() {
        true => LexError { kind: ParseErrorKind::Unexpected { expected }, at },
        false => LexError { kind: ParseErrorKind::UnexpectedEnd, at: bytes.len() },
    }
}

/// The first byte from `at` on that is not white space.
pub(crate) fn skip_whitespace(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The first byte from `at` on that does not stand for itself in a string: a quote, a backslash or a control character.
pub(crate) fn plain_run(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|&byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        at += 1;
    }
    at
}

/// Eight bytes at once: the lowest marked byte is the first special one (marks above it may be borrows).
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = ONES << 7;
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * b' ' as u64) & !word;
    let equal = (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash);
    (control | equal) & TOPS
}

/// A string, checked whole; `at` is its opening quote.
pub(crate) fn string(bytes: &[u8], at: usize) -> Result<StringToken, LexError> {
    let mut escaped = false;
    let mut end = at + 1;
    loop {
        end = plain_run(bytes, end);
        match bytes.get(end) {
            Some(b'"') => return Ok(StringToken { end: end + 1, escaped }),
            Some(b'\\') => {
                escaped = true;
                (_, end) = read_escape(bytes, end).map_err(|kind| LexError { kind, at: end })?;
            }
            Some(_) => return Err(LexError { kind: ParseErrorKind::ControlCharacter, at: end }),
            None => return Err(LexError { kind: ParseErrorKind::UnexpectedEnd, at: end }),
        }
    }
}

/// The end of a number that starts at `at` with `-` or a digit.
pub(super) fn number(text: &str, at: usize) -> Result<usize, LexError> {
    let bytes = text.as_bytes();
    let whole = if bytes[at] == b'-' { at + 1 } else { at };
    let mut end = digits(bytes, whole)?;
    if bytes[whole] == b'0' && end > whole + 1 {
        return Err(LexError { kind: ParseErrorKind::InvalidNumber, at: whole });
    }
    if bytes.get(end) == Some(&b'.') {
        end = digits(bytes, end + 1)?;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = end + 1 + sign;
        end = digits(bytes, exponent)?;
        let too_long = match end - exponent {
            ..MAX_EXPONENT_DIGITS => false,
            MAX_EXPONENT_DIGITS => Decimal::read(&text[at..end]).exponent().unsigned_abs() > MAX_EXPONENT,
            _ => true,
        };
        if too_long {
            return Err(LexError { kind: ParseErrorKind::ExponentTooLong, at: exponent });
        }
    }
    Ok(end)
}

/// The end of at least one digit.
fn digits(bytes: &[u8], at: usize) -> Result<usize, LexError> {
    let mut end = at;
    while bytes.get(end).is_some_and(u8::is_ascii_digit) {
        end += 1;
    }
    match bytes.get(end) {
        _ if end > at => Ok(end),
        Some(_) => Err(LexError { kind: ParseErrorKind::InvalidNumber, at: end }),
        None => Err(LexError { kind: ParseErrorKind::UnexpectedEnd, at: end }),
    }
}

/// The end of `word`, one of the three literal names.
pub(super) fn literal(bytes: &[u8], at: usize, word: &'static str) -> Result<usize, LexError> {
    let end = at + word.len();
    match bytes.get(at..end) {
        Some(found) if found == word.as_bytes() => Ok(end),
        _ => Err(unexpected(bytes, at, "a value")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_special_byte_is_found_wherever_it_stands() {
        let special = (0..=u8::MAX).filter(|&byte| byte < b' ' || matches!(byte, b'"' | b'\\'));
        for byte in special {
            for around in [b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
                for place in 0..20 {
                    let mut bytes = [around; 20];
                    bytes[place] = byte;
                    assert_eq!(plain_run(&bytes, 0), place, "{byte:#x} among {around:#x}");
                    assert_eq!(plain_run(&bytes, place + 1), bytes.len());
                }
            }
        }
    }
}
