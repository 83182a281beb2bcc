//! A client in another language, generated from the protos as a customer would, beside the HTTP shapes.

use std::{os::unix::fs::symlink, path::Path};

use serde_json::{Value, json};
use tokio::process::Command;
use toolgate_api_proto::v1::UpdateToolLocksRequest;
use toolgate_test_support::server::{OPERATOR_KEY, Server};

use crate::{
    installed::{Installed, own_file},
    report,
    steps::{approve_all, entry, tool, with_scripted},
};

const AGENT: &str = "support";

/// Generates the client into `folder`, which finds its packages there.
async fn generate(installed: &Installed, folder: &Path) {
    let plugin = installed.node_modules.join("@bufbuild/protoc-gen-es/bin/protoc-gen-es");
    let plugin =
        json!({"local": [installed.node, plugin], "out": ".", "opt": ["target=js", "import_extension=js"]});
    let made = Command::new(installed.node_modules.join(".bin/buf"))
        .args(["generate", "--template", &json!({"version": "v2", "plugins": [plugin]}).to_string()])
        .arg("--output")
        .arg(folder)
        .current_dir(own_file(".."))
        .status()
        .await;
    assert!(made.unwrap().success());
    std::fs::write(folder.join("package.json"), r#"{"type":"module"}"#).unwrap();
    symlink(&installed.node_modules, folder.join("node_modules")).unwrap();
}

/// What the client reads.
async fn read(installed: &Installed, server: &Server) -> Value {
    let folder = tempfile::tempdir().unwrap();
    generate(installed, folder.path()).await;
    let output = Command::new(&installed.node)
        .arg(own_file("node/read_shapes.mjs"))
        .arg(folder.path())
        .args([&format!("http://{}", server.addresses().grpc), OPERATOR_KEY, AGENT, "srv", "MCP_SRV"])
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn over_http(server: &Server, path: &str) -> Value {
    serde_json::from_slice(&server.get(path, &[]).await.body).unwrap()
}

/// What stands as JSON text in a field; null where it is absent.
fn text(field: &Value) -> Value {
    field.as_str().map_or(Value::Null, |text| serde_json::from_str(text).unwrap())
}

/// The word for a value of an enumeration; null where it is absent.
fn word(field: &Value, prefix: &str) -> Value {
    field.as_str().map_or(Value::Null, |name| name.strip_prefix(prefix).unwrap().to_lowercase().into())
}

/// `shape` with those of the members that are there.
fn with(mut shape: Value, members: &[(&str, Value)]) -> Value {
    for (member, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        shape[member] = value.clone();
    }
    shape
}

/// A tool of the RPC as the shape has it.
fn in_roars_shape(tool: &Value) -> Value {
    let moment = |field: &Value| match field.as_str() {
        Some(text) if !text.contains('.') => text.replace('Z', ".000Z").into(),
        _ => field.clone(),
    };
    json!({
        "id": tool["id"],
        "clientId": tool["clientId"],
        "upstreamId": tool["upstreamId"],
        "name": tool["name"],
        "definition": text(&tool["definitionJson"]),
        "definitionHash": tool["definitionHash"],
        "approvedHash": tool["approvedHash"],
        "status": word(&tool["status"], "TOOL_STATUS_"),
        "removedAt": moment(&tool["removeTime"]),
        "effectOverride": word(&tool["effectOverride"], "EFFECT_"),
        "effect": word(&tool["effect"], "EFFECT_"),
        "createdAt": moment(&tool["createTime"]),
        "updatedAt": moment(&tool["updateTime"]),
        "namespacedName": tool["namespacedName"],
        "state": word(&tool["state"], "TOOL_STATE_"),
        "fixedArgs": text(&tool["fixedArgsJson"]),
        "descriptionOverride": tool["descriptionOverride"],
        "lockIssues": tool["lockIssues"],
    })
}

/// What a server lists, as the shape has it.
fn in_prismes_shape(list: &Value) -> Value {
    let items = each(&list["tools"], |tool| {
        let shape = json!({
            "name": tool["name"],
            "canonical_name": tool["canonicalName"],
            "annotations": text(&tool["annotationsJson"]),
        });
        let schema = text(&tool["inputSchemaJson"]);
        with(shape, &[("description", tool["description"].clone()), ("inputSchema", schema)])
    });
    json!({"status": word(&list["status"], "SERVER_TOOLS_STATUS_"), "items": items})
}

/// A definition of the RPC as the shape has it.
fn in_oxps_shape(definition: &Value) -> Value {
    let shape = json!({
        "id": definition["id"],
        "name": definition["name"],
        "description": definition["description"],
        "version": definition["version"],
    });
    let schemas = [("input_schema", "inputSchemaJson"), ("output_schema", "outputSchemaJson")];
    with(shape, &schemas.map(|(member, field)| (member, text(&definition[field]))))
}

/// These fields of a message as a table's row.
fn row(message: &Value, fields: [&str; 5]) -> Value {
    fields.map(|field| message[field].clone()).into()
}

/// Units of the RPC as the shape has them; what is granted where is not the catalogue's to say.
fn in_melbis_list(units: &Value, grant: &Value) -> Value {
    let rows = each(units, |unit| row(unit, ["unit", "path", "description", "may", "also"]));
    json!({"grant": grant, "tools": {"columns": ["unit", "path", "descr", "may", "also"], "rows": rows}})
}

/// A unit of the RPC as the shape has it.
fn in_melbis_unit(unit: &Value, commands: &Value) -> Value {
    let commands = each(commands, |command| {
        let params = &command["params"];
        let rows = each(params, |param| row(param, ["name", "type", "required", "default", "description"]));
        json!({
            "name": command["name"],
            "may": command["may"],
            "descr": command["description"],
            "params": {"columns": ["name", "type", "required", "default", "descr"], "rows": rows},
            "files": null,
        })
    });
    json!({"unit": unit["unit"], "path": unit["path"], "descr": unit["description"], "commands": commands})
}

fn each(list: &Value, shape: impl Fn(&Value) -> Value) -> Vec<Value> {
    list.as_array().unwrap().iter().map(shape).collect()
}

/// BR-105.
#[tokio::test]
async fn a_node_client_reads_behind_each_shape_what_the_shape_says_with_each_number_in_one_form() {
    let Some(installed) = Installed::find("the Node client") else { return };
    let locked = r#"{"name":"locked","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{
        "number":{"type":"integer"},"text":{"type":"string"},"free":{"type":"string"}}},"outputSchema":{"type":"object"}}"#;
    let (server, _scripted) =
        with_scripted(&[locked.to_owned(), entry("plain", "d"), entry("new", "d"), entry("bad name", "d")])
            .await;
    let id = tool(&server, "srv__locked").await.id;
    let set_json = r#"{"number":5,"text":"5"}"#.to_owned();
    let lock = UpdateToolLocksRequest { id, set_json, ..Default::default() };
    server.governance().update_tool_locks(lock).await.unwrap();
    approve_all(&server, &["srv__locked", "srv__plain", "srv__bad name"]).await;
    for words in [&["create", AGENT][..], &["attach", AGENT, "srv"]] {
        server.cli(&[&["agent"], words].concat()).await.succeeded();
    }

    let read = read(&installed, &server).await;
    let tools = over_http(&server, "/client/mcp/tools").await;
    assert_eq!(each(&read["tools"], in_roars_shape), *tools["data"].as_array().unwrap());
    let capabilities = over_http(&server, "/v1/agents/support/tools/srv/capabilities").await;
    assert_eq!(in_prismes_shape(&read["serverTools"]), capabilities);
    let definitions = over_http(&server, "/tools").await;
    assert_eq!(each(&read["definitions"], in_oxps_shape), *definitions["items"].as_array().unwrap());
    assert_eq!(
        (tools["data"].as_array().unwrap().len(), definitions["items"].as_array().unwrap().len()),
        (4, 2)
    );
    let list = over_http(&server, "/tool_list").await;
    assert_eq!(in_melbis_list(&read["units"], &list["grant"]), list);
    let unit = over_http(&server, "/tool_list?unit=MCP_SRV").await;
    assert_eq!(in_melbis_unit(&read["unit"]["unit"], &read["commands"]), unit);
    assert_eq!(unit["commands"].as_array().unwrap().len(), 4);
    assert_eq!(read["refusal"], "Unauthenticated");

    let of_locked = each(&read["tools"], |tool| tool["fixedArgsJson"].clone());
    assert!(of_locked.contains(&r#"{"number":5,"text":"5"}"#.into()), "{of_locked:?}");
    let sequences = each(&read["rulings"], |ruling| ruling["sequence"].clone());
    let shown: Value =
        serde_json::from_str(&server.cli(&["audit", "list", "--json"]).await.succeeded()).unwrap();
    assert!(sequences.iter().all(Value::is_string) && !sequences.is_empty(), "{sequences:?}");
    assert_eq!(each(&shown["rulings"], |ruling| ruling["sequence"].clone()), sequences, "{shown}");
    report("node client: each shape's RPC and the rulings, page by page, as the shapes have them");
}
