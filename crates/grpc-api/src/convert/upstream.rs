//! Upstreams to the wire; transports from it.

use std::collections::HashMap;

use toolgate_api_proto::v1 as pb;
use toolgate_catalog::upstreams::UpstreamDetail;
use toolgate_domain::{
    Caller, Fault, Scope,
    sync_issue::SyncIssue,
    sync_status::Health,
    upstream::{Auth, Freshness, Isolation, NamePolicy, Protocol, Transport},
};

use super::fields::{count, timestamp};
use crate::tokens::Tokens;

/// The message of an upstream. Secrets have only their names in it.
pub(crate) fn to_proto(detail: &UpstreamDetail, tokens: &Tokens<'_>) -> pb::Upstream {
    let UpstreamDetail { entry, status } = detail;
    let upstream = &entry.upstream;
    let listing = entry.listing.clone().unwrap_or_default();
    pb::Upstream {
        id: upstream.id.to_string(),
        client_id: upstream.client.to_string(),
        slug: upstream.slug.to_string(),
        display_name: upstream.display_name.clone(),
        transport: Some(transport_to_proto(&upstream.transport)),
        create_time: Some(timestamp(upstream.created_at)),
        health: health_to_proto(status.health).into(),
        last_complete_listing_time: status.last_complete_at.map(timestamp),
        last_attempt_time: status.last_attempt_at.map(timestamp),
        last_error: status.last_error.clone(),
        sync_issues: listing.issues.into_iter().map(issue_to_proto).collect(),
        entries_read: i32::try_from(listing.entries_read).unwrap_or(i32::MAX),
        protocol_version: listing.protocol_version,
        name_policy: match upstream.name_policy {
            NamePolicy::Strict => pb::NamePolicy::Strict.into(),
            NamePolicy::Repair => pb::NamePolicy::Repair.into(),
        },
        etag: tokens.upstream(entry),
        auth: match upstream.auth() {
            Auth::None => pb::UpstreamAuth::None.into(),
            Auth::Static => pb::UpstreamAuth::Static.into(),
            Auth::PerUser => pb::UpstreamAuth::PerUser.into(),
        },
        description: upstream.description.clone(),
        path: upstream.path.clone(),
        freshness: match upstream.calls.freshness {
            Freshness::Check => pb::FreshnessPolicy::Check.into(),
            Freshness::Serve => pb::FreshnessPolicy::Serve.into(),
            Freshness::Refuse => pb::FreshnessPolicy::Refuse.into(),
        },
        protocol: match upstream.protocol {
            Protocol::Mcp => pb::UpstreamProtocol::Mcp.into(),
            Protocol::Oxp => pb::UpstreamProtocol::Oxp.into(),
        },
        isolation: match upstream.calls.isolation {
            Isolation::Shared => pb::SessionIsolation::Shared.into(),
            Isolation::PerAgent => pb::SessionIsolation::PerAgent.into(),
            Isolation::PerSession => pb::SessionIsolation::PerSession.into(),
        },
    }
}

/// What `caller` may read of it. The arguments of a command may hold secrets: who can only read gets their number.
pub(crate) fn for_reader(mut upstream: pb::Upstream, caller: &Caller) -> pb::Upstream {
    let may_write = [Scope::Write, Scope::Admin].iter().any(|&scope| caller.scopes.contains(scope));
    if !may_write && let Some(pb::upstream::Transport::Stdio(stdio)) = &mut upstream.transport {
        stdio.args.clear();
    }
    upstream
}

fn transport_to_proto<S>(transport: &Transport<S>) -> pb::upstream::Transport {
    let names = |secrets: &[(String, S)]| secrets.iter().map(|(name, _)| name.clone()).collect();
    match transport {
        Transport::Http { url, headers, allow_private } => pb::upstream::Transport::Http(pb::HttpTransport {
            url: url.clone(),
            headers: HashMap::new(),
            header_names: names(headers),
            allow_private: *allow_private,
        }),
        Transport::Stdio { command, args, env } => pb::upstream::Transport::Stdio(pb::StdioTransport {
            command: command.clone(),
            args: args.clone(),
            env: HashMap::new(),
            env_names: names(env),
            arg_count: count(args.len()),
        }),
    }
}

fn issue_to_proto(issue: SyncIssue) -> pb::SyncIssue {
    pb::SyncIssue {
        code: issue.code,
        tool_name: issue.tool_name.unwrap_or_default(),
        position: i32::try_from(issue.position).unwrap_or(i32::MAX),
        path: issue.path,
        message: issue.message,
        entries: i32::try_from(issue.entries).unwrap_or(i32::MAX),
    }
}

