//! What the contract promises of page tokens, etags, revisions and watches, and of calls that only validate.

use futures::future::join_all;
use tonic::Code;
use toolgate_api_proto::v1::{
    ApproveToolRequest, CreateApiKeyRequest, CreateUpstreamRequest, DisableToolRequest, HttpTransport,
    ListToolsRequest, ListUpstreamsRequest, RevokeToolApprovalRequest, Tool, ToolState, ToolView,
    create_upstream_request::Transport,
};
use toolgate_test_support::server::Server;

use crate::{
    refusal::{fields, is, metadata},
    steps::{
        approve, approve_all, entry, next_changes, page, register, sync, tool, tools_in, upstream,
        watch_served, with_scripted,
    },
};

#[tokio::test]
async fn a_page_token_is_good_for_its_own_list_alone() {
    let (server, _scripted) = with_scripted(&["a", "b", "c"].map(|name| entry(name, "d"))).await;
    let (operator, upstream_id) = (server.operator(), upstream(&server, "srv").await.id);
    let first = ListToolsRequest { page_size: 1, ..Default::default() };
    let page_1 = page(&operator, first.clone()).await.unwrap();
    let token = page_1.next_page_token.clone();
    let second = ListToolsRequest { page_token: token.clone(), ..first.clone() };
    assert_eq!(page(&operator, second.clone()).await.unwrap().tools[0].name, "b");
    let wider = ListToolsRequest { page_size: 9, ..second.clone() };
    assert_eq!(page(&operator, wider).await.unwrap().tools.len(), 2, "the size may change");

    let altered = format!("{}{}", &token[..token.len() - 1], if token.ends_with('A') { 'B' } else { 'A' });
    let bad = [
        ListToolsRequest { page_token: altered, ..first.clone() },
        ListToolsRequest { page_token: page_1.revision.clone(), ..first.clone() },
        ListToolsRequest { page_token: "nonsense".into(), ..first.clone() },
        ListToolsRequest { view: ToolView::Served.into(), ..second.clone() },
        ListToolsRequest { upstream_id, ..second.clone() },
        ListToolsRequest { states: vec![ToolState::Unapproved.into()], ..second.clone() },
        ListToolsRequest { namespaced_name: "srv__b".into(), ..second.clone() },
    ];
    for request in bad {
        let refused = page(&operator, request.clone()).await.expect_err(&format!("{request:?}"));
        is(&refused, Code::InvalidArgument, "FIELD_INVALID");
        assert_eq!(fields(&refused), ["page_token"], "{request:?}");
    }
    let alien = Server::start().await;
    let refused = page(&alien.operator(), second).await.unwrap_err();
    assert_eq!(fields(&refused), ["page_token"]);
    let negative = ListToolsRequest { page_size: -1, ..Default::default() };
    assert_eq!(fields(&page(&operator, negative).await.unwrap_err()), ["page_size"]);
}

