//! Who may read and rule what, over gRPC.

use tonic::Code;
use toolgate_api_proto::v1::{
    ApproveToolRequest, CreateApiKeyRequest, CreateUpstreamRequest, DisableToolRequest, GetToolRequest,
    GetUpstreamRequest, HttpTransport, ListToolsRequest, ListUpstreamsRequest, RevokeToolApprovalRequest,
    Tool, ToolState, ToolView, WatchToolsRequest, create_upstream_request::Transport,
};
use toolgate_test_support::server::{OPERATOR_KEY, Server};

use crate::{
    refusal::{is, metadata},
    steps::{
        approve_all, entry, next_changes, page, state, states, sync, tool, tools_in, watch_served,
        with_scopes, with_scripted,
    },
};

const NOBODYS_ID: &str = "01890000-0000-7000-8000-000000000000";

fn served_view() -> ListToolsRequest {
    ListToolsRequest { view: ToolView::Served.into(), ..Default::default() }
}

#[tokio::test]
async fn the_served_view_holds_served_tools_alone() {
    let names = ["approved", "disabled", "drifting", "new"];
    let (server, scripted) = with_scripted(&names.map(|name| entry(name, "d"))).await;
    approve_all(&server, &["srv__approved", "srv__disabled", "srv__drifting"]).await;
    let off = DisableToolRequest { id: tool(&server, "srv__disabled").await.id, ..Default::default() };
    server.governance().disable_tool(off).await.unwrap();
    scripted.list(&names.map(|name| entry(name, if name == "drifting" { "changed" } else { "d" })));
    sync(&server, "srv").await;

    let all: Vec<_> = states(&server).await.into_iter().map(|(_, state)| state).collect();
    assert_eq!(all, [ToolState::Served, ToolState::Disabled, ToolState::Drifted, ToolState::Unapproved]);
    let served = tools_in(&server.operator(), ToolView::Served).await;
    assert_eq!(served.len(), 1);
    let approved = tool(&server, "srv__approved").await;
    assert_eq!(served[0], Tool { definition_json: entry("srv__approved", "d"), ..approved });
    let hidden = tool(&server, "srv__new").await.id;
    let request = GetToolRequest { id: hidden, view: ToolView::Served.into(), ..Default::default() };
    is(&server.catalog().get_tool(request).await.unwrap_err(), Code::NotFound, "TOOL_NOT_FOUND");
    let mut watch = watch_served(&server.operator()).await;
    let snapshot = next_changes(&mut watch).await;
    assert_eq!(snapshot.into_iter().map(|change| change.tool.unwrap()).collect::<Vec<_>>(), served);
}

#[tokio::test]
async fn a_key_that_may_only_call_sees_what_agents_see() {
    let (server, _scripted) = with_scripted(&[entry("a", "d"), entry("b", "d")]).await;
    approve_all(&server, &["srv__a"]).await;
    let agent = with_scopes(&server, &["mcp:call"]).await;
    assert_eq!(page(&agent, served_view()).await.unwrap().tools.len(), 1);
    assert_eq!(next_changes(&mut watch_served(&agent).await).await.len(), 1);

    let id = tool(&server, "srv__a").await.id;
    let raw = page(&agent, ListToolsRequest::default()).await.unwrap_err();
    is(&raw, Code::PermissionDenied, "SCOPE_MISSING");
    assert_eq!(metadata(&raw)["scope"], "mcp:read");
    let mut catalog = agent.catalog();
    let got = catalog.get_tool(GetToolRequest { id: id.clone(), ..Default::default() }).await.unwrap_err();
    is(&got, Code::PermissionDenied, "SCOPE_MISSING");
    let upstreams = catalog.list_upstreams(ListUpstreamsRequest::default()).await.unwrap_err();
    is(&upstreams, Code::PermissionDenied, "SCOPE_MISSING");
    let watched = catalog.watch_tools(WatchToolsRequest::default()).await.unwrap_err();
    is(&watched, Code::PermissionDenied, "SCOPE_MISSING");
    let revoke = RevokeToolApprovalRequest { id, ..Default::default() };
    let ruled = agent.governance().revoke_tool_approval(revoke).await.unwrap_err();
    is(&ruled, Code::PermissionDenied, "SCOPE_MISSING");
    assert_eq!(metadata(&ruled)["scope"], "mcp:write");
    assert_eq!(state(&server, "srv__a").await, ToolState::Served);
}

