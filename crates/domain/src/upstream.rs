//! A registered tool server, as its operator declared it.

use std::fmt;

use toolgate_definition::names::Slug;

use crate::{ClientId, Moment, UpstreamId, Violation, limits};

mod auth;
mod call_policy;
mod change;
mod protocol;
mod unit;

pub use auth::Auth;
pub use call_policy::{CallPolicy, Freshness, Isolation};
pub use change::{ChangedUpstream, TransportChange, UpstreamChange};
pub use protocol::Protocol;
pub use unit::{PATH_SEPARATOR, path_violations, unit_description_violation};

/// A secret in its encrypted form. Only `toolgate-sealing` can open it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed(pub Vec<u8>);

/// A tool server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Identity; its order is that of creation.
    pub id: UpstreamId,
    /// The tenant that owns it.
    pub client: ClientId,
    /// First part of its tools' names.
    pub slug: Slug,
    /// Free text for people.
    pub display_name: String,
    /// What it is for, as agents read it; empty for nothing said.
    pub description: String,
    /// The folders that it stands in, from the root of the tree down.
    pub path: Vec<String>,
    /// How it is reached.
    pub transport: Transport<Sealed>,
    /// How its tools get the names that agents call them by.
    pub name_policy: NamePolicy,
    /// Whether each of its users has a credential of their own ([`Upstream::auth`]).
    pub is_per_user: bool,
    /// What it speaks.
    pub protocol: Protocol,
    /// How calls of its tools are made.
    pub calls: CallPolicy,
    /// Counts the changes of its endpoint. An approval counts only while it carries the present number.
    pub binding_epoch: u64,
    /// When it was registered.
    pub created_at: Moment,
}

/// What is left of an upstream that was deleted. It stays for good, and so does the void that it leaves: a name that the
/// upstream's tools held is free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// What its slug was; another upstream may have it now.
    pub slug: Slug,
    /// When it was deleted.
    pub deleted_at: Moment,
    /// By whom ([`crate::Caller::subject`]).
    pub subject: String,
    /// How many tools it had, in every state.
    pub tool_count: u32,
}

/// The binding epoch of an upstream whose endpoint was never another one.
pub const FIRST_BINDING_EPOCH: u64 = 1;

/// How the tools of an upstream get the names that agents call them by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NamePolicy {
    /// `<slug>__<name>`, joined without repair.
    #[default]
    Strict,
    /// The canonical name, given once and kept.
    Repair,
}

/// How a tool server is reached; `S` is the form of its secrets, which are never printed.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport<S> {
    /// An MCP server over Streamable HTTP.
    Http {
        /// Absolute `http` or `https` URL.
        url: String,
        /// Name and value, ordered by name.
        headers: Vec<(String, S)>,
        /// Whether loopback and private addresses may be reached.
        allow_private: bool,
    },
    /// An MCP server as a child process.
    Stdio {
        /// Absolute path of the program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// The whole environment, name and value, ordered by name.
        env: Vec<(String, S)>,
    },
}

impl<S> Transport<S> {
    /// Whether registering it takes `mcp:admin`.
    pub fn is_privileged(&self) -> bool {
        match self {
            Self::Http { allow_private, .. } => *allow_private,
            Self::Stdio { .. } => true,
        }
    }

    /// The same with every secret put through `f`, which is told the kind of secret and its name.
    pub fn try_map<T, E>(self, mut f: impl FnMut(&str, S) -> Result<T, E>) -> Result<Transport<T>, E> {
        let mut map = |kind: &str, all: Vec<(String, S)>| -> Result<Vec<(String, T)>, E> {
            all.into_iter().map(|(name, s)| f(&format!("{kind}:{name}"), s).map(|t| (name, t))).collect()
        };
        Ok(match self {
            Self::Http { url, headers, allow_private } => {
                Transport::Http { url, headers: map("header", headers)?, allow_private }
            }
            Self::Stdio { command, args, env } => Transport::Stdio { command, args, env: map("env", env)? },
        })
    }
}

impl<S> fmt::Debug for Transport<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            |secrets: &[(String, S)]| secrets.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        match self {
            Self::Http { url, headers, allow_private } => {
                let mut http = f.debug_struct("Http");
                http.field("url", url)
                    .field("headers", &names(headers))
                    .field("allow_private", allow_private);
                http.finish()
            }
            Self::Stdio { command, args, env } => {
                let mut stdio = f.debug_struct("Stdio");
                stdio.field("command", command).field("args", args).field("env", &names(env)).finish()
            }
        }
    }
}

impl Transport<String> {
    /// What is wrong with it, field by field.
    pub fn violations(&self) -> Vec<Violation> {
        match self {
            Self::Http { url, headers, .. } => {
                let mut found = url_violations(url);
                found.extend(header_violations(headers));
                found
            }
            Self::Stdio { command, args, env } => {
                let mut found = command_violations(command, args);
                found.extend(variable_violations(env));
                found
            }
        }
    }
}

