//! `tool_list` as the running server answers it, over HTTP and over `/mcp`.

use serde_json::{Value, json};
use toolgate_test_support::{
    mcp_server::ScriptedServer,
    server::{Caller, Server},
};

use crate::{
    agents,
    steps::{approve_all, entry, register, sync, with_scopes},
};

const ROUTE: &str = "/tool_list";
const NO_RIGHT: &str = "ACCESS_DENIED: reading the AI tools takes the [AGENT_TOOL_LIST] right of the store - in the program that right is AI Assistant -> Tools -> Get list";

/// Status and body.
async fn get(caller: &Caller, query: &str) -> (u16, String) {
    let answer = caller.get(&format!("{ROUTE}{query}"), &[]).await;
    (answer.status, answer.text().to_owned())
}

/// What a call of the built-in tool answers: its texts, and whether they are a refusal.
async fn called(caller: &Caller, arguments: &Value) -> (Vec<String>, bool) {
    let params = json!({
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}},
        "name": "tool_list",
        "arguments": arguments,
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "tool_list"),
    ];
    let answer = caller.send("POST", "/mcp", &headers, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    let result = &answer["result"];
    let texts = result["content"].as_array().unwrap().iter();
    (texts.map(|block| block["text"].as_str().unwrap().to_owned()).collect(), result["isError"] == true)
}

const LISTED: &str = concat!(
    r#"{"name":"add","description":"Adds a task.\nOpens it.","inputSchema":{"type":"object","properties":{"#,
    r#""name":{"type":"string","description":"one line"},"kind.key":{"type":"string","default":"kDefault"},"#,
    r#""org":{"type":"string"}},"required":["name","org"]}}"#
);

/// Two upstreams: of `tasks`, one tool is served with a locked input; of `bare`, nothing is.
async fn store() -> (Server, [ScriptedServer; 2]) {
    let scripted = [ScriptedServer::start().await, ScriptedServer::start().await];
    scripted[0].list(&[LISTED.to_owned(), entry("drop", "Drops.")]);
    scripted[1].list(&[entry("drop", "Drops.")]);
    let server = Server::builder().env("TOOLGATE_MELBIS_GRANT", "Sales -> Tools").start().await;
    let about = format!("Tasks and notes. {}", "word ".repeat(40).trim());
    let place = ["--display-name", "Scheduler", "--path", "Business -> Time", "--description", &about];
    let url = scripted[0].url();
    let add = ["upstream", "add", "tasks", "--url", &url, "--allow-private"];
    server.cli(&[&add[..], &place].concat()).await.succeeded();
    sync(&server, "tasks").await;
    register(&server, "bare", &scripted[1].url()).await;
    sync(&server, "bare").await;
    approve_all(&server, &["tasks__add"]).await;
    server.cli(&["tool", "lock", "tasks__add", "org=\"ours\""]).await.succeeded();
    (server, scripted)
}

const COLUMNS: &str = r#"{"columns":["unit","path","descr","may","also"],"rows":"#;

