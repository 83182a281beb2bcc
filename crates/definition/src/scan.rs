//! Takes an object or array apart into the exact texts of its members or elements, reading nothing inside them but
//! strings and brackets.
//!
//! A whole answer of a server goes through here before its entries are parsed one by one, so that one bad entry never
//! sinks its listing, and an entry may be of any depth or size. Where an entry ends is never a guess: brackets must match
//! and strings must end, or the scan fails. So when the exact parser takes an entry's text, the entry ends where the
//! parser would have ended it in the whole.
//!
//! Cost is linear in the text. Memory is one byte for each bracket that is open at once.

use std::borrow::Cow;
use std::iter::FusedIterator;

use crate::json::{LexError, ParseError, ParseErrorKind, Pointer, decode, lexer};
use crate::limits::{MAX_DOCUMENT_BYTES, MAX_SCANNED_MEMBERS};

/// The elements of an array, each as its exact text without white space around it.
///
/// After an error nothing follows. What follows the array is checked when its end is reached.
pub fn elements(text: &str) -> Elements<'_> {
    Elements(Scanner::new(text, Brackets::ARRAY))
}

/// The members of an object in text order, each as its unescaped name and its value's exact text. A name may stand more
/// than once here; [`object`] refuses that.
///
/// After an error nothing follows. What follows the object is checked when its end is reached.
pub fn members(text: &str) -> Members<'_> {
    Members(Scanner::new(text, Brackets::OBJECT))
}

/// The members of an object of which none may be ambiguous, such as a JSON-RPC message.
///
/// # Errors
///
/// The first fault of the object's own structure, a name that stands twice, or more than [`MAX_SCANNED_MEMBERS`].
pub fn object(text: &str) -> Result<Vec<(Cow<'_, str>, &str)>, ParseError> {
    let mut members = Vec::new();
    let mut keys_at = Vec::new();
    let mut scanner = Scanner::new(text, Brackets::OBJECT);
    while let Some(member) = scanner.next(Scanner::member) {
        let (key_at, name, value) = member?;
        if members.len() == MAX_SCANNED_MEMBERS {
            let kind = ParseErrorKind::TooManyMembers { max_members: MAX_SCANNED_MEMBERS };
            return Err(error(LexError { kind, at: key_at }));
        }
        members.push((name, value));
        keys_at.push(key_at);
    }
    match first_repeated(&members) {
        None => Ok(members),
        Some(repeated) => {
            let mut path = Pointer::default();
            path.push(&members[repeated].0);
            let at = LexError { kind: ParseErrorKind::DuplicateKey, at: keys_at[repeated] };
            Err(ParseError { path: path.into_string(), ..error(at) })
        }
    }
}

/// The first member whose name stands before it already.
fn first_repeated(members: &[(Cow<'_, str>, &str)]) -> Option<usize> {
    let name = |member: usize| &members[member].0;
    let mut by_name: Vec<_> = (0..members.len()).collect();
    by_name.sort_by(|&l, &r| name(l).cmp(name(r)));
    by_name.windows(2).filter(|pair| name(pair[0]) == name(pair[1])).map(|pair| pair[1]).min()
}

fn error(LexError { kind, at }: LexError) -> ParseError {
    ParseError { kind, path: String::new(), offset_bytes: at }
}

/// The elements of an array, from [`elements`].
#[derive(Debug)]
pub struct Elements<'t>(Scanner<'t>);

impl<'t> Iterator for Elements<'t> {
    type Item = Result<&'t str, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next(Scanner::value)
    }
}

impl FusedIterator for Elements<'_> {}

/// The members of an object, from [`members`].
#[derive(Debug)]
pub struct Members<'t>(Scanner<'t>);

impl<'t> Iterator for Members<'t> {
    type Item = Result<(Cow<'t, str>, &'t str), ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        let member = self.0.next(Scanner::member)?;
        Some(member.map(|(_, name, value)| (name, value)))
    }
}

impl FusedIterator for Members<'_> {}

/// What encloses the entries.
#[derive(Debug, Clone, Copy)]
struct Brackets {
    opening: u8,
    closing: u8,
    expected: &'static str,
}

impl Brackets {
    const ARRAY: Self = Self { opening: b'[', closing: b']', expected: "an array" };
    const OBJECT: Self = Self { opening: b'{', closing: b'}', expected: "an object" };
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Start,
    AfterEntry,
    End,
}

