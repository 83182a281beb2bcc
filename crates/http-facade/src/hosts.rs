//! The guard against DNS rebinding.
//!
//! A web page may make its own name resolve to this service and so read it as its own origin. Such a request betrays
//! itself by the name it was sent to, or by its `Origin`: both must be a loopback host or one that the operator allowed.
//! Ports and schemes are not looked at.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderValue, Uri, Version};

use crate::envelope::Refusal;

/// The names under which this service may be addressed; loopback ones always are.
#[derive(Debug, Clone)]
pub(crate) struct AllowedHosts(Arc<[String]>);

/// Lets a request pass whose names are all allowed.
pub(crate) async fn guard(State(hosts): State<AllowedHosts>, request: Request, next: Next) -> Response {
    match hosts.check(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

impl AllowedHosts {
    pub(crate) fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self(names.into_iter().map(|name| name.to_ascii_lowercase()).collect())
    }

    fn check(&self, request: &Request) -> Result<(), Refusal> {
        self.check_host(request)?;
        request.headers().get_all(ORIGIN).iter().try_for_each(|origin| self.check_origin(origin))
    }

    /// In HTTP/2 the name is `:authority`, which stands in the URI, as does the name of an absolute-form target in
    /// HTTP/1.1, where `Host` is required all the same (RFC 9112, 3.2). All names that are there must be allowed.
    fn check_host(&self, request: &Request) -> Result<(), Refusal> {
        let mut lines = request.headers().get_all(HOST).iter();
        let host =
            lines.next().map(|line| authority(line).ok_or_else(Refusal::malformed_host)).transpose()?;
        let named = request.uri().authority();
        let is_enough = host.is_some() || (named.is_some() && request.version() >= Version::HTTP_2);
        if !is_enough || lines.next().is_some() {
            return Err(Refusal::malformed_host());
        }
        let is_ours = host.iter().chain(named).all(|name| self.allows(name));
        if is_ours { Ok(()) } else { Err(Refusal::misdirected()) }
    }

    /// `null`, which sandboxed pages and local files send, names no host and is refused.
    fn check_origin(&self, origin: &HeaderValue) -> Result<(), Refusal> {
        let uri = Uri::try_from(origin.as_bytes()).ok();
        let named = uri.as_ref().filter(|uri| uri.scheme().is_some()).and_then(Uri::authority);
        if named.is_some_and(|name| self.allows(name)) { Ok(()) } else { Err(Refusal::foreign_origin()) }
    }

    fn allows(&self, authority: &Authority) -> bool {
        let host = authority.host().to_ascii_lowercase();
        is_loopback(&host) || self.0.contains(&host)
    }
}

fn authority(line: &HeaderValue) -> Option<Authority> {
    Authority::try_from(line.as_bytes()).ok().filter(|authority| !authority.as_str().contains('@'))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match bare {
        Some(literal) => literal.parse().is_ok_and(|address: Ipv6Addr| address.to_canonical().is_loopback()),
        None => host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(host: &'static str) -> bool {
        AllowedHosts::new(["Tools.Example".to_owned()]).allows(&Authority::from_static(host))
    }

    #[test]
    fn loopback_and_allowed_names_pass_on_any_port() {
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:1",
            "127.8.9.10",
            "[::1]:8080",
            "[::ffff:127.0.0.1]",
            "tools.example",
            "TOOLS.example:443",
        ] {
            assert!(allows(host), "{host}");
        }
    }

    #[test]
    fn names_that_only_resemble_allowed_ones_do_not_pass() {
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "a.tools.example",
            "tools.example.",
            "10.0.0.1",
            "0.0.0.0",
            "[::2]",
            "[::ffff:10.0.0.1]",
            "2130706433",
        ] {
            assert!(!allows(host), "{host}");
        }
    }
}
