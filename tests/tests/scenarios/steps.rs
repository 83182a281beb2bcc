//! Steps that many scenarios have in common, taken with the operator's key.

use std::collections::HashMap;

use tonic::{Status, Streaming};
use toolgate_api_proto::v1::{
    ApproveToolRequest, CreateApiKeyRequest, CreateUpstreamRequest, GetUpstreamRequest, HttpTransport,
    ListToolsRequest, ListToolsResponse, StdioTransport, SyncUpstreamRequest, SyncUpstreamResponse, Tool,
    ToolChange, ToolState, ToolView, Upstream, WatchToolsRequest, WatchToolsResponse,
    create_upstream_request::Transport,
};
use toolgate_test_support::{
    mcp_server::ScriptedServer,
    server::{Caller, Server},
};

/// The exact text of an entry that differs by its name and description alone.
pub(crate) fn entry(name: &str, description: &str) -> String {
    format!(r#"{{"name":"{name}","description":"{description}","inputSchema":{{"type":"object"}}}}"#)
}

/// Registers a server over HTTP that may stand on loopback.
pub(crate) async fn register(server: &Server, slug: &str, url: &str) -> Upstream {
    let http = HttpTransport { url: url.into(), allow_private: true, ..Default::default() };
    create(server, slug, Transport::Http(http)).await
}

/// Registers a server that is started with this command and environment.
pub(crate) async fn register_stdio(
    server: &Server,
    slug: &str,
    command: &[String],
    env: &[(String, String)],
) -> Upstream {
    let stdio = StdioTransport {
        command: command[0].clone(),
        args: command[1..].to_vec(),
        env: env.iter().cloned().collect::<HashMap<_, _>>(),
        ..Default::default()
    };
    create(server, slug, Transport::Stdio(stdio)).await
}

async fn create(server: &Server, slug: &str, transport: Transport) -> Upstream {
    let request =
        CreateUpstreamRequest { slug: slug.into(), transport: Some(transport), ..Default::default() };
    let created = server.governance().create_upstream(request).await.unwrap();
    created.into_inner().upstream.unwrap()
}

/// A server, and a scripted one registered with it as `srv` that lists these entries.
pub(crate) async fn with_scripted<T: AsRef<str>>(entries: &[T]) -> (Server, ScriptedServer) {
    let scripted = ScriptedServer::start().await;
    scripted.list(entries);
    let server = Server::start().await;
    register(&server, "srv", &scripted.url()).await;
    sync(&server, "srv").await;
    (server, scripted)
}

/// Lists an upstream now and waits for the end.
pub(crate) async fn sync(server: &Server, slug: &str) -> SyncUpstreamResponse {
    try_sync(server, slug).await.unwrap()
}

pub(crate) async fn try_sync(server: &Server, slug: &str) -> Result<SyncUpstreamResponse, Status> {
    let request = SyncUpstreamRequest { id: slug.into(), wait: true, ..Default::default() };
    server.governance().sync_upstream(request).await.map(|answer| answer.into_inner())
}

/// One upstream.
pub(crate) async fn upstream(server: &Server, slug: &str) -> Upstream {
    let request = GetUpstreamRequest { id: slug.into(), ..Default::default() };
    server.catalog().get_upstream(request).await.unwrap().into_inner().upstream.unwrap()
}

/// A page as it is asked for.
pub(crate) async fn page(caller: &Caller, request: ListToolsRequest) -> Result<ListToolsResponse, Status> {
    caller.catalog().list_tools(request).await.map(|answer| answer.into_inner())
}

/// All tools of a view, over all pages.
pub(crate) async fn tools_in(caller: &Caller, view: ToolView) -> Vec<Tool> {
    let mut request = ListToolsRequest { view: view.into(), ..Default::default() };
    let mut tools = Vec::new();
    loop {
        let page = page(caller, request.clone()).await.unwrap();
        tools.extend(page.tools);
        if page.next_page_token.is_empty() {
            return tools;
        }
        request.page_token = page.next_page_token;
    }
}

/// All tools in every state.
pub(crate) async fn tools(server: &Server) -> Vec<Tool> {
    tools_in(&server.operator(), ToolView::Raw).await
}

/// The only tool of this namespaced name.
pub(crate) async fn tool(server: &Server, namespaced_name: &str) -> Tool {
    let request = ListToolsRequest { namespaced_name: namespaced_name.into(), ..Default::default() };
    let mut found = page(&server.operator(), request).await.unwrap().tools;
    assert_eq!(found.len(), 1, "{namespaced_name}: {found:?}");
    found.remove(0)
}

/// The state of the only tool of this namespaced name.
pub(crate) async fn state(server: &Server, namespaced_name: &str) -> ToolState {
    tool(server, namespaced_name).await.state()
}

/// Namespaced name and state of every tool, in order.
pub(crate) async fn states(server: &Server) -> Vec<(String, ToolState)> {
    let tools = tools(server).await;
    tools.into_iter().map(|tool| (tool.namespaced_name.clone(), tool.state())).collect()
}

/// Approves a tool as it was read.
pub(crate) async fn approve(server: &Server, tool: &Tool) -> Result<Tool, Status> {
    let request = ApproveToolRequest {
        id: tool.id.clone(),
        definition_hash: tool.definition_hash.clone(),
        ..Default::default()
    };
    server.governance().approve_tool(request).await.map(|answer| answer.into_inner().tool.unwrap())
}

/// Approves the tools of these namespaced names as they are listed.
pub(crate) async fn approve_all(server: &Server, namespaced_names: &[&str]) {
    for name in namespaced_names {
        let tool = tool(server, name).await;
        approve(server, &tool).await.unwrap();
    }
}

/// The next changes of a watch, past the messages that only tell of progress.
pub(crate) async fn next_changes(watch: &mut Streaming<WatchToolsResponse>) -> Vec<ToolChange> {
    loop {
        let changes = watch.message().await.unwrap().expect("the watch goes on").changes;
        if !changes.is_empty() {
            return changes;
        }
    }
}

/// Follows the served tools.
pub(crate) async fn watch_served(caller: &Caller) -> Streaming<WatchToolsResponse> {
    let request = WatchToolsRequest { view: ToolView::Served.into(), ..Default::default() };
    caller.catalog().watch_tools(request).await.unwrap().into_inner()
}

/// A caller with a new key of the operator's client that has these scopes alone.
pub(crate) async fn with_scopes(server: &Server, scopes: &[&str]) -> Caller {
    let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    let request = CreateApiKeyRequest { scopes, ..Default::default() };
    let made = server.governance().create_api_key(request).await.unwrap().into_inner();
    server.as_key(&made.secret)
}
