//! Two agents with different attachments, on every face.

use std::time::Duration;

use tonic::Code;
use toolgate_api_proto::v1::{
    AgentAttachmentType, AttachAgentToolRequest, CreateAgentRequest, CreateApiKeyRequest, DeleteAgentRequest,
    DetachAgentToolRequest, GetAgentRequest, ListToolsRequest, ToolChangeKind, ToolView,
};
use toolgate_test_support::{
    mcp_server::ScriptedServer,
    server::{Caller, Server},
};

use crate::{
    refusal::is,
    steps::{approve_all, entry, next_changes, page, register, sync, tools_in, watch_served},
};

pub(crate) async fn create(server: &Server, name: &str) {
    let request = CreateAgentRequest { name: name.into(), ..Default::default() };
    server.governance().create_agent(request).await.unwrap();
}

pub(crate) async fn attach(server: &Server, agent: &str, upstream: &str) {
    let request = AttachAgentToolRequest {
        agent_id: agent.into(),
        r#type: AgentAttachmentType::Mcp.into(),
        upstream_id: upstream.into(),
        ..Default::default()
    };
    server.governance().attach_agent_tool(request).await.unwrap();
}

/// The secret of a key that is bound to an agent.
async fn secret_of(server: &Server, agent: &str) -> String {
    let (scopes, agent_id) = (vec!["mcp:call".into()], agent.into());
    let request = CreateApiKeyRequest { scopes, agent_id, ..Default::default() };
    server.governance().create_api_key(request).await.unwrap().into_inner().secret
}

/// A caller with a key that is bound to an agent.
pub(crate) async fn key_of(server: &Server, agent: &str) -> Caller {
    server.as_key(&secret_of(server, agent).await)
}

async fn names(caller: &Caller) -> Vec<String> {
    tools_in(caller, ToolView::Served).await.into_iter().map(|tool| tool.namespaced_name).collect()
}

/// A server with two upstreams, `files` and `mail`, with two served tools and one that is not each.
pub(crate) async fn two_upstreams() -> (Server, [ScriptedServer; 2]) {
    let server = Server::start().await;
    let scripted = [ScriptedServer::start().await, ScriptedServer::start().await];
    for (slug, upstream) in ["files", "mail"].into_iter().zip(&scripted) {
        upstream.list(&[entry("a", "d"), entry("b", "d"), entry("new", "d")]);
        register(&server, slug, &upstream.url()).await;
        sync(&server, slug).await;
    }
    approve_all(&server, &["files__a", "files__b", "mail__a", "mail__b"]).await;
    (server, scripted)
}

#[tokio::test]
async fn law_05_two_agents_each_see_what_is_attached_to_them() {
    let (server, _scripted) = two_upstreams().await;
    for (agent, upstream) in [("support", "files"), ("sales", "mail")] {
        create(&server, agent).await;
        attach(&server, agent, upstream).await;
    }
    let (support, sales) = (key_of(&server, "support").await, key_of(&server, "sales").await);
    assert_eq!(names(&support).await, ["files__a", "files__b"]);
    assert_eq!(names(&sales).await, ["mail__a", "mail__b"]);

    let mut watch = watch_served(&support).await;
    assert_eq!(next_changes(&mut watch).await.len(), 2);
    attach(&server, "support", "mail").await;
    let come: Vec<_> = next_changes(&mut watch).await.into_iter().map(|change| change.kind()).collect();
    assert_eq!(come, [ToolChangeKind::Upserted; 2]);
    assert_eq!(names(&support).await, ["files__a", "files__b", "mail__a", "mail__b"]);
    let detach = DetachAgentToolRequest {
        agent_id: "support".into(),
        attachment_id: "files".into(),
        ..Default::default()
    };
    server.governance().detach_agent_tool(detach).await.unwrap();
    let gone: Vec<_> = next_changes(&mut watch).await.into_iter().map(|change| change.kind()).collect();
    assert_eq!(gone, [ToolChangeKind::Withdrawn; 2]);
    assert_eq!(names(&support).await, ["mail__a", "mail__b"]);
    assert_eq!(names(&sales).await, ["mail__a", "mail__b"]);
}

