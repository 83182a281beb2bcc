//! Whose credential a tool server is reached with.

use super::{Transport, Upstream};
use crate::Violation;

/// Whose credential a tool server is reached with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// Nobody's.
    None,
    /// Its own: the headers or the environment that it was registered with.
    Static,
    /// That of whoever uses it. Headers, if there are any, are the credential of its syncs alone.
    PerUser,
}

impl Auth {
    /// What keeps `transport` from being reached so.
    pub fn violation<S>(self, transport: &Transport<S>) -> Option<Violation> {
        let problem = match (self, transport) {
            (Self::None, _) if transport.has_secrets() => {
                "is NONE, and headers or an environment are given; leave them out, or say STATIC"
            }
            (Self::Static, _) if !transport.has_secrets() => {
                "is STATIC, and neither headers nor an environment are given; give the credential, or say NONE"
            }
            (Self::PerUser, Transport::Stdio { .. }) => "is PER_USER, which takes a server over HTTP",
            (Self::None | Self::Static | Self::PerUser, _) => return None,
        };
        Some(Violation::new("auth", problem))
    }
}

impl Upstream {
    /// Whose credential it is reached with. What was registered with it counts as one, whatever it is for.
    pub fn auth(&self) -> Auth {
        match (self.is_per_user, self.transport.has_secrets()) {
            (true, _) => Auth::PerUser,
            (false, true) => Auth::Static,
            (false, false) => Auth::None,
        }
    }

    /// Whether it can be listed without a user: every one, but for one that is each user's own and has no credential for
    /// its syncs.
    pub fn is_synced(&self) -> bool {
        !self.is_per_user || self.transport.has_secrets()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(headers: &[&str]) -> Transport<()> {
        let headers = headers.iter().map(|name| ((*name).to_owned(), ())).collect();
        Transport::Http { url: "https://a.example/".into(), headers, allow_private: false }
    }

    #[test]
    fn what_is_said_of_the_credential_must_hold() {
        let stdio = |env: &[&str]| {
            let env = env.iter().map(|name| ((*name).to_owned(), ())).collect();
            Transport::Stdio { command: "/bin/x".into(), args: Vec::new(), env }
        };
        for (auth, transport, holds) in [
            (Auth::None, http(&[]), true),
            (Auth::None, http(&["X-Key"]), false),
            (Auth::None, stdio(&["TOKEN"]), false),
            (Auth::Static, http(&["X-Key"]), true),
            (Auth::Static, stdio(&["TOKEN"]), true),
            (Auth::Static, http(&[]), false),
            (Auth::PerUser, http(&[]), true),
            (Auth::PerUser, http(&["X-Key"]), true),
            (Auth::PerUser, stdio(&[]), false),
        ] {
            assert_eq!(auth.violation(&transport).is_none(), holds, "{auth:?} {transport:?}");
        }
    }
}
