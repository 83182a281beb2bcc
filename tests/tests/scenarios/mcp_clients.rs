//! `/mcp` as agents meet it: the official SDKs in every era they speak, and the Inspector.

use std::process::Stdio;

use serde::Deserialize;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::mpsc,
};
use toolgate_api_proto::v1::{DisableToolRequest, EnableToolRequest};
use toolgate_test_support::{
    eventually::eventually,
    mcp_server::ScriptedServer,
    server::{OPERATOR_KEY, Server},
};

use crate::{
    installed::{Installed, own_file, search_path},
    report,
    steps::{approve_all, entry, tool, with_scripted},
};

const SERVED: &str = "srv__served";
const OTHER: &str = "srv__other";
const HIDDEN: &str = "srv__hidden";
/// The gateway's own.
const OWN: &str = "tool_list";
const SESSION: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";

/// One line of an agent's.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Said {
    revision: Option<String>,
    tools: Option<Vec<String>>,
    called: Option<String>,
    is_error: Option<bool>,
    code: Option<i64>,
    text: String,
    listening: bool,
}

/// A program that connects, says what it meets, and goes on until its input ends.
struct Agent {
    lines: Lines<BufReader<ChildStdout>>,
    _input: ChildStdin,
    _child: Child,
}

impl Agent {
    fn start(mut program: Command, mode: &str, server: &Server) -> Self {
        let url = format!("http://{}/mcp", server.addresses().http);
        program.args([mode, &url, OPERATOR_KEY, SERVED, HIDDEN]);
        let mut child =
            program.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { lines, _input: child.stdin.take().unwrap(), _child: child }
    }

    async fn says(&mut self) -> Said {
        let line = self.lines.next_line().await.unwrap().expect("the agent goes on");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }
}

async fn server() -> (Server, ScriptedServer) {
    let (server, scripted) = with_scripted(&["served", "other", "hidden"].map(|name| entry(name, "d"))).await;
    approve_all(&server, &[SERVED, OTHER]).await;
    (server, scripted)
}

/// What every agent meets: the served tools alone, by list and by call, and word of each change.
async fn meets_what_is_served(program: Command, mode: &str, revision: &str) {
    let (server, _scripted) = server().await;
    let mut agent = Agent::start(program, mode, &server);
    assert_eq!(agent.says().await.revision.as_deref(), Some(revision));
    assert_eq!(agent.says().await.tools.unwrap(), [OTHER, SERVED, OWN]);
    let called = agent.says().await;
    assert!(called.is_error != Some(true) && called.code.is_none(), "{called:?}");
    assert_eq!(called.text, "{}", "the server tells what it was sent");
    let denied = agent.says().await;
    assert_eq!((denied.is_error, denied.code), (Some(true), None), "{denied:?}");
    assert!(denied.text.contains("the tool is unapproved"), "{denied:?}");
    assert!(agent.says().await.listening);

    let (heard, mut hears) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            if heard.send(agent.says().await.tools.unwrap()).is_err() {
                return;
            }
        }
    });
    let other = tool(&server, OTHER).await.id;
    eventually("the agent hears that a tool went", async || {
        // More than once: a session's stream may open after the agent said that it listens.
        switch(&server, &other, false).await;
        switch(&server, &other, true).await;
        (last(&mut hears)? == [SERVED, OWN]).then_some(())
    })
    .await;
    approve_all(&server, &[HIDDEN]).await;
    eventually("the agent hears of a new tool", async || {
        (last(&mut hears)? == [HIDDEN, SERVED, OWN]).then_some(())
    })
    .await;
    report(&format!("agent: {mode} speaks {revision}: lists, calls and hears of changes"));
}

/// The newest of what was heard since.
fn last(hears: &mut mpsc::UnboundedReceiver<Vec<String>>) -> Option<Vec<String>> {
    std::iter::from_fn(|| hears.try_recv().ok()).last()
}

async fn switch(server: &Server, id: &str, off: bool) {
    let mut governance = server.governance();
    if off {
        governance.disable_tool(DisableToolRequest { id: id.into(), ..Default::default() }).await.unwrap();
    } else {
        governance.enable_tool(EnableToolRequest { id: id.into(), ..Default::default() }).await.unwrap();
    }
}

fn python(installed: &Installed) -> Command {
    let mut program = Command::new(&installed.python);
    program.arg(own_file("python/agent.py"));
    program
}

fn node(installed: &Installed) -> Command {
    let mut program = Command::new(&installed.node);
    program.arg(own_file("node/agent.mjs"));
    program
}

#[tokio::test]
async fn the_python_sdk_meets_what_is_served_without_a_session() {
    let Some(installed) = Installed::find("the Python SDK, revision 2026-07-28") else { return };
    meets_what_is_served(python(&installed), STATELESS, STATELESS).await;
}

#[tokio::test]
async fn the_python_sdk_meets_what_is_served_in_a_session() {
    let Some(installed) = Installed::find("the Python SDK, sessions") else { return };
    meets_what_is_served(python(&installed), "legacy", SESSION).await;
}

#[tokio::test]
async fn the_typescript_sdk_meets_what_is_served_without_a_session() {
    let Some(installed) = Installed::find("the TypeScript SDK 2, revision 2026-07-28") else { return };
    meets_what_is_served(node(&installed), STATELESS, STATELESS).await;
}

#[tokio::test]
async fn the_typescript_sdks_meet_what_is_served_in_a_session() {
    let Some(installed) = Installed::find("the TypeScript SDKs, sessions") else { return };
    for sdk in ["sdk", "client"] {
        meets_what_is_served(node(&installed), sdk, SESSION).await;
    }
}

#[tokio::test]
async fn the_inspector_lists_what_is_served() {
    let Some(installed) = Installed::find("the MCP Inspector") else { return };
    let (server, _scripted) = server().await;
    let output = Command::new(&installed.node)
        .arg(installed.node_modules.join("@modelcontextprotocol/inspector/cli/build/cli.js"))
        .args(["--cli", &format!("http://{}/mcp", server.addresses().http)])
        .args(["--transport", "http", "--method", "tools/list"])
        .env_clear()
        .env("PATH", search_path())
        .env("NODE_OPTIONS", format!("--import={}", own_file("node/with_key.mjs").display()))
        .env("AGENT_KEY", OPERATOR_KEY)
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let listed: serde_json::Value = serde_json::from_str(&said).unwrap();
    let names: Vec<_> = listed["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, [OTHER, SERVED, OWN]);
}
