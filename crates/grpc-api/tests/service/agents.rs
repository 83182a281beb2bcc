//! What a key that is bound to an agent sees, and what it does not.

use std::time::Duration;

use futures::StreamExt;
use tonic::Code;
use toolgate_api_proto::v1::{
    self as pb, tool_catalog_server::ToolCatalog, tool_governance_server::ToolGovernance,
};

use crate::ring::{ALL, Key, Ring, definition, reason, said};

fn served() -> pb::ListToolsRequest {
    pb::ListToolsRequest { view: pb::ToolView::Served.into(), ..Default::default() }
}

fn names(answer: &pb::ListToolsResponse) -> Vec<&str> {
    answer.tools.iter().map(|tool| tool.namespaced_name.as_str()).collect()
}

/// Two upstreams with two served tools each; the agents `support` and `sales`, with one upstream each.
async fn two_agents() -> (Ring, Key, Key) {
    let ring = Ring::new().await;
    let operator = ring.operator.clone();
    let tools = [definition("a", "d"), definition("b", "d")];
    for slug in ["files", "mail"] {
        ring.upstream(&operator, slug, &[&tools[0], &tools[1]]).await;
    }
    for tool in ring.tools(&operator).await {
        ring.approve(&operator, &tool).await.unwrap();
    }
    ring.agent(&operator, "support", &["files"]).await;
    ring.agent(&operator, "sales", &["mail"]).await;
    let (support, sales) = (ring.agent_key("support").await, ring.agent_key("sales").await);
    (ring, support, sales)
}