fn health_to_proto(health: Health) -> pb::UpstreamHealth {
    match health {
        Health::Unknown => pb::UpstreamHealth::Unknown,
        Health::Ok => pb::UpstreamHealth::Ok,
        Health::Incomplete => pb::UpstreamHealth::Incomplete,
        Health::Unavailable => pb::UpstreamHealth::Unavailable,
    }
}

/// The name policy of a request.
pub(crate) fn name_policy_from_proto(policy: i32) -> Result<NamePolicy, Fault> {
    match pb::NamePolicy::try_from(policy) {
        Ok(pb::NamePolicy::Unspecified | pb::NamePolicy::Strict) => Ok(NamePolicy::Strict),
        Ok(pb::NamePolicy::Repair) => Ok(NamePolicy::Repair),
        Err(_) => Err(Fault::invalid("name_policy", "is not a policy; use STRICT or REPAIR")),
    }
}

/// The protocol of a request.
pub(crate) fn protocol_from_proto(protocol: i32) -> Result<Protocol, Fault> {
    match pb::UpstreamProtocol::try_from(protocol) {
        Ok(pb::UpstreamProtocol::Unspecified | pb::UpstreamProtocol::Mcp) => Ok(Protocol::Mcp),
        Ok(pb::UpstreamProtocol::Oxp) => Ok(Protocol::Oxp),
        Err(_) => Err(Fault::invalid("protocol", "is unknown; use MCP or OXP")),
    }
}

/// The freshness policy of a request.
pub(crate) fn freshness_from_proto(policy: i32) -> Result<Freshness, Fault> {
    match pb::FreshnessPolicy::try_from(policy) {
        Ok(pb::FreshnessPolicy::Unspecified | pb::FreshnessPolicy::Check) => Ok(Freshness::Check),
        Ok(pb::FreshnessPolicy::Serve) => Ok(Freshness::Serve),
        Ok(pb::FreshnessPolicy::Refuse) => Ok(Freshness::Refuse),
        Err(_) => Err(Fault::invalid("freshness", "is not a policy; use CHECK, SERVE or REFUSE")),
    }
}

/// The session isolation of a request.
pub(crate) fn isolation_from_proto(isolation: i32) -> Result<Isolation, Fault> {
    match pb::SessionIsolation::try_from(isolation) {
        Ok(pb::SessionIsolation::Unspecified | pb::SessionIsolation::PerAgent) => Ok(Isolation::PerAgent),
        Ok(pb::SessionIsolation::Shared) => Ok(Isolation::Shared),
        Ok(pb::SessionIsolation::PerSession) => Ok(Isolation::PerSession),
        Err(_) => Err(Fault::invalid("isolation", "is unknown; use SHARED, PER_AGENT or PER_SESSION")),
    }
}

/// Whose credential a request says that an upstream is reached with, if it does.
pub(crate) fn auth_from_proto(auth: i32) -> Result<Option<Auth>, Fault> {
    match pb::UpstreamAuth::try_from(auth) {
        Ok(pb::UpstreamAuth::Unspecified) => Ok(None),
        Ok(pb::UpstreamAuth::None) => Ok(Some(Auth::None)),
        Ok(pb::UpstreamAuth::Static) => Ok(Some(Auth::Static)),
        Ok(pb::UpstreamAuth::PerUser) => Ok(Some(Auth::PerUser)),
        Err(_) => Err(Fault::invalid("auth", "is unknown; use NONE, STATIC or PER_USER")),
    }
}

/// The transport of a request, secrets in the clear.
pub(crate) fn transport_from_proto(
    transport: Option<pb::create_upstream_request::Transport>,
) -> Result<Transport<String>, Fault> {
    use pb::create_upstream_request::Transport as Wire;
    match transport {
        None => Err(Fault::invalid("transport", "is required: give http or stdio")),
        Some(Wire::Http(http)) if !http.header_names.is_empty() => {
            Err(Fault::invalid("http.header_names", "is output only; set headers"))
        }
        Some(Wire::Http(http)) => Ok(Transport::Http {
            url: http.url,
            headers: ordered(http.headers),
            allow_private: http.allow_private,
        }),
        Some(Wire::Stdio(stdio)) if !stdio.env_names.is_empty() => {
            Err(Fault::invalid("stdio.env_names", "is output only; set env"))
        }
        Some(Wire::Stdio(stdio)) if stdio.arg_count != 0 => {
            Err(Fault::invalid("stdio.arg_count", "is output only; set args"))
        }
        Some(Wire::Stdio(stdio)) => {
            Ok(Transport::Stdio { command: stdio.command, args: stdio.args, env: ordered(stdio.env) })
        }
    }
}

pub(super) fn ordered(map: HashMap<String, String>) -> Vec<(String, String)> {
    let mut all: Vec<_> = map.into_iter().collect();
    all.sort_unstable();
    all
}
