//! `ListServerTools`: what a server lists at this moment, for operators.

use tonic::Code;
use toolgate_api_proto::v1::{
    self as pb, tool_catalog_server::ToolCatalog, tool_governance_server::ToolGovernance,
};
use toolgate_test_support::scripted_servers::complete;

use crate::ring::{ALL, Key, Ring, definition, http, reason, said, url};

fn ask(agent: &str, attachment: &str) -> pb::ListServerToolsRequest {
    let (agent_id, attachment_id) = (agent.to_owned(), attachment.to_owned());
    pb::ListServerToolsRequest { agent_id, attachment_id, ..Default::default() }
}

async fn list(ring: &Ring, key: &Key, agent: &str, attachment: &str) -> pb::ListServerToolsResponse {
    said(ring.catalog.list_server_tools(key.asks(ask(agent, attachment)))).await.unwrap()
}

async fn refused(ring: &Ring, key: &Key, agent: &str, attachment: &str) -> (Code, String) {
    reason(ring.catalog.list_server_tools(key.asks(ask(agent, attachment))).await)
}

#[tokio::test]
async fn each_part_of_an_answer_is_told_as_it_is() {
    let ring = Ring::new().await;
    let key = &ring.operator;
    let full = r#"{"name":"a.b","description":"d","inputSchema":{"n" : 1.0},"annotations":{}}"#;
    let made = ring.upstream(key, "srv", &[full, r#"{"name":"bare"}"#]).await;
    assert_eq!(made.auth(), pb::UpstreamAuth::None);
    let agent = ring.agent(key, "support", &["srv"]).await;

    let first = list(&ring, key, "support", "srv").await;
    let tool = |name: &str, canonical_name: &str| pb::ServerTool {
        name: name.into(),
        canonical_name: canonical_name.into(),
        ..Default::default()
    };
    let dotted = pb::ServerTool {
        description: Some("d".into()),
        input_schema_json: Some(r#"{"n" : 1.0}"#.into()),
        annotations_json: Some("{}".into()),
        ..tool("a.b", "srv__a_b")
    };
    assert_eq!(first.tools, [dotted, tool("bare", "srv__bare")]);
    assert_eq!((first.status(), first.error.as_str()), (pb::ServerToolsStatus::Ok, ""));
    let (asked, until) = (first.list_time.unwrap(), first.expire_time.unwrap());
    assert_eq!((until.seconds - asked.seconds, first.from_cache), (60, false));
    let again = list(&ring, key, &agent.id, &agent.attachments[0].id).await;
    assert_eq!(again, pb::ListServerToolsResponse { from_cache: true, ..first.clone() });
    ring.lists(key, "srv", &[&definition("new", "d")]).await;
    assert_ne!(list(&ring, key, "support", "srv").await.revision, first.revision);

    said(ring.governance.create_upstream(key.asks(http("down", &[])))).await.unwrap();
    ring.attach(key, "support", "down").await;
    let down = list(&ring, key, "support", "down").await;
    assert_eq!((down.status(), down.tools.len()), (pb::ServerToolsStatus::Unavailable, 0));
    assert_eq!(down.error, "The server cannot be reached.");
    assert!(down.list_time.is_some() && down.expire_time.is_some());
    let mut gated = http("gated", &[]);
    gated.set_auth(pb::UpstreamAuth::PerUser);
    said(ring.governance.create_upstream(key.asks(gated))).await.unwrap();
    ring.attach(key, "support", "gated").await;
    let gated = list(&ring, key, "support", "gated").await;
    assert_eq!((gated.status(), gated.error.as_str()), (pb::ServerToolsStatus::AuthRequired, ""));
    assert!(gated.tools.is_empty() && gated.list_time.is_none() && gated.expire_time.is_none());
}

#[tokio::test]
async fn what_is_checked_comes_in_the_documented_order() {
    let ring = Ring::new().await;
    let operator = &ring.operator;
    ring.upstream(operator, "srv", &[&definition("a", "d")]).await;
    let agent = ring.agent(operator, "support", &["srv"]).await;
    let function = pb::AttachAgentToolRequest {
        agent_id: agent.id,
        r#type: pb::AgentAttachmentType::Function.into(),
        name: "sum".into(),
        ..Default::default()
    };
    said(ring.governance.attach_agent_tool(operator.asks(function))).await.unwrap();
    let (long_agent, long_tool) = ("x".repeat(65), "x".repeat(129));
    let (reader, caller) = (ring.key("", &["mcp:read"]).await, ring.key("", &["mcp:call"]).await);
    let bound = ring.agent_key("support").await;
    let invalid = || (Code::InvalidArgument, "FIELD_INVALID".to_owned());
    let no_agent = || (Code::NotFound, "AGENT_NOT_FOUND".to_owned());
    let no_scope = || (Code::PermissionDenied, "SCOPE_MISSING".to_owned());
    let no_tool = || (Code::NotFound, "ATTACHMENT_NOT_FOUND".to_owned());
    let not_mcp = || (Code::InvalidArgument, "ATTACHMENT_NOT_MCP".to_owned());
    for key in [&caller, &bound] {
        assert_eq!(refused(&ring, key, &long_agent, "srv").await, invalid());
        assert_eq!(refused(&ring, key, "nobody", "srv").await, no_agent());
        for attachment in ["srv", "none", "sum", "", &long_tool] {
            assert_eq!(refused(&ring, key, "support", attachment).await, no_scope(), "{attachment}");
        }
    }
    assert_eq!(refused(&ring, &reader, "", "srv").await, invalid());
    assert_eq!(refused(&ring, &reader, "nobody", &long_tool).await, no_agent());
    assert_eq!(refused(&ring, &reader, "support", &long_tool).await, invalid());
    assert_eq!(refused(&ring, &reader, "support", "").await, invalid());
    assert_eq!(refused(&ring, &reader, "support", "none").await, no_tool());
    assert_eq!(refused(&ring, &reader, "support", "sum").await, not_mcp());
    assert_eq!(refused(&ring, &reader, &"x".repeat(64), "srv").await, no_agent());
    assert_eq!(refused(&ring, &reader, "support", &"x".repeat(128)).await, no_tool());
    assert_eq!(list(&ring, &reader, "support", "srv").await.status(), pb::ServerToolsStatus::Ok);
    let nobody = pb::ListServerToolsRequest { client_id: ring.client(1).await, ..ask("support", "srv") };
    let told = reason(ring.catalog.list_server_tools(reader.asks(nobody)).await);
    assert_eq!(told, (Code::NotFound, "CLIENT_NOT_FOUND".to_owned()));
    let unknown = tonic::Request::new(ask("nobody", "none"));
    let told = reason(ring.catalog.list_server_tools(unknown).await);
    assert_eq!(told, (Code::Unauthenticated, "CREDENTIAL_MISSING".to_owned()));
}

#[tokio::test]
async fn law_04_what_a_server_lists_is_for_operators_alone() {
    let ring = Ring::new().await;
    let operator = &ring.operator;
    ring.upstream(operator, "srv", &[&definition("unapproved", "d")]).await;
    ring.agent(operator, "support", &["srv"]).await;
    let bound = ring.agent_key("support").await;
    let writes = ring.key("", &["mcp:write", "mcp:call", "mcp:admin"]).await;
    for key in [&bound, &writes] {
        let denied = (Code::PermissionDenied, "SCOPE_MISSING".to_owned());
        assert_eq!(refused(&ring, key, "support", "srv").await, denied);
    }
}

/// The tools of both clients have one name, and their servers one URL.
#[tokio::test]
async fn law_10_what_a_server_told_one_client_is_not_told_another() {
    let ring = Ring::new().await;
    let (one, other) = (ring.client(1).await, ring.client(2).await);
    let (one, other) = (ring.key(&one, &ALL).await, ring.key(&other, &ALL).await);
    for key in [&one, &other] {
        said(ring.governance.create_upstream(key.asks(http("srv", &[])))).await.unwrap();
        ring.agent(key, "support", &["srv"]).await;
    }
    ring.servers.answers(&url("srv"), complete(&[&definition("first", "d")]));
    assert_eq!(list(&ring, &one, "support", "srv").await.tools[0].name, "first");
    ring.servers.answers(&url("srv"), complete(&[&definition("second", "d")]));
    let told = list(&ring, &other, "support", "srv").await;
    assert_eq!((told.tools[0].name.as_str(), told.from_cache), ("second", false));
    assert!(list(&ring, &one, "support", "srv").await.from_cache);
}

#[tokio::test]
async fn whose_credential_is_declared_shown_and_changed() {
    let ring = Ring::new().await;
    let key = &ring.operator;
    ring.servers.answers(&url("srv"), complete(&[]));
    let mut wanted = http("srv", &[]);
    wanted.set_auth(pb::UpstreamAuth::PerUser);
    let made = said(ring.governance.create_upstream(key.asks(wanted))).await.unwrap().upstream.unwrap();
    assert_eq!(made.auth(), pb::UpstreamAuth::PerUser);
    let change = |auth: pb::UpstreamAuth| {
        let upstream = pb::Upstream { id: made.id.clone(), auth: auth.into(), ..Default::default() };
        let update_mask = Some(prost_types::FieldMask { paths: vec!["auth".into()] });
        key.asks(pb::UpdateUpstreamRequest { upstream: Some(upstream), update_mask, ..Default::default() })
    };
    let now = said(ring.governance.update_upstream(change(pb::UpstreamAuth::None))).await.unwrap();
    assert_eq!(now.upstream.unwrap().auth(), pb::UpstreamAuth::None);
    for auth in [pb::UpstreamAuth::Static, pb::UpstreamAuth::Unspecified] {
        let refused = ring.governance.update_upstream(change(auth)).await.unwrap_err();
        assert!(refused.message().starts_with("upstream.auth "), "{}", refused.message());
    }
    let all = said(ring.catalog.list_upstreams(key.asks(Default::default()))).await.unwrap().upstreams;
    assert_eq!(all[0].auth(), pb::UpstreamAuth::None);
    let with_headers = said(ring.governance.create_upstream(key.asks(http("own", &[("x-key", "1")])))).await;
    assert_eq!(with_headers.unwrap().upstream.unwrap().auth(), pb::UpstreamAuth::Static);
}

#[tokio::test]
async fn what_an_upstream_speaks_is_said_once_and_oxp_takes_http() {
    let ring = Ring::new().await;
    let mut wanted = http("far", &[]);
    wanted.set_protocol(pb::UpstreamProtocol::Oxp);
    let made = said(ring.governance.create_upstream(ring.operator.asks(wanted))).await.unwrap();
    assert_eq!(made.upstream.unwrap().protocol(), pb::UpstreamProtocol::Oxp);
    let made = said(ring.governance.create_upstream(ring.operator.asks(http("near", &[])))).await.unwrap();
    assert_eq!(made.upstream.unwrap().protocol(), pb::UpstreamProtocol::Mcp);

    let update_mask = Some(prost_types::FieldMask { paths: vec!["protocol".into()] });
    let upstream = Some(pb::Upstream { slug: "far".into(), ..Default::default() });
    let change = pb::UpdateUpstreamRequest { upstream, update_mask, ..Default::default() };
    let refused = said(ring.governance.update_upstream(ring.operator.asks(change))).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");

    let command = pb::StdioTransport { command: "/bin/true".into(), ..Default::default() };
    let mut wanted = http("child", &[]);
    wanted.transport = Some(pb::create_upstream_request::Transport::Stdio(command));
    wanted.set_protocol(pb::UpstreamProtocol::Oxp);
    let refused = said(ring.governance.create_upstream(ring.operator.asks(wanted))).await.unwrap_err();
    assert!(refused.message().contains("protocol"), "{refused:?}");
}
