use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// How much of a server's log is wanted, from everything to nearly nothing (RFC 5424 as MCP spells it, Logging).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Details for who looks for a fault.
    Debug,
    /// What goes on.
    Info,
    /// What goes on and is worth a word.
    Notice,
    /// What may become a fault.
    Warning,
    /// A fault.
    Error,
    /// A fault of a part.
    Critical,
    /// To be acted on at once.
    Alert,
    /// The whole is of no use.
    Emergency,
}

/// A text that is no level.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("is no level; use debug, info, notice, warning, error, critical, alert or emergency")]
pub struct NotALevel;

impl LogLevel {
    /// All, the least severe first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// As MCP spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LogLevel {
    type Err = NotALevel;

    fn from_str(text: &str) -> Result<Self, NotALevel> {
        Self::ALL.into_iter().find(|level| level.as_str() == text).ok_or(NotALevel)
    }
}
