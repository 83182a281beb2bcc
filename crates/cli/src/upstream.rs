//! `toolgate upstream …`

use std::collections::HashMap;
use std::path::Path;

use toolgate_api_proto::v1::create_upstream_request::Transport;
use toolgate_api_proto::v1::{
    CreateUpstreamRequest, DeleteUpstreamRequest, FreshnessPolicy, GetUpstreamRequest, HttpTransport,
    ListUpstreamsRequest, NamePolicy, SessionIsolation, StdioTransport, SyncUpstreamRequest, Upstream,
    UpstreamAuth, UpstreamHealth, UpstreamProtocol, upstream,
};

use crate::args::{AddUpstream, UpstreamCommand};
use crate::connection::{Connection, call, call_within};
use crate::console::Console;
use crate::error::CommandError;
use crate::limits::{SYNC_DEADLINE, UPSTREAMS_PER_PAGE};
use crate::pairs_file::{self, LineForm};
use crate::render::{json, text};
use crate::update;

pub(crate) async fn run(
    command: UpstreamCommand,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    match command {
        UpstreamCommand::Add(args) => add(args, json, connection, console).await,
        UpstreamCommand::List => list(json, connection, console).await,
        UpstreamCommand::Show { name } => show(&name, json, connection, console).await,
        UpstreamCommand::Update(args) => update::run(args, json, connection, console).await,
        UpstreamCommand::Remove { name, yes, dry_run } => {
            remove(name, yes, dry_run, json, connection, console).await
        }
        UpstreamCommand::Sync { name, wait } => sync(name, wait, json, connection, console).await,
    }
}

async fn add(
    args: AddUpstream,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let transport = transport(&args)?;
    let request = CreateUpstreamRequest {
        client_id: connection.client_id.clone(),
        slug: args.name,
        display_name: args.display_name,
        description: args.description,
        path: folders(&args.path),
        transport: Some(transport),
        validate_only: args.dry_run,
        name_policy: NamePolicy::from(args.name_policy).into(),
        auth: args.auth.map_or(UpstreamAuth::Unspecified, UpstreamAuth::from).into(),
        protocol: UpstreamProtocol::from(args.protocol).into(),
        freshness: FreshnessPolicy::from(args.freshness).into(),
        isolation: SessionIsolation::from(args.isolation).into(),
    };
    let response = connection.governance().await?.create_upstream(call(request)).await?.into_inner();
    let upstream = present(response.upstream)?;
    if json {
        return json::print(console, &json::UpstreamAnswer::new(&upstream, &response.revision));
    }
    if args.dry_run {
        return console.say(&format!("{} can be registered (dry run: nothing was written)", upstream.slug));
    }
    console.say(&format!("registered {}  {}", upstream.slug, upstream.id))?;
    match is_synced(&upstream) {
        true => console
            .note(&format!("its first sync has begun: toolgate upstream sync {} --wait", upstream.slug)),
        false => console.note("it is not synced: each user has a credential of their own"),
    }
}

/// One that is each user's own is synced under its headers, or not at all.
fn is_synced(upstream: &Upstream) -> bool {
    let has_headers = matches!(
        &upstream.transport,
        Some(upstream::Transport::Http(http)) if !http.header_names.is_empty()
    );
    upstream.auth() != UpstreamAuth::PerUser || has_headers
}

/// `Business -> Planning` in its parts. What is wrong with one is the server's word.
pub(crate) fn folders(path: &str) -> Vec<String> {
    match path.trim() {
        "" => Vec::new(),
        path => path.split("->").map(|folder| folder.trim().to_owned()).collect(),
    }
}

fn transport(args: &AddUpstream) -> Result<Transport, CommandError> {
    let pairs = |file: &Option<_>, form| {
        file.as_deref().map_or(Ok(HashMap::new()), |file: &Path| pairs_file::read(file, form))
    };
    match (&args.url, args.command.split_first()) {
        (Some(url), _) => Ok(Transport::Http(HttpTransport {
            url: url.clone(),
            headers: pairs(&args.header_file, LineForm::Header)?,
            header_names: Vec::new(),
            allow_private: args.allow_private,
        })),
        (None, Some((command, rest))) => Ok(Transport::Stdio(StdioTransport {
            command: command.clone(),
            args: rest.to_vec(),
            env: pairs(&args.env_file, LineForm::Variable)?,
            env_names: Vec::new(),
            arg_count: 0,
        })),
        (None, None) => Err(CommandError::Usage {
            problem: "how to reach the upstream is missing".to_owned(),
            hint: "--url URL, or --stdio -- COMMAND ARG…".to_owned(),
        }),
    }
}

async fn list(
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let upstreams = all(connection).await?;
    if json {
        let mut list = json::List::new("upstreams");
        for upstream in &upstreams {
            list.push(console, &json::Upstream::from(upstream))?;
        }
        return list.end(console);
    }
    let mut table = text::upstreams();
    upstreams.iter().for_each(|upstream| table.push(text::upstream_row(upstream)));
    table.lines().try_for_each(|line| console.say(&line))
}

