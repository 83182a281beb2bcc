//! Calls through the gateway: real servers behind it, the official SDKs before it, hostile servers beside it.

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;
use toolgate_api_proto::v1::{
    CallToolRequest, CallToolResponse, call_tool_request::Tool, call_tool_response::Event,
};
use toolgate_test_support::{
    eventually::eventually,
    mcp_server::{Reply, ScriptedServer},
    server::{Caller, OPERATOR_KEY, Server},
};

use crate::{
    installed::{Installed, own_file, search_path},
    report,
    steps::{approve_all, entry, register, register_stdio, sync, tools, with_scripted},
};

const PATIENT: [(&str, &str); 1] = [("TOOLGATE_SYNC_CONNECT_TIMEOUT_MS", "60000")];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A call over gRPC, to its end.
async fn call(caller: &Caller, name: &str, arguments: &str) -> Result<Value, tonic::Status> {
    let request = CallToolRequest {
        tool: Some(Tool::NamespacedName(name.into())),
        arguments_json: arguments.into(),
        ..Default::default()
    };
    let mut events = caller.gateway().call_tool(request).await?.into_inner();
    while let Some(CallToolResponse { event }) = events.message().await? {
        if let Some(Event::Result(result)) = event {
            return Ok(serde_json::from_str(&result.result_json).unwrap());
        }
    }
    panic!("a call ends with its result")
}

