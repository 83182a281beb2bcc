//! What answers look like: the same each time, small enough, and right about what they name.

use futures::StreamExt;
use prost::Message;
use tonic::Code;
use tonic_types::StatusExt;
use toolgate_api_proto::v1::{
    self as pb, tool_catalog_server::ToolCatalog, tool_governance_server::ToolGovernance, upstream::Transport,
};
use toolgate_test_support::scripted_servers::complete;

use crate::ring::{Ring, definition, http, reason, said, url};

/// What gRPC clients take by default.
const MESSAGE_BYTES: usize = 4 * 1024 * 1024;

#[tokio::test]
async fn law_13_the_same_question_at_the_same_revision_has_the_same_bytes() {
    let ring = Ring::new().await;
    let entries: Vec<String> = (0..30).map(|n| definition(&format!("t{n}"), "d")).collect();
    ring.upstream(&ring.operator, "srv", &entries.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let key = &ring.operator;
    let again = ring.restarted().await;
    let mut ask = pb::ListToolsRequest { page_size: 10, ..Default::default() };
    for _ in 0..3 {
        let first = ring.list(key, ask.clone()).await.unwrap();
        for ring in [&ring, &again] {
            let same = ring.list(key, ask.clone()).await.unwrap();
            assert_eq!(same.encode_to_vec(), first.encode_to_vec());
        }
        ask.page_token = first.next_page_token;
    }
    assert!(ask.page_token.is_empty(), "three pages are all");
}

#[tokio::test]
async fn law_13_an_etag_is_good_until_something_changes_and_for_its_own_question_alone() {
    let ring = Ring::new().await;
    ring.upstream(&ring.operator, "srv", &[&definition("a", "d"), &definition("b", "d")]).await;
    let key = &ring.operator;
    let first = ring.list(key, pb::ListToolsRequest::default()).await.unwrap();
    let ask = pb::ListToolsRequest { if_none_match: first.etag.clone(), ..Default::default() };
    let same = ring.list(key, ask.clone()).await.unwrap();
    assert!(same.not_modified && same.tools.is_empty() && same.etag == first.etag);
    for other in [
        pb::ListToolsRequest { view: pb::ToolView::Served.into(), ..ask.clone() },
        pb::ListToolsRequest { states: vec![pb::ToolState::Unapproved.into()], ..ask.clone() },
        pb::ListToolsRequest { namespaced_name: "srv__a".into(), ..ask.clone() },
        pb::ListToolsRequest { page_size: 1, ..ask.clone() },
    ] {
        assert!(!ring.list(key, other.clone()).await.unwrap().not_modified, "{other:?}");
    }
    ring.approve(key, &first.tools[0]).await.unwrap();
    let changed = ring.list(key, ask).await.unwrap();
    assert!(!changed.not_modified && changed.etag != first.etag && changed.tools.len() == 2);
}

/// An upstream with many secret headers, as it is answered when it is made and when it is read.
async fn with_headers(names: &[String]) -> [pb::Upstream; 2] {
    let ring = Ring::new().await;
    let headers: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "s3cr3t")).collect();
    let made = ring.governance.create_upstream(ring.operator.asks(http("srv", &headers)));
    let made = said(made).await.unwrap().upstream.unwrap();
    let get = pb::GetUpstreamRequest { id: "srv".into(), ..Default::default() };
    let got = said(ring.catalog.get_upstream(ring.operator.asks(get))).await.unwrap().upstream.unwrap();
    [made, got]
}

#[tokio::test]
async fn law_12_no_secret_of_an_upstream_is_answered() {
    for upstream in with_headers(&["X-Key".into(), "Authorization".into()]).await {
        assert!(!upstream.encode_to_vec().windows(6).any(|part| part == b"s3cr3t"), "{upstream:?}");
    }
}

