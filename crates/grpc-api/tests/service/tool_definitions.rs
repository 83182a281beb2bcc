//! `ListToolDefinitions`: what an agent may use, in the OXP shape.

use prost::Message;
use toolgate_api_proto::{
    WholeAnswer,
    v1::{self as pb, tool_catalog_server::ToolCatalog, tool_governance_server::ToolGovernance},
};

use crate::ring::{Key, Ring, definition, said};

async fn list(
    ring: &Ring,
    key: &Key,
    ask: pb::ListToolDefinitionsRequest,
) -> pb::ListToolDefinitionsResponse {
    said(ring.catalog.list_tool_definitions(key.asks(ask))).await.unwrap()
}

async fn ids(ring: &Ring, key: &Key) -> Vec<String> {
    let all = list(ring, key, Default::default()).await.definitions;
    all.into_iter().map(|definition| definition.id).collect()
}

async fn approve_all(ring: &Ring, key: &Key) {
    for tool in ring.tools(key).await {
        ring.approve(key, &tool).await.unwrap();
    }
}

#[tokio::test]
async fn law_04_only_what_is_served_and_reaches_the_caller_is_defined() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    ring.upstream(&key, "my-srv", &[&definition("a", "d"), &definition("b", "d")]).await;
    ring.upstream(&key, "more", &[&definition("c", "d")]).await;
    assert_eq!(ids(&ring, &key).await, [""; 0]);
    approve_all(&ring, &key).await;
    let off = pb::DisableToolRequest { id: ring.tools(&key).await[1].id.clone(), ..Default::default() };
    said(ring.governance.disable_tool(key.asks(off))).await.unwrap();
    assert_eq!(ids(&ring, &key).await, ["my_srv.a@1.0.0", "more.c@1.0.0"]);

    ring.agent(&key, "support", &["more"]).await;
    ring.agent(&key, "sales", &[]).await;
    assert_eq!(ids(&ring, &ring.agent_key("support").await).await, ["more.c@1.0.0"]);
    assert_eq!(ids(&ring, &ring.agent_key("sales").await).await, [""; 0]);
}

#[tokio::test]
async fn law_06_a_definition_is_what_agents_read() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    let listed = r##"{"name":"a.b","title":"T","inputSchema":{"type":"object","properties":
        {"org":{"type":"string"},"q":{"$ref":"#/$defs/q"}},"$defs":{"q":{"type":"integer"}}},"outputSchema":{"type":"object"}}"##;
    ring.upstream(&key, "srv", &[listed, &definition("plain", "d")]).await;
    let tool = ring.tools(&key).await.remove(0);
    let name =
        pb::RenameToolRequest { id: tool.id.clone(), served_name: Some("find".into()), ..Default::default() };
    said(ring.governance.rename_tool(key.asks(name))).await.unwrap();
    let set_json = r#"{"org":"s3cr3t"}"#.to_owned();
    let lock = pb::UpdateToolLocksRequest { id: tool.id.clone(), set_json, ..Default::default() };
    said(ring.governance.update_tool_locks(key.asks(lock))).await.unwrap();
    approve_all(&ring, &key).await;

    let all = list(&ring, &key, Default::default()).await.definitions;
    let [found, plain] = &all[..] else { panic!("both are served") };
    assert_eq!((&*found.id, &*found.name, &*found.version), ("srv.a_b@1.0.0", "find", "1.0.0"));
    assert_eq!(found.description, "T");
    let schema: serde_json::Value = serde_json::from_str(found.input_schema_json()).unwrap();
    assert_eq!(schema["properties"], serde_json::json!({"q": {"type": "integer"}}));
    assert!(schema.get("$defs").is_none());
    assert_eq!(found.output_schema_json(), r#"{"type":"object"}"#);
    assert_eq!((&*plain.description, plain.output_schema_json.as_ref()), ("d", None));
    let described = pb::SetToolDescriptionRequest {
        id: tool.id,
        description: Some("Finds.".into()),
        ..Default::default()
    };
    said(ring.governance.set_tool_description(key.asks(described))).await.unwrap();
    assert_eq!(list(&ring, &key, Default::default()).await.definitions[0].description, "Finds.");
}

#[tokio::test]
async fn a_version_stays_with_its_definition() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    ring.upstream(&key, "srv", &[&definition("a", "first")]).await;
    for (description, id) in
        [("first", "srv.a@1.0.0"), ("second", "srv.a@2.0.0"), ("first", "srv.a@1.0.0"), ("3", "srv.a@3.0.0")]
    {
        ring.lists(&key, "srv", &[&definition("a", description)]).await;
        approve_all(&ring, &key).await;
        assert_eq!(ids(&ring, &key).await, [id], "{description}");
    }
    assert_eq!(ids(&ring.restarted().await, &key).await, ["srv.a@3.0.0"]);
}

