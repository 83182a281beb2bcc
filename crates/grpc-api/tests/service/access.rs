//! What each key may do.

use futures::StreamExt;
use tonic::{Code, Request};
use toolgate_api_proto::v1::{
    self as pb, ToolState, ToolView, create_upstream_request::Transport, tool_catalog_server::ToolCatalog,
    tool_governance_server::ToolGovernance,
};

use crate::ring::{ALL, Key, Ring, called, definition, http, reason, said};

/// Every call in an empty form, and whether the key was let in: an empty form is then refused for another reason.
async fn admitted(ring: &Ring, key: &Key) -> Vec<(&'static str, bool)> {
    let served = i32::from(ToolView::Served);
    let list = |view| key.asks(pb::ListToolsRequest { view, ..Default::default() });
    let get = |view| key.asks(pb::GetToolRequest { view, ..Default::default() });
    let watch = |view| key.asks(pb::WatchToolsRequest { view, ..Default::default() });
    let (catalog, governance) = (&ring.catalog, &ring.governance);
    let answers = [
        ("ListTools", reason(catalog.list_tools(list(0)).await)),
        ("ListTools SERVED", reason(catalog.list_tools(list(served)).await)),
        ("GetTool", reason(catalog.get_tool(get(0)).await)),
        ("GetTool SERVED", reason(catalog.get_tool(get(served)).await)),
        ("WatchTools", reason(catalog.watch_tools(watch(0)).await)),
        ("WatchTools SERVED", reason(catalog.watch_tools(watch(served)).await)),
        ("ListToolDefinitions", reason(catalog.list_tool_definitions(key.asks(Default::default())).await)),
        ("CallTool", reason(called(ring, key, Default::default()).await)),
        ("ListToolUnits", reason(catalog.list_tool_units(key.asks(Default::default())).await)),
        ("GetToolUnit", reason(catalog.get_tool_unit(key.asks(Default::default())).await)),
        ("ListUpstreams", reason(catalog.list_upstreams(key.asks(Default::default())).await)),
        ("GetUpstream", reason(catalog.get_upstream(key.asks(Default::default())).await)),
        ("CreateUpstream", reason(governance.create_upstream(key.asks(Default::default())).await)),
        ("SyncUpstream", reason(governance.sync_upstream(key.asks(Default::default())).await)),
        ("ApproveTool", reason(governance.approve_tool(key.asks(Default::default())).await)),
        ("RevokeToolApproval", reason(governance.revoke_tool_approval(key.asks(Default::default())).await)),
        ("DisableTool", reason(governance.disable_tool(key.asks(Default::default())).await)),
        ("EnableTool", reason(governance.enable_tool(key.asks(Default::default())).await)),
        ("CreateApiKey", reason(governance.create_api_key(key.asks(Default::default())).await)),
    ];
    let is_admitted = |(code, reason): &(Code, String)| {
        assert!(matches!(code, Code::Ok | Code::InvalidArgument | Code::PermissionDenied), "{code:?}");
        assert_eq!(*code == Code::PermissionDenied, reason == "SCOPE_MISSING");
        *code != Code::PermissionDenied
    };
    answers.iter().map(|(call, answer)| (*call, is_admitted(answer))).collect()
}

#[tokio::test]
async fn each_scope_opens_its_own_calls_and_no_other() {
    let ring = Ring::new().await;
    let reads = [
        "ListTools",
        "ListTools SERVED",
        "GetTool",
        "GetTool SERVED",
        "WatchTools",
        "WatchTools SERVED",
        "ListToolDefinitions",
        "ListToolUnits",
        "GetToolUnit",
        "ListUpstreams",
        "GetUpstream",
    ];
    let writes =
        ["CreateUpstream", "SyncUpstream", "ApproveTool", "RevokeToolApproval", "DisableTool", "EnableTool"];
    let calls = [
        "ListTools SERVED",
        "GetTool SERVED",
        "WatchTools SERVED",
        "ListToolDefinitions",
        "ListToolUnits",
        "GetToolUnit",
        "CallTool",
    ];
    for (scope, opens) in ALL.into_iter().zip([
        reads.as_slice(),
        writes.as_slice(),
        calls.as_slice(),
        ["CreateApiKey"].as_slice(),
    ]) {
        let key = ring.key("", &[scope]).await;
        for (call, is_admitted) in admitted(&ring, &key).await {
            assert_eq!(is_admitted, opens.contains(&call), "{call} with {scope}");
        }
    }
}

#[tokio::test]
async fn whatever_is_wrong_with_a_credential_the_answer_is_the_same() {
    let ring = Ring::new().await;
    let none = ring.catalog.list_tools(Request::new(Default::default())).await;
    assert_eq!(reason(none), (Code::Unauthenticated, "CREDENTIAL_MISSING".into()));
    let good = ring.key("", &["mcp:read"]).await;
    let text = good.asks(()).metadata().get("authorization").unwrap().to_str().unwrap().to_owned();
    let other = ring.key("", &["mcp:read"]).await;
    let of_other = other.asks(()).metadata().get("authorization").unwrap().to_str().unwrap().to_owned();
    let id_end = text.rfind('_').unwrap();
    let swapped = format!("{}{}", &text[..id_end], &of_other[of_other.rfind('_').unwrap()..]);
    for bad in
        [&text[..text.len() - 1], &swapped, "Bearer ", "Bearer x", "Basic eDp5", &text.replace("Bearer ", "")]
    {
        let mut request = Request::new(pb::ListToolsRequest::default());
        request.metadata_mut().insert("authorization", bad.parse().unwrap());
        let status = ring.catalog.list_tools(request).await.unwrap_err();
        assert_eq!(
            reason::<()>(Err(status.clone())),
            (Code::Unauthenticated, "CREDENTIAL_INVALID".into()),
            "{bad}"
        );
        assert_eq!(status.message(), reason_text(&ring).await, "{bad}");
    }
}

