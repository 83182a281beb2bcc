//! Results as text. Lines come out unescaped; the console escapes them. Only cells of a table are escaped here, so that
//! columns stand straight.

use toolgate_api_proto::v1::{
    Agent, AgentAttachment, AgentAttachmentType, ApiKey, CallOutcome, Client, DeleteClientResponse, Effect,
    FreshnessPolicy, LoggedCall, ObservedDefinition, Ruling, RulingAct, ServerTool, SessionIsolation, Tool,
    ToolState, ToolStatus, ToolUnit, ToolUnitCommand, Upstream, UpstreamAuth, UpstreamHealth,
    UpstreamProtocol, upstream,
};

use crate::hidden::escape;
use crate::limits::{MAX_COLUMN_CHARS, SHORT_HASH_CHARS};
use crate::marks;

/// A value that is not there.
const NONE: &str = "-";

/// Columns under a heading, each as wide as its widest cell up to a limit.
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(heading: [&str; N]) -> Self {
        Self { rows: vec![heading.map(str::to_owned)] }
    }

    pub(crate) fn push(&mut self, row: [String; N]) {
        self.rows.push(row.map(|cell| escape(&cell).into_owned()));
    }

    /// Rows under the heading.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() - 1
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let widths: [usize; N] = std::array::from_fn(|column| self.width(column));
        self.rows.iter().map(move |row| {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        })
    }

    fn width(&self, column: usize) -> usize {
        let widest = self.rows.iter().map(|row| row[column].chars().count()).max();
        widest.unwrap_or_default().min(MAX_COLUMN_CHARS)
    }
}

pub(crate) fn tools() -> Table<5> {
    Table::new(["NAME", "STATE", "EFFECT", "HASH", "UPSTREAM"])
}

pub(crate) fn tool_row(tool: &Tool, upstream: &str) -> [String; 5] {
    [
        tool.namespaced_name.clone(),
        state(tool),
        effect(tool.effect),
        short_hash(&tool.definition_hash),
        upstream.to_owned(),
    ]
}

/// A tool in one line.
pub(crate) fn tool_line(tool: &Tool) -> String {
    let hash = short_hash(&tool.definition_hash);
    format!("{}  {}  {}  {hash}", tool.namespaced_name, state(tool), effect(tool.effect))
}

/// Everything about a tool.
pub(crate) fn tool(tool: &Tool) -> Vec<String> {
    let time = |time: &Option<_>| time.as_ref().map_or(NONE.to_owned(), ToString::to_string);
    let effect_shown = match tool.effect_override {
        Some(_) => format!("{} (as its owner says)", effect(tool.effect)),
        None => effect(tool.effect),
    };
    let mut lines = vec![
        field("name", &tool.namespaced_name),
        field("state", &state(tool)),
        field("remedy", or_none(&tool.remedy)),
        field("effect", &effect_shown),
        field("status", &word(tool.status, "TOOL_STATUS_", ToolStatus::as_str_name)),
        field("hash", &tool.definition_hash),
        field("approved hash", tool.approved_hash.as_deref().unwrap_or(NONE)),
        field("description override", tool.description_override.as_deref().unwrap_or(NONE)),
        field("locked inputs", tool.fixed_args_json.as_deref().unwrap_or(NONE)),
    ];
    lines.extend(
        tool.lock_issues
            .iter()
            .map(|issue| field("lock issue", &format!("{}: {}", issue.name, issue.problem))),
    );
    lines.extend([
        field("id", &tool.id),
        field("client", &tool.client_id),
        field("upstream", &tool.upstream_id),
        field("upstream's name", &tool.name),
        field("first listed", &time(&tool.create_time)),
        field("last changed", &time(&tool.update_time)),
        field("removed", &time(&tool.remove_time)),
        field("etag", &tool.etag),
    ]);
    lines.extend(definition(tool));
    lines
}