#[tokio::test]
async fn a_tool_keeps_its_id_when_another_comes_that_reads_like_it() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    let (dotted, plain) = (definition("a.b", "d"), definition("a_b", "d"));
    ring.upstream(&key, "srv", &[&dotted]).await;
    let tool = ring.tools(&key).await.remove(0);
    let name = pb::RenameToolRequest { id: tool.id, served_name: Some("ab".into()), ..Default::default() };
    said(ring.governance.rename_tool(key.asks(name))).await.unwrap();
    approve_all(&ring, &key).await;
    assert_eq!(ids(&ring, &key).await, ["srv.a_b@1.0.0"]);
    ring.clock.advance_ms(1);
    ring.lists(&key, "srv", &[&plain, &dotted]).await;
    approve_all(&ring, &key).await;
    let both = ids(&ring, &key).await;
    assert_eq!(both[0], "srv.a_b@1.0.0");
    assert!(both[1].starts_with("srv.a_b_") && both[1].len() == "srv.a_b_01234567@1.0.0".len(), "{both:?}");
    ring.lists(&key, "srv", &[&plain]).await;
    assert_eq!(ids(&ring, &key).await, both[1..], "what is gone counts");
}

#[tokio::test]
async fn what_takes_a_user_says_whose_credential_the_user_needs() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    ring.upstream(&key, "my-srv", &[&definition("a", "d")]).await;
    ring.upstream(&key, "other", &[&definition("b", "d")]).await;
    approve_all(&ring, &key).await;
    let before = list(&ring, &key, Default::default()).await;
    assert!(before.definitions.iter().all(|definition| definition.requirements.is_none()));
    let auth = pb::UpstreamAuth::PerUser.into();
    let upstream = pb::Upstream { slug: "my-srv".into(), auth, ..Default::default() };
    let update_mask = Some(prost_types::FieldMask { paths: vec!["auth".into()] });
    let update = pb::UpdateUpstreamRequest { upstream: Some(upstream), update_mask, ..Default::default() };
    said(ring.governance.update_upstream(key.asks(update))).await.unwrap();
    let ask = pb::ListToolDefinitionsRequest { if_none_match: before.etag, ..Default::default() };
    let after = list(&ring, &key, ask).await.definitions;
    let requirements = after[0].requirements.as_ref().unwrap();
    assert_eq!(requirements.authorization, [pb::AuthorizationRequirement { id: "my-srv".into() }]);
    assert!(requirements.user_id && after[1].requirements.is_none());
}

#[tokio::test]
async fn law_13_an_etag_is_good_until_something_changes() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    ring.upstream(&key, "srv", &[&definition("a", "d"), &definition("b", "d")]).await;
    approve_all(&ring, &key).await;
    let first = list(&ring, &key, Default::default()).await;
    assert_eq!(list(&ring, &key, Default::default()).await, first);
    let ask = pb::ListToolDefinitionsRequest { if_none_match: first.etag.clone(), ..Default::default() };
    let same = list(&ring, &key, ask.clone()).await;
    assert!(same.not_modified && same.definitions.is_empty() && same.etag == first.etag);
    let one = pb::ListToolDefinitionsRequest { page_size: 1, ..ask.clone() };
    assert!(!list(&ring, &key, one).await.not_modified);
    ring.agent(&key, "support", &["srv"]).await;
    assert!(!list(&ring, &ring.agent_key("support").await, ask.clone()).await.not_modified);
    ring.lists(&key, "srv", &[&definition("a", "d")]).await;
    let changed = list(&ring, &key, ask).await;
    assert!(!changed.not_modified && changed.etag != first.etag && changed.definitions.len() == 1);
}

/// References make a schema larger than the definition that it stands in.
#[tokio::test]
async fn a_page_ends_before_a_client_would_refuse_it_and_a_whole_answer_does_not() {
    let ring = Ring::new().await;
    let key = ring.operator.clone();
    let text = "x".repeat(30_000);
    let uses: Vec<_> = (0..30).map(|n| format!(r##""p{n}":{{"$ref":"#/$defs/t"}}"##)).collect();
    let schema = format!(
        r#"{{"type":"object","properties":{{{}}},"$defs":{{"t":{{"type":"string","pattern":"{text}"}}}}}}"#,
        uses.join(",")
    );
    let entries: Vec<_> = (0..8).map(|n| format!(r#"{{"name":"t{n}","inputSchema":{schema}}}"#)).collect();
    ring.upstream(&key, "srv", &entries.iter().map(String::as_str).collect::<Vec<_>>()).await;
    approve_all(&ring, &key).await;
    let mut ask = pb::ListToolDefinitionsRequest::default();
    let mut found = Vec::new();
    loop {
        let page = list(&ring, &key, ask.clone()).await;
        assert!(page.encoded_len() < 4 * 1024 * 1024, "{}", page.encoded_len());
        found.extend(page.definitions);
        if page.next_page_token.is_empty() {
            break;
        }
        ask.page_token = page.next_page_token;
    }
    assert_eq!(found.len(), 8);
    let mut request = key.asks(pb::ListToolDefinitionsRequest::default());
    request.extensions_mut().insert(WholeAnswer);
    let whole = said(ring.catalog.list_tool_definitions(request)).await.unwrap();
    assert!(whole.encoded_len() > 4 * 1024 * 1024 && whole.next_page_token.is_empty());
    assert_eq!(whole.definitions, found);
}
