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

/// Locks of one tool.
pub const MAX_LOCKS: usize = 128;

/// Bytes of one tool's [`Locks`](crate::locks::Locks) as JSON text.
pub const MAX_LOCKS_BYTES: usize = 64 * 1024;

/// What the locks of one tool may cost to read; the object around them counts as 1.
pub const LOCKS: ParseLimits = ParseLimits { max_bytes: MAX_LOCKS_BYTES, max_depth: 64 };

/// Schemas that an input's schema may come to, each counted as often as a reference or a nesting reaches it. The check of
/// a lock goes no deeper than the lock's value.
pub const MAX_CHECKED_SCHEMAS: usize = 2048;

/// Nesting of these schemas. What is deeper is in practice a reference to itself.
pub const MAX_CHECKED_SCHEMA_DEPTH: usize = 64;

/// Bytes of the keywords in these schemas.
pub const MAX_CHECKED_SCHEMA_BYTES: usize = 256 * 1024;

/// Regular expressions among these keywords.
pub const MAX_CHECKED_PATTERNS: usize = 16;

/// Bytes of one compiled regular expression.
pub const MAX_PATTERN_BYTES: usize = 256 * 1024;

/// `unevaluatedProperties` and `unevaluatedItems` among these keywords. Each has what it stands beside evaluated again.
pub const MAX_CHECKED_UNEVALUATED: usize = 4;

/// Bytes of the checked schema times bytes of the value.
pub const MAX_CHECK_PRODUCT_BYTES: usize = 1 << 27;

/// What the arguments of one call may cost to read; the object itself counts as 1.
pub const ARGUMENTS: ParseLimits = ParseLimits { max_bytes: 1024 * 1024, max_depth: 64 };

/// Bytes of an input schema times bytes of the arguments that it judges.
pub const MAX_ARGUMENTS_PRODUCT_BYTES: usize = 1 << 30;

/// Misfits of one call that are told.
pub const MAX_TOLD_MISFITS: usize = 8;

/// Characters of the part of a [`LockProblem`](crate::locks::LockProblem) that comes from a schema; a longer one is cut.
pub const MAX_PROBLEM_CHARS: usize = 300;

/// Characters of a description in a list of the Melbis shape.
pub const MAX_BRIEF_CHARS: usize = 160;

/// What a served definition may cost. Beside the definition it may hold a reviewer's description.
pub const SERVED_DEFINITION: ParseLimits =
    ParseLimits { max_bytes: 2 * MAX_DEFINITION_BYTES, max_depth: MAX_DEFINITION_DEPTH };

/// Bytes of a schema that references in it are inlined to; without its references it may be larger already.
pub const MAX_INLINED_BYTES: usize = 1024 * 1024;

/// Nesting of a schema that references in it are inlined to. Many readers take 128 levels of a whole answer.
pub const MAX_INLINED_DEPTH: usize = 120;

/// References of one schema that are followed, each counted as often as it is met.
pub const MAX_INLINED_REFERENCES: usize = 1024;

/// References that are followed inside each other.
pub const MAX_NESTED_REFERENCES: usize = 64;

/// Places that are listed where a reference could not be inlined.
pub const MAX_LISTED_CUTS: usize = 64;
