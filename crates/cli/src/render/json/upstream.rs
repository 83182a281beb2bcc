//! Upstreams.

use serde::Serialize;
use toolgate_api_proto::v1;

use super::Value;

/// An answer of one upstream: `{"upstream": …, "revision": …}`.
#[derive(Serialize)]
pub(crate) struct UpstreamAnswer<'a> {
    upstream: Upstream<'a>,
    revision: &'a str,
    #[serde(flatten)]
    found: Option<Found>,
}

#[derive(Serialize)]
struct Found {
    added: i32,
    changed: i32,
    removed: i32,
    unchanged: i32,
}

impl<'a> UpstreamAnswer<'a> {
    pub(crate) fn new(upstream: &'a v1::Upstream, revision: &'a str) -> Self {
        Self { upstream: upstream.into(), revision, found: None }
    }

    /// `SyncUpstreamResponse`.
    pub(crate) fn of_sync(upstream: &'a v1::Upstream, response: &'a v1::SyncUpstreamResponse) -> Self {
        let v1::SyncUpstreamResponse { added, changed, removed, unchanged, .. } = *response;
        let found = Some(Found { added, changed, removed, unchanged });
        Self { found, ..Self::new(upstream, &response.revision) }
    }
}

/// `DeleteUpstreamResponse`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeletedUpstream<'a> {
    #[serde(flatten)]
    answer: UpstreamAnswer<'a>,
    tool_count: i32,
    approved_count: i32,
}

impl<'a> DeletedUpstream<'a> {
    pub(crate) fn new(upstream: &'a v1::Upstream, response: &'a v1::DeleteUpstreamResponse) -> Self {
        let v1::DeleteUpstreamResponse { tool_count, approved_count, .. } = *response;
        Self { answer: UpstreamAnswer::new(upstream, &response.revision), tool_count, approved_count }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Upstream<'a> {
    id: &'a str,
    client_id: &'a str,
    slug: &'a str,
    display_name: &'a str,
    #[serde(flatten)]
    transport: Option<Transport<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<String>,
    health: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_complete_listing_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_attempt_time: Option<String>,
    last_error: &'a str,
    sync_issues: Vec<SyncIssue<'a>>,
    entries_read: i32,
    protocol_version: &'a str,
    name_policy: Value,
    etag: &'a str,
    auth: Value,
    description: &'a str,
    path: &'a [String],
    freshness: Value,
    isolation: Value,
    protocol: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Transport<'a> {
    Http { url: &'a str, header_names: &'a [String], allow_private: bool },
    Stdio { command: &'a str, args: &'a [String], env_names: &'a [String], arg_count: i32 },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SyncIssue<'a> {
    code: &'a str,
    tool_name: &'a str,
    position: i32,
    path: &'a str,
    message: &'a str,
    entries: i32,
}

impl<'a> From<&'a v1::Upstream> for Upstream<'a> {
    fn from(upstream: &'a v1::Upstream) -> Self {
        Self {
            id: &upstream.id,
            client_id: &upstream.client_id,
            slug: &upstream.slug,
            display_name: &upstream.display_name,
            transport: upstream.transport.as_ref().map(Transport::from),
            create_time: upstream.create_time.as_ref().map(ToString::to_string),
            health: Value::of(upstream.health, v1::UpstreamHealth::as_str_name),
            last_complete_listing_time: upstream.last_complete_listing_time.as_ref().map(ToString::to_string),
            last_attempt_time: upstream.last_attempt_time.as_ref().map(ToString::to_string),
            last_error: &upstream.last_error,
            sync_issues: upstream.sync_issues.iter().map(SyncIssue::from).collect(),
            entries_read: upstream.entries_read,
            protocol_version: &upstream.protocol_version,
            name_policy: Value::of(upstream.name_policy, v1::NamePolicy::as_str_name),
            etag: &upstream.etag,
            auth: Value::of(upstream.auth, v1::UpstreamAuth::as_str_name),
            description: &upstream.description,
            path: &upstream.path,
            freshness: Value::of(upstream.freshness, v1::FreshnessPolicy::as_str_name),
            protocol: Value::of(upstream.protocol, v1::UpstreamProtocol::as_str_name),
            isolation: Value::of(upstream.isolation, v1::SessionIsolation::as_str_name),
        }
    }
}

impl<'a> From<&'a v1::upstream::Transport> for Transport<'a> {
    fn from(transport: &'a v1::upstream::Transport) -> Self {
        match transport {
            v1::upstream::Transport::Http(http) => Self::Http {
                url: &http.url,
                header_names: &http.header_names,
                allow_private: http.allow_private,
            },
            v1::upstream::Transport::Stdio(stdio) => Self::Stdio {
                command: &stdio.command,
                args: &stdio.args,
                env_names: &stdio.env_names,
                arg_count: stdio.arg_count,
            },
        }
    }
}

impl<'a> From<&'a v1::SyncIssue> for SyncIssue<'a> {
    fn from(issue: &'a v1::SyncIssue) -> Self {
        Self {
            code: &issue.code,
            tool_name: &issue.tool_name,
            position: issue.position,
            path: &issue.path,
            message: &issue.message,
            entries: issue.entries,
        }
    }
}
