//! What may be declared differently, and what follows from it. Pure.

use url::Url;

use super::{
    Auth, Freshness, Isolation, NamePolicy, Sealed, Transport, Upstream, command_violations,
    header_violations, url_violations, variable_violations,
};
use crate::{Violation, limits};

/// What is to be declared differently; `None` stays as it is. `S` is the form of secrets.
#[derive(Clone)]
pub struct UpstreamChange<S> {
    /// Free text for people.
    pub display_name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// All folders that it stands in.
    pub path: Option<Vec<String>>,
    /// How its tools get their names.
    pub name_policy: Option<NamePolicy>,
    /// Whose credential it is reached with.
    pub auth: Option<Auth>,
    /// What a call does where its list may be another by now.
    pub freshness: Option<Freshness>,
    /// Which calls share a session with it.
    pub isolation: Option<Isolation>,
    /// How it is reached.
    pub transport: Option<TransportChange<S>>,
}

impl<S> UpstreamChange<S> {
    /// The change that changes nothing.
    pub const NOTHING: Self = Self {
        display_name: None,
        description: None,
        path: None,
        name_policy: None,
        auth: None,
        freshness: None,
        isolation: None,
        transport: None,
    };

    /// Every secret put through `f`, which is told the kind of secret and its name.
    pub fn try_map<T, E>(self, f: impl FnMut(&str, S) -> Result<T, E>) -> Result<UpstreamChange<T>, E> {
        let Self { display_name, description, path, name_policy, auth, freshness, isolation, transport } =
            self;
        let transport = transport.map(|transport| transport.try_map(f)).transpose()?;
        Ok(UpstreamChange {
            display_name,
            description,
            path,
            name_policy,
            auth,
            freshness,
            isolation,
            transport,
        })
    }
}

/// What is to be different about how an upstream is reached. Everything is to be given where it was reached otherwise.
#[derive(Clone)]
pub enum TransportChange<S> {
    /// As [`Transport::Http`].
    Http {
        /// The URL.
        url: Option<String>,
        /// All headers.
        headers: Option<Vec<(String, S)>>,
        /// Whether loopback and private addresses may be reached.
        allow_private: Option<bool>,
    },
    /// As [`Transport::Stdio`].
    Stdio {
        /// The program.
        command: Option<String>,
        /// All arguments.
        args: Option<Vec<String>>,
        /// The whole environment.
        env: Option<Vec<(String, S)>>,
    },
}

/// An upstream as it is declared from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedUpstream {
    /// The upstream.
    pub upstream: Upstream,
    /// Whether its endpoint is another one. Its binding epoch tells whether approvals outlive that.
    pub is_moved: bool,
}

impl Upstream {
    /// This upstream, declared differently. A change of the endpoint ends all approvals unless `keep_approvals`.
    ///
    /// # Errors
    /// What cannot be: parts of a transport that the upstream does not have, a secret that was given for one server and
    /// would be sent to another, or a credential that is not as it is said to be.
    pub fn changed(
        &self,
        change: UpstreamChange<Sealed>,
        keep_approvals: bool,
    ) -> Result<ChangedUpstream, Violation> {
        let mut upstream = self.clone();
        upstream.display_name = change.display_name.unwrap_or(upstream.display_name);
        upstream.description = change.description.unwrap_or(upstream.description);
        upstream.path = change.path.unwrap_or(upstream.path);
        upstream.name_policy = change.name_policy.unwrap_or(upstream.name_policy);
        upstream.calls.freshness = change.freshness.unwrap_or(upstream.calls.freshness);
        upstream.calls.isolation = change.isolation.unwrap_or(upstream.calls.isolation);
        if let Some(change) = change.transport {
            upstream.transport = change.applied(&self.transport)?;
        }
        upstream.is_per_user = change.auth.map_or(upstream.is_per_user, |auth| auth == Auth::PerUser);
        let auth = change.auth.unwrap_or(upstream.auth()).violation(&upstream.transport);
        if let Some(violation) = auth.or_else(|| upstream.protocol.violation(&upstream.transport)) {
            return Err(violation);
        }
        let is_moved = !self.transport.is_same_endpoint(&upstream.transport);
        if is_moved && !keep_approvals {
            upstream.binding_epoch += 1;
        }
        Ok(ChangedUpstream { upstream, is_moved })
    }
}