#[tokio::test]
async fn law_13_the_names_of_secrets_are_answered_in_their_order() {
    let names: Vec<String> = (0..32).map(|n| format!("X-Header-{n:02}")).collect();
    for upstream in with_headers(&names).await {
        let Some(Transport::Http(transport)) = upstream.transport else { panic!("it was made with http") };
        assert_eq!(transport.header_names, names);
    }
}

#[tokio::test]
async fn an_upstream_is_found_by_its_slug_in_either_folding() {
    let ring = Ring::new().await;
    let made = ring.upstream(&ring.operator, "git-hub_x", &[]).await;
    let get = |id: &str| ring.operator.asks(pb::GetUpstreamRequest { id: id.into(), ..Default::default() });
    for id in ["git-hub_x", "git_hub-x", "git_hub_x", &made.id] {
        let got = said(ring.catalog.get_upstream(get(id))).await.unwrap().upstream.unwrap();
        assert_eq!((got.id, got.slug.as_str()), (made.id.clone(), "git-hub_x"));
    }
    let uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
    let like_an_id = ring.upstream(&ring.operator, uuid, &[]).await;
    assert_eq!(said(ring.catalog.get_upstream(get(uuid))).await.unwrap().upstream.unwrap().id, like_an_id.id);
    for id in ["github_x", "GIT-HUB_X", "git-hub_x "] {
        assert_eq!(reason(ring.catalog.get_upstream(get(id)).await).0, Code::NotFound, "{id}");
    }
    let taken = ring.governance.create_upstream(ring.operator.asks(http("git_hub_x", &[]))).await;
    assert_eq!(reason(taken), (Code::AlreadyExists, "SLUG_TAKEN".into()));
}

#[tokio::test]
async fn law_03_a_stale_fingerprint_is_aborted_with_the_present_one_and_nothing_changes() {
    let ring = Ring::new().await;
    let key = &ring.operator;
    ring.upstream(key, "srv", &[&definition("t", "1")]).await;
    let seen = ring.tools(key).await.swap_remove(0);
    ring.servers.answers(&url("srv"), complete(&[&definition("t", "2")]));
    let sync = pb::SyncUpstreamRequest { id: "srv".into(), wait: true, ..Default::default() };
    said(ring.governance.sync_upstream(key.asks(sync))).await.unwrap();
    let before = ring.tools(key).await;
    let status = ring.approve(key, &seen).await.unwrap_err();
    let info = status.get_details_error_info().unwrap();
    assert_eq!((status.code(), info.reason.as_str()), (Code::Aborted, "DEFINITION_CHANGED"));
    assert_eq!(info.metadata["current_hash"], before[0].definition_hash);
    assert_eq!(ring.tools(key).await, before);
}

#[tokio::test]
async fn a_stale_etag_is_aborted_with_the_present_one_which_is_good() {
    let ring = Ring::new().await;
    let key = &ring.operator;
    ring.upstream(key, "srv", &[&definition("t", "1")]).await;
    let seen = ring.tools(key).await.swap_remove(0);
    ring.approve(key, &seen).await.unwrap();
    let disable = |etag: &str| {
        key.asks(pb::DisableToolRequest { id: seen.id.clone(), etag: etag.into(), ..Default::default() })
    };
    let status = ring.governance.disable_tool(disable(&seen.etag)).await.unwrap_err();
    let info = status.get_details_error_info().unwrap();
    assert_eq!((status.code(), info.reason.as_str()), (Code::Aborted, "ETAG_MISMATCH"));
    let tool =
        said(ring.governance.disable_tool(disable(&info.metadata["current_etag"]))).await.unwrap().tool;
    assert_eq!(tool.unwrap().state(), pb::ToolState::Disabled);
}

