//! From text to [`Document`], with a stack of our own in place of recursion.

use super::document::{Document, Entry, position};
use super::lexer::{self, LexError};
use super::node::Kind;
use super::pointer::Pointer;
use super::{ParseError, ParseErrorKind, ParseLimits, keys};

/// One entry is reserved for so many bytes of text; real definitions have about as many.
const BYTES_PER_ENTRY: usize = 16;

/// An object or array that is not closed yet.
struct Open {
    entry: u32,
    kind: Kind,
    /// The entry of the key whose value is being read.
    key: Option<u32>,
    /// Members or elements before the one being read.
    count: usize,
    /// Some key is written with an escape.
    escaped_keys: bool,
}

/// Reads one text.
pub(super) struct Parser<'t> {
    limits: ParseLimits,
    at: usize,
    open: Vec<Open>,
    document: Document<'t>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, limits: &ParseLimits) -> Self {
        let document = Document { text, entries: Vec::new(), sorted_keys: Vec::new() };
        Self { limits: *limits, at: 0, open: Vec::new(), document }
    }

    pub(super) fn parse(mut self) -> Result<Document<'t>, ParseError> {
        match self.whole_text() {
            Ok(()) => Ok(self.document),
            Err(LexError { kind, at }) => Err(ParseError { kind, path: self.path(), offset_bytes: at }),
        }
    }

    fn whole_text(&mut self) -> Result<(), LexError> {
        let text = self.document.text;
        lexer::check_start(text, self.limits.max_bytes)?;
        self.document.entries.reserve(text.len() / BYTES_PER_ENTRY);
        self.skip_whitespace();
        self.value()?;
        lexer::check_end(text.as_bytes(), self.at)
    }

    /// One value with everything in it.
    fn value(&mut self) -> Result<(), LexError> {
        loop {
            let opened = self.begin_value()?;
            let mut complete = !opened || self.close_if_next()?;
            while complete && !self.open.is_empty() {
                complete = self.close_or_comma()?;
            }
            if complete {
                return Ok(());
            }
            self.key_if_object()?;
        }
    }

    /// Reads a scalar, or opens an object or array (then true).
    fn begin_value(&mut self) -> Result<bool, LexError> {
        let (bytes, at) = (self.bytes(), self.at);
        let (kind, end, escaped) = match bytes.get(at) {
            Some(b'{') => return self.open(Kind::Object),
            Some(b'[') => return self.open(Kind::Array),
            Some(b'"') => {
                let token = lexer::string(bytes, at)?;
                (Kind::String, token.end, token.escaped)
            }
            Some(b'-' | b'0'..=b'9') => (Kind::Number, lexer::number(self.document.text, at)?, false),
            Some(b't') => (Kind::Bool, lexer::literal(bytes, at, "true")?, false),
            Some(b'f') => (Kind::Bool, lexer::literal(bytes, at, "false")?, false),
            Some(b'n') => (Kind::Null, lexer::literal(bytes, at, "null")?, false),
            _ => return Err(lexer::unexpected(bytes, at, "a value")),
        };
        self.push(kind, end, escaped);
        Ok(false)
    }

    fn open(&mut self, kind: Kind) -> Result<bool, LexError> {
        let max_depth = self.limits.max_depth;
        if self.open.len() >= max_depth {
            return Err(LexError { kind: ParseErrorKind::TooDeep { max_depth }, at: self.at });
        }
        let entry = position(self.document.entries.len());
        self.push(kind, self.at + 1, false);
        self.open.push(Open { entry, kind, key: None, count: 0, escaped_keys: false });
        self.skip_whitespace();
        Ok(true)
    }

    /// Closes the innermost object or array (then true) if its bracket is next.
    fn close_if_next(&mut self) -> Result<bool, LexError> {
        let Some(open) = self.open.last_mut() else { return Ok(false) };
        let bracket = if open.kind == Kind::Object { b'}' } else { b']' };
        if self.document.text.as_bytes().get(self.at) != Some(&bracket) {
            return Ok(false);
        }
        let keys_start = position(self.document.sorted_keys.len());
        if open.kind == Kind::Object
            && let Err(repeated) = keys::sort(&mut self.document, open.entry, open.escaped_keys)
        {
            open.key = Some(repeated);
            let at = self.document.entry(repeated).span().start;
            return Err(LexError { kind: ParseErrorKind::DuplicateKey, at });
        }
        self.at += 1;
        let keys_len = position(self.document.sorted_keys.len()) - keys_start;
        let next = position(self.document.entries.len());
        let entry = &mut self.document.entries[open.entry as usize];
        *entry = Entry { end: position(self.at), next, keys_start, keys_len, ..*entry };
        self.open.pop();
        Ok(true)
    }

    /// After a value inside an object or array: closes that (then true), or goes on to its next member or element.
    fn close_or_comma(&mut self) -> Result<bool, LexError> {
        self.skip_whitespace();
        if self.close_if_next()? {
            return Ok(true);
        }
        self.expect(b',', "`,` or the closing bracket")?;
        if let Some(open) = self.open.last_mut() {
            open.count += 1;
        }
        Ok(false)
    }

    /// Inside an object, reads the name and the colon before a value.
    fn key_if_object(&mut self) -> Result<(), LexError> {
        let (bytes, at) = (self.document.text.as_bytes(), self.at);
        let Some(open) = self.open.last_mut().filter(|open| open.kind == Kind::Object) else { return Ok(()) };
        open.key = None;
        if bytes.get(at) != Some(&b'"') {
            return Err(lexer::unexpected(bytes, at, "a member's name in quotes"));
        }
        let token = lexer::string(bytes, at)?;
        open.escaped_keys |= token.escaped;
        open.key = Some(position(self.document.entries.len()));
        self.push(Kind::String, token.end, token.escaped);
        self.skip_whitespace();
        self.expect(b':', "`:` after a member's name")
    }

    fn push(&mut self, kind: Kind, end: usize, escaped: bool) {
        let next = position(self.document.entries.len() + 1);
        let (start, end_at) = (position(self.at), position(end));
        self.document.entries.push(Entry {
            kind,
            escaped,
            start,
            end: end_at,
            next,
            keys_start: 0,
            keys_len: 0,
        });
        self.at = end;
    }

    /// Passes this byte and the white space after it.
    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), LexError> {
        if self.bytes().get(self.at) != Some(&byte) {
            return Err(lexer::unexpected(self.bytes(), self.at, expected));
        }
        self.at += 1;
        self.skip_whitespace();
        Ok(())
    }

    fn skip_whitespace(&mut self) {
        self.at = lexer::skip_whitespace(self.bytes(), self.at);
    }

    fn bytes(&self) -> &'t [u8] {
        self.document.text.as_bytes()
    }

    /// The JSON Pointer to the value that is being read.
    fn path(&self) -> String {
        let mut pointer = Pointer::default();
        for open in &self.open {
            match (open.key, open.kind) {
                (Some(key), _) => pointer.push(&self.document.string_at(key)),
                (None, Kind::Array) => pointer.push(&open.count.to_string()),
                (None, _) => {}
            }
        }
        pointer.into_string()
    }
}