/// What a reviewer needs to see to approve a tool.
pub(crate) fn review(tool: &Tool) -> Vec<String> {
    let mut lines = vec![
        field("name", &tool.namespaced_name),
        field("state", &state(tool)),
        field("effect", &effect(tool.effect)),
        field("hash", &tool.definition_hash),
    ];
    lines.extend(tool.approved_hash.iter().map(|hash| field("approved hash", hash)));
    lines.extend(definition(tool));
    lines
}

/// The exact text, indented so that no line of it can pass for one of ours, and a warning if not all of it shows.
fn definition(tool: &Tool) -> Vec<String> {
    let mut lines = vec!["definition".to_owned()];
    lines.extend(tool.definition_json.split('\n').map(|line| format!("  {line}")));
    lines.extend(marks::warning(&tool.definition_json));
    lines
}

/// What a ruling did, and what the tool is by it.
pub(crate) fn ruled(done: &str, tool: &Tool, dry_run: bool) -> String {
    let remedy = if tool.remedy.is_empty() { String::new() } else { format!("; {}", tool.remedy) };
    let note = if dry_run { " (dry run: nothing was written)" } else { "" };
    format!("{done}: {}{remedy}{note}", state(tool))
}

pub(crate) fn definitions() -> Table<5> {
    Table::new(["FIRST LISTED", "LISTED AGAIN", "IS", "TEXT", "HASH"])
}

pub(crate) fn definition_row(one: &ObservedDefinition) -> [String; 5] {
    let time = |time: &Option<_>| time.as_ref().map_or(NONE.to_owned(), ToString::to_string);
    let is = match (one.current, one.approved) {
        (true, true) => "current, approved",
        (true, false) => "current",
        (false, true) => "approved",
        (false, false) => NONE,
    };
    let text = one.definition_json.as_ref();
    [
        time(&one.create_time),
        time(&one.return_time),
        is.to_owned(),
        text.map_or("not kept".to_owned(), |text| format!("{} bytes", text.len())),
        one.definition_hash.clone(),
    ]
}

pub(crate) fn server_tools() -> Table<3> {
    Table::new(["NAME", "SERVER'S NAME", "DESCRIPTION"])
}

pub(crate) fn server_tool_row(tool: &ServerTool) -> [String; 3] {
    let description = tool.description.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
    [tool.canonical_name.clone(), tool.name.clone(), or_none(description).to_owned()]
}

pub(crate) fn upstreams() -> Table<6> {
    Table::new(["NAME", "HEALTH", "ENTRIES", "ISSUES", "LAST COMPLETE LISTING", "REACHED BY"])
}

pub(crate) fn upstream_row(upstream: &Upstream) -> [String; 6] {
    [
        upstream.slug.clone(),
        health(upstream),
        upstream.entries_read.to_string(),
        upstream.sync_issues.len().to_string(),
        upstream.last_complete_listing_time.as_ref().map_or(NONE.to_owned(), ToString::to_string),
        reached_by(upstream),
    ]
}

/// Everything about an upstream, and what was wrong with its last listing.
pub(crate) fn upstream(upstream: &Upstream) -> Vec<String> {
    let time = |time: &Option<_>| time.as_ref().map_or(NONE.to_owned(), ToString::to_string);
    let mut lines = vec![
        field("name", &upstream.slug),
        field("display name", or_none(&upstream.display_name)),
        field("description", or_none(&upstream.description)),
        field("path", or_none(&upstream.path.join(" -> "))),
        field("health", &health(upstream)),
        field("last error", or_none(&upstream.last_error)),
        field("last attempt", &time(&upstream.last_attempt_time)),
        field("last complete listing", &time(&upstream.last_complete_listing_time)),
        field("entries read", &upstream.entries_read.to_string()),
        field("protocol", or_none(&upstream.protocol_version)),
        field("reached by", &reached_by(upstream)),
    ];
    lines.extend(transport_fields(upstream));
    lines.push(field("credential", &word(upstream.auth, "UPSTREAM_AUTH_", UpstreamAuth::as_str_name)));
    lines.extend([
        field("speaks", &word(upstream.protocol, "UPSTREAM_PROTOCOL_", UpstreamProtocol::as_str_name)),
        field("freshness", &word(upstream.freshness, "FRESHNESS_POLICY_", FreshnessPolicy::as_str_name)),
        field("isolation", &word(upstream.isolation, "SESSION_ISOLATION_", SessionIsolation::as_str_name)),
        field("id", &upstream.id),
        field("client", &upstream.client_id),
        field("registered", &time(&upstream.create_time)),
        field("etag", &upstream.etag),
        field("sync issues", &upstream.sync_issues.len().to_string()),
    ]);
    lines.extend(sync_issues(upstream));
    lines
}

