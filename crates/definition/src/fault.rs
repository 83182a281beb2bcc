use thiserror::Error;

use crate::json::{Kind, ParseError};
use crate::limits::MAX_NAME_BYTES;

/// Why an entry of a listing is no definition. It concerns that entry alone, never its listing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DefinitionFault {
    /// The text is not taken as JSON.
    #[error(transparent)]
    Json(#[from] ParseError),
    /// The entry is another kind of value.
    #[error("a definition must be an object, this is {found}")]
    NotAnObject {
        /// What it is.
        found: Kind,
    },
    /// There is no `name`.
    #[error("`name` is missing")]
    NameMissing,
    /// `name` is another kind of value.
    #[error("`name` must be a string, this is {found}")]
    NameNotAString {
        /// What it is.
        found: Kind,
    },
    /// `name` is the empty string.
    #[error("`name` is empty")]
    NameEmpty,
    /// `name` is over [`MAX_NAME_BYTES`].
    #[error("`name` has {bytes} bytes, at most {MAX_NAME_BYTES} are taken")]
    NameTooLong {
        /// Its length in UTF-8.
        bytes: usize,
    },
    /// There is no `inputSchema`.
    #[error("`inputSchema` is missing")]
    InputSchemaMissing,
    /// `inputSchema` is another kind of value. An empty object, or one without `type`, is fine.
    #[error("`inputSchema` must be an object, this is {found}")]
    InputSchemaNotAnObject {
        /// What it is.
        found: Kind,
    },
}

impl DefinitionFault {
    /// A short stable code, for example `NAME_MISSING`; for [`Json`](Self::Json) that of
    /// [`ParseErrorKind::code`](crate::json::ParseErrorKind::code).
    pub fn code(&self) -> &'static str {
        match self {
            Self::Json(error) => error.code(),
            Self::NotAnObject { .. } => "NOT_AN_OBJECT",
            Self::NameMissing => "NAME_MISSING",
            Self::NameNotAString { .. } => "NAME_NOT_A_STRING",
            Self::NameEmpty => "NAME_EMPTY",
            Self::NameTooLong { .. } => "NAME_TOO_LONG",
            Self::InputSchemaMissing => "INPUT_SCHEMA_MISSING",
            Self::InputSchemaNotAnObject { .. } => "INPUT_SCHEMA_NOT_AN_OBJECT",
        }
    }

    /// JSON Pointer (RFC 6901) to the place inside the entry; empty for the entry itself.
    pub fn path(&self) -> &str {
        match self {
            Self::Json(error) => &error.path,
            Self::NameNotAString { .. } | Self::NameEmpty | Self::NameTooLong { .. } => "/name",
            Self::InputSchemaNotAnObject { .. } => "/inputSchema",
            Self::NotAnObject { .. } | Self::NameMissing | Self::InputSchemaMissing => "",
        }
    }
}
