//! Two tenants in one store: neither learns anything of the other.

use futures::StreamExt;
use tonic::{Code, Status};
use toolgate_api_proto::v1::{
    self as pb, tool_catalog_server::ToolCatalog, tool_governance_server::ToolGovernance,
};

use crate::ring::{ALL, Key, Ring, definition, http, reason, said};

/// Two tenants, each with every scope and a server of the same slug; the second one's tool and upstream.
struct Two {
    ring: Ring,
    ours: Key,
    theirs: Key,
    their_client: String,
    their_tool: pb::Tool,
    their_upstream: pb::Upstream,
}

impl Two {
    async fn new() -> Self {
        let ring = Ring::new().await;
        let (our_client, their_client) = (ring.client(1).await, ring.client(2).await);
        let (ours, theirs) = (ring.key(&our_client, &ALL).await, ring.key(&their_client, &ALL).await);
        let (ourselves, themselves) = (definition("ours", "d"), definition("theirs", "d"));
        ring.upstream(&ours, "srv", &[&ourselves]).await;
        let their_upstream = ring.upstream(&theirs, "srv", &[&themselves, &definition("more", "d")]).await;
        let their_tool = ring.tools(&theirs).await.swap_remove(1);
        Self { ring, ours, theirs, their_client, their_tool, their_upstream }
    }
}

/// What tells two refusals apart.
fn text(status: Status) -> (Code, String, Vec<u8>) {
    (status.code(), status.message().to_owned(), status.details().to_vec())
}

#[tokio::test]
async fn law_10_what_another_client_has_is_as_if_it_were_not_there() {
    let Two { ring, ours, their_tool, their_upstream, .. } = Two::new().await;
    let nothing = pb::Tool { id: "00000000-0000-5000-8000-000000000000".into(), ..their_tool.clone() };
    let mut answers = Vec::new();
    for (tool, upstream) in [(&their_tool, their_upstream.id.as_str()), (&nothing, nothing.id.as_str())] {
        let id = || tool.id.clone();
        let get = pb::GetToolRequest { id: id(), ..Default::default() };
        let revoke = pb::RevokeToolApprovalRequest { id: id(), ..Default::default() };
        let disable = pb::DisableToolRequest { id: id(), ..Default::default() };
        let enable = pb::EnableToolRequest { id: id(), ..Default::default() };
        let get_upstream = pb::GetUpstreamRequest { id: upstream.into(), ..Default::default() };
        let sync = pb::SyncUpstreamRequest { id: upstream.into(), wait: true, ..Default::default() };
        let of = pb::ListToolsRequest { upstream_id: upstream.into(), ..Default::default() };
        answers.push([
            text(ring.catalog.get_tool(ours.asks(get)).await.unwrap_err()),
            text(ring.approve(&ours, tool).await.unwrap_err()),
            text(ring.governance.revoke_tool_approval(ours.asks(revoke)).await.unwrap_err()),
            text(ring.governance.disable_tool(ours.asks(disable)).await.unwrap_err()),
            text(ring.governance.enable_tool(ours.asks(enable)).await.unwrap_err()),
            text(ring.catalog.get_upstream(ours.asks(get_upstream)).await.unwrap_err()),
            text(ring.governance.sync_upstream(ours.asks(sync)).await.unwrap_err()),
            text(ring.list(&ours, of).await.unwrap_err()),
        ]);
    }
    assert_eq!(answers[0], answers[1]);
    assert!(answers[0].iter().all(|(code, ..)| *code == Code::NotFound), "{:?}", answers[0]);
    let names: Vec<_> = ring.tools(&ours).await.into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["ours"]);
}

#[tokio::test]
async fn law_10_naming_another_client_is_for_operators_alone() {
    let Two { ring, ours, their_client, their_upstream, .. } = Two::new().await;
    let nobody = "00000000-0000-7000-8000-000000000000";
    for client in [their_client.as_str(), nobody] {
        let client_id = || client.to_owned();
        let list = pb::ListToolsRequest { client_id: client_id(), ..Default::default() };
        let key = pb::CreateApiKeyRequest {
            client_id: client_id(),
            scopes: vec!["mcp:read".into()],
            ..Default::default()
        };
        let sync = pb::SyncUpstreamRequest {
            client_id: client_id(),
            id: their_upstream.id.clone(),
            ..Default::default()
        };
        let create = pb::CreateUpstreamRequest { client_id: client_id(), ..http("other", &[]) };
        let refused = [
            reason(ring.list(&ours, list).await),
            reason(ring.governance.create_api_key(ours.asks(key)).await),
            reason(ring.governance.sync_upstream(ours.asks(sync)).await),
            reason(ring.governance.create_upstream(ours.asks(create)).await),
        ];
        for refused in refused {
            assert_eq!(refused, (Code::NotFound, "CLIENT_NOT_FOUND".into()));
        }
    }
    let ask = pb::ListToolsRequest { client_id: their_client, ..Default::default() };
    assert_eq!(ring.list(&ring.operator, ask).await.unwrap().tools.len(), 2);
}

