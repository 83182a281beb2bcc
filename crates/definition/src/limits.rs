//! Every bound of this crate.

use crate::json::ParseLimits;

/// Bytes of one definition's text. The largest of 5,044 real ones has 77 KiB.
pub const MAX_DEFINITION_BYTES: usize = 256 * 1024;

/// Nesting of objects and arrays in one definition; the definition object itself counts as 1. Real ones reach 24.
pub const MAX_DEFINITION_DEPTH: usize = 128;

/// What one definition may cost.
pub const DEFINITION: ParseLimits =
    ParseLimits { max_bytes: MAX_DEFINITION_BYTES, max_depth: MAX_DEFINITION_DEPTH };

/// Bytes of a tool's own name in UTF-8. MCP recommends 1 to 128 characters and does not require it, so a longer name is
/// kept; whether a name can be served is judged elsewhere ([`crate::names`]).
pub const MAX_NAME_BYTES: usize = 1024;

/// Bytes of any text that is parsed, whatever its [`ParseLimits`] say.
pub const MAX_DOCUMENT_BYTES: usize = 1 << 30;

/// Digits of a number's exponent, as written (leading zeros included) and in canonical form. Keeps every exponent inside
/// an `i64`, and every canonical form readable.
pub const MAX_EXPONENT_DIGITS: usize = 18;

/// Bytes of the path in a [`ParseError`](crate::json::ParseError); a longer one is cut.
pub const MAX_ERROR_PATH_BYTES: usize = 1024;

/// Members of an object that [`scan::object`](crate::scan::object) takes apart.
pub const MAX_SCANNED_MEMBERS: usize = 4096;

/// Characters of a [`Slug`](crate::names::Slug).
pub const MAX_SLUG_CHARS: usize = 64;

/// Characters of a name under which a tool is served.
pub const MAX_SERVED_NAME_CHARS: usize = 64;

/// Characters of the plain canonical name that are kept before a tail.
pub const CANONICAL_HEAD_CHARS: usize = 55;

/// Hexadecimal digits in a canonical name's tail. With the head and the `_` between, 64 characters.
pub const CANONICAL_TAIL_DIGITS: usize = 8;