fn url_violations(text: &str) -> Vec<Violation> {
    let wrong = |problem: &str| vec![Violation::new("http.url", problem)];
    if text.len() > limits::MAX_URL_BYTES {
        return wrong("is longer than 2048 bytes");
    }
    let Ok(url) = url::Url::parse(text) else {
        return wrong("is not an absolute URL; give one such as https://tools.example.com/mcp");
    };
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return wrong("must be http or https with a host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return wrong("holds user information; send credentials as a header");
    }
    if url.fragment().is_some() {
        return wrong("holds a fragment; remove everything from # on");
    }
    Vec::new()
}

fn command_violations(command: &str, args: &[String]) -> Vec<Violation> {
    let mut found = Vec::new();
    if !command.starts_with('/') || command.contains('\0') || command.len() > limits::MAX_SECRET_VALUE_BYTES {
        found.push(Violation::new("stdio.command", "must be an absolute path"));
    }
    if args.len() > limits::MAX_STDIO_ARGS {
        found.push(Violation::new("stdio.args", format!("has more than {} entries", limits::MAX_STDIO_ARGS)));
    }
    for (index, arg) in args.iter().enumerate() {
        if arg.contains('\0') || arg.len() > limits::MAX_SECRET_VALUE_BYTES {
            let problem = format!("must be at most {} bytes without NUL", limits::MAX_SECRET_VALUE_BYTES);
            found.push(Violation::new(format!("stdio.args[{index}]"), problem));
        }
    }
    found
}

fn header_violations(headers: &[(String, String)]) -> Vec<Violation> {
    secret_violations("http.headers", headers, limits::MAX_HEADERS, is_header_name)
}

fn variable_violations(env: &[(String, String)]) -> Vec<Violation> {
    secret_violations("stdio.env", env, limits::MAX_STDIO_ENV, is_variable_name)
}

fn secret_violations(
    field: &str,
    secrets: &[(String, String)],
    max: usize,
    is_name: fn(&str) -> bool,
) -> Vec<Violation> {
    let mut found = Vec::new();
    if secrets.len() > max {
        found.push(Violation::new(field, format!("has more than {max} entries")));
    }
    let total: usize = secrets.iter().map(|(name, value)| name.len() + value.len()).sum();
    if total > limits::MAX_UPSTREAM_SECRET_BYTES {
        let problem = format!("has more than {} bytes in all", limits::MAX_UPSTREAM_SECRET_BYTES);
        found.push(Violation::new(field, problem));
    }
    for (name, value) in secrets {
        if name.len() > limits::MAX_SECRET_NAME_BYTES || !is_name(name) {
            found.push(Violation::new(field, "has a name that cannot be sent"));
        } else if value.len() > limits::MAX_SECRET_VALUE_BYTES || !value.chars().all(is_value_char) {
            let problem = format!(
                "must be at most {} bytes without control characters",
                limits::MAX_SECRET_VALUE_BYTES
            );
            found.push(Violation::new(format!("{field}[\"{name}\"]"), problem));
        }
    }
    found
}

/// A token (RFC 9110 section 5.6.2).
fn is_header_name(name: &str) -> bool {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(token)
}

fn is_variable_name(name: &str) -> bool {
    let part = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    !name.is_empty() && name.bytes().all(part) && !name.as_bytes()[0].is_ascii_digit()
}

fn is_value_char(c: char) -> bool {
    !c.is_control() || c == '\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(url: &str, headers: &[(&str, &str)]) -> Transport<String> {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Transport::Http { url: url.into(), headers, allow_private: false }
    }

    #[test]
    fn a_url_that_could_not_be_called_is_refused_with_the_remedy() {
        for (url, word) in [
            ("tools.example.com", "absolute"),
            ("ftp://a.example", "http or https"),
            ("https://u:p@a.example/", "user information"),
            ("https://a.example/#x", "fragment"),
        ] {
            let found = http(url, &[]).violations();
            assert!(found[0].field == "http.url" && found[0].problem.contains(word), "{url}: {found:?}");
        }
        assert!(http("https://a.example/mcp?x=1", &[("Authorization", "Bearer x")]).violations().is_empty());
    }

    #[test]
    fn a_header_that_would_split_the_request_is_refused() {
        for (name, value) in [("X-A", "a\r\nB: c"), ("", "x"), ("a b", "x")] {
            assert_eq!(http("https://a.example/", &[(name, value)]).violations().len(), 1, "{name}");
        }
    }

    #[test]
    fn law_12_a_transport_is_printed_without_its_secrets() {
        let env = vec![("TOKEN".to_owned(), "s3cr3t".to_owned())];
        let stdio = Transport::Stdio { command: "/bin/x".into(), args: vec!["-y".into()], env };
        let printed = format!("{:?} {stdio:?}", http("https://a.example/", &[("X-Key", "s3cr3t")]));
        assert!(
            printed.contains("X-Key") && printed.contains("TOKEN") && !printed.contains("s3cr3t"),
            "{printed}"
        );
    }

    #[test]
    fn a_relative_command_is_refused() {
        let stdio = |command: &str| Transport::Stdio { command: command.into(), args: vec![], env: vec![] };
        assert_eq!(stdio("node").violations()[0].field, "stdio.command");
        assert!(stdio("/usr/bin/node").violations().is_empty());
    }
}