fn sync_issues(upstream: &Upstream) -> Vec<String> {
    if upstream.sync_issues.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(["  CODE", "POSITION", "TOOL", "PATH", "MESSAGE"]);
    for issue in &upstream.sync_issues {
        table.push([
            format!("  {}", issue.code),
            issue.position.to_string(),
            or_none(&issue.tool_name).to_owned(),
            or_none(&issue.path).to_owned(),
            issue.message.clone(),
        ]);
    }
    table.lines().collect()
}

pub(crate) fn units() -> Table<5> {
    Table::new(["UNIT", "PATH", "MAY", "ALSO", "DESCRIPTION"])
}

pub(crate) fn unit_row(unit: &ToolUnit) -> [String; 5] {
    [
        unit.unit.clone(),
        unit.path.clone(),
        unit.may.len().to_string(),
        unit.also.len().to_string(),
        or_none(&unit.description).to_owned(),
    ]
}

/// A unit, and a line for each input of each command.
pub(crate) fn unit(unit: &ToolUnit, commands: &[ToolUnitCommand]) -> Vec<String> {
    let mut lines = vec![
        field("unit", &unit.unit),
        field("path", &unit.path),
        field("description", or_none(&unit.description)),
        field("upstream", &unit.upstream_id),
        field("commands", &commands.len().to_string()),
    ];
    for command in commands {
        let may = if command.may { "may be used" } else { "may not be used" };
        lines.push(format!("{}  {may}", command.name));
        lines.extend(command.description.lines().map(|line| format!("  {line}")));
        lines.extend(inputs(command));
    }
    lines
}

fn inputs(command: &ToolUnitCommand) -> Vec<String> {
    if command.params.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(["  INPUT", "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"]);
    for param in &command.params {
        table.push([
            format!("  {}", param.name),
            param.r#type.clone(),
            if param.required { "yes" } else { "no" }.to_owned(),
            or_none(&param.default).to_owned(),
            or_none(&param.description).to_owned(),
        ]);
    }
    table.lines().collect()
}

/// What a deletion takes with it.
pub(crate) fn goes_with(tools: i32, approved: i32) -> String {
    let plural = if tools == 1 { "" } else { "s" };
    format!("{tools} tool{plural}, {approved} of them approved")
}

/// What a sync that was waited for found.
pub(crate) fn found(response: &toolgate_api_proto::v1::SyncUpstreamResponse, upstream: &Upstream) -> String {
    format!(
        "{}  {}  {} tools listed ({} new in this sync, {} changed), {} removed, {} sync issues",
        upstream.slug,
        health(upstream),
        i64::from(response.added) + i64::from(response.changed) + i64::from(response.unchanged),
        response.added,
        response.changed,
        response.removed,
        upstream.sync_issues.len()
    )
}

pub(crate) fn agents() -> Table<4> {
    Table::new(["NAME", "ID", "CREATED", "ATTACHED"])
}

pub(crate) fn agent_row(agent: &Agent) -> [String; 4] {
    let attached: Vec<_> = agent.attachments.iter().map(|attachment| attachment.name.as_str()).collect();
    let created = agent.create_time.as_ref().map_or(NONE.to_owned(), ToString::to_string);
    [agent.name.clone(), agent.id.clone(), created, or_none(&attached.join(",")).to_owned()]
}