#[tokio::test]
async fn law_04_an_agent_is_refused_everything_but_what_is_served_to_it() {
    let (ring, support, _) = two_agents().await;
    let tool = ring.tools(&ring.operator).await.remove(2);
    let denied = (Code::PermissionDenied, "SCOPE_MISSING".to_owned());
    for view in [pb::ToolView::Unspecified, pb::ToolView::Raw] {
        let list = pb::ListToolsRequest { view: view.into(), ..Default::default() };
        assert_eq!(reason(ring.list(&support, list).await), denied);
        let get = pb::GetToolRequest { id: tool.id.clone(), view: view.into(), ..Default::default() };
        assert_eq!(reason(ring.catalog.get_tool(support.asks(get)).await), denied);
        let watch = pb::WatchToolsRequest { view: view.into(), ..Default::default() };
        assert_eq!(reason(ring.catalog.watch_tools(support.asks(watch)).await.map(drop)), denied);
    }
    assert_eq!(reason(ring.catalog.list_upstreams(support.asks(Default::default())).await), denied);
    assert_eq!(reason(ring.catalog.list_agents(support.asks(Default::default())).await), denied);
    let delete = pb::DeleteAgentRequest { id: "sales".into(), ..Default::default() };
    assert_eq!(reason(ring.governance.delete_agent(support.asks(delete)).await), denied);
    assert_eq!(tool.namespaced_name, "mail__a");
    let get = pb::GetToolRequest { id: tool.id, view: pb::ToolView::Served.into(), ..Default::default() };
    let unknown = reason(ring.catalog.get_tool(support.asks(get)).await);
    assert_eq!(unknown, (Code::NotFound, "TOOL_NOT_FOUND".to_owned()));
    let filtered = pb::ListToolsRequest { upstream_id: tool.upstream_id, ..served() };
    let unknown = reason(ring.list(&support, filtered).await);
    assert_eq!(unknown, (Code::NotFound, "UPSTREAM_NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn law_05_each_agent_is_listed_what_is_attached_to_it_under_an_etag_of_its_own() {
    let (ring, support, sales) = two_agents().await;
    let everything = ring.key("", &["mcp:call"]).await;
    let [whole, first, second] = [
        ring.list(&everything, served()).await.unwrap(),
        ring.list(&support, served()).await.unwrap(),
        ring.list(&sales, served()).await.unwrap(),
    ];
    assert_eq!(names(&whole), ["files__a", "files__b", "mail__a", "mail__b"]);
    assert_eq!((names(&first), names(&second)), (vec!["files__a", "files__b"], vec!["mail__a", "mail__b"]));
    assert_eq!(
        std::collections::BTreeSet::from([&whole.etag, &first.etag, &second.etag]).len(),
        3,
        "no answer stands for another agent's"
    );
    for (key, etag, is_known) in
        [(&support, &first.etag, true), (&sales, &first.etag, false), (&everything, &first.etag, false)]
    {
        let again = pb::ListToolsRequest { if_none_match: etag.clone(), ..served() };
        assert_eq!(ring.list(key, again).await.unwrap().not_modified, is_known);
    }
    let page = pb::ListToolsRequest { page_size: 1, ..served() };
    let page = ring.list(&support, page).await.unwrap();
    let next = pb::ListToolsRequest { page_size: 1, page_token: page.next_page_token, ..served() };
    assert_eq!(names(&ring.list(&support, next.clone()).await.unwrap()), ["files__b"]);
    assert_eq!(reason(ring.list(&sales, next).await).0, Code::InvalidArgument);
}

#[tokio::test]
async fn what_is_attached_and_detached_shows_in_the_list_and_in_an_open_watch() {
    let (ring, support, _) = two_agents().await;
    let watch = pb::WatchToolsRequest { view: pb::ToolView::Served.into(), ..Default::default() };
    let mut stream = ring.catalog.watch_tools(support.asks(watch)).await.unwrap().into_inner();
    let mut next = async || {
        let message = tokio::time::timeout(Duration::from_secs(5), stream.next()).await.unwrap();
        let changes = message.unwrap().unwrap().changes.into_iter();
        changes
            .map(|change| (change.kind(), change.tool.map(|tool| tool.namespaced_name)))
            .collect::<Vec<_>>()
    };
    let upserted = |name: &str| (pb::ToolChangeKind::Upserted, Some(name.to_owned()));
    assert_eq!(next().await, [upserted("files__a"), upserted("files__b")]);
    let before = ring.list(&support, served()).await.unwrap().etag;
    ring.attach(&ring.operator, "support", "mail").await;
    assert_eq!(next().await, [upserted("mail__a"), upserted("mail__b")]);
    let after =
        ring.list(&support, pb::ListToolsRequest { if_none_match: before, ..served() }).await.unwrap();
    assert_eq!((after.not_modified, after.tools.len()), (false, 4));
    let detach = pb::DetachAgentToolRequest {
        agent_id: "support".into(),
        attachment_id: "files".into(),
        ..Default::default()
    };
    said(ring.governance.detach_agent_tool(ring.operator.asks(detach))).await.unwrap();
    assert_eq!(next().await, [(pb::ToolChangeKind::Withdrawn, None), (pb::ToolChangeKind::Withdrawn, None)]);
    assert_eq!(names(&ring.list(&support, served()).await.unwrap()), ["mail__a", "mail__b"]);
}

#[tokio::test]
async fn the_keys_and_the_watches_of_an_agent_end_with_it() {
    let (ring, support, sales) = two_agents().await;
    let watch = pb::WatchToolsRequest { view: pb::ToolView::Served.into(), ..Default::default() };
    let mut stream = ring.catalog.watch_tools(support.asks(watch)).await.unwrap().into_inner();
    stream.next().await.unwrap().unwrap();
    let delete = pb::DeleteAgentRequest { id: "support".into(), ..Default::default() };
    let deleted = said(ring.governance.delete_agent(ring.operator.asks(delete))).await.unwrap();
    assert_eq!(deleted.api_key_count, 1);
    let invalid = (Code::Unauthenticated, "CREDENTIAL_INVALID".to_owned());
    assert_eq!(reason(ring.list(&support, served()).await), invalid);
    assert_eq!(ring.list(&sales, served()).await.unwrap().tools.len(), 2);
    let ended = tokio::time::timeout(Duration::from_secs(1), async {
        loop {
            match stream.next().await {
                Some(Ok(_)) => {}
                Some(Err(status)) => return status.code(),
                None => panic!("a stream that ends says why"),
            }
        }
    });
    assert_eq!(ended.await, Ok(Code::Unauthenticated));
}

#[tokio::test]
async fn law_06_what_is_locked_is_nowhere_in_what_an_agent_reads() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    let listed = r#"{"name":"a","inputSchema":{"type":"object","properties":{"org":{},"q":{}}}}"#;
    ring.upstream(&key, "srv", &[listed]).await;
    let tool = ring.tools(&key).await.remove(0);
    let set_json = r#"{"org":"s3cr3t"}"#.to_owned();
    let lock = pb::UpdateToolLocksRequest { id: tool.id.clone(), set_json, ..Default::default() };
    said(ring.governance.update_tool_locks(key.asks(lock))).await.unwrap();
    ring.approve(&key, &tool).await.unwrap();
    ring.agent(&key, "support", &["srv"]).await;
    let support = ring.agent_key("support").await;
    let list = ring.list(&support, served()).await.unwrap();
    let get = pb::GetToolRequest { id: tool.id, view: pb::ToolView::Served.into(), ..Default::default() };
    let got = said(ring.catalog.get_tool(support.asks(get))).await.unwrap();
    for read in [format!("{:?}", list.tools[0]), format!("{:?}", got.tool.unwrap())] {
        assert!(read.contains("srv__a") && !read.contains("org") && !read.contains("s3cr3t"), "{read}");
    }
    assert_eq!(ring.tools(&key).await[0].fixed_args_json.as_deref(), Some(r#"{"org":"s3cr3t"}"#));
}

#[tokio::test]
async fn the_log_tells_who_was_given_what() {
    let ring = Ring::new().await;
    let key = ring.key("", &ALL).await;
    let upstream = ring.upstream(&key, "files", &[]).await;
    let agent = ring.agent(&key, "support", &["files"]).await;
    let function = pb::AttachAgentToolRequest {
        agent_id: agent.id.clone(),
        r#type: pb::AgentAttachmentType::Function.into(),
        name: "sum".into(),
        parameters_json: "{ }".into(),
        ..Default::default()
    };
    said(ring.governance.attach_agent_tool(key.asks(function))).await.unwrap();
    let log = said(ring.governance.list_rulings(key.asks(Default::default()))).await.unwrap().rulings;
    let acts: Vec<_> = log.iter().map(pb::Ruling::act).collect();
    use pb::RulingAct::{AttachAgentTool, CreateAgent};
    assert_eq!(acts, [CreateAgent, AttachAgentTool, AttachAgentTool]);
    assert!(log.iter().all(|row| row.agent_id == agent.id && row.agent_name == "support"));
    assert!(log.iter().all(|row| row.tool_id.is_empty() && row.upstream_id.is_empty()));
    let attached: Vec<_> = log.iter().filter_map(|row| row.attachment.as_ref()).collect();
    assert_eq!((attached[0].name.as_str(), &attached[0].upstream_id), ("files", &upstream.id));
    assert_eq!(attached[1].parameters_json, "{ }");
    let proof = said(ring.governance.verify_rulings(key.asks(Default::default()))).await.unwrap();
    assert_eq!((proof.count, proof.problem.as_str()), (3, ""));
}

#[tokio::test]
async fn a_field_of_another_type_of_attachment_is_refused_by_its_name() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    ring.upstream(&key, "files", &[]).await;
    ring.agent(&key, "support", &[]).await;
    let ask = |kind: pb::AgentAttachmentType| pb::AttachAgentToolRequest {
        agent_id: "support".into(),
        r#type: kind.into(),
        ..Default::default()
    };
    use pb::AgentAttachmentType::{FileSearch, Function, Mcp, Unspecified};
    for (request, field) in [
        (ask(Unspecified), "type"),
        (ask(Mcp), "upstream_id"),
        (ask(FileSearch), "name"),
        (pb::AttachAgentToolRequest { name: "s".into(), ..ask(FileSearch) }, "vector_store_id"),
        (pb::AttachAgentToolRequest { upstream_id: "files".into(), ..ask(Function) }, "upstream_id"),
        (pb::AttachAgentToolRequest { vector_store_id: "v".into(), ..ask(Function) }, "vector_store_id"),
        (
            pb::AttachAgentToolRequest {
                upstream_id: "files".into(),
                parameters_json: "{}".into(),
                ..ask(Mcp)
            },
            "parameters_json",
        ),
        (
            pb::AttachAgentToolRequest { name: "f".into(), parameters_json: "[]".into(), ..ask(Function) },
            "parameters_json",
        ),
        (pb::AttachAgentToolRequest { agent_id: String::new(), ..ask(Function) }, "agent_id"),
    ] {
        let status = ring.governance.attach_agent_tool(key.asks(request)).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().starts_with(field), "{field}: {}", status.message());
    }
}
