//! Schemas that trip their readers, in every documented shape of the running server at once.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json, value::RawValue};
use tokio::net::TcpListener;
use toolgate_api_proto::v1::{
    CallToolRequest, CallToolResponse, Tool, ToolState, UpdateToolLocksRequest,
    call_tool_request::Tool as Called, call_tool_response::Event,
};
use toolgate_definition::Definition;
use toolgate_test_support::{mcp_server::ScriptedServer, server::Server};

use crate::steps::{approve, tool, tools, with_scripted};

/// A server whose one upstream, `srv`, lists some entries, all of which are approved.
struct Shapes {
    server: Server,
    _scripted: ScriptedServer,
    entries: Vec<String>,
}

impl Shapes {
    async fn of(entries: &[&str]) -> Self {
        let entries: Vec<_> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        let (server, _scripted) = with_scripted(&entries).await;
        for tool in tools(&server).await {
            approve(&server, &tool).await.unwrap();
        }
        let shapes = Self { server, _scripted, entries };
        shapes.are_listed_exactly().await;
        shapes
    }

    /// Every entry is served, its text and its fingerprint those of what was listed (law 1).
    async fn are_listed_exactly(&self) {
        let listed = tools(&self.server).await;
        assert_eq!(listed.len(), self.entries.len());
        for entry in &self.entries {
            let definition = Definition::parse(entry).unwrap();
            let tool = listed.iter().find(|tool| tool.name == definition.name()).unwrap();
            assert_eq!((&tool.definition_json, tool.state()), (entry, ToolState::Served));
            assert_eq!(tool.definition_hash, definition.fingerprint().to_string());
        }
        let body = self.server.get("/client/mcp/tools", &[]).await;
        assert!(self.entries.iter().all(|entry| body.text().contains(&format!(r#""definition":{entry}"#))));
    }

    async fn tool(&self, name: &str) -> Tool {
        tool(&self.server, &format!("srv__{name}")).await
    }

    /// The exact text of the input schema that OXP clients read.
    async fn oxp(&self, name: &str) -> String {
        let body = self.server.get("/tools", &[]).await;
        let body: Value =
            serde_json::from_slice::<Box<RawValue>>(&body.body).map(|_| body.text().into()).unwrap();
        let items = member(body.as_str().unwrap(), "items");
        let items: Vec<Box<RawValue>> = serde_json::from_str(&items).unwrap();
        let named = format!("srv__{name}");
        let found = items.iter().find(|item| member(item.get(), "name") == format!("{named:?}"));
        member(found.unwrap().get(), "input_schema")
    }

    /// The rows of the table that Melbis clients read: name, type, required, default, description.
    async fn rows(&self, name: &str) -> Value {
        let body = self.server.get("/tool_list?unit=MCP_SRV", &[]).await;
        let body: Value = serde_json::from_slice(&body.body).unwrap();
        let commands = body["commands"].as_array().unwrap();
        let params = &commands.iter().find(|command| command["name"] == name).unwrap()["params"];
        assert_eq!(params["columns"], json!(["name", "type", "required", "default", "descr"]));
        params["rows"].clone()
    }

    /// The exact text of the definition that agents read over MCP.
    async fn mcp(&self, name: &str) -> String {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{meta}}}}}"#);
        let headers = [
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/list"),
        ];
        let answer = self.server.operator().send("POST", "/mcp", &headers, &body).await;
        let tools = member(&member(answer.text(), "result"), "tools");
        let tools: Vec<Box<RawValue>> = serde_json::from_str(&tools).unwrap();
        let named = format!("{:?}", format!("srv__{name}"));
        tools.iter().find(|tool| member(tool.get(), "name") == named).unwrap().get().to_owned()
    }

    async fn lock(&self, name: &str, set_json: &str) -> Tool {
        let id = self.tool(name).await.id;
        let lock = UpdateToolLocksRequest { id, set_json: set_json.into(), ..Default::default() };
        self.server.governance().update_tool_locks(lock).await.unwrap().into_inner().tool.unwrap()
    }