pub(crate) fn agent(agent: &Agent) -> Vec<String> {
    let time = |time: &Option<_>| time.as_ref().map_or(NONE.to_owned(), ToString::to_string);
    vec![
        field("name", &agent.name),
        field("id", &agent.id),
        field("display name", or_none(&agent.display_name)),
        field("created", &time(&agent.create_time)),
        field("changed", &time(&agent.update_time)),
        String::new(),
    ]
}

pub(crate) fn attachments() -> Table<5> {
    Table::new(["ATTACHED", "TYPE", "ID", "WHAT", "DESCRIPTION"])
}

pub(crate) fn attachment_row(attachment: &AgentAttachment) -> [String; 5] {
    let texts = [&attachment.upstream_id, &attachment.vector_store_id, &attachment.parameters_json];
    let what = texts.into_iter().find(|text| !text.is_empty());
    [
        attachment.name.clone(),
        word(attachment.r#type, "AGENT_ATTACHMENT_TYPE_", AgentAttachmentType::as_str_name),
        attachment.id.clone(),
        what.map_or(NONE, String::as_str).to_owned(),
        or_none(&attachment.description).to_owned(),
    ]
}

pub(crate) fn keys() -> Table<7> {
    Table::new(["ID", "NAME", "SCOPES", "CREATED", "EXPIRES", "REVOKED", "AGENT"])
}

pub(crate) fn key_row(key: &ApiKey) -> [String; 7] {
    let time = |time: &Option<_>| time.as_ref().map_or(NONE.to_owned(), ToString::to_string);
    let operator = if key.operator { " (operator)" } else { "" };
    [
        key.id.clone(),
        or_none(&key.display_name).to_owned(),
        format!("{}{operator}", key.scopes.join(",")),
        time(&key.create_time),
        time(&key.expire_time),
        time(&key.revoke_time),
        or_none(&key.agent_id).to_owned(),
    ]
}

pub(crate) fn clients() -> Table<3> {
    Table::new(["NAME", "ID", "CREATED"])
}

pub(crate) fn client_row(client: &Client) -> [String; 3] {
    let created = client.create_time.as_ref().map_or(NONE.to_owned(), ToString::to_string);
    [client.name.clone(), client.id.clone(), created]
}

/// What became of a client, and of what.
pub(crate) fn client_deletion(what: &str, gone: &DeleteClientResponse) -> String {
    let DeleteClientResponse { client, upstream_count, tool_count, api_key_count } = gone;
    let client = client.as_ref().map_or(NONE.to_owned(), |client| format!("{}  {}", client.name, client.id));
    format!("{what}: {client} with {upstream_count} upstreams, {tool_count} tools, {api_key_count} keys")
}

pub(crate) fn calls() -> Table<7> {
    Table::new(["NUMBER", "TIME", "SUBJECT", "AGENT", "TOOL", "OUTCOME", "TOOK"])
}

pub(crate) fn call_row(row: &LoggedCall) -> [String; 7] {
    let outcome = word(row.outcome, "CALL_OUTCOME_", CallOutcome::as_str_name);
    let outcome = match row.outcome() {
        CallOutcome::ToolNotServed => {
            format!("{outcome} ({})", word(row.tool_state, "TOOL_STATE_", ToolState::as_str_name))
        }
        CallOutcome::UpstreamRefused => format!("{outcome} ({})", row.upstream_code),
        CallOutcome::Missing if row.missing_count > 0 => format!("{} calls are missing", row.missing_count),
        CallOutcome::Missing => "the server was stopped: calls may be missing".to_owned(),
        _ if row.may_have_run => format!("{outcome} (may have run)"),
        _ => outcome,
    };
    let is_call = row.outcome() != CallOutcome::Missing;
    [
        row.sequence.to_string(),
        row.create_time.as_ref().map_or(NONE.to_owned(), ToString::to_string),
        or_none(&row.subject).to_owned(),
        or_none(&row.agent_id).to_owned(),
        or_none(&row.namespaced_name).to_owned(),
        outcome,
        if is_call { format!("{} us", row.duration_us) } else { NONE.to_owned() },
    ]
}

pub(crate) fn rulings() -> Table<6> {
    Table::new(["NUMBER", "TIME", "SUBJECT", "ACT", "ABOUT", "WHAT"])
}

pub(crate) fn ruling_row(row: &Ruling) -> [String; 6] {
    [
        row.sequence.to_string(),
        row.create_time.as_ref().map_or(NONE.to_owned(), ToString::to_string),
        row.subject.clone(),
        word(row.act, "RULING_ACT_", RulingAct::as_str_name),
        ruled_about(row),
        or_none(&what_was_set(row)).to_owned(),
    ]
}

/// The tool, the upstream with all its tools, or the agent.
fn ruled_about(row: &Ruling) -> String {
    match row.act() {
        RulingAct::DeleteUpstream => format!("{} ({} tools)", row.upstream_slug, row.tool_count),
        RulingAct::ChangeEndpoint => format!("upstream {}", row.upstream_id),
        _ if !row.agent_name.is_empty() => row.agent_name.clone(),
        _ => or_none(&row.tool_name).to_owned(),
    }
}

/// What was set, where something was.
fn what_was_set(row: &Ruling) -> String {
    if row.act() == RulingAct::ChangeEndpoint {
        let kept = if row.approvals_kept { " (approvals kept)" } else { "" };
        return format!("{} -> {}{kept}", row.endpoint_before, row.endpoint_after);
    }
    if let Some(attachment) = &row.attachment {
        return attachment.name.clone();
    }
    let texts = [&row.description_override, &row.served_name, &row.fixed_args_json];
    match (row.effect_override, texts.into_iter().flatten().next()) {
        (Some(set), _) => effect(set),
        (None, Some(text)) => text.clone(),
        (None, None) => short_hash(&row.definition_hash),
    }
}

fn reached_by(upstream: &Upstream) -> String {
    match &upstream.transport {
        Some(upstream::Transport::Http(http)) => http.url.clone(),
        Some(upstream::Transport::Stdio(stdio)) => {
            let words = std::iter::once(&stdio.command).chain(&stdio.args);
            let line = words.map(String::as_str).collect::<Vec<_>>().join(" ");
            match (stdio.arg_count, stdio.args.is_empty()) {
                (1.., true) => format!("{line} ({} arguments, not shown to this key)", stdio.arg_count),
                _ => line,
            }
        }
        None => NONE.to_owned(),
    }
}

fn transport_fields(upstream: &Upstream) -> Vec<String> {
    match &upstream.transport {
        Some(upstream::Transport::Http(http)) => vec![
            field("headers", or_none(&http.header_names.join(", "))),
            field("private addresses", if http.allow_private { "allowed" } else { "refused" }),
        ],
        Some(upstream::Transport::Stdio(stdio)) => {
            vec![field("environment", or_none(&stdio.env_names.join(", ")))]
        }
        None => Vec::new(),
    }
}

fn field(name: &str, value: &str) -> String {
    format!("{name:<21}  {value}")
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { NONE } else { text }
}

fn state(tool: &Tool) -> String {
    word(tool.state, "TOOL_STATE_", ToolState::as_str_name)
}

fn effect(effect: i32) -> String {
    word(effect, "EFFECT_", Effect::as_str_name)
}

fn health(upstream: &Upstream) -> String {
    word(upstream.health, "UPSTREAM_HEALTH_", UpstreamHealth::as_str_name)
}

/// An enum value as people write it.
fn word<E: TryFrom<i32>>(number: i32, prefix: &str, name: fn(&E) -> &'static str) -> String {
    match E::try_from(number) {
        Ok(value) => name(&value).trim_start_matches(prefix).to_ascii_lowercase(),
        Err(_) => format!("unknown ({number})"),
    }
}

fn short_hash(hash: &str) -> String {
    hash.chars().take(SHORT_HASH_CHARS).collect()
}
