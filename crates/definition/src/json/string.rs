//! What the text of a string stands for.

use std::borrow::Cow;

use super::ParseErrorKind;

/// The character of the escape at `at` (its backslash), and the byte after it.
pub(super) fn read_escape(bytes: &[u8], at: usize) -> Result<(char, usize), ParseErrorKind> {
    let character = match bytes.get(at + 1).ok_or(ParseErrorKind::UnexpectedEnd)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return read_unicode_escape(bytes, at),
        _ => return Err(ParseErrorKind::InvalidEscape),
    };
    Ok((character, at + 2))
}

/// A `\uXXXX`, or the two of them that make a surrogate pair.
fn read_unicode_escape(bytes: &[u8], at: usize) -> Result<(char, usize), ParseErrorKind> {
    let first = read_unit(bytes, at)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Ok((character, at + 6));
    }
    if bytes.get(at + 6..at + 8) != Some(b"\\u") {
        return Err(ParseErrorKind::LoneSurrogate);
    }
    let second = read_unit(bytes, at + 6)?;
    match char::decode_utf16([first, second]).next() {
        Some(Ok(character)) => Ok((character, at + 12)),
        _ => Err(ParseErrorKind::LoneSurrogate),
    }
}

/// The UTF-16 code unit of the `\uXXXX` at `at`.
fn read_unit(bytes: &[u8], at: usize) -> Result<u16, ParseErrorKind> {
    let mut unit = 0;
    for digit in at + 2..at + 6 {
        let byte = *bytes.get(digit).ok_or(ParseErrorKind::UnexpectedEnd)?;
        let value = char::from(byte).to_digit(16).ok_or(ParseErrorKind::InvalidEscape)?;
        unit = unit << 4 | value as u16;
    }
    Ok(unit)
}

/// A part of a string's content.
pub(crate) enum Piece<'t> {
    /// Characters that stand for themselves.
    Run(&'t str),
    /// The character that an escape stands for.
    Escape(char),
}

/// The content of a string token that the lexer accepted, in pieces.
pub(crate) struct Pieces<'t> {
    content: &'t str,
}

impl<'t> Pieces<'t> {
    /// `content` is the text between the quotes.
    pub(crate) fn new(content: &'t str) -> Self {
        Self { content }
    }
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        match self.content.find('\\') {
            None if self.content.is_empty() => None,
            None => Some(Piece::Run(std::mem::take(&mut self.content))),
            Some(0) => {
                let (character, end) = read_escape(self.content.as_bytes(), 0)
                    .expect("the lexer accepted every escape of this string");
                self.content = &self.content[end..];
                Some(Piece::Escape(character))
            }
            Some(at) => {
                let (run, rest) = self.content.split_at(at);
                self.content = rest;
                Some(Piece::Run(run))
            }
        }
    }
}

/// What a string token that the lexer accepted stands for.
pub(crate) fn decode(token: &str) -> Cow<'_, str> {
    let content = &token[1..token.len() - 1];
    if !content.contains('\\') {
        return Cow::Borrowed(content);
    }
    let mut decoded = String::with_capacity(content.len());
    for piece in Pieces::new(content) {
        match piece {
            Piece::Run(run) => decoded.push_str(run),
            Piece::Escape(character) => decoded.push(character),
        }
    }
    Cow::Owned(decoded)
}

/// A JSON string that stands for `text`, with no more escapes than needed.
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