async fn show(
    name: &str,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let (upstream, revision) = get(name, connection).await?;
    match json {
        true => json::print(console, &json::UpstreamAnswer::new(&upstream, &revision)),
        false => text::upstream(&upstream).iter().try_for_each(|line| console.say(line)),
    }
}

/// Deletes what a person was told of, as it was then.
async fn remove(
    name: String,
    yes: bool,
    dry_run: bool,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let mut request = DeleteUpstreamRequest {
        id: name,
        client_id: connection.client_id.clone(),
        etag: String::new(),
        validate_only: dry_run,
    };
    if !yes && !dry_run {
        if !console.interactive {
            return Err(CommandError::Usage {
                problem: "without a terminal nobody can be asked".to_owned(),
                hint: "look at what --dry-run prints, then pass --yes".to_owned(),
            });
        }
        let ask = DeleteUpstreamRequest { validate_only: true, ..request.clone() };
        let would = connection.governance().await?.delete_upstream(call(ask)).await?.into_inner();
        let upstream = present(would.upstream)?;
        let goes = text::goes_with(would.tool_count, would.approved_count);
        console.note(&format!("{}  {}: {goes}", upstream.slug, upstream.id))?;
        console.confirm("Delete it?")?;
        (request.id, request.etag) = (upstream.id, upstream.etag);
    }
    let mut response = connection.governance().await?.delete_upstream(call(request)).await?.into_inner();
    let upstream = present(response.upstream.take())?;
    if json {
        return json::print(console, &json::DeletedUpstream::new(&upstream, &response));
    }
    let goes = text::goes_with(response.tool_count, response.approved_count);
    match dry_run {
        true => console
            .say(&format!("{} can be deleted, with {goes} (dry run: nothing was written)", upstream.slug)),
        false => console.say(&format!("deleted {}  {}, with {goes}", upstream.slug, upstream.id)),
    }
}

async fn sync(
    name: String,
    wait: bool,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    if wait {
        console.progress(&format!("listing the tools of {name}"))?;
    }
    let request = SyncUpstreamRequest { id: name, client_id: connection.client_id.clone(), wait };
    let answer = connection.governance().await?.sync_upstream(call_within(SYNC_DEADLINE, request)).await;
    console.progress("")?;
    let mut response = answer?.into_inner();
    let upstream = present(response.upstream.take())?;
    match (json, wait) {
        (true, _) => json::print(console, &json::UpstreamAnswer::of_sync(&upstream, &response))?,
        (false, true) => console.say(&text::found(&response, &upstream))?,
        (false, false) => console.say(&format!("a sync of {} is under way", upstream.slug))?,
    }
    match wait {
        true => judge(upstream, console),
        false => Ok(()),
    }
}

/// What the health says after a sync that was waited for.
fn judge(upstream: Upstream, console: &mut Console<'_>) -> Result<(), CommandError> {
    match upstream.health() {
        UpstreamHealth::Unavailable => {
            Err(CommandError::NotListed { slug: upstream.slug, cause: upstream.last_error })
        }
        UpstreamHealth::Incomplete => console.note(&format!(
            "warning: the listing stopped early, so no tool was removed: {}",
            upstream.last_error
        )),
        UpstreamHealth::Unknown if !upstream.last_error.is_empty() => console.note(&upstream.last_error),
        UpstreamHealth::Unspecified | UpstreamHealth::Unknown | UpstreamHealth::Ok => Ok(()),
    }
}

/// The upstream of this slug or id, with the revision it was read at.
pub(crate) async fn get(name: &str, connection: &mut Connection) -> Result<(Upstream, String), CommandError> {
    let request = GetUpstreamRequest {
        id: name.to_owned(),
        client_id: connection.client_id.clone(),
        ..Default::default()
    };
    let response = connection.catalog().await?.get_upstream(call(request)).await?.into_inner();
    Ok((present(response.upstream)?, response.revision))
}

/// Slugs by id.
pub(crate) async fn slugs(connection: &mut Connection) -> Result<HashMap<String, String>, CommandError> {
    match all(connection).await {
        Ok(upstreams) => Ok(upstreams.into_iter().map(|upstream| (upstream.id, upstream.slug)).collect()),
        // A key that may only see what is served may not read upstreams; its tables show ids.
        Err(error) if error.is_denied() => Ok(HashMap::new()),
        Err(error) => Err(error),
    }
}

async fn all(connection: &mut Connection) -> Result<Vec<Upstream>, CommandError> {
    let mut request = ListUpstreamsRequest {
        client_id: connection.client_id.clone(),
        page_size: UPSTREAMS_PER_PAGE,
        ..Default::default()
    };
    let mut upstreams = Vec::new();
    loop {
        let page = connection.catalog().await?.list_upstreams(call(request.clone())).await?.into_inner();
        upstreams.extend(page.upstreams);
        if page.next_page_token.is_empty() {
            return Ok(upstreams);
        }
        request.page_token = page.next_page_token;
    }
}

pub(crate) fn present(upstream: Option<Upstream>) -> Result<Upstream, CommandError> {
    upstream.ok_or(CommandError::Incomplete { field: "upstream" })
}