    /// What the upstream was sent, as its double tells.
    async fn call(&self, name: &str, arguments_json: &str) -> Result<Value, tonic::Status> {
        let request = CallToolRequest {
            tool: Some(Called::NamespacedName(format!("srv__{name}"))),
            arguments_json: arguments_json.into(),
            ..Default::default()
        };
        let mut events = self.server.operator().gateway().call_tool(request).await?.into_inner();
        while let Some(CallToolResponse { event }) = events.message().await? {
            if let Some(Event::Result(result)) = event {
                let result: Value = serde_json::from_str(&result.result_json).unwrap();
                return Ok(serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap());
            }
        }
        panic!("a call ends with its result")
    }
}

/// The exact text of a member of an object.
fn member(object: &str, name: &str) -> String {
    let mut members: std::collections::BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(object).unwrap();
    members.remove(name).unwrap().get().to_owned()
}

fn no_references(schema: &str) {
    assert!(["$ref", "$defs", "definitions"].iter().all(|word| !schema.contains(word)), "{schema}");
}

const PLAIN: &str = r#"{"name":"plain","description":"d","inputSchema":{"type":"object","properties":{}}}"#;

/// BR-011
#[tokio::test]
async fn a_schema_that_holds_itself_is_cut_where_it_closes_and_kept_as_it_is() {
    let ring = r##"{"name":"ring","description":"d","inputSchema":{"type":"object","properties":{"root":{"$ref":"#/$defs/A"}},"$defs":{"A":{"allOf":[{"$ref":"#/$defs/B"}]},"B":{"allOf":[{"$ref":"#/$defs/A"}]}}}}"##;
    let shapes = Shapes::of(&[ring, PLAIN]).await;
    let cut = r#"{"type":"object","properties":{"root":{"allOf":[{"allOf":[{}]}]}}}"#;
    assert_eq!(shapes.oxp("ring").await, cut);
    assert_eq!(shapes.rows("ring").await, json!([["root", "json", false, "", ""]]));
    assert_eq!(shapes.mcp("ring").await, ring.replace(r#""name":"ring""#, r#""name":"srv__ring""#));
    assert_eq!(shapes.rows("plain").await, json!([]));
}

/// BR-013
#[tokio::test]
async fn a_reference_is_written_out_where_the_shape_has_none() {
    let order = r##"{"name":"order","description":"d","inputSchema":{"type":"object","properties":{"cond":{"$ref":"#/$defs/Cond","description":"which orders"},"alt":{"anyOf":[{"$ref":"#/$defs/Cond"},{"type":"null"}]}},"required":["cond"],"$defs":{"Cond":{"type":"object","properties":{"id":{"type":"integer"},"sn":{"type":"string"}},"required":["id","sn"]}}}}"##;
    let shapes = Shapes::of(&[order]).await;
    let cond = r#""type":"object","properties":{"id":{"type":"integer"},"sn":{"type":"string"}},"required":["id","sn"]"#;
    let oxp = shapes.oxp("order").await;
    no_references(&oxp);
    let expected = format!(
        r#"{{"type":"object","properties":{{"cond":{{{cond},"description":"which orders"}},"alt":{{"anyOf":[{{{cond}}},{{"type":"null"}}]}}}},"required":["cond"]}}"#
    );
    assert_eq!(oxp, expected);
    let rows = json!([["cond", "json", true, "", "which orders"], ["alt", "json/null", false, "", ""]]);
    assert_eq!(shapes.rows("order").await, rows);
    assert_eq!(shapes.mcp("order").await, order.replace(r#""name":"order""#, r#""name":"srv__order""#));
}

/// BR-015
#[tokio::test]
async fn a_reference_that_leads_elsewhere_is_never_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, asked) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&asked);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let peek = format!(
        r#"{{"name":"peek","description":"d","inputSchema":{{"type":"object","properties":{{"c":{{"$ref":"http://127.0.0.1:{port}/latest/meta-data/"}},"f":{{"$ref":"file:///etc/passwd"}}}}}}}}"#
    );
    let shapes = Shapes::of(&[&peek, &PLAIN.replace("plain", "fine")]).await;
    assert_eq!(shapes.oxp("peek").await, r#"{"type":"object","properties":{"c":{},"f":{}}}"#);
    assert_eq!(
        shapes.rows("peek").await,
        json!([["c", "json", false, "", ""], ["f", "json", false, "", ""]])
    );
    assert!(shapes.mcp("peek").await.contains(&format!("http://127.0.0.1:{port}/")), "as listed");
    shapes.call("peek", r#"{"c":{"any":1},"f":2}"#).await.ok();
    shapes.call("fine", "{}").await.unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 0, "nobody asks for what a reference names");
}

/// BR-017
#[tokio::test]
async fn a_tool_without_properties_takes_nothing_in_every_shape() {
    let listed = r#"{"name":"list_tables","description":"d","inputSchema":{"type":"object"}}"#;
    let closed = r#"{"name":"noargs2","description":"d","inputSchema":{"type":"object","additionalProperties":false}}"#;
    let shapes = Shapes::of(&[listed, closed]).await;
    assert_eq!(shapes.oxp("list_tables").await, r#"{"type":"object","properties":{}}"#);
    let expected = r#"{"type":"object","additionalProperties":false,"properties":{}}"#;
    assert_eq!(shapes.oxp("noargs2").await, expected);
    for name in ["list_tables", "noargs2"] {
        assert_eq!(shapes.rows(name).await, json!([]));
        for arguments in ["", "{}"] {
            assert_eq!(shapes.call(name, arguments).await.unwrap(), json!({}), "{name} {arguments:?}");
        }
    }
    shapes.are_listed_exactly().await;
}

/// BR-019
#[tokio::test]
async fn a_schema_that_is_true_or_false_is_an_input() {
    let set = r#"{"name":"set_mode","description":"d","inputSchema":{"type":"object","properties":{"refresh":true,"never":false}}}"#;
    let shapes = Shapes::of(&[set, &PLAIN.replace("plain", "get_mode")]).await;
    let expected = r#"{"type":"object","properties":{"refresh":true,"never":false}}"#;
    assert_eq!(shapes.oxp("set_mode").await, expected);
    let rows = json!([["refresh", "json", false, "", ""], ["never", "json", false, "", ""]]);
    assert_eq!(shapes.rows("set_mode").await, rows);
    assert_eq!(
        shapes.mcp("set_mode").await,
        set.replace(r#""name":"set_mode""#, r#""name":"srv__set_mode""#)
    );
}

/// BR-021
#[tokio::test]
async fn every_type_of_a_list_shows() {
    let update = r#"{"name":"update_doc","description":"d","inputSchema":{"type":"object","properties":{"owner":{"type":["integer","null"],"description":"id"},"tags":{"type":["array","null"],"items":{"type":"string"}}}}}"#;
    let shapes = Shapes::of(&[update]).await;
    let rows = json!([["owner", "int/null", false, "", "id"], ["tags", "str/json/null", false, "", ""]]);
    assert_eq!(shapes.rows("update_doc").await, rows);
    assert!(shapes.oxp("update_doc").await.contains(r#""type":["integer","null"]"#));
}

/// BR-023
#[tokio::test]
async fn inputs_of_a_union_at_the_root_are_listed_and_none_is_required() {
    let attach = r#"{"name":"attach","description":"d","inputSchema":{"type":"object","anyOf":[{"properties":{"content":{"type":"string"}},"required":["content"]},{"properties":{"url":{"type":"string"}},"required":["url"]}]}}"#;
    let shapes = Shapes::of(&[attach, &PLAIN.replace("plain", "detach")]).await;
    let rows = json!([["content", "str", false, "", ""], ["url", "str", false, "", ""]]);
    assert_eq!(shapes.rows("attach").await, rows);
    let oxp: Value = serde_json::from_str(&shapes.oxp("attach").await).unwrap();
    assert_eq!(oxp["anyOf"].as_array().map(Vec::len), Some(2));
}

/// BR-091
#[tokio::test]
async fn every_default_can_be_told_from_every_other_and_from_none() {
    let t = r#"{"name":"t","description":"d","inputSchema":{"type":"object","properties":{"a":{"type":"integer","default":0},"b":{"type":"boolean","default":false},"c":{"type":"string","default":""},"d":{"type":"array","default":[]},"e":{"type":"number","default":0.0},"f":{"type":"string"},"g":{"type":"object","default":{"k":[1,{"z":null}]}},"h":{"type":"string","default":"null"}}}}"#;
    let shapes = Shapes::of(&[t]).await;
    let rows = shapes.rows("t").await;
    let defaults: Vec<_> = rows.as_array().unwrap().iter().map(|row| row[3].as_str().unwrap()).collect();
    let expected = ["0", "false", "\"\"", "[]", "0.0", "", r#"{"k":[1,{"z":null}]}"#, "\"null\""];
    assert_eq!(defaults, expected);
    let schema = Definition::parse(t).unwrap();
    let schema = schema.document().root().get("inputSchema").unwrap().text().to_owned();
    assert_eq!(shapes.oxp("t").await, schema, "0 and 0.0 as listed");
    assert_eq!(shapes.call("t", "{}").await.unwrap(), json!({}), "shown, never filled in");
}

/// BR-093
#[tokio::test]
async fn a_dot_in_the_name_of_an_input_is_a_character() {
    let search = r#"{"name":"search","description":"d","inputSchema":{"type":"object","properties":{"projects.any":{"type":"string"},"due_on.before":{"type":"string"},"projects_any":{"type":"string"}},"required":["projects.any"]}}"#;
    let shapes = Shapes::of(&[search]).await;
    let others = json!([["due_on.before", "str", false, "", ""], ["projects_any", "str", false, "", ""]]);
    let mut all = vec![json!(["projects.any", "str", true, "", ""])];
    all.extend(others.as_array().unwrap().clone());
    assert_eq!(shapes.rows("search").await, Value::from(all));
    let locked = shapes.lock("search", r#"{"projects.any":"42"}"#).await;
    assert_eq!((locked.state(), &*locked.lock_issues), (ToolState::Served, &[][..]));
    assert_eq!(shapes.rows("search").await, others, "the literal key is locked");
    assert!(!shapes.oxp("search").await.contains("projects.any"));
    let sent = shapes.call("search", r#"{"projects_any":"x"}"#).await.unwrap();
    assert_eq!(sent, json!({"projects_any": "x", "projects.any": "42"}));
}

/// BR-105
#[tokio::test]
async fn a_number_and_a_string_of_digits_stay_what_they_are_on_every_face() {
    let t = r#"{"name":"t","description":"d","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"},"big":{"type":"integer"}}}}"#;
    let shapes = Shapes::of(&[t]).await;
    let locks = r#"{"n":5,"s":"5","big":9007199254740993}"#;
    let tool = shapes.lock("t", locks).await;
    assert_eq!(tool.fixed_args_json(), shapes.tool("t").await.fixed_args_json());
    let members = [r#""n":5"#, r#""s":"5""#, r#""big":9007199254740993"#];
    let roar = shapes.server.get("/client/mcp/tools", &[]).await;
    let cli = shapes.server.cli(&["--json", "tool", "show", "srv__t"]).await.succeeded();
    let cli: Value = serde_json::from_str(&cli).unwrap();
    let cli = cli["tool"]["fixedArgsJson"].as_str().unwrap();
    for text in [tool.fixed_args_json(), roar.text(), cli] {
        assert!(members.iter().all(|member| text.contains(member)), "{text}");
    }
    // Of our own 64-bit numbers none is in a documented shape; protobuf JSON has each as a string.
    let document = shapes.server.get("/openapi.json", &[]).await;
    let document: Value = serde_json::from_slice(&document.body).unwrap();
    let mut integers = Vec::new();
    places_of_integers(&document, "", &mut integers);
    assert!(
        integers.iter().all(|place| place.contains("RetryAfter") || place.contains("/code")),
        "{integers:?}"
    );
    let log = shapes.server.cli(&["--json", "audit", "list"]).await.succeeded();
    let log: Value = serde_json::from_str(&log).unwrap();
    assert_eq!(log["rulings"][1]["sequence"], "2");
    let proof = shapes.server.cli(&["--json", "audit", "verify"]).await.succeeded();
    assert_eq!(serde_json::from_str::<Value>(&proof).unwrap()["count"], "2");
}

fn places_of_integers(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if members.get("type").is_some_and(|kind| kind == "integer") {
                found.push(place.to_owned());
            }
            members
                .iter()
                .for_each(|(name, value)| places_of_integers(value, &format!("{place}/{name}"), found));
        }
        Value::Array(elements) => elements.iter().for_each(|value| places_of_integers(value, place, found)),
        _ => {}
    }
}