#[tokio::test]
async fn each_act_takes_its_scope_and_nobody_grants_one_they_lack() {
    let (server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    let reviewer = with_scopes(&server, &["mcp:read", "mcp:write"]).await;
    let reviewed = tool(&server, "srv__a").await;
    let request = ApproveToolRequest {
        id: reviewed.id.clone(),
        definition_hash: reviewed.definition_hash.clone(),
        ..Default::default()
    };
    assert!(reviewer.governance().approve_tool(request).await.is_ok());

    let private =
        HttpTransport { url: "http://127.0.0.1:1/mcp".into(), allow_private: true, ..Default::default() };
    let request = |http: HttpTransport| CreateUpstreamRequest {
        slug: "other".into(),
        transport: Some(Transport::Http(http)),
        ..Default::default()
    };
    let refused = reviewer.governance().create_upstream(request(private)).await.unwrap_err();
    is(&refused, Code::PermissionDenied, "SCOPE_MISSING");
    let key = CreateApiKeyRequest { scopes: vec!["mcp:read".into()], ..Default::default() };
    let refused = reviewer.governance().create_api_key(key).await.unwrap_err();
    is(&refused, Code::PermissionDenied, "SCOPE_MISSING");
    let admin = with_scopes(&server, &["mcp:admin"]).await;
    let key = CreateApiKeyRequest { scopes: vec!["mcp:read".into()], ..Default::default() };
    let refused = admin.governance().create_api_key(key).await.unwrap_err();
    is(&refused, Code::PermissionDenied, "SCOPE_MISSING");
}

#[tokio::test]
async fn a_call_without_a_good_key_is_refused_without_telling_why() {
    let server = Server::start().await;
    let none = page(&server.as_nobody(), ListToolsRequest::default()).await.unwrap_err();
    is(&none, Code::Unauthenticated, "CREDENTIAL_MISSING");
    let made = CreateApiKeyRequest { scopes: vec!["mcp:read".into()], ..Default::default() };
    let good = server.governance().create_api_key(made).await.unwrap().into_inner().secret;
    let altered = format!("{}{}", &good[..good.len() - 1], if good.ends_with('A') { 'B' } else { 'A' });
    let unknown = good.replacen(&good[3..35], &"0".repeat(32), 1);
    let mut said = Vec::new();
    for key in [altered, unknown, "tg_".into(), "x".repeat(5000), OPERATOR_KEY.to_uppercase()] {
        let refused = page(&server.as_key(&key), ListToolsRequest::default()).await.unwrap_err();
        is(&refused, Code::Unauthenticated, "CREDENTIAL_INVALID");
        said.push((refused.message().to_owned(), metadata(&refused)));
    }
    assert!(said.iter().all(|one| *one == said[0]), "{said:?}");
}

#[tokio::test]
async fn another_client_does_not_exist() {
    let (server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    let own = tool(&server, "srv__a").await.client_id;
    let reader = with_scopes(&server, &["mcp:read"]).await;
    let naming = |client: &str| ListToolsRequest { client_id: client.into(), ..Default::default() };
    assert_eq!(page(&reader, naming(&own)).await.unwrap().tools.len(), 1);
    let refused = page(&reader, naming(NOBODYS_ID)).await.unwrap_err();
    is(&refused, Code::NotFound, "CLIENT_NOT_FOUND");
    let unknown = page(&server.operator(), naming(NOBODYS_ID)).await.unwrap_err();
    assert_eq!((unknown.code(), unknown.message()), (refused.code(), refused.message()));

    let mut catalog = server.catalog();
    let get = GetToolRequest { id: NOBODYS_ID.into(), ..Default::default() };
    is(&catalog.get_tool(get).await.unwrap_err(), Code::NotFound, "TOOL_NOT_FOUND");
    let get = GetUpstreamRequest { id: NOBODYS_ID.into(), ..Default::default() };
    is(&catalog.get_upstream(get).await.unwrap_err(), Code::NotFound, "UPSTREAM_NOT_FOUND");
    let of_nobody = ListToolsRequest { upstream_id: NOBODYS_ID.into(), ..Default::default() };
    is(&page(&server.operator(), of_nobody).await.unwrap_err(), Code::NotFound, "UPSTREAM_NOT_FOUND");
    let rule = DisableToolRequest { id: NOBODYS_ID.into(), ..Default::default() };
    is(&server.governance().disable_tool(rule).await.unwrap_err(), Code::NotFound, "TOOL_NOT_FOUND");
}
