//! `GET /tools` and `POST /tools/call` as OXP's own client and its rules have them.

use serde_json::{Map, Value, json};
use tokio::process::Command;
use toolgate_test_support::server::{OPERATOR_KEY, Server};

use crate::{
    installed::{Installed, own_file},
    report,
    steps::{approve_all, entry, sync, tools, with_scopes, with_scripted},
};

const ROUTE: &str = "/tools";

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

#[tokio::test]
async fn oxps_own_client_calls_what_is_served_in_strict_mode() {
    let Some(installed) = Installed::find("calls of OXP's own client") else { return };
    let takes = r#"{"name":"send","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"n":{"type":"integer"}},"required":["to"]}}"#;
    let (server, scripted) = with_scripted(&[takes.to_owned(), entry("hidden", "d")]).await;
    approve_all(&server, &["srv__send"]).await;
    server.cli(&["tool", "lock", "srv__send", "n=7"]).await.succeeded();
    let requests = json!([
        {"tool_id": "srv.send@1.0.0", "call_id": "c1", "input": {"to": "me"}},
        {"tool_id": "srv.send", "call_id": "c1", "input": {"to": "me"}},
        {"tool_id": "srv.send", "call_id": "c1", "input": {"to": "you"}},
        {"tool_id": "srv.send", "input": {"to": 1}},
        {"tool_id": "srv.send@2", "input": {"to": "me"}},
        {"tool_id": "srv.hidden", "input": {}},
        {"tool_id": "srv.none", "input": {}},
    ]);
    let output = Command::new(&installed.python)
        .arg(own_file("python/oxp_call.py"))
        .args([&format!("http://{}", server.addresses().http), OPERATOR_KEY, &requests.to_string()])
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let outcomes: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let value = json!({"sent": {"to": "me", "n": 7}});
    assert_eq!(outcomes[0], json!({"call_id": "c1", "success": true, "value": value}));
    assert_eq!(outcomes[1], outcomes[0], "the same call again brings what came of the first");
    let statuses: Vec<_> = outcomes[2..].iter().map(|outcome| outcome["status"].clone()).collect();
    assert_eq!(statuses, [400, 422, 400, 400, 400]);
    assert!(outcomes[3]["body"]["parameter_errors"]["to"].is_string(), "{}", outcomes[3]);
    let told: Vec<_> = outcomes[2..].iter().map(|outcome| outcome["body"]["message"].to_string()).collect();
    for (message, says) in
        told.iter().zip(["call_id", "does not fit", "version", "UNAPPROVED", "no such tool"])
    {
        assert!(message.to_lowercase().contains(&says.to_lowercase()), "{message}");
    }
    assert_eq!(scripted.received_for("tools/call").len(), 1, "it was made once");
    report("OXP's own client, strict: 7 calls");
}

/// An OXP server as an upstream: another toolgate, whose `GET /tools` and `POST /tools/call` are held to the protocol above.
#[tokio::test]
async fn an_oxp_server_is_listed_governed_and_called_like_any_other() {
    let takes = r#"{"name":"send","description":"Sends.","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"n":{"type":"integer","default":1.0}},"required":["to"]}}"#;
    let (behind, scripted) = with_scripted(&[takes.to_owned(), entry("hidden", "d")]).await;
    approve_all(&behind, &["srv__send"]).await;
    let server = Server::start().await;
    let headers = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(headers.path(), format!("OXP-API-Key: {OPERATOR_KEY}\n")).unwrap();
    let url = format!("http://{}", behind.addresses().http);
    let add =
        ["upstream", "add", "far", "--protocol", "oxp", "--url", &url, "--allow-private", "--header-file"];
    let add = [&add[..], &[headers.path().to_str().unwrap()]].concat();
    server.cli(&add).await.succeeded();
    sync(&server, "far").await;
    let listed = tools(&server).await;
    let [tool] = &listed[..] else { panic!("{listed:#?}") };
    assert_eq!(tool.namespaced_name, "far__srv__send");
    assert!(tool.definition_json.contains(r#""default":1.0"#), "{}", tool.definition_json);
    assert!(tool.definition_json.contains(r#""id":"srv.send@1.0.0""#), "{}", tool.definition_json);

    let refused = server.cli(&["call", "far__srv__send", r#"{"to":"me"}"#]).await;
    assert!(refused.stderr.contains("unapproved"), "{}", refused.stderr);
    server.cli(&["tool", "approve", "--all", "--upstream", "far", "--yes"]).await.succeeded();
    server.cli(&["tool", "lock", "far__srv__send", "n=7"]).await.succeeded();
    let called = server.cli(&["call", "far__srv__send", r#"{"to":"me"}"#, "--json"]).await.succeeded();
    let called: Value = serde_json::from_str(&called).unwrap();
    assert_eq!(called["structuredContent"], json!({"sent": {"to": "me", "n": 7}}));
    assert_eq!(scripted.received_for("tools/call").len(), 1);

    scripted.list(&[takes.replace("Sends.", "Sends, and keeps a copy.")]);
    sync(&behind, "srv").await;
    approve_all(&behind, &["srv__send"]).await;
    sync(&server, "far").await;
    let drifted = server.cli(&["call", "far__srv__send", r#"{"to":"me"}"#]).await;
    assert!(drifted.stderr.contains("drifted"), "another version is another definition: {}", drifted.stderr);
    behind.cli(&["tool", "disable", "srv__send"]).await.succeeded();
    sync(&server, "far").await;
    assert_eq!(tools(&server).await[0].state(), toolgate_api_proto::v1::ToolState::Removed);
}
