//! `/openapi.json`: held against what the server answers, by us and by a fuzzer of other people's making.

use std::{collections::BTreeSet, path::Path};

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use tokio::process::Command;
use toolgate_api_proto::v1::DisableToolRequest;
use toolgate_test_support::{
    mcp_server::ScriptedServer,
    server::{OPERATOR_KEY, Server},
};

use crate::{
    installed::Installed,
    report,
    steps::{approve_all, entry, states, sync, tool, upstream, with_scripted},
};

/// How long the fuzzer may go on.
const FUZZING_SECONDS: &str = "30";
/// Fewer cases would mean that it met something that held it up.
const MIN_CASES: u64 = 500;

const ATTACH_FUNCTION: [&str; 4] = ["attach", "support", "--function", "sum"];

/// The schemas of the document.
pub(crate) struct Schemas(Value);

impl Schemas {
    pub(crate) async fn read(server: &Server) -> Self {
        let answer = server.as_nobody().get("/openapi.json", &[]).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        Self(serde_json::from_slice::<Value>(&answer.body).unwrap()["components"].take())
    }

    fn validator(&self, name: &str) -> Validator {
        let root = json!({"$ref": format!("#/components/schemas/{name}"), "components": self.0});
        let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
        options.offline().build(&root).unwrap()
    }

    /// The body that is answered for `path`, which fits the schema of this name.
    pub(crate) async fn fitting(&self, server: &Server, path: &str, name: &str) -> Value {
        let answer = server.get(path, &[]).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        if let Err(error) = self.validator(name).validate(&body) {
            panic!("{path}: {}: {error}", error.instance_path());
        }
        body
    }
}

/// A server with a tool in each of several states.
async fn server() -> (Server, ScriptedServer) {
    let names = ["served", "drifting", "gone", "off", "new", "bad name"];
    let listed = |names: &[&str], description| names.iter().map(|name| entry(name, description)).collect();
    let first: Vec<String> = listed(&names, "first");
    let (server, scripted) = with_scripted(&first).await;
    approve_all(&server, &["srv__served", "srv__drifting", "srv__gone", "srv__bad name"]).await;
    let off = tool(&server, "srv__off").await.id;
    server.governance().disable_tool(DisableToolRequest { id: off, ..Default::default() }).await.unwrap();
    let mut second: Vec<String> = listed(&["served", "off", "new", "bad name"], "first");
    second.push(entry("drifting", "second"));
    scripted.list(&second);
    sync(&server, "srv").await;
    for words in [&["create", "support"][..], &["attach", "support", "srv"], &ATTACH_FUNCTION] {
        server.cli(&[&["agent"], words].concat()).await.succeeded();
    }
    let found: BTreeSet<_> =
        states(&server).await.into_iter().map(|(_, state)| state.as_str_name()).collect();
    assert_eq!(found.len(), names.len(), "{found:?}");
    (server, scripted)
}

#[tokio::test]
async fn a_fuzzer_finds_no_fault_no_answer_outside_the_document_and_no_way_in_without_a_key() {
    let Some(installed) = Installed::find("schemathesis") else { return };
    let (server, _scripted) = server().await;
    let folder = tempfile::tempdir().unwrap();
    write_settings(folder.path(), &server).await;
    let output = Command::new(&installed.python)
        .args(["-m", "schemathesis.cli", "run", &format!("http://{}/openapi.json", server.addresses().http)])
        // A revision is opaque, and of a random one nobody can say that it is good.
        .args(["--checks", "all", "--exclude-checks", "positive_data_acceptance"])
        .args(["--max-time", FUZZING_SECONDS, "--request-timeout", "10", "--continue-on-failure"])
        // The key is sent as a header; another one beside it would be refused.
        .args(["--generation-with-security-parameters", "false", "--generation-database", "none"])
        .args(["--report", "json", "--report-json-path", "report.json", "--no-color"])
        .current_dir(&folder)
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let found: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("report.json")).unwrap()).unwrap();
    judge(&found);
}

/// The fuzzer takes what is there for some of its parameters, and leaves a session's stream soon.
async fn write_settings(folder: &Path, server: &Server) {
    let upstream = upstream(server, "srv").await.id;
    let session = session(server).await;
    let settings = format!(
        r#"
            [headers]
            Authorization = "Bearer {OPERATOR_KEY}"
            [dictionaries]
            upstreams = {{ values = ["{upstream}"] }}
            units = {{ values = ["MCP_SRV"] }}
            sessions = {{ values = ["{session}"] }}
            agents = {{ values = ["support"] }}
            attached = {{ values = ["srv", "sum"] }}
            [parameters]
            "path.agentId" = {{ dictionary = "agents", probability = 0.8 }}
            "path.toolId" = {{ dictionary = "attached", probability = 0.8 }}
            "query.unit" = {{ dictionary = "units", probability = 0.5 }}
            "query.upstreamId" = {{ dictionary = "upstreams", probability = 0.5 }}
            "header.Mcp-Session-Id" = {{ dictionary = "sessions", probability = 0.5 }}
            [[operations]]
            include-operation-id = "followMcpSession"
            request-timeout = 0.5
        "#
    );
    std::fs::write(folder.join("schemathesis.toml"), settings).unwrap();
}

/// The id of a new session.
async fn session(server: &Server) -> String {
    let open = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    let answer = server.operator().send("POST", "/mcp", &[("content-type", "application/json")], open).await;
    answer.header("mcp-session-id").to_owned()
}

/// That it got somewhere: to every operation, and past the door of each.
fn judge(found: &Value) {
    let operations = &found["operations"];
    assert_eq!(operations["tested"], operations["total"], "{operations}");
    let cases = found["test_cases"]["generated"].as_u64().unwrap();
    assert!(cases >= MIN_CASES, "{}", found["test_cases"]);
    let accepted = |phases: &Value| -> u64 {
        phases.as_object().unwrap().values().filter_map(|phase| phase["accepted"].as_u64()).sum()
    };
    for (operation, phases) in found["valid_rates"].as_object().unwrap() {
        assert!(accepted(phases) > 0, "{operation}: {phases}");
    }
    report(&format!("schemathesis: {cases} cases over {} operations, no failure", operations["tested"]));
}