#[tokio::test]
async fn law_10_no_token_of_another_client_is_taken() {
    let Two { ring, ours, theirs, .. } = Two::new().await;
    let of_theirs =
        ring.list(&theirs, pb::ListToolsRequest { page_size: 1, ..Default::default() }).await.unwrap();
    assert!(!of_theirs.next_page_token.is_empty());
    let page_token = of_theirs.next_page_token.clone();
    let page = pb::ListToolsRequest { page_size: 1, page_token, ..Default::default() };
    let reached = pb::ListToolsRequest { min_revision: of_theirs.revision.clone(), ..Default::default() };
    let resumed = pb::WatchToolsRequest { resume_revision: of_theirs.revision, ..Default::default() };
    let upstreams = pb::ListUpstreamsRequest { page_token: page.page_token.clone(), ..Default::default() };
    let (id, etag) = (ring.tools(&ours).await.swap_remove(0).id, of_theirs.tools[0].etag.clone());
    let disable = pb::DisableToolRequest { id, etag, ..Default::default() };
    let refused = [
        reason(ring.list(&ours, page).await),
        reason(ring.list(&ours, reached).await),
        reason(ring.catalog.watch_tools(ours.asks(resumed)).await),
        reason(ring.catalog.list_upstreams(ours.asks(upstreams)).await),
        reason(ring.governance.disable_tool(ours.asks(disable)).await),
    ];
    for refused in refused {
        assert_eq!(refused, (Code::InvalidArgument, "FIELD_INVALID".into()));
    }
}

#[tokio::test]
async fn law_10_the_data_of_one_client_moves_nothing_of_another() {
    let Two { ring, ours, theirs, their_tool, .. } = Two::new().await;
    let before = ring.list(&ours, pb::ListToolsRequest::default()).await.unwrap();
    let watch = pb::WatchToolsRequest { resume_revision: before.revision.clone(), ..Default::default() };
    let mut watch = ring.catalog.watch_tools(ours.asks(watch)).await.unwrap().into_inner();
    let greeting = watch.next().await.unwrap().unwrap();
    assert_eq!((greeting.changes.len(), &greeting.revision), (0, &before.revision));
    ring.approve(&theirs, &their_tool).await.unwrap();
    ring.upstream(&theirs, "another", &[&definition("t", "d")]).await;
    assert_eq!(ring.list(&ours, pb::ListToolsRequest::default()).await.unwrap(), before);
    let own = ring.tools(&ours).await.swap_remove(0);
    let approved = ring.approve(&ours, &own).await.unwrap();
    let told = watch.next().await.unwrap().unwrap();
    assert_eq!((told.changes.len(), told.revision), (1, approved.revision));
    assert_eq!(told.changes[0].tool_id, own.id);
}

#[tokio::test]
async fn both_clients_may_use_one_slug_and_one_name() {
    let Two { ring, ours, theirs, .. } = Two::new().await;
    for key in [&ours, &theirs] {
        ring.servers.answers(
            &crate::ring::url("srv"),
            toolgate_test_support::scripted_servers::complete(&[&definition("same", "d")]),
        );
        let sync = pb::SyncUpstreamRequest { id: "srv".into(), wait: true, ..Default::default() };
        said(ring.governance.sync_upstream(key.asks(sync))).await.unwrap();
        let tool = ring.tools(key).await.into_iter().find(|tool| tool.name == "same").unwrap();
        let approved = ring.approve(key, &tool).await.unwrap().tool.unwrap();
        assert_eq!(
            (approved.namespaced_name.as_str(), approved.state()),
            ("srv__same", pb::ToolState::Served)
        );
    }
}
