//! `GET /tools` as OXP's own client and its field rules have it.

use std::collections::BTreeSet;

use futures::{StreamExt, future::join_all, stream};
use serde_json::{Map, Value, json};
use tokio::process::Command;
use toolgate_api_proto::v1::{Tool, ToolState};
use toolgate_test_support::{
    mcp_server::ScriptedServer,
    server::{OPERATOR_KEY, Server},
};

use crate::{
    installed::{Installed, own_file},
    report,
    scale::corpus,
    steps::{approve, approve_all, entry, register, sync, tools, with_scopes, with_scripted},
};

const ROUTE: &str = "/tools";
/// What a definition may have; the first four it must.
const MEMBERS: [&str; 6] = ["id", "name", "description", "version", "input_schema", "output_schema"];

async fn items(server: &Server) -> Vec<Value> {
    let answer = server.get(ROUTE, &[]).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let mut body: Map<String, Value> = serde_json::from_slice(&answer.body).unwrap();
    assert!(body.keys().eq(["$schema", "items"]), "{:?}", body.keys());
    assert_eq!(body["$schema"], "urn:oxp:1.0");
    serde_json::from_value(body["items"].take()).unwrap()
}

fn ids(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn oxps_own_client_lists_what_is_served_in_strict_mode() {
    let Some(installed) = Installed::find("OXP's own client") else { return };
    let full = r##"{"name":"full.one","title":"Full","inputSchema":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},
        "required":["n"],"$defs":{"n":{"type":"integer"}}},"outputSchema":{"type":"object"}}"##;
    let (server, _scripted) =
        with_scripted(&[full.to_owned(), entry("plain", "d"), entry("hidden", "d")]).await;
    let dotted = tools(&server).await.into_iter().find(|tool| tool.name == "full.one").unwrap();
    let rename = toolgate_api_proto::v1::RenameToolRequest {
        id: dotted.id,
        served_name: Some("srv__full_one".into()),
        ..Default::default()
    };
    server.governance().rename_tool(rename).await.unwrap();
    approve_all(&server, &["srv__full_one", "srv__plain"]).await;

    let output = Command::new(&installed.python)
        .arg(own_file("python/oxp_list.py"))
        .args([&format!("http://{}", server.addresses().http), OPERATOR_KEY])
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!([
        {
            "id": "srv.full_one@1.0.0", "name": "srv__full_one", "description": "Full", "version": "1.0.0",
            "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            "output_schema": {"type": "object"},
        },
        {
            "id": "srv.plain@1.0.0", "name": "srv__plain", "description": "d", "version": "1.0.0",
            "input_schema": {"type": "object", "properties": {}},
        },
    ]);
    assert_eq!(Value::from(listed), expected);
    report("OXP's own client, strict: health, 401 and 2 definitions");
}

#[tokio::test]
async fn a_version_comes_back_with_its_definition_and_outlives_a_restart() {
    let (mut server, scripted) = with_scripted(&[entry("a", "first")]).await;
    for (description, id) in
        [("first", "srv.a@1.0.0"), ("second", "srv.a@2.0.0"), ("first", "srv.a@1.0.0"), ("3", "srv.a@3.0.0")]
    {
        scripted.list(&[entry("a", description)]);
        sync(&server, "srv").await;
        approve_all(&server, &["srv__a"]).await;
        assert_eq!(ids(&items(&server).await), [id]);
    }
    server.restart().await;
    assert_eq!(ids(&items(&server).await), ["srv.a@3.0.0"]);
}

#[tokio::test]
async fn a_key_that_may_call_or_read_lists_and_no_other_does() {
    let (server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    for (scope, status) in [("mcp:call", 200), ("mcp:read", 200), ("mcp:write", 401), ("mcp:admin", 401)] {
        assert_eq!(with_scopes(&server, &[scope]).await.get(ROUTE, &[]).await.status, status, "{scope}");
    }
    let nobody = server.as_nobody();
    assert_eq!(nobody.get(ROUTE, &[]).await.status, 401);
    assert_eq!(nobody.get(ROUTE, &[("oxp-api-key", OPERATOR_KEY)]).await.status, 200);
    assert_eq!(nobody.get(ROUTE, &[("oxp-api-key", "tg_wrong")]).await.status, 401);
    assert_eq!(nobody.get("/health", &[]).await.status, 200);
    let body = r#"{"$schema":"urn:oxp:1.0"}"#;
    assert_eq!(server.operator().send("GET", ROUTE, &[], body).await.status, 200);
    let other = r#"{"$schema":"urn:oxp:2.0"}"#;
    assert_eq!(server.operator().send("GET", ROUTE, &[], other).await.status, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_served_tool_of_the_corpus_is_defined_by_the_rules() {
    let Some(corpus) = corpus() else { return report("not run: the corpus in the OXP shape: corpus absent") };
    let server = Server::start().await;
    let scripted = join_all(corpus.values().map(async |entries| {
        let scripted = ScriptedServer::start().await;
        scripted.list(entries);
        scripted
    }))
    .await;
    let slugs: Vec<String> = (0..corpus.len()).map(|n| format!("s-{n:02}")).collect();
    join_all(slugs.iter().zip(&scripted).map(async |(slug, one)| register(&server, slug, &one.url()).await))
        .await;
    join_all(slugs.iter().map(|slug| sync(&server, slug))).await;
    let listed = tools(&server).await;
    let approved = stream::iter(&listed).map(|tool| approve(&server, tool)).buffered(32);
    let refused = approved.filter(|answer| std::future::ready(answer.is_err())).count().await;

    let listed = tools(&server).await;
    let served: Vec<&Tool> = listed.iter().filter(|tool| tool.state() == ToolState::Served).collect();
    let items = items(&server).await;
    let names = items.iter().map(|item| item["name"].as_str().unwrap());
    assert!(names.eq(served.iter().map(|tool| tool.namespaced_name.as_str())));
    assert_eq!(ids(&items).into_iter().collect::<BTreeSet<_>>().len(), items.len(), "each id is one tool's");
    items.iter().for_each(check);
    assert!(served.len() > 1000 && refused < 20, "{} served, {refused} refused", served.len());
    report(&format!("corpus: {} of {} tools are served, each valid as OXP", served.len(), listed.len()));
}

/// The field rules of OXP 1.0 for one definition.
fn check(item: &Value) {
    let members = item.as_object().unwrap();
    assert!(members.keys().all(|name| MEMBERS.contains(&name.as_str())), "{item}");
    assert!(MEMBERS[..4].iter().all(|name| members.get(*name).is_some_and(Value::is_string)), "{item}");
    let text = |name: &str| members[name].as_str().unwrap();
    let (id, version) = text("id").split_once('@').unwrap();
    let (toolkit, tool) = id.split_once('.').unwrap();
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    assert!(is_part(toolkit) && is_part(tool) && version == text("version"), "{item}");
    let numbers: Vec<_> = version.split('.').map(|part| part.parse::<u64>().unwrap().to_string()).collect();
    assert!(numbers.len() == 3 && numbers.join(".") == version, "{item}");
    let name = text("name");
    let is_char = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    assert!((1..=64).contains(&name.len()) && name.bytes().all(is_char), "{item}");
    assert!(!text("description").is_empty(), "{item}");
    for schema in ["input_schema", "output_schema"].iter().filter_map(|name| members.get(*name)) {
        assert!(schema.is_object(), "{item}");
        assert!(["$ref", "$defs", "definitions"].iter().all(|word| schema.get(word).is_none()), "{item}");
    }
}
