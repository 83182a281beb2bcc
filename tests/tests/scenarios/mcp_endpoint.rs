//! `POST /mcp` byte for byte: what is served, to whom, and how its streams end.

use std::{collections::BTreeMap, time::Duration};

use futures::future::join_all;
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use toolgate_api_proto::v1::{
    CreateApiKeyRequest, CreateUpstreamRequest, DisableToolRequest, Effect, EnableToolRequest, HttpTransport,
    NamePolicy, RenameToolRequest, RevokeApiKeyRequest, SetToolDescriptionRequest, SetToolEffectRequest,
    Tool, ToolState, UpdateToolLocksRequest, create_upstream_request::Transport,
};
use toolgate_definition::Definition;
use toolgate_test_support::{
    mcp_server::ScriptedServer,
    server::{Answer, Caller, Events, Server},
};

use crate::{
    agents,
    corpus::corpus,
    report,
    steps::{approve, approve_all, entry, sync, tool, tools, with_scopes, with_scripted},
};

const ROUTE: &str = "/mcp";
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");
const JSON: (&str, &str) = ("content-type", "application/json");

/// A request of the stateless revision. `params` begin with a comma, if there are any.
fn message(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{META}{params}}}}}"#)
}

fn headers(method: &str) -> [(&str, &str); 4] {
    [ACCEPT, JSON, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)]
}

async fn ask(caller: &Caller, method: &str, params: &str) -> Answer {
    caller.send("POST", ROUTE, &headers(method), &message(method, params)).await
}