#[tokio::test]
async fn an_etag_is_good_until_something_changes() {
    let (server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    let operator = server.operator();
    let first = page(&operator, ListToolsRequest::default()).await.unwrap();
    let again = ListToolsRequest { if_none_match: first.etag.clone(), ..Default::default() };
    let unchanged = page(&operator, again.clone()).await.unwrap();
    assert!(unchanged.not_modified && unchanged.tools.is_empty());
    assert_eq!((&unchanged.etag, &unchanged.revision), (&first.etag, &first.revision));
    sync(&server, "srv").await;
    assert!(
        page(&operator, again.clone()).await.unwrap().not_modified,
        "a sync that finds nothing new moves nothing"
    );
    let other = ListToolsRequest { view: ToolView::Served.into(), ..again.clone() };
    assert!(!page(&operator, other).await.unwrap().not_modified, "it is that of another answer");

    approve_all(&server, &["srv__a"]).await;
    let changed = page(&operator, again).await.unwrap();
    assert!(!changed.not_modified);
    assert_ne!((&changed.etag, &changed.revision), (&first.etag, &first.revision));
    assert_eq!(changed.tools[0].state(), ToolState::Served);
}

#[tokio::test]
async fn a_ruling_on_an_old_etag_is_refused_and_changes_nothing() {
    let (server, _scripted) = with_scripted(&[entry("a", "d"), entry("b", "d")]).await;
    let [before, other] = [tool(&server, "srv__a").await, tool(&server, "srv__b").await];
    approve(&server, &before).await.unwrap();
    let revoke = |of: &Tool, etag: &str| RevokeToolApprovalRequest {
        id: of.id.clone(),
        etag: etag.into(),
        ..Default::default()
    };
    let mut governance = server.governance();
    let refused = governance.revoke_tool_approval(revoke(&before, &before.etag)).await.unwrap_err();
    is(&refused, Code::Aborted, "ETAG_MISMATCH");
    let now = tool(&server, "srv__a").await;
    assert_eq!((now.state(), &metadata(&refused)["current_etag"]), (ToolState::Served, &now.etag));
    let refused = governance.revoke_tool_approval(revoke(&before, &other.etag)).await.unwrap_err();
    assert_eq!(fields(&refused), ["etag"]);
    let revoked = governance.revoke_tool_approval(revoke(&now, &now.etag)).await.unwrap().into_inner();
    assert_eq!(revoked.tool.unwrap().state(), ToolState::Unapproved);
}

#[tokio::test]
async fn a_call_that_only_validates_answers_as_it_would_and_writes_nothing() {
    let (server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    let before = page(&server.operator(), ListToolsRequest::default()).await.unwrap();
    let a = before.tools[0].clone();
    let mut governance = server.governance();
    let approve = ApproveToolRequest {
        id: a.id.clone(),
        definition_hash: a.definition_hash.clone(),
        validate_only: true,
        ..Default::default()
    };
    let would_be = governance.approve_tool(approve.clone()).await.unwrap().into_inner();
    assert_eq!((would_be.tool.unwrap().state(), &would_be.revision), (ToolState::Served, &before.revision));
    let stale = ApproveToolRequest { definition_hash: format!("sha256:{}", "0".repeat(64)), ..approve };
    is(&governance.approve_tool(stale).await.unwrap_err(), Code::Aborted, "DEFINITION_CHANGED");
    let disable = DisableToolRequest { id: a.id, validate_only: true, ..Default::default() };
    let would_be = governance.disable_tool(disable).await.unwrap().into_inner().tool.unwrap();
    assert_eq!(would_be.state(), ToolState::Disabled);
    let http =
        HttpTransport { url: "http://127.0.0.1:1/mcp".into(), allow_private: true, ..Default::default() };
    let create = CreateUpstreamRequest {
        slug: "new".into(),
        transport: Some(Transport::Http(http)),
        validate_only: true,
        ..Default::default()
    };
    assert!(governance.create_upstream(create).await.is_ok());
    let key =
        CreateApiKeyRequest { scopes: vec!["mcp:read".into()], validate_only: true, ..Default::default() };
    assert_eq!(governance.create_api_key(key).await.unwrap().into_inner().secret, "");

    assert_eq!(page(&server.operator(), ListToolsRequest::default()).await.unwrap(), before);
    let upstreams = server.catalog().list_upstreams(ListUpstreamsRequest::default()).await.unwrap();
    assert_eq!(upstreams.into_inner().upstreams.len(), 1);
}

#[tokio::test]
async fn a_read_at_the_revision_of_a_write_sees_it_and_an_alien_revision_is_refused() {
    let (server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    let a = tool(&server, "srv__a").await;
    let request = ApproveToolRequest { id: a.id, definition_hash: a.definition_hash, ..Default::default() };
    let written = server.governance().approve_tool(request).await.unwrap().into_inner().revision;
    let at = |revision: &str| ListToolsRequest { min_revision: revision.into(), ..Default::default() };
    let read = page(&server.operator(), at(&written)).await.unwrap();
    assert_eq!((read.tools[0].state(), &read.revision), (ToolState::Served, &written));

    let alien = Server::start().await;
    for revision in [written.as_str(), "nonsense"] {
        let refused = page(&alien.operator(), at(revision)).await.unwrap_err();
        is(&refused, Code::InvalidArgument, "FIELD_INVALID");
        assert_eq!(fields(&refused), ["min_revision"]);
    }
}

#[tokio::test]
async fn a_watch_brings_every_change_of_many_writers_in_order() {
    let names: Vec<_> = (0..20).map(|n| format!("t{n:02}")).collect();
    let (server, _scripted) =
        with_scripted(&names.iter().map(|name| entry(name, "d")).collect::<Vec<_>>()).await;
    let mut watch = watch_served(&server.operator()).await;
    assert_eq!(watch.message().await.unwrap().unwrap().changes, []);
    let tools = tools_in(&server.operator(), ToolView::Raw).await;
    join_all(tools.iter().map(|tool| approve(&server, tool)))
        .await
        .into_iter()
        .for_each(|done| drop(done.unwrap()));
    let gone = &tools[7];
    let off = DisableToolRequest { id: gone.id.clone(), ..Default::default() };
    server.governance().disable_tool(off).await.unwrap();

    let mut copy = std::collections::BTreeMap::new();
    let mut was_served = false;
    // Nineteen stand there before the last is served, too, while the one that goes is among them.
    while copy.len() != 19 || !was_served || copy.contains_key(&gone.id) {
        for change in next_changes(&mut watch).await {
            was_served |= change.tool_id == gone.id && change.tool.is_some();
            match change.tool {
                Some(tool) => copy.insert(change.tool_id, tool),
                None => copy.remove(&change.tool_id),
            };
        }
    }
    let mut served = tools_in(&server.operator(), ToolView::Served).await;
    served.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(copy.into_values().collect::<Vec<_>>(), served);
}

#[tokio::test]
async fn a_slug_is_taken_whatever_its_dashes() {
    let server = Server::start().await;
    register(&server, "git-hub", "http://127.0.0.1:1/mcp").await;
    let http =
        HttpTransport { url: "http://127.0.0.1:1/mcp".into(), allow_private: true, ..Default::default() };
    let request = |slug: &str| CreateUpstreamRequest {
        slug: slug.into(),
        transport: Some(Transport::Http(http.clone())),
        ..Default::default()
    };
    let taken = server.governance().create_upstream(request("git_hub")).await.unwrap_err();
    is(&taken, Code::AlreadyExists, "SLUG_TAKEN");
    for slug in ["", "a__b", "Upper", "-a", &"a".repeat(65)] {
        let refused = server.governance().create_upstream(request(slug)).await.unwrap_err();
        assert_eq!(fields(&refused), ["slug"], "{slug}");
    }
}