#[derive(Debug)]
struct Scanner<'t> {
    text: &'t str,
    brackets: Brackets,
    at: usize,
    place: Place,
    /// The closing bracket of everything open inside the entry that is being passed.
    open: Vec<u8>,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str, brackets: Brackets) -> Self {
        Self { text, brackets, at: 0, place: Place::Start, open: Vec::new() }
    }

    /// The next entry, read by `read`.
    fn next<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, LexError>,
    ) -> Option<Result<T, ParseError>> {
        let entry = match self.go_to_entry() {
            Ok(true) => read(self),
            Ok(false) => return None,
            Err(error) => Err(error),
        };
        self.place = if entry.is_ok() { Place::AfterEntry } else { Place::End };
        Some(entry.map_err(error))
    }

    /// Goes to the start of the next entry; false when there is none.
    fn go_to_entry(&mut self) -> Result<bool, LexError> {
        match self.place {
            Place::End => return Ok(false),
            Place::Start => {
                lexer::check_start(self.text, MAX_DOCUMENT_BYTES)?;
                self.skip_whitespace();
                self.expect(self.brackets.opening, self.brackets.expected)?;
            }
            Place::AfterEntry => self.skip_whitespace(),
        }
        if self.peek() == Some(self.brackets.closing) {
            self.place = Place::End;
            return lexer::check_end(self.text.as_bytes(), self.at + 1).map(|()| false);
        }
        if matches!(self.place, Place::AfterEntry) {
            self.expect(b',', "`,` or the closing bracket")?;
        }
        Ok(true)
    }

    /// A member: where its key stands, its name and its value's text.
    fn member(&mut self) -> Result<(usize, Cow<'t, str>, &'t str), LexError> {
        let key_at = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a member's name in quotes"));
        }
        self.at = lexer::string(self.text.as_bytes(), key_at)?.end;
        let name = decode(&self.text[key_at..self.at]);
        self.skip_whitespace();
        self.expect(b':', "`:` after a member's name")?;
        Ok((key_at, name, self.value()?))
    }

    /// The text of a value: one string, one run of other characters, or everything between two brackets.
    fn value(&mut self) -> Result<&'t str, LexError> {
        let start = self.at;
        self.open.clear();
        loop {
            match self.peek() {
                Some(b'"') => self.pass_string()?,
                Some(b'{') => self.pass_opening(b'}'),
                Some(b'[') => self.pass_opening(b']'),
                Some(bracket @ (b'}' | b']')) if self.open.last() == Some(&bracket) => {
                    self.open.pop();
                    self.at += 1;
                }
                Some(b'}' | b']') => return Err(self.unexpected("a value or the bracket that matches")),
                Some(b',' | b':') if self.open.is_empty() => return Err(self.unexpected("a value")),
                Some(_) if self.open.is_empty() => self.pass_word(),
                Some(_) => self.at += 1,
                None => return Err(self.unexpected("the end of a value")),
            }
            if self.open.is_empty() {
                return Ok(&self.text[start..self.at]);
            }
        }
    }

    fn pass_opening(&mut self, closing: u8) {
        self.open.push(closing);
        self.at += 1;
    }

    /// Passes a string by its quotes and backslashes alone; what is in it is not judged.
    fn pass_string(&mut self) -> Result<(), LexError> {
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            self.at = lexer::plain_run(bytes, self.at);
            match bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err(self.unexpected("the end of a string")),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Passes everything up to the next character with a meaning between values.
    fn pass_word(&mut self) {
        let ends = |byte: u8| {
            matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' | b'"' | b'[' | b']' | b'{' | b'}')
        };
        while self.peek().is_some_and(|byte| !ends(byte)) {
            self.at += 1;
        }
    }

    /// Passes this byte and the white space after it.
    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), LexError> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(expected));
        }
        self.at += 1;
        self.skip_whitespace();
        Ok(())
    }

    fn skip_whitespace(&mut self) {
        self.at = lexer::skip_whitespace(self.text.as_bytes(), self.at);
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn unexpected(&self, expected: &'static str) -> LexError {
        lexer::unexpected(self.text.as_bytes(), self.at, expected)
    }
}
