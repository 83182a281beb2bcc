//! An exact reader of JSON (RFC 8259): the text is kept, and the tree is a view over it.
//!
//! Nothing is lost or decided on the way in: members keep their order, numbers stay as written, strings keep their
//! escapes until they are asked for. What would be ambiguous is refused: an object that names a member twice, a lone
//! surrogate, a byte order mark, anything after the value.

mod decimal;
mod document;
mod error;
mod keys;
pub(crate) mod lexer;
mod node;
mod parser;
mod pointer;
mod string;

pub use document::Document;
pub use error::{ParseError, ParseErrorKind};
pub use node::{Elements, Kind, Members, Node};

pub(crate) use decimal::Decimal;
pub(crate) use lexer::LexError;
pub(crate) use node::SortedMembers;
pub(crate) use pointer::Pointer;
pub use string::quote;
pub(crate) use string::{Piece, Pieces, decode};

/// What parsing one text may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseLimits {
    /// Bytes of the text; never more than [`MAX_DOCUMENT_BYTES`](crate::limits::MAX_DOCUMENT_BYTES).
    pub max_bytes: usize,
    /// Nesting of objects and arrays; one that holds no other counts as 1, a scalar as 0.
    pub max_depth: usize,
}