impl<S> TransportChange<S> {
    /// Every secret put through `f`, which is told the kind of secret and its name.
    pub fn try_map<T, E>(self, f: impl FnMut(&str, S) -> Result<T, E>) -> Result<TransportChange<T>, E> {
        let mut f = f;
        let mut map = |kind: &str, all: Option<Vec<(String, S)>>| {
            let mut one = |(name, s): (String, S)| f(&format!("{kind}:{name}"), s).map(|t| (name, t));
            all.map(|all| all.into_iter().map(&mut one).collect()).transpose()
        };
        Ok(match self {
            Self::Http { url, headers, allow_private } => {
                TransportChange::Http { url, headers: map("header", headers)?, allow_private }
            }
            Self::Stdio { command, args, env } => {
                TransportChange::Stdio { command, args, env: map("env", env)? }
            }
        })
    }
}

impl TransportChange<String> {
    /// What is wrong with what is given, field by field.
    pub fn violations(&self) -> Vec<Violation> {
        match self {
            Self::Http { url, headers, .. } => {
                let mut found = url.as_deref().map(url_violations).unwrap_or_default();
                found.extend(headers.iter().flat_map(|headers| header_violations(headers)));
                found
            }
            Self::Stdio { command, args, env } => {
                let args = args.as_deref().unwrap_or_default();
                let mut found = command_violations(command.as_deref().unwrap_or("/"), args);
                found.extend(env.iter().flat_map(|env| variable_violations(env)));
                found
            }
        }
    }
}

impl TransportChange<Sealed> {
    fn applied(self, before: &Transport<Sealed>) -> Result<Transport<Sealed>, Violation> {
        let (after, gives_secrets, field) = match self {
            Self::Http { url, headers, allow_private } => {
                let gives_secrets = headers.is_some();
                let (old_url, old_headers, old_private) = match before {
                    Transport::Http { url, headers, allow_private } => {
                        (Some(url.clone()), Some(headers.clone()), Some(*allow_private))
                    }
                    Transport::Stdio { .. } => (None, None, None),
                };
                let parts = (url.or(old_url), headers.or(old_headers), allow_private.or(old_private));
                let (Some(url), Some(headers), Some(allow_private)) = parts else {
                    return Err(incomplete("http"));
                };
                (Transport::Http { url, headers, allow_private }, gives_secrets, "http.headers")
            }
            Self::Stdio { command, args, env } => {
                let gives_secrets = env.is_some();
                let (old_command, old_args, old_env) = match before {
                    Transport::Stdio { command, args, env } => {
                        (Some(command.clone()), Some(args.clone()), Some(env.clone()))
                    }
                    Transport::Http { .. } => (None, None, None),
                };
                let parts = (command.or(old_command), args.or(old_args), env.or(old_env));
                let (Some(command), Some(args), Some(env)) = parts else { return Err(incomplete("stdio")) };
                (Transport::Stdio { command, args, env }, gives_secrets, "stdio.env")
            }
        };
        if !gives_secrets && before.has_secrets() && !before.is_same_server(&after) {
            let problem =
                "must be given anew, or given empty: what was given for one server is not sent to another";
            return Err(Violation::new(field, problem));
        }
        Ok(after)
    }
}

fn incomplete(transport: &str) -> Violation {
    Violation::new(transport, "must be given whole, because the upstream is reached otherwise so far")
}

impl<S> Transport<S> {
    /// Whether an approval for this one is one for `other`: the same URL, or the same command with the same arguments.
    pub fn is_same_endpoint<T>(&self, other: &Transport<T>) -> bool {
        match (self, other) {
            (Self::Http { url: one, .. }, Transport::Http { url: other, .. }) => {
                one == other
                    || matches!((Url::parse(one), Url::parse(other)), (Ok(one), Ok(other)) if one == other)
            }
            (Self::Stdio { command, args, .. }, Transport::Stdio { command: other, args: others, .. }) => {
                command == other && args == others
            }
            (Self::Http { .. }, Transport::Stdio { .. }) | (Self::Stdio { .. }, Transport::Http { .. }) => {
                false
            }
        }
    }

    /// Whether what `other` is sent is seen by the same server: the same origin, or the same endpoint.
    fn is_same_server<T>(&self, other: &Transport<T>) -> bool {
        match (self, other) {
            (Self::Http { url: one, .. }, Transport::Http { url: other, .. }) => {
                matches!((Url::parse(one), Url::parse(other)), (Ok(one), Ok(other)) if one.origin() == other.origin())
            }
            _ => self.is_same_endpoint(other),
        }
    }