fn list(rows: &str) -> String {
    format!(r#"{{"grant":"Sales -> Tools","tools":{COLUMNS}{rows}}}}}"#)
}

#[tokio::test]
async fn an_operator_reads_every_command_and_a_caller_what_is_served() {
    let (server, _scripted) = store().await;
    let bare = r#"["MCP_BARE","bare","",[],["drop"]]"#;
    let tasks = r#"["MCP_TASKS","Business -> Time -> Scheduler","Tasks and notes.",["add"],"#;
    let all = list(&format!(r#"[{bare},{tasks}["drop"]]]"#));
    let served = list(&format!("[{tasks}[]]]"));
    let about = format!("Tasks and notes. {}", "word ".repeat(40).trim());
    let opening = format!(
        r#"{{"unit":"MCP_TASKS","path":"Business -> Time -> Scheduler","descr":"{about}","commands":["#
    );
    let params = r#""params":{"columns":["name","type","required","default","descr"],"rows":["#;
    let add = format!(
        r#"{{"name":"add","may":true,"descr":"Adds a task.\nOpens it.",{params}["name","str",true,"","one line"],["kind.key","str",false,"kDefault",""]]}},"files":null}}"#
    );
    let drop = format!(r#"{{"name":"drop","may":false,"descr":"Drops.",{params}]}},"files":null}}"#);
    let unit = json!({"unit": "MCP_TASKS"});

    let reader = with_scopes(&server, &["mcp:read"]).await;
    for reader in [server.operator(), reader] {
        let one = format!("{opening}{add},{drop}]}}");
        assert_eq!(get(&reader, "").await, (200, all.clone()));
        assert_eq!(get(&reader, "?unit=MCP_TASKS").await, (200, one.clone()));
        assert_eq!(called(&reader, &json!({})).await, (vec![all.clone()], false));
        assert_eq!(called(&reader, &unit).await, (vec![one], false));
    }
    agents::create(&server, "support").await;
    agents::attach(&server, "support", "tasks").await;
    let agent = agents::key_of(&server, "support").await;
    for caller in [with_scopes(&server, &["mcp:call"]).await, agent] {
        let one = format!("{opening}{add}]}}");
        assert_eq!(get(&caller, "").await, (200, served.clone()));
        assert_eq!(get(&caller, "?unit=MCP_TASKS").await, (200, one.clone()));
        assert_eq!(called(&caller, &json!({"unit": ""})).await, (vec![served.clone()], false));
        assert_eq!(called(&caller, &unit).await, (vec![one], false));
        let line = "ACCESS_DENIED: no such tool: MCP_BARE";
        assert_eq!(get(&caller, "?unit=MCP_BARE").await, (403, line.to_owned()), "nothing of it is served");
        assert_eq!(called(&caller, &json!({"unit": "MCP_BARE"})).await, (vec![line.to_owned()], true));
    }
}

#[tokio::test]
async fn refusals_are_the_documented_lines() {
    let (server, _scripted) = store().await;
    let operator = server.operator();
    for unit in ["MCP_NONE", "mcp_tasks", "MELBIS_AGENT_TASK"] {
        let line = format!("ACCESS_DENIED: no such tool: {unit}");
        assert_eq!(get(&operator, &format!("?unit={unit}")).await, (403, line.clone()));
        assert_eq!(called(&operator, &json!({"unit": unit})).await, (vec![line], true));
    }
    for scope in ["mcp:write", "mcp:admin"] {
        let caller = with_scopes(&server, &[scope]).await;
        assert_eq!(get(&caller, "").await, (403, NO_RIGHT.to_owned()), "{scope}");
        assert_eq!(get(&caller, "?unit=MCP_TASKS").await, (403, NO_RIGHT.to_owned()), "{scope}");
    }
    assert_eq!(get(&server.as_nobody(), "").await.0, 401);
    let answer = operator.get("/tool_list?unit=MCP_NONE", &[]).await;
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
}

#[tokio::test]
async fn an_empty_store_says_where_tools_are_made() {
    let server = Server::start().await;
    let empty = r#"{"grant":"Development -> AI Components","tools":{"columns":["unit","path","descr","may","also"],"rows":[]}}"#;
    let answer = server.get(ROUTE, &[]).await;
    assert_eq!((answer.status, answer.text()), (200, empty));
    assert!(answer.header("x-toolgate-hint").contains("toolgate upstream add"));
    let hint = "This store has no AI-tools of its own yet. They are created in the program: window Development, tab AI Components.";
    let both = (vec![empty.to_owned(), hint.to_owned()], false);
    assert_eq!(called(&server.operator(), &json!({})).await, both);
}

/// BR-087
#[tokio::test]
async fn law_13_units_have_the_same_bytes_each_time_and_after_a_restart() {
    let (mut server, scripted) = store().await;
    let all = async |server: &Server| {
        let operator = server.operator();
        (
            get(&operator, "").await,
            get(&operator, "?unit=MCP_TASKS").await,
            called(&operator, &json!({})).await,
        )
    };
    let first = all(&server).await;
    let etag = server.get(ROUTE, &[]).await.header("etag").to_owned();
    assert_eq!(server.get(ROUTE, &[("if-none-match", &etag)]).await.status, 304);
    scripted[0].list(&[entry("drop", "Drops."), LISTED.to_owned()]);
    sync(&server, "tasks").await;
    for _ in 0..50 {
        assert_eq!(all(&server).await, first);
    }
    server.restart().await;
    assert_eq!(all(&server).await, first);
    assert_eq!(server.get(ROUTE, &[("if-none-match", &etag)]).await.status, 304);
    approve_all(&server, &["bare__drop"]).await;
    assert_eq!(server.get(ROUTE, &[("if-none-match", &etag)]).await.status, 200);
}