#[tokio::test]
async fn law_04_the_operators_routes_are_forbidden_to_an_agent() {
    let (server, _scripted) = two_upstreams().await;
    create(&server, "support").await;
    attach(&server, "support", "files").await;
    let support = key_of(&server, "support").await;
    let route = support.get("/client/mcp/tools", &[]).await;
    assert_eq!(route.status, 403);
    assert!(route.text().contains(r#""error":"FORBIDDEN""#), "{}", route.text());
    let raw = page(&support, ListToolsRequest::default()).await.unwrap_err();
    is(&raw, Code::PermissionDenied, "SCOPE_MISSING");
    let own = GetAgentRequest { id: "support".into(), ..Default::default() };
    is(&support.catalog().get_agent(own).await.unwrap_err(), Code::PermissionDenied, "SCOPE_MISSING");
}

#[tokio::test]
async fn an_agent_and_its_keys_end_together_and_stay_ended_after_a_restart() {
    let (mut server, _scripted) = two_upstreams().await;
    create(&server, "support").await;
    attach(&server, "support", "files").await;
    create(&server, "sales").await;
    attach(&server, "sales", "mail").await;
    let secrets = [secret_of(&server, "support").await, secret_of(&server, "sales").await];
    let support = server.as_key(&secrets[0]);
    let mut watch = watch_served(&support).await;
    next_changes(&mut watch).await;
    let delete = DeleteAgentRequest { id: "support".into(), ..Default::default() };
    let deleted = server.governance().delete_agent(delete).await.unwrap().into_inner();
    assert_eq!(deleted.api_key_count, 1);
    let served = || ListToolsRequest { view: ToolView::Served.into(), ..Default::default() };
    let refused = page(&support, served()).await.unwrap_err();
    is(&refused, Code::Unauthenticated, "CREDENTIAL_INVALID");
    let end = tokio::time::timeout(Duration::from_secs(1), async {
        loop {
            match watch.message().await {
                Ok(message) => drop(message.expect("a stream that ends says why")),
                Err(status) => return status,
            }
        }
    });
    is(&end.await.expect("within a second"), Code::Unauthenticated, "CREDENTIAL_INVALID");
    server.kill_9().await;
    server.restart().await;
    let refused = page(&server.as_key(&secrets[0]), served()).await.unwrap_err();
    is(&refused, Code::Unauthenticated, "CREDENTIAL_INVALID");
    assert_eq!(names(&server.as_key(&secrets[1])).await, ["mail__a", "mail__b"]);
}

#[tokio::test]
async fn the_command_line_makes_an_agent_that_sees_its_tools() {
    let (server, _scripted) = two_upstreams().await;
    let operator = server.operator();
    for words in [
        &["agent", "create", "support", "--display-name", "Support"][..],
        &["agent", "attach", "support", "files"],
        &["agent", "attach", "support", "--file-search", "docs", "--vector-store", "vs_1"],
    ] {
        operator.cli(words).await.succeeded();
    }
    let shown = operator.cli(&["agent", "show", "support"]).await.succeeded();
    assert!(shown.contains("files") && shown.contains("file_search"), "{shown}");
    let key = operator.cli(&["key", "create", "--agent", "support", "--scope", "mcp:call"]).await.succeeded();
    let listed = server.as_key(key.trim()).cli(&["tool", "list", "--view", "served"]).await.succeeded();
    assert!(listed.contains("files__a") && !listed.contains("mail__a"), "{listed}");
    let refused = operator.cli(&["key", "create", "--agent", "support", "--scope", "mcp:read"]).await;
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let log = operator.cli(&["audit", "list"]).await.succeeded();
    assert!(log.contains("attach_agent_tool"), "{log}");
    operator.cli(&["audit", "verify"]).await.succeeded();
}
