//! `toolgate tool …`: finding tools and showing them.

use std::collections::HashMap;

use toolgate_api_proto::v1::{GetToolRequest, ListToolsRequest, Tool, ToolState, ToolView, Upstream};

use crate::args::{State, ToolCommand, View};
use crate::connection::{Connection, call};
use crate::console::Console;
use crate::error::CommandError;
use crate::render::{json, text};
use crate::ruling::Ruling;
use crate::{approve, history, live, upstream, watch};

pub(crate) async fn run(
    command: ToolCommand,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    match command {
        ToolCommand::List { upstream, states, view } => {
            let upstream = match upstream {
                Some(name) => Some(upstream::get(&name, connection).await?.0),
                None => None,
            };
            let pages = Pages::new(list_request(upstream.as_ref(), &states, view, connection));
            match json {
                true => print_json(pages, connection, console).await,
                false => print_table(pages, upstream, connection, console).await,
            }
        }
        ToolCommand::Show { name, view } => show(&name, view, json, connection, console).await,
        ToolCommand::History { name } => history::list(&name, json, connection, console).await,
        ToolCommand::Diff { name, from, to } => {
            history::compare(&name, from, to, json, connection, console).await
        }
        ToolCommand::Approve(approve) => approve::run(approve, json, connection, console).await,
        ToolCommand::Revoke(rule) => Ruling::Revoke.make(rule, json, connection, console).await,
        ToolCommand::Disable(rule) => Ruling::Disable.make(rule, json, connection, console).await,
        ToolCommand::Enable(rule) => Ruling::Enable.make(rule, json, connection, console).await,
        ToolCommand::Lock { rule, inputs } => {
            Ruling::lock(&inputs)?.make(rule, json, connection, console).await
        }
        ToolCommand::Unlock { rule, inputs } => {
            Ruling::Unlock(inputs).make(rule, json, connection, console).await
        }
        ToolCommand::Effect { rule, effect } => {
            Ruling::Effect(effect.into()).make(rule, json, connection, console).await
        }
        ToolCommand::Describe { rule, text, .. } => {
            Ruling::describe(text)?.make(rule, json, connection, console).await
        }
        ToolCommand::Rename { rule, new, .. } => {
            Ruling::Rename(new).make(rule, json, connection, console).await
        }
        ToolCommand::Live { agent, attachment } => {
            live::run(agent, attachment, json, connection, console).await
        }
        ToolCommand::Watch { view } => watch::run(view, json, connection, console).await,
    }
}

/// The pages of one list.
pub(crate) struct Pages {
    request: ListToolsRequest,
    is_over: bool,
}

impl Pages {
    pub(crate) fn new(request: ListToolsRequest) -> Self {
        Self { request, is_over: false }
    }

    /// The next page, which may be empty, with its revision; `None` after the last.
    pub(crate) async fn next(
        &mut self,
        connection: &mut Connection,
    ) -> Result<Option<(Vec<Tool>, String)>, CommandError> {
        if self.is_over {
            return Ok(None);
        }
        let page = connection.catalog().await?.list_tools(call(self.request.clone())).await?.into_inner();
        self.is_over = page.next_page_token.is_empty();
        self.request.page_token = page.next_page_token;
        Ok(Some((page.tools, page.revision)))
    }

    /// Every tool, with the revision of the last page.
    pub(crate) async fn all(
        mut self,
        connection: &mut Connection,
    ) -> Result<(Vec<Tool>, String), CommandError> {
        let mut all = (Vec::new(), String::new());
        while let Some((tools, revision)) = self.next(connection).await? {
            all.0.extend(tools);
            all.1 = revision;
        }
        Ok(all)
    }
}

fn list_request(
    upstream: Option<&Upstream>,
    states: &[State],
    view: View,
    connection: &Connection,
) -> ListToolsRequest {
    ListToolsRequest {
        client_id: connection.client_id.clone(),
        view: ToolView::from(view).into(),
        upstream_id: upstream.map(|upstream| upstream.id.clone()).unwrap_or_default(),
        states: states.iter().map(|&state| ToolState::from(state).into()).collect(),
        ..Default::default()
    }
}

async fn print_json(
    mut pages: Pages,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let mut list = json::List::new("tools");
    while let Some((tools, _)) = pages.next(connection).await? {
        for tool in &tools {
            list.push(console, &json::Tool::from(tool))?;
        }
    }
    list.end(console)
}

async fn print_table(
    mut pages: Pages,
    upstream: Option<Upstream>,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let slugs = match upstream {
        Some(upstream) => HashMap::from([(upstream.id, upstream.slug)]),
        None => upstream::slugs(connection).await?,
    };
    let mut table = text::tools();
    loop {
        console.progress(&format!("{} tools read", table.len()))?;
        let page = pages.next(connection).await;
        console.progress("")?;
        let Some((tools, _)) = page? else { break };
        for tool in &tools {
            table.push(text::tool_row(tool, slugs.get(&tool.upstream_id).unwrap_or(&tool.upstream_id)));
        }
    }
    table.lines().try_for_each(|line| console.say(&line))
}

async fn show(
    name: &str,
    view: View,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let (tool, revision) = get(name, view, connection).await?;
    if json {
        return json::print(console, &json::ToolAnswer::new(&tool, &revision));
    }
    text::tool(&tool).iter().try_for_each(|line| console.say(line))?;
    history::drift(&tool, connection).await?.iter().try_for_each(|line| console.say(line))
}

/// The tool of this id or namespaced name, with the revision it was read at.
pub(crate) async fn get(
    name: &str,
    view: View,
    connection: &mut Connection,
) -> Result<(Tool, String), CommandError> {
    if !is_id(name) {
        return named(name, view, connection).await;
    }
    let request = GetToolRequest {
        id: name.to_owned(),
        client_id: connection.client_id.clone(),
        view: ToolView::from(view).into(),
        ..Default::default()
    };
    let response = connection.catalog().await?.get_tool(call(request)).await?.into_inner();
    Ok((response.tool.ok_or(CommandError::Incomplete { field: "tool" })?, response.revision))
}

/// The id of the tool that `name` stands for.
pub(crate) async fn id(name: &str, connection: &mut Connection) -> Result<String, CommandError> {
    match is_id(name) {
        true => Ok(name.to_owned()),
        false => Ok(named(name, View::Raw, connection).await?.0.id),
    }
}

async fn named(name: &str, view: View, connection: &mut Connection) -> Result<(Tool, String), CommandError> {
    // To the server an empty name means any name.
    if name.is_empty() {
        return Err(CommandError::NoSuchTool { name: name.to_owned() });
    }
    let request = ListToolsRequest {
        client_id: connection.client_id.clone(),
        view: ToolView::from(view).into(),
        namespaced_name: name.to_owned(),
        ..Default::default()
    };
    let (mut tools, revision) = Pages::new(request).all(connection).await?;
    let name = name.to_owned();
    match (tools.pop(), tools.is_empty()) {
        (None, _) => Err(CommandError::NoSuchTool { name }),
        (Some(tool), true) => Ok((tool, revision)),
        (Some(last), false) => {
            let ids = tools.into_iter().chain([last]).map(|tool| tool.id).collect();
            Err(CommandError::Ambiguous { name, ids })
        }
    }
}

/// Whether this is the text form of a UUID. A namespaced name never is: it holds `__`.
pub(crate) fn is_id(name: &str) -> bool {
    name.len() == 36 && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}
