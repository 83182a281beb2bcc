//! What is wrong with a configuration.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The configuration file.
    File(PathBuf),
    /// A variable of the environment.
    Environment(&'static str),
    /// A flag, without its dashes.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "in {}", path.display()),
            Self::Environment(name) => write!(f, "variable {name}"),
            Self::Flag(name) => write!(f, "flag --{name}"),
        }
    }
}

/// One thing that is wrong. Texts never hold a secret's value.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A value that the setting does not take.
    #[error("{key} ({origin}): {reason}")]
    Value {
        /// The setting, as in the file.
        key: &'static str,
        /// Where the value was written.
        origin: Origin,
        /// What is wrong and what to write instead.
        reason: String,
    },
    /// A key of the file that is no setting.
    #[error("{key} (in {path}): no such setting: {remedy}")]
    UnknownKey {
        /// The key with its section.
        key: String,
        /// The file.
        path: PathBuf,
        /// The nearest setting, or the list.
        remedy: String,
    },
    /// A variable that begins like the product's and is none of them.
    #[error("{name} (in the environment): no such variable: {remedy}")]
    UnknownVariable {
        /// The variable.
        name: String,
        /// The nearest variable, or the list.
        remedy: String,
    },
    /// A variable whose value is not Unicode.
    #[error("{key} (variable {name}): is not UTF-8 text: write it again")]
    NotUnicode {
        /// The setting, as in the file.
        key: &'static str,
        /// The variable.
        name: &'static str,
    },
    /// Two listeners at one address.
    #[error("{first} and {second}: both listen on {address}: give each an address of its own")]
    SameAddress {
        /// One setting.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// The address of both.
        address: std::net::SocketAddr,
    },
    /// The file cannot be read.
    #[error(
        "configuration file {path} ({named_by}): cannot be read: {source}: correct the path or its permissions"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What named it.
        named_by: Origin,
        /// The system's answer.
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("configuration file {path}, line {line}: {reason}: write TOML as in the sample configuration")]
    NotToml {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What the parser says; without the line's text, which may hold a secret.
        reason: String,
    },
}

/// Everything that is wrong, one a line. Never empty.
#[derive(Debug)]
pub struct ConfigErrors(pub(crate) Vec<ConfigError>);

impl ConfigErrors {
    /// The errors: the file's, then the environment's, then the flags'.
    #[must_use]
    pub fn as_slice(&self) -> &[ConfigError] {
        &self.0
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let line_end = if index == 0 { "" } else { "\n" };
            write!(f, "{line_end}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}