async fn reason_text(ring: &Ring) -> String {
    let mut request = Request::new(pb::ListToolsRequest::default());
    request.metadata_mut().insert("authorization", "Bearer nobody".parse().unwrap());
    ring.catalog.list_tools(request).await.unwrap_err().message().to_owned()
}

#[tokio::test]
async fn law_04_a_key_that_only_calls_meets_served_tools_alone() {
    let ring = Ring::new().await;
    let entries = [definition("good", "d"), definition("waiting", "d")];
    ring.upstream(&ring.operator, "srv", &entries.each_ref().map(String::as_str)).await;
    let tools = ring.tools(&ring.operator).await;
    ring.approve(&ring.operator, &tools[0]).await.unwrap();
    let agent = ring.key("", &["mcp:call"]).await;
    let view = i32::from(ToolView::Served);
    for states in [vec![], vec![i32::from(ToolState::Unapproved)], (1..=7).collect()] {
        let with_served = states.len() != 1;
        let listed =
            ring.list(&agent, pb::ListToolsRequest { view, states, ..Default::default() }).await.unwrap();
        let names: Vec<_> = listed.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, if with_served { vec!["good"] } else { vec![] });
    }
    let get = |id: &str, view| agent.asks(pb::GetToolRequest { id: id.into(), view, ..Default::default() });
    let good = said(ring.catalog.get_tool(get(&tools[0].id, view))).await.unwrap().tool.unwrap();
    assert_eq!(good.definition_json, definition("srv__good", "d"));
    let waiting = reason(ring.catalog.get_tool(get(&tools[1].id, view)).await);
    assert_eq!(waiting, (Code::NotFound, "TOOL_NOT_FOUND".into()));
    assert_eq!(reason(ring.catalog.get_tool(get(&tools[0].id, 0)).await).0, Code::PermissionDenied);
    let watch = agent.asks(pb::WatchToolsRequest { view, ..Default::default() });
    let mut watch = ring.catalog.watch_tools(watch).await.unwrap().into_inner();
    let first = watch.next().await.unwrap().unwrap();
    assert_eq!(first.changes.iter().map(|change| &change.tool_id).collect::<Vec<_>>(), [&tools[0].id]);
}

#[tokio::test]
async fn private_and_stdio_upstreams_take_admin() {
    let ring = Ring::new().await;
    let writer = ring.key("", &["mcp:write"]).await;
    let mut private = http("private", &[]);
    let Some(Transport::Http(transport)) = &mut private.transport else { unreachable!() };
    transport.allow_private = true;
    let mut stdio = http("stdio", &[]);
    stdio.transport =
        Some(Transport::Stdio(pb::StdioTransport { command: "/bin/x".into(), ..Default::default() }));
    for wanted in [private, stdio] {
        let refused = ring.governance.create_upstream(writer.asks(wanted.clone())).await;
        assert_eq!(reason(refused), (Code::PermissionDenied, "SCOPE_MISSING".into()), "{}", wanted.slug);
        let both = ring.key("", &["mcp:write", "mcp:admin"]).await;
        assert!(ring.governance.create_upstream(both.asks(wanted)).await.is_ok());
    }
    assert!(ring.governance.create_upstream(writer.asks(http("plain", &[]))).await.is_ok());
}

#[tokio::test]
async fn a_commands_arguments_are_not_for_those_who_only_read() {
    let ring = Ring::new().await;
    let args = vec!["--token".to_owned(), "hunter2".to_owned()];
    let mut wanted = http("stdio", &[]);
    let stdio = pb::StdioTransport { command: "/bin/x".into(), args: args.clone(), ..Default::default() };
    wanted.transport = Some(Transport::Stdio(stdio));
    ring.governance.create_upstream(ring.operator.asks(wanted)).await.unwrap();
    for (scopes, shown) in [
        (&["mcp:read"][..], Vec::new()),
        (&["mcp:read", "mcp:call"], Vec::new()),
        (&["mcp:read", "mcp:write"], args.clone()),
        (&["mcp:read", "mcp:admin"], args.clone()),
    ] {
        let key = ring.key("", scopes).await;
        let ask = pb::GetUpstreamRequest { id: "stdio".into(), ..Default::default() };
        let one = said(ring.catalog.get_upstream(key.asks(ask))).await.unwrap().upstream.unwrap();
        let all = said(ring.catalog.list_upstreams(key.asks(Default::default()))).await.unwrap().upstreams;
        for upstream in [one].into_iter().chain(all) {
            let Some(pb::upstream::Transport::Stdio(stdio)) = upstream.transport else { unreachable!() };
            assert_eq!((stdio.args, stdio.arg_count), (shown.clone(), 2), "{scopes:?}");
        }
    }
}

#[tokio::test]
async fn nobody_makes_a_key_with_a_scope_that_they_lack() {
    let ring = Ring::new().await;
    let admin = ring.key("", &["mcp:admin", "mcp:read"]).await;
    let make = |scope: &str| {
        admin.asks(pb::CreateApiKeyRequest { scopes: vec![scope.into()], ..Default::default() })
    };
    assert!(ring.governance.create_api_key(make("mcp:read")).await.is_ok());
    for scope in ["mcp:write", "mcp:call"] {
        let refused = ring.governance.create_api_key(make(scope)).await;
        assert_eq!(reason(refused), (Code::PermissionDenied, "SCOPE_MISSING".into()), "{scope}");
    }
    let unknown = ring.governance.create_api_key(make("mcp:everything")).await;
    assert_eq!(reason(unknown), (Code::InvalidArgument, "FIELD_INVALID".into()));
}
