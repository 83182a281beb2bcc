//! `toolgate upstream update`

use std::collections::HashMap;
use std::path::PathBuf;

use toolgate_api_proto::FieldMask;
use toolgate_api_proto::v1::{
    FreshnessPolicy, HttpTransport, NamePolicy, SessionIsolation, StdioTransport, UpdateUpstreamRequest,
    Upstream, UpstreamAuth, upstream::Transport,
};

use crate::args::UpdateUpstream;
use crate::connection::{Connection, call};
use crate::console::Console;
use crate::error::CommandError;
use crate::pairs_file::{self, LineForm};
use crate::render::json;
use crate::upstream::{folders, get, present};

pub(crate) async fn run(
    args: UpdateUpstream,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let (keep_approvals, validate_only) = (args.keep_approvals, args.dry_run);
    let name = args.name.clone();
    let (mut upstream, paths) = change(args)?;
    upstream.id = get(&name, connection).await?.0.id;
    let request = UpdateUpstreamRequest {
        upstream: Some(upstream),
        update_mask: Some(FieldMask { paths: paths.into_iter().map(str::to_owned).collect() }),
        client_id: connection.client_id.clone(),
        keep_approvals,
        validate_only,
        ..Default::default()
    };
    let response = connection.governance().await?.update_upstream(call(request)).await?.into_inner();
    let upstream = present(response.upstream)?;
    if json {
        return json::print(console, &json::UpstreamAnswer::new(&upstream, &response.revision));
    }
    match validate_only {
        true => console.say(&format!("{} can be updated (dry run: nothing was written)", upstream.slug)),
        false => console.say(&format!("updated {}  {}", upstream.slug, upstream.id)),
    }
}

/// What is given, and the paths that name it.
fn change(args: UpdateUpstream) -> Result<(Upstream, Vec<&'static str>), CommandError> {
    let (mut upstream, mut paths) = (Upstream::default(), Vec::new());
    if let Some(name) = args.display_name {
        upstream.display_name = name;
        paths.push("display_name");
    }
    if let Some(description) = args.description {
        upstream.description = description;
        paths.push("description");
    }
    if let Some(path) = args.path {
        upstream.path = folders(&path);
        paths.push("path");
    }
    if let Some(policy) = args.name_policy {
        upstream.set_name_policy(NamePolicy::from(policy));
        paths.push("name_policy");
    }
    if let Some(auth) = args.auth {
        upstream.set_auth(UpstreamAuth::from(auth));
        paths.push("auth");
    }
    if let Some(policy) = args.freshness {
        upstream.set_freshness(FreshnessPolicy::from(policy));
        paths.push("freshness");
    }
    if let Some(isolation) = args.isolation {
        upstream.set_isolation(SessionIsolation::from(isolation));
        paths.push("isolation");
    }
    let (mut http, mut stdio) = (HttpTransport::default(), StdioTransport::default());
    let before = paths.len();
    if let Some(url) = args.url {
        http.url = url;
        paths.push("http.url");
    }
    if let Some(headers) = pairs(args.header_file, args.no_headers, LineForm::Header)? {
        http.headers = headers;
        paths.push("http.headers");
    }
    if let Some(allow_private) = args.allow_private {
        http.allow_private = allow_private;
        paths.push("http.allow_private");
    }
    let is_http = paths.len() > before;
    if let Some((command, rest)) = args.command.split_first() {
        (stdio.command, stdio.args) = (command.clone(), rest.to_vec());
        paths.extend(["stdio.command", "stdio.args"]);
    }
    if let Some(env) = pairs(args.env_file, args.no_env, LineForm::Variable)? {
        stdio.env = env;
        paths.push("stdio.env");
    }
    upstream.transport = Some(if is_http { Transport::Http(http) } else { Transport::Stdio(stdio) });
    Ok((upstream, paths))
}

/// The pairs of a file, or none at all if that is what is wanted; `None` to leave them as they are.
fn pairs(
    file: Option<PathBuf>,
    none: bool,
    form: LineForm,
) -> Result<Option<HashMap<String, String>>, CommandError> {
    match file {
        Some(file) => pairs_file::read(&file, form).map(Some),
        None => Ok(none.then(HashMap::new)),
    }
}
