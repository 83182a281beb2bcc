use std::fmt;

use thiserror::Error;

use crate::limits::MAX_EXPONENT_DIGITS;

/// Why a text is not taken as JSON, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// JSON Pointer (RFC 6901) to the value in which it was found, empty for the text itself. For a duplicate it points to
    /// the member that stands twice. Cut at [`MAX_ERROR_PATH_BYTES`](crate::limits::MAX_ERROR_PATH_BYTES).
    pub path: String,
    /// Place in the text, in bytes from its start.
    pub offset_bytes: usize,
}

impl ParseError {
    /// The short stable code of [`kind`](Self::kind).
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }
}

impl fmt::Display for ParseError {
    /// One sentence. The path's control and invisible characters are escaped, so that it can stand in a log line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, at byte {}", self.kind, self.offset_bytes)?;
        if self.path.is_empty() {
            return Ok(());
        }
        write!(formatter, " in {}", self.path.escape_debug())
    }
}

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ParseErrorKind {
    /// More bytes than the limits allow.
    #[error("the text is larger than {max_bytes} bytes")]
    TooLarge {
        /// The limit.
        max_bytes: usize,
    },
    /// Deeper nesting than the limits allow.
    #[error("objects and arrays are nested deeper than {max_depth} levels")]
    TooDeep {
        /// The limit.
        max_depth: usize,
    },
    /// More members than the scanner takes apart.
    #[error("an object has more than {max_members} members")]
    TooManyMembers {
        /// The limit.
        max_members: usize,
    },
    /// One object names a member twice (keys compared after unescaping).
    #[error("a member stands twice in one object")]
    DuplicateKey,
    /// A `\u` escape names half of a surrogate pair, which no UTF-8 text can hold.
    #[error("a string holds a lone surrogate escape")]
    LoneSurrogate,
    /// An exponent has more digits than are read, as written or as the canonical form would write it.
    #[error("a number's exponent has more than {MAX_EXPONENT_DIGITS} digits")]
    ExponentTooLong,
    /// The text starts with U+FEFF.
    #[error("the text starts with a byte order mark")]
    ByteOrderMark,
    /// The text stops inside a value.
    #[error("the text ends before its value does")]
    UnexpectedEnd,
    /// Another character than the grammar asks for.
    #[error("expected {expected}")]
    Unexpected {
        /// What could have stood here.
        expected: &'static str,
    },
    /// A character below U+0020 stands unescaped in a string.
    #[error("a string holds an unescaped control character")]
    ControlCharacter,
    /// A backslash is followed by something that is no escape.
    #[error("a string holds an invalid escape")]
    InvalidEscape,
    /// A number is not spelt as JSON asks.
    #[error("a number is not spelt as JSON asks")]
    InvalidNumber,
    /// Something follows the value.
    #[error("text follows the value")]
    TrailingText,
}

impl ParseErrorKind {
    /// A short stable code. Everything that breaks the grammar of RFC 8259 is `MALFORMED`.
    pub fn code(self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "TOO_LARGE",
            Self::TooDeep { .. } => "TOO_DEEP",
            Self::TooManyMembers { .. } => "TOO_MANY_MEMBERS",
            Self::DuplicateKey => "DUPLICATE_KEY",
            Self::LoneSurrogate => "LONE_SURROGATE",
            Self::ExponentTooLong => "EXPONENT_TOO_LONG",
            Self::ByteOrderMark
            | Self::UnexpectedEnd
            | Self::Unexpected { .. }
            | Self::ControlCharacter
            | Self::InvalidEscape
            | Self::InvalidNumber
            | Self::TrailingText => "MALFORMED",
        }
    }
}