async fn call(caller: &Caller, name: &str) -> Answer {
    let mut headers = headers("tools/call").to_vec();
    headers.push(("mcp-name", name));
    caller.send("POST", ROUTE, &headers, &message("tools/call", &format!(r#","name":"{name}""#))).await
}

/// A session's id.
async fn open(caller: &Caller, revision: &str) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
    );
    let opened = caller.send("POST", ROUTE, &[ACCEPT, JSON], &body).await;
    assert_eq!(opened.status, 200, "{}", opened.text());
    opened.header("mcp-session-id").to_owned()
}

async fn in_session(caller: &Caller, id: &str, body: &str) -> Answer {
    caller.send("POST", ROUTE, &[ACCEPT, JSON, ("mcp-session-id", id)], body).await
}

async fn listen(caller: &Caller) -> Events {
    let body = message("subscriptions/listen", r#","notifications":{"toolsListChanged":true}"#);
    let mut events = caller.events("POST", ROUTE, &headers("subscriptions/listen"), &body).await;
    assert!(events.next().await.unwrap().contains("notifications/subscriptions/acknowledged"));
    events
}

/// The exact texts of all tools, over all pages, without the gateway's own at the end.
pub(crate) async fn definitions(caller: &Caller) -> Vec<String> {
    let (mut texts, mut params) = (Vec::new(), String::new());
    loop {
        let page = ask(caller, "tools/list", &params).await;
        assert_eq!(page.status, 200, "{}", page.text());
        let result = member(page.text(), "result").unwrap();
        let tools: Vec<Box<RawValue>> = serde_json::from_str(&member(&result, "tools").unwrap()).unwrap();
        texts.extend(tools.iter().map(|text| text.get().to_owned()));
        let Some(cursor) = member(&result, "nextCursor") else {
            assert!(texts.pop().unwrap().starts_with(r#"{"name":"tool_list","#));
            return texts;
        };
        params = format!(r#","cursor":{cursor}"#);
    }
}

fn member(object: &str, key: &str) -> Option<String> {
    let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(object).unwrap();
    members.remove(key).map(|value| value.get().to_owned())
}

fn code(answer: &Answer) -> (u16, i64) {
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    (answer.status, body["error"]["code"].as_i64().unwrap())
}

/// The text that the upstream lists, but for the name in it.
fn under_its_served_name(tool: &Tool) -> String {
    let definition = Definition::parse(&tool.definition_json).unwrap();
    let name = definition.document().root().get("name").unwrap().span();
    let mut text = tool.definition_json.clone();
    text.replace_range(name, &serde_json::to_string(&tool.namespaced_name).unwrap());
    text
}

/// BR-083
#[tokio::test]
async fn law_01_every_definition_of_the_corpus_reaches_an_agent_as_it_was_listed_but_for_its_name() {
    let Some(corpus) = corpus() else { return report("not run: the corpus over MCP: corpus absent") };
    let server = Server::start().await;
    let mut servers = Vec::new();
    for (number, entries) in corpus.values().enumerate() {
        let scripted = ScriptedServer::start().await;
        scripted.list(entries);
        let slug = format!("s{number:02}");
        let http = HttpTransport { url: scripted.url(), allow_private: true, ..Default::default() };
        let request = CreateUpstreamRequest {
            slug: slug.clone(),
            name_policy: NamePolicy::Repair.into(),
            transport: Some(Transport::Http(http)),
            ..Default::default()
        };
        server.governance().create_upstream(request).await.unwrap();
        sync(&server, &slug).await;
        servers.push(scripted);
    }
    let mut approved = Vec::new();
    for tools in tools(&server).await.chunks(64) {
        approved.extend(join_all(tools.iter().map(|tool| approve(&server, tool))).await);
    }
    let served = approved.into_iter().flatten().filter(|tool| tool.state() == ToolState::Served);
    let expected: Vec<_> = served.map(|tool| under_its_served_name(&tool)).collect();
    let listed = definitions(&server.operator()).await;
    assert_eq!(listed.len(), expected.len());
    for (listed, expected) in listed.iter().zip(&expected) {
        assert_eq!(listed, expected);
    }
    report(&format!("corpus over MCP: {} definitions, each as listed but for its name", listed.len()));
}

#[tokio::test]
async fn law_04_only_what_is_served_is_listed_and_known_to_a_call() {
    let names = ["served", "off", "drifting", "new"];
    let (server, scripted) = with_scripted(&names.map(|name| entry(name, "d"))).await;
    approve_all(&server, &["srv__served", "srv__off", "srv__drifting"]).await;
    let off = DisableToolRequest { id: tool(&server, "srv__off").await.id, ..Default::default() };
    server.governance().disable_tool(off).await.unwrap();
    scripted.list(&names.map(|name| entry(name, if name == "drifting" { "changed" } else { "d" })));
    sync(&server, "srv").await;

    let agent = with_scopes(&server, &["mcp:call"]).await;
    for caller in [&agent, &server.operator()] {
        assert_eq!(definitions(caller).await, [entry("srv__served", "d")]);
        for (name, state) in
            [("srv__off", "disabled"), ("srv__drifting", "drifted"), ("srv__new", "unapproved")]
        {
            let answer = call(caller, name).await;
            assert!(answer.text().contains(&format!("the tool is {state}")), "{}", answer.text());
            assert!(answer.text().contains(r#""isError":true"#), "{}", answer.text());
        }
        let unknown = call(caller, "srv__no_such").await;
        assert_eq!(code(&unknown), (400, -32602));
        assert!(unknown.text().contains(r#""message":"Unknown tool: srv__no_such""#), "{}", unknown.text());
    }
    assert_eq!(scripted.received_for("tools/call").len(), 0, "what is refused is not sent");
    assert!(call(&agent, "srv__served").await.text().contains(r#""sent":{}"#));
    assert_eq!(scripted.received_for("tools/call").len(), 1);
}

#[tokio::test]
async fn law_05_an_agent_lists_can_call_and_hears_of_what_is_attached_to_it() {
    let (server, _scripted) = agents::two_upstreams().await;
    agents::create(&server, "support").await;
    agents::attach(&server, "support", "files").await;
    let agent = agents::key_of(&server, "support").await;
    let reached = ["files__a", "files__b"].map(|name| entry(name, "d"));
    assert_eq!(definitions(&agent).await, reached);
    assert_eq!(call(&agent, "files__a").await.status, 200);
    let other = call(&agent, "mail__a").await;
    assert_eq!((code(&other), call(&server.operator(), "mail__a").await.status), ((400, -32602), 200));

    let mut events = [listen(&agent).await];
    agents::attach(&server, "support", "mail").await;
    told(&mut events, "attachment").await;
    assert_eq!(definitions(&agent).await.len(), 4);
    assert_eq!(call(&agent, "mail__a").await.status, 200);
}

#[tokio::test]
async fn law_06_locks_and_overrides_are_in_what_an_agent_reads() {
    let takes = r#"{"name":"send","description":"d","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to","text"]},"x":1.0}"#;
    let (server, _scripted) = with_scripted(&[takes]).await;
    approve_all(&server, &["srv__send"]).await;
    let id = tool(&server, "srv__send").await.id;
    let mut governance = server.governance();
    let lock =
        UpdateToolLocksRequest { id: id.clone(), set_json: r#"{"to":"ops"}"#.into(), ..Default::default() };
    governance.update_tool_locks(lock).await.unwrap();
    let describe = SetToolDescriptionRequest {
        id: id.clone(),
        description: Some("Tells us.".into()),
        ..Default::default()
    };
    governance.set_tool_description(describe).await.unwrap();
    let effect = SetToolEffectRequest { id: id.clone(), effect: Effect::Reads.into(), ..Default::default() };
    governance.set_tool_effect(effect).await.unwrap();
    let rename = RenameToolRequest { id, served_name: Some("tell".into()), ..Default::default() };
    governance.rename_tool(rename).await.unwrap();
    let expected = r#"{"name":"tell","description":"Tells us.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]},"x":1.0,"annotations":{"readOnlyHint":true}}"#;
    assert_eq!(definitions(&server.operator()).await, [expected]);
    let misfitting = call(&server.operator(), "tell").await;
    assert!(misfitting.text().contains(r#"\"text\" is a required property"#), "{}", misfitting.text());
    assert_eq!(code(&call(&server.operator(), "srv__send").await), (400, -32602));
}

/// BR-087
#[tokio::test]
async fn law_13_the_same_list_has_the_same_bytes_in_every_session_and_after_a_restart() {
    let names: Vec<_> = (0..40).map(|n| format!("t{n:02}")).collect();
    let (mut server, scripted) =
        with_scripted(&names.iter().map(|name| entry(name, "d")).collect::<Vec<_>>()).await;
    let served: Vec<_> = names.iter().map(|name| format!("srv__{name}")).collect();
    approve_all(&server, &served.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let session = open(&server.operator(), "2025-11-25").await;
    let first = ask(&server.operator(), "tools/list", "").await.body;
    let within = in_session(&server.operator(), &session, list).await.body;
    scripted.list(&names.iter().rev().map(|name| entry(name, "d")).collect::<Vec<_>>());
    sync(&server, "srv").await;
    for restarts in [false, true] {
        if restarts {
            server.restart().await;
        }
        let operator = server.operator();
        for _ in 0..50 {
            assert_eq!(ask(&operator, "tools/list", "").await.body, first);
        }
        assert_eq!(
            in_session(&operator, &session, list).await.body,
            within,
            "the session outlives the process"
        );
        let another = open(&operator, "2025-11-25").await;
        assert_eq!(in_session(&operator, &another, list).await.body, within);
    }
}

#[tokio::test]
async fn law_10_a_session_or_a_cursor_of_another_is_as_unknown_as_any() {
    // More than one page takes.
    let long: Vec<_> = (0..12).map(|n| entry(&format!("t{n:02}"), &"d".repeat(250 << 10))).collect();
    let (server, _scripted) = with_scripted(&long).await;
    for tool in tools(&server).await {
        approve(&server, &tool).await.unwrap();
    }
    let theirs = server.cli(&["client", "create", "other", "--json"]).await.succeeded();
    let theirs: serde_json::Value = serde_json::from_str(&theirs).unwrap();
    let id = theirs["client"]["id"].as_str().unwrap();
    let request =
        CreateApiKeyRequest { client_id: id.into(), scopes: vec!["mcp:call".into()], ..Default::default() };
    let made = server.governance().create_api_key(request).await.unwrap().into_inner();
    let (ours, other) = (server.operator(), server.as_key(&made.secret));
    assert_eq!(definitions(&other).await.len(), 0);

    let session = open(&ours, "2025-06-18").await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(in_session(&ours, &session, ping).await.status, 200);
    let same_client = with_scopes(&server, &["mcp:call"]).await;
    let unknown = in_session(&ours, "made-up", ping).await;
    for stranger in [&other, &same_client] {
        let answer = in_session(stranger, &session, ping).await;
        assert_eq!((answer.status, answer.text()), (404, unknown.text()));
    }
    let first = ask(&ours, "tools/list", "").await;
    let cursor = member(&member(first.text(), "result").unwrap(), "nextCursor").unwrap();
    let params = format!(r#","cursor":{cursor}"#);
    assert_eq!(ask(&ours, "tools/list", &params).await.status, 200);
    let alien = ask(&other, "tools/list", &params).await;
    let nonsense = ask(&other, "tools/list", r#","cursor":"nonsense""#).await;
    assert_eq!((alien.status, alien.text()), (400, nonsense.text()));
}

/// An entry with one input.
fn takes_x(description: &str) -> String {
    entry("a", description)
        .replace(r#"{"type":"object"}"#, r#"{"type":"object","properties":{"x":{"type":"string"}}}"#)
}

#[tokio::test]
async fn every_change_of_what_is_served_is_told_and_none_of_what_never_was() {
    let (server, scripted) = with_scripted(&[takes_x("d"), entry("b", "d")]).await;
    let agent = with_scopes(&server, &["mcp:call"]).await;
    let session = open(&agent, "2025-11-25").await;
    let get = [("accept", "text/event-stream"), ("mcp-session-id", session.as_str())];
    let mut streams = [listen(&agent).await, agent.events("GET", ROUTE, &get, "").await];

    scripted.list(&[takes_x("d"), entry("b", "changed"), entry("never ruled on", "d")]);
    sync(&server, "srv").await;
    for quiet in &mut streams {
        let told = timeout(Duration::from_millis(500), quiet.next()).await;
        assert!(told.is_err(), "nothing that was served changed: {told:?}");
    }
    let a = tool(&server, "srv__a").await;
    let (id, mut governance) = (a.id.clone(), server.governance());
    approve(&server, &a).await.unwrap();
    told(&mut streams, "approval").await;
    let describe =
        SetToolDescriptionRequest { id: id.clone(), description: Some("x".into()), ..Default::default() };
    governance.set_tool_description(describe).await.unwrap();
    told(&mut streams, "description").await;
    let effect = SetToolEffectRequest { id: id.clone(), effect: Effect::Reads.into(), ..Default::default() };
    governance.set_tool_effect(effect).await.unwrap();
    told(&mut streams, "effect").await;
    let rename = RenameToolRequest { id: id.clone(), served_name: Some("new".into()), ..Default::default() };
    governance.rename_tool(rename).await.unwrap();
    told(&mut streams, "name").await;
    let lock =
        UpdateToolLocksRequest { id: id.clone(), set_json: r#"{"x":"1"}"#.into(), ..Default::default() };
    governance.update_tool_locks(lock).await.unwrap();
    told(&mut streams, "lock").await;
    governance.disable_tool(DisableToolRequest { id: id.clone(), ..Default::default() }).await.unwrap();
    told(&mut streams, "disabling").await;
    governance.enable_tool(EnableToolRequest { id: id.clone(), ..Default::default() }).await.unwrap();
    told(&mut streams, "enabling").await;
    for (entries, what) in [
        (vec![takes_x("other")], "drift"),
        (vec![takes_x("d")], "return"),
        (vec![entry("b", "d")], "removal"),
    ] {
        scripted.list(&entries);
        sync(&server, "srv").await;
        told(&mut streams, what).await;
    }
}

async fn told(streams: &mut [Events], of: &str) {
    for stream in streams {
        let event = timeout(Duration::from_secs(30), stream.next()).await;
        let event = event.unwrap_or_else(|_| panic!("nothing is told of the {of}")).unwrap();
        assert!(event.contains("notifications/tools/list_changed"), "{of}: {event}");
    }
}

#[tokio::test]
async fn a_stream_ends_within_a_second_of_its_key_and_no_session_outlives_it() {
    let (server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    let request = CreateApiKeyRequest { scopes: vec!["mcp:call".into()], ..Default::default() };
    let made = server.governance().create_api_key(request).await.unwrap().into_inner();
    let agent = server.as_key(&made.secret);
    let mut stateless = listen(&agent).await;
    let session = open(&agent, "2025-11-25").await;
    let get = [("accept", "text/event-stream"), ("mcp-session-id", session.as_str())];
    let mut of_session = agent.events("GET", ROUTE, &get, "").await;
    let mut kept = listen(&server.operator()).await;

    let revoke = RevokeApiKeyRequest { id: made.api_key.unwrap().id, ..Default::default() };
    server.governance().revoke_api_key(revoke).await.unwrap();
    for stream in [&mut stateless, &mut of_session] {
        let end = timeout(Duration::from_secs(1), stream.next()).await.expect("it ends in time");
        assert_eq!(end, None);
    }
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let refused = in_session(&agent, &session, ping).await;
    assert_eq!(code(&refused), (401, 401));
    assert!(refused.header("www-authenticate").contains(r#"error="invalid_token""#));
    assert!(timeout(Duration::from_millis(200), kept.next()).await.is_err(), "another key's goes on");
}

#[tokio::test]
async fn a_server_that_stops_closes_its_streams_in_good_order() {
    let mut server = Server::start().await;
    let mut stateless = listen(&server.operator()).await;
    server.ask_to_stop();
    let closing = stateless.next().await.unwrap();
    assert!(closing.contains(r#""id":1,"result":{"resultType":"complete""#), "{closing}");
    assert_eq!(stateless.next().await, None);
    assert!(server.ended().await.success());
}

#[tokio::test]
async fn callers_without_a_right_are_told_where_to_get_one() {
    let server = Server::builder().env("TOOLGATE_PUBLIC_URL", "https://tools.example").start().await;
    let metadata = "https://tools.example/.well-known/oauth-protected-resource/mcp";
    let missing = ask(&server.as_nobody(), "tools/list", "").await;
    assert_eq!(code(&missing), (401, 401));
    let expected = format!(r#"Bearer scope="mcp:call", resource_metadata="{metadata}""#);
    assert_eq!(missing.header("www-authenticate"), expected);
    let writer = with_scopes(&server, &["mcp:write"]).await;
    let lacking = ask(&writer, "tools/list", "").await;
    assert_eq!(code(&lacking), (403, 403));
    let expected =
        format!(r#"Bearer error="insufficient_scope", scope="mcp:call", resource_metadata="{metadata}""#);
    assert_eq!(lacking.header("www-authenticate"), expected);

    let path = metadata.strip_prefix("https://tools.example").unwrap();
    let document = server.as_nobody().get(path, &[("host", "tools.example")]).await;
    let document: serde_json::Value = serde_json::from_slice(&document.body).unwrap();
    assert_eq!(document["resource"], "https://tools.example/mcp");
}

#[tokio::test]
async fn a_web_page_of_another_origin_is_not_answered() {
    let server = Server::start().await;
    let mut foreign = headers("tools/list").to_vec();
    foreign.push(("origin", "https://evil.example"));
    let list = message("tools/list", "");
    assert_eq!(server.operator().send("POST", ROUTE, &foreign, &list).await.status, 403);
    let mut misdirected = headers("tools/list").to_vec();
    misdirected.push(("host", "evil.example"));
    assert_eq!(server.operator().send("POST", ROUTE, &misdirected, &list).await.status, 421);
}

#[tokio::test]
async fn nobody_without_a_good_key_makes_the_server_wait_for_a_body_or_keep_it() {
    let mut server = Server::start().await;
    let at = server.addresses().http;
    let mut stream = TcpStream::connect(at).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {at}\r\nauthorization: Bearer wrong\r\ncontent-type: application/json\r\n\
         content-length: 1000000\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    timeout(Duration::from_secs(5), stream.read_exact(&mut status))
        .await
        .expect("the body is not waited for")
        .unwrap();
    assert_eq!(&status, b"HTTP/1.1 401");
    server.stop().await;
}