    pub(super) fn has_secrets(&self) -> bool {
        match self {
            Self::Http { headers, .. } => !headers.is_empty(),
            Self::Stdio { env, .. } => !env.is_empty(),
        }
    }

    /// The endpoint for the log: a URL without its query, or a command with its arguments, cut to
    /// [`limits::MAX_LOGGED_ENDPOINT_BYTES`].
    pub fn endpoint_text(&self) -> String {
        let mut text = match self {
            Self::Http { url, .. } => match url.split_once('?') {
                Some((url, _)) => format!("{url}?…"),
                None => url.clone(),
            },
            Self::Stdio { command, args, .. } => {
                let words = std::iter::once(command).chain(args).map(String::as_str);
                words.collect::<Vec<_>>().join(" ")
            }
        };
        if text.len() > limits::MAX_LOGGED_ENDPOINT_BYTES {
            text.truncate(text.floor_char_boundary(limits::MAX_LOGGED_ENDPOINT_BYTES));
            text.push('…');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::{CallPolicy, Protocol};
    use crate::{ClientId, Moment, UpstreamId};

    fn http(url: &str, headers: &[&str]) -> Transport<Sealed> {
        let headers = headers.iter().map(|name| ((*name).to_owned(), Sealed(vec![1]))).collect();
        Transport::Http { url: url.into(), headers, allow_private: false }
    }

    fn stdio(command: &str, args: &[&str], env: &[&str]) -> Transport<Sealed> {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let env = env.iter().map(|name| ((*name).to_owned(), Sealed(vec![1]))).collect();
        Transport::Stdio { command: command.into(), args, env }
    }

    fn upstream(transport: Transport<Sealed>) -> Upstream {
        Upstream {
            id: UpstreamId::from_bytes([1; 16]),
            client: ClientId::from_bytes([2; 16]),
            slug: "srv".parse().unwrap(),
            display_name: "Server".into(),
            description: String::new(),
            path: Vec::new(),
            transport,
            name_policy: NamePolicy::Strict,
            is_per_user: false,
            protocol: Protocol::Mcp,
            calls: CallPolicy::default(),
            binding_epoch: 4,
            created_at: Moment::default(),
        }
    }

    fn to(transport: TransportChange<Sealed>) -> UpstreamChange<Sealed> {
        UpstreamChange { transport: Some(transport), ..UpstreamChange::NOTHING }
    }

    fn url(url: &str) -> TransportChange<Sealed> {
        TransportChange::Http { url: Some(url.into()), headers: None, allow_private: None }
    }

    fn headers(names: &[&str]) -> TransportChange<Sealed> {
        let Transport::Http { headers, .. } = http("", names) else { unreachable!() };
        TransportChange::Http { url: None, headers: Some(headers), allow_private: None }
    }

    const AT: &str = "https://a.example/mcp";

    #[test]
    fn a_changed_endpoint_ends_approvals_unless_they_are_kept() {
        for other in [
            "https://b.example/mcp",
            "http://a.example/mcp",
            "https://a.example/x",
            "https://a.example/mcp?q",
        ] {
            for (keep, epoch) in [(false, 5), (true, 4)] {
                let changed = upstream(http(AT, &[])).changed(to(url(other)), keep).unwrap();
                assert_eq!((changed.is_moved, changed.upstream.binding_epoch), (true, epoch), "{other}");
            }
        }
        let args = TransportChange::Stdio { command: None, args: Some(vec!["y".into()]), env: None };
        let changed = upstream(stdio("/bin/x", &[], &[])).changed(to(args), false).unwrap();
        assert_eq!(changed.upstream.binding_epoch, 5);
    }

    #[test]
    fn other_changes_keep_approvals() {
        let before = upstream(http(AT, &["X-Key"]));
        let same = url("https://A.example:443/mcp");
        let private = TransportChange::Http { url: None, headers: None, allow_private: Some(true) };
        for change in [same, headers(&["Y"]), headers(&[]), private] {
            let changed = before.changed(to(change), false).unwrap();
            assert_eq!((changed.is_moved, changed.upstream.binding_epoch), (false, 4));
        }
        let names = UpstreamChange {
            display_name: Some("x".into()),
            description: Some("What it is for.".into()),
            path: Some(vec!["Business".into()]),
            name_policy: Some(NamePolicy::Repair),
            freshness: Some(Freshness::Refuse),
            isolation: Some(Isolation::Shared),
            ..UpstreamChange::NOTHING
        };
        let changed = before.changed(names, false).unwrap().upstream;
        assert_eq!((changed.binding_epoch, &changed.transport), (4, &before.transport));
        assert_eq!((&*changed.description, &*changed.place()), ("What it is for.", "Business -> x"));
        let calls = CallPolicy { freshness: Freshness::Refuse, isolation: Isolation::Shared };
        assert_eq!(changed.calls, calls);
    }

    #[test]
    fn law_12_a_secret_given_for_one_server_is_not_sent_to_another() {
        let before = upstream(http(AT, &["X-Key"]));
        for other in ["https://b.example/mcp", "http://a.example/mcp", "https://a.example:8443/mcp"] {
            let refused = before.changed(to(url(other)), false).unwrap_err();
            assert_eq!(refused.field, "http.headers", "{other}");
            let TransportChange::Http { headers: anew, .. } = headers(&[]) else { unreachable!() };
            let given = TransportChange::Http { url: Some(other.into()), headers: anew, allow_private: None };
            assert!(before.changed(to(given), false).is_ok());
            assert!(upstream(http(AT, &[])).changed(to(url(other)), false).is_ok(), "there is none to send");
        }
        assert!(before.changed(to(url("https://a.example/other")), false).is_ok(), "the same server");
        let child = upstream(stdio("/bin/x", &["a"], &["TOKEN"]));
        for (command, args) in [(Some("/bin/y".into()), None), (None, Some(vec!["b".into()]))] {
            let change = TransportChange::Stdio { command, args, env: None };
            assert_eq!(child.changed(to(change), false).unwrap_err().field, "stdio.env");
        }
    }

    #[test]
    fn another_transport_is_to_be_given_whole() {
        let before = upstream(http(AT, &["X-Key"]));
        let command = Some("/bin/x".to_owned());
        let part = TransportChange::Stdio { command: command.clone(), args: None, env: Some(vec![]) };
        assert_eq!(before.changed(to(part), false).unwrap_err().field, "stdio");
        let whole = TransportChange::Stdio { command, args: Some(vec![]), env: Some(vec![]) };
        let changed = before.changed(to(whole), false).unwrap();
        assert_eq!((changed.is_moved, changed.upstream.transport), (true, stdio("/bin/x", &[], &[])));
    }

    #[test]
    fn a_credential_is_its_servers_or_its_users_as_it_is_said_last() {
        let to_auth =
            |auth, transport| UpstreamChange { auth: Some(auth), transport, ..UpstreamChange::NOTHING };
        let before = upstream(http(AT, &["X-Key"]));
        assert_eq!((before.auth(), before.is_synced()), (Auth::Static, true));
        assert_eq!(before.changed(to_auth(Auth::None, None), false).unwrap_err().field, "auth");
        let per_user = before.changed(to_auth(Auth::PerUser, Some(headers(&[]))), false).unwrap().upstream;
        assert_eq!((per_user.auth(), per_user.is_synced()), (Auth::PerUser, false));
        let with_own = per_user.changed(to(headers(&["X-Key"])), false).unwrap().upstream;
        assert_eq!((with_own.auth(), with_own.is_synced()), (Auth::PerUser, true));
        let command = Some("/bin/x".to_owned());
        let child = TransportChange::Stdio { command, args: Some(vec![]), env: Some(vec![]) };
        assert_eq!(with_own.changed(to(child.clone()), false).unwrap_err().field, "auth");
        let child = with_own.changed(to_auth(Auth::None, Some(child)), false).unwrap().upstream;
        assert_eq!((child.auth(), child.is_synced()), (Auth::None, true));
    }

    #[test]
    fn an_endpoint_is_logged_without_what_may_be_secret_and_not_longer_than_the_limit() {
        assert_eq!(
            http("https://a.example/mcp?key=s3cr3t", &["X"]).endpoint_text(),
            "https://a.example/mcp?…"
        );
        assert_eq!(stdio("/bin/x", &["-y"], &["TOKEN"]).endpoint_text(), "/bin/x -y");
        let long = stdio("/bin/x", &["é".repeat(4000).as_str()], &[]).endpoint_text();
        assert!(long.len() <= limits::MAX_LOGGED_ENDPOINT_BYTES + '…'.len_utf8() && long.ends_with('…'));
    }
}