/// A server with three real upstreams, all of whose tools are approved.
async fn with_real_servers(installed: &Installed, folder: &Path, home: &Path) -> Server {
    let file = |package: &str| installed.npm_server(package);
    let node = text(&installed.node).to_owned();
    let commands = [
        ("everything", vec![node.clone(), file("server-everything"), "stdio".into()]),
        ("files", vec![node.clone(), file("server-filesystem"), text(folder).to_owned()]),
        ("memory", vec![node, file("server-memory")]),
    ];
    let mut builder = Server::builder();
    for (_, command) in &commands {
        builder = builder.allow_stdio(&command.iter().map(String::as_str).collect::<Vec<_>>());
    }
    for (name, value) in PATIENT {
        builder = builder.env(name, value);
    }
    let server = builder.start().await;
    let memory = text(&home.join("memory.jsonl")).to_owned();
    let env = [("PATH", search_path()), ("HOME", text(home).to_owned()), ("MEMORY_FILE_PATH", memory)];
    let env = env.map(|(name, value)| (name.to_owned(), value));
    for (slug, command) in &commands {
        register_stdio(&server, slug, command, &env).await;
        sync(&server, slug).await;
    }
    let names: Vec<_> = tools(&server).await.into_iter().map(|tool| tool.namespaced_name).collect();
    approve_all(&server, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    server
}

/// What an agent's program says, line by line, to its end.
async fn said(mut program: Command, mode: &str, server: &Server, folder: &Path) -> Vec<Value> {
    let url = format!("http://{}/mcp", server.addresses().http);
    program.args([mode, &url, OPERATOR_KEY, text(folder)]).kill_on_drop(true).stderr(Stdio::inherit());
    let ended = program.output().await.unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    lines(&ended.stdout)
}

fn lines(output: &[u8]) -> Vec<Value> {
    output
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// What every agent sees of the real servers.
async fn real_tools_answer(program: Command, mode: &str) {
    let installed = Installed::find("calls").expect("the caller found it");
    let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let server = with_real_servers(&installed, folder.path(), home.path()).await;
    let said = said(program, mode, &server, folder.path()).await;
    let seen: Vec<_> = said
        .iter()
        .filter_map(|line| {
            Some((line["called"].as_str()?, line["is_error"].as_bool()?, line["kinds"].clone()))
        })
        .collect();
    let block = |kinds: &[&str]| json!(kinds);
    let expected = [
        ("everything__echo", false, block(&["text"])),
        ("everything__get-sum", false, block(&["text"])),
        ("everything__get-tiny-image", false, block(&["text", "image", "text"])),
        ("everything__get-structured-content", false, block(&["text"])),
        ("everything__get-resource-reference", false, block(&["text", "resource", "text"])),
        ("everything__get-sum", true, block(&["text"])),
        ("everything__trigger-long-running-operation", false, block(&["text"])),
        ("files__write_file", false, block(&["text"])),
        ("files__read_text_file", false, block(&["text"])),
        ("memory__create_entities", false, block(&["text"])),
        ("memory__read_graph", false, block(&["text"])),
        ("everything__echo", false, block(&["text"])),
    ];
    assert_eq!(seen, expected, "{said:#?}");
    let texts = |index: usize| said[index]["text"].as_str().unwrap();
    assert!(texts(0).contains("hello") && texts(1).contains("42"), "{said:#?}");
    assert!(said[3]["structured"]["temperature"].is_number(), "{said:#?}");
    assert!(texts(5).contains("do not fit the tool's input schema"), "{said:#?}");
    assert_eq!(said[7]["progress"], json!([1, 2, 3, 4]));
    assert_eq!(std::fs::read_to_string(folder.path().join("written")).unwrap(), "by an agent");
    assert!(texts(9).contains("by an agent") && texts(11).contains("toolgate"), "{said:#?}");
    assert_eq!(said[12]["cancelled"], true);
    report(&format!("calls: {mode}: {} calls of three real servers", seen.len()));
}

fn node(installed: &Installed) -> Command {
    let mut program = Command::new(&installed.node);
    program.arg(own_file("node/calls.mjs"));
    program
}

#[tokio::test]
async fn the_typescript_sdks_call_real_tools_in_a_session() {
    let Some(installed) = Installed::find("calls of the TypeScript SDKs, sessions") else { return };
    for mode in ["sdk", "client"] {
        real_tools_answer(node(&installed), mode).await;
    }
}

#[tokio::test]
async fn the_typescript_sdk_calls_real_tools_without_a_session() {
    let Some(installed) = Installed::find("calls of the TypeScript SDK 2, revision 2026-07-28") else {
        return;
    };
    real_tools_answer(node(&installed), "2026-07-28").await;
}

/// The SDK answers what it is asked for, and calls once more where it is asked for nothing.
#[tokio::test]
async fn the_python_sdk_answers_what_an_upstream_asks_for() {
    let Some(installed) = Installed::find("questions to the Python SDK") else { return };
    let (server, scripted) = (Server::start().await, ScriptedServer::start().await);
    scripted.speak_statelessly(&["2026-07-28"]);
    let erase = r#"{"name":"erase","inputSchema":{"type":"object","properties":{"file":{"type":"string"}}}}"#;
    scripted.list(&[erase]);
    register(&server, "srv", &scripted.url()).await;
    sync(&server, "srv").await;
    approve_all(&server, &["srv__erase"]).await;
    for reply in [
        r#"{"resultType":"input_required","requestState":"waiting"}"#,
        r#"{"resultType":"input_required","inputRequests":{"sure":{"method":"elicitation/create","params":{"mode":"form","message":"Erase it?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}},"requestState":"asked"}"#,
        r#"{"resultType":"complete","content":[{"type":"text","text":"Erased."}]}"#,
    ] {
        scripted.reply_once("tools/call", Reply::result(reply));
    }
    let url = format!("http://{}/mcp", server.addresses().http);
    let mut agent = Command::new(&installed.python);
    agent.arg(own_file("python/asked.py")).args([&url, OPERATOR_KEY, "srv__erase"]);
    let ended = agent.kill_on_drop(true).stderr(Stdio::inherit()).output().await.unwrap();
    assert_eq!(
        lines(&ended.stdout),
        [json!({"asked": "Erase it?"}), json!({"is_error": false, "text": "Erased."})]
    );
    let sent = scripted.received_for("tools/call").into_iter().map(|sent| sent.body);
    let sent: Vec<Value> = sent.map(|body| serde_json::from_str(&body).unwrap()).collect();
    let states: Vec<_> = sent.iter().map(|sent| sent["params"]["requestState"].as_str()).collect();
    assert_eq!(states, [None, Some("waiting"), Some("asked")], "the server's own come back to it");
    let answer = json!({"sure": {"action": "accept", "content": {"ok": true}}});
    assert_eq!(sent[2]["params"]["inputResponses"], answer);
}

/// BR-073, BR-079.
#[tokio::test]
async fn law_06_a_lock_is_sent_and_numbers_pass_as_they_are_spelt() {
    let takes = r#"{"name":"send","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"n":{"type":"integer"}}}}"#;
    let (server, scripted) = with_scripted(&[takes]).await;
    approve_all(&server, &["srv__send"]).await;
    let locked = server.cli(&["tool", "lock", "srv__send", r#"to="ops""#]).await;
    locked.succeeded();
    let called = server.cli(&["call", "srv__send", r#"{"n": 9007199254740993, "to":"me"}"#, "--json"]).await;
    let result = called.succeeded();
    let sent = r#"{"n": 9007199254740993, "to":"ops"}"#;
    assert!(result.contains(&format!(r#""structuredContent":{{"sent":{sent}}},"x-spelt":1.0"#)), "{result}");
    assert!(scripted.received_for("tools/call")[0].body.contains(&format!(r#""arguments":{sent}"#)));
}

/// A locked input is repeated in its header as well: the caller does not know of it.
#[tokio::test]
async fn law_06_a_lock_is_sent_in_the_header_that_its_input_is_bound_to() {
    let takes = r#"{"name":"send","inputSchema":{"type":"object","properties":{"to":{"type":"string","x-mcp-header":"To"},"n":{"type":"integer","x-mcp-header":"Count"}}}}"#;
    let (server, scripted) = (Server::start().await, ScriptedServer::start().await);
    scripted.speak_statelessly(&["2026-07-28"]);
    scripted.list(&[takes]);
    register(&server, "srv", &scripted.url()).await;
    sync(&server, "srv").await;
    approve_all(&server, &["srv__send"]).await;
    server.cli(&["tool", "lock", "srv__send", r#"to="ops""#]).await.succeeded();
    server.cli(&["call", "srv__send", r#"{"n": 1e2, "to":"me"}"#]).await.succeeded();
    let sent = scripted.received_for("tools/call").remove(0).headers;
    assert_eq!(
        (&sent["mcp-param-to"], &sent["mcp-param-count"]),
        (&"ops".parse().unwrap(), &"100".parse().unwrap())
    );
}

/// Law 12: what the caller shows to the gateway is not shown on.
#[tokio::test]
async fn law_12_no_credential_of_a_caller_reaches_an_upstream() {
    let (server, scripted) = with_scripted(&[entry("a", "d")]).await;
    approve_all(&server, &["srv__a"]).await;
    call(&server.operator(), "srv__a", "").await.unwrap();
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "srv__a"),
        ("cookie", "session=caller"),
        ("x-api-key", "of-the-caller"),
    ];
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"srv__a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    assert_eq!(server.operator().send("POST", "/mcp", &headers, body).await.status, 200);
    assert_eq!(scripted.received_for("tools/call").len(), 2);
    for received in scripted.received() {
        let sent = format!("{:?} {}", received.headers, received.body);
        for secret in [OPERATOR_KEY, "session=caller", "of-the-caller"] {
            assert!(!sent.contains(secret), "{sent}");
        }
    }
}

#[tokio::test]
async fn law_08_a_hostile_server_harms_no_call_but_its_own() {
    let (server, hostile) = with_scripted(&[entry("a", "d")]).await;
    let good = ScriptedServer::start().await;
    good.list(&[entry("a", "d")]);
    register(&server, "good", &good.url()).await;
    sync(&server, "good").await;
    approve_all(&server, &["srv__a", "good__a"]).await;
    let progress = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n\n";
    for (what, reply) in [
        ("floods", Reply::flood()),
        ("drips", Reply::drip(r#"{"jsonrpc":"2.0","id":1"#, Duration::from_millis(50))),
        ("hangs", Reply::hang()),
        ("lies about the id", Reply::json(r#"{"jsonrpc":"2.0","id":999,"result":{}}"#)),
        ("answers no object", Reply::result("7")),
        ("answers what is no JSON", Reply::json("<html>")),
        ("breaks off", Reply::cut("{")),
        ("ends its stream early", Reply::events(progress)),
        ("redirects inwards", Reply::status(307, "").header("location", "http://169.254.169.254/latest")),
        ("names a member twice", Reply::json(r#"{"jsonrpc":"2.0","id":$ID,"id":2,"result":{}}"#)),
    ] {
        hostile.reply("tools/call", reply);
        let operator = server.operator();
        let harmed = tokio::spawn(async move { call(&operator, "srv__a", "").await });
        for _ in 0..3 {
            let fine =
                tokio::time::timeout(Duration::from_secs(30), call(&server.operator(), "good__a", "")).await;
            assert_eq!(
                fine.expect("it is not kept waiting").unwrap()["structuredContent"]["sent"],
                json!({})
            );
        }
        if matches!(what, "drips" | "hangs") {
            harmed.abort();
            continue;
        }
        let refused = harmed.await.unwrap().expect_err(what);
        assert_eq!(refused.code(), tonic::Code::Unavailable, "{what}: {refused:?}");
        assert!(!refused.message().contains("169.254"), "{refused:?}");
    }
    hostile.recover();
    call(&server.operator(), "srv__a", "").await.unwrap();
}

/// A server as they were before revision 2025-03-26, written with the official SDK.
#[tokio::test]
async fn a_real_server_over_http_and_sse_is_listed_and_called_on_one_connection() {
    let Some(installed) = Installed::find("a real server over HTTP+SSE") else { return };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut program = Command::new(&installed.node);
    program.args([&*installed.npm_server("server-everything"), "sse"]).env("PORT", port.to_string());
    let _running = program.kill_on_drop(true).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let reachable = async || tokio::net::TcpStream::connect(("127.0.0.1", port)).await.ok();
    eventually("the server listens", reachable).await;
    let server = Server::builder().env(PATIENT[0].0, PATIENT[0].1).start().await;
    register(&server, "old", &format!("http://127.0.0.1:{port}/sse")).await;
    sync(&server, "old").await;
    approve_all(&server, &["old__echo", "old__get-sum"]).await;
    let operator = server.operator();
    let echoed = call(&operator, "old__echo", r#"{"message":"over a stream"}"#).await.unwrap();
    assert!(echoed["content"][0]["text"].as_str().unwrap().contains("over a stream"), "{echoed}");
    let sum = call(&operator, "old__get-sum", r#"{"a":40,"b":2}"#).await.unwrap();
    assert!(sum["content"][0]["text"].as_str().unwrap().contains("42"), "{sum}");
    report("a real server over HTTP+SSE: 2 calls");
}

#[tokio::test]
async fn the_python_sdk_calls_real_tools_in_both_eras() {
    let Some(installed) = Installed::find("calls of the Python SDK, both eras") else { return };
    for mode in ["legacy", "2026-07-28"] {
        let mut program = Command::new(&installed.python);
        program.arg(own_file("python/calls.py"));
        real_tools_answer(program, mode).await;
    }
}