/// The most that a tool's message holds beside its definition: the longest name, twice.
#[tokio::test]
async fn no_message_outgrows_what_clients_take() {
    let ring = Ring::new().await;
    let entries: Vec<String> =
        (0..1200).map(|n| definition(&format!("{n:0>1024}"), &"x".repeat(900))).collect();
    ring.upstream(&ring.operator, "srv", &entries.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut ask = pb::ListToolsRequest::default();
    let mut listed = 0;
    loop {
        let page = ring.list(&ring.operator, ask.clone()).await.unwrap();
        assert!(page.encoded_len() < MESSAGE_BYTES, "{}", page.encoded_len());
        (listed, ask.page_token) = (listed + page.tools.len(), page.next_page_token);
        if ask.page_token.is_empty() {
            break;
        }
    }
    let watch = ring.operator.asks(pb::WatchToolsRequest::default());
    let mut watch = ring.catalog.watch_tools(watch).await.unwrap().into_inner();
    let mut watched = 0;
    loop {
        let message = watch.next().await.unwrap().unwrap();
        assert!(message.encoded_len() < MESSAGE_BYTES, "{}", message.encoded_len());
        watched += message.changes.len();
        if !message.revision.is_empty() {
            break;
        }
    }
    assert_eq!((listed, watched), (1200, 1200));
}

#[tokio::test]
async fn a_page_of_a_tools_definitions_ends_before_a_client_would_refuse_it() {
    let ring = Ring::new().await;
    let key = &ring.operator;
    let texts: Vec<_> = (0..20).map(|n| definition("t", &format!("{n}{}", "x".repeat(250 * 1024)))).collect();
    ring.upstream(key, "srv", &[&texts[0]]).await;
    for text in &texts[1..] {
        ring.lists(key, "srv", &[text]).await;
    }
    let tool_id = ring.tools(key).await[0].id.clone();
    let mut ask = pb::ListObservedDefinitionsRequest { tool_id, ..Default::default() };
    let (mut found, mut pages) = (Vec::new(), 0);
    loop {
        let page = said(ring.catalog.list_observed_definitions(key.asks(ask.clone()))).await.unwrap();
        assert!(page.encoded_len() < MESSAGE_BYTES);
        found.extend(page.definitions);
        pages += 1;
        if page.next_page_token.is_empty() {
            break;
        }
        ask.page_token = page.next_page_token;
    }
    assert_eq!((found.len(), pages), (20, 2));
    assert!(found.iter().all(|definition| definition.create_time.is_some() && !definition.approved));
    let mut listed: Vec<_> = found.into_iter().filter_map(|definition| definition.definition_json).collect();
    listed.sort();
    let mut texts = texts;
    texts.sort();
    assert_eq!(listed, texts);
}

#[tokio::test]
async fn a_wrong_fingerprint_in_a_list_is_named_by_its_place() {
    let ring = Ring::new().await;
    let key = &ring.operator;
    ring.upstream(key, "srv", &[&definition("t", "d")]).await;
    let tool = ring.tools(key).await.remove(0);
    let ask = |definition_hashes| pb::ListObservedDefinitionsRequest {
        tool_id: tool.id.clone(),
        definition_hashes,
        ..Default::default()
    };
    let one = said(ring.catalog.list_observed_definitions(key.asks(ask(vec![tool.definition_hash.clone()]))));
    let [definition] = &one.await.unwrap().definitions[..] else { panic!("one is asked for") };
    assert_eq!(definition.definition_json.as_ref(), Some(&tool.definition_json));
    assert!(definition.current && definition.return_time.is_none());
    for (hashes, field) in [
        (vec![tool.definition_hash.clone(), "sha256:1".into()], "definition_hashes[1]"),
        (vec![tool.definition_hash.clone(); 17], "definition_hashes"),
    ] {
        let refused = said(ring.catalog.list_observed_definitions(key.asks(ask(hashes)))).await.unwrap_err();
        let violations = refused.get_details_bad_request().unwrap().field_violations;
        assert_eq!((refused.code(), violations[0].field.as_str()), (Code::InvalidArgument, field));
    }
}
