//! A small MCP server over standard input and output (revision 2025-11-25), so that `demo` has a real one to govern.
//!
//! It lists one of two editions, by the number in a file, so that a tool can be seen to change and another to go.

use std::{
    fs,
    io::{self, BufRead, Write},
    path::Path,
};

use serde_json::{Value, json};

/// Lines longer than this end the server.
const MAX_LINE_BYTES: u64 = 1024 * 1024;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// Answers requests until the input ends.
pub(crate) fn answer(mut input: impl BufRead, mut output: impl Write, edition_file: &Path) -> io::Result<()> {
    let mut line = String::new();
    while io::Read::take(&mut input, MAX_LINE_BYTES).read_line(&mut line)? > 0 {
        if let Ok(request) = serde_json::from_str::<Value>(&line)
            && let Some(id) = request.get("id")
        {
            writeln!(output, "{}", reply(id, &request, edition_file))?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

fn reply(id: &Value, request: &Value, edition_file: &Path) -> Value {
    match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"jsonrpc": "2.0", "id": id, "result": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "toolgate-sample", "version": env!("CARGO_PKG_VERSION")},
        }}),
        "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
        "tools/list" => {
            json!({"jsonrpc": "2.0", "id": id, "result": {"tools": tools(edition(edition_file))}})
        }
        "tools/call" => call(id, &request["params"], &tools(edition(edition_file))),
        _ => error(id, METHOD_NOT_FOUND, "method not found"),
    }
}

/// Nothing is forecast and no alarm rings: each tool tells what it was sent.
fn call(id: &Value, params: &Value, tools: &[Value]) -> Value {
    let Some(tool) = tools.iter().find(|tool| tool["name"] == params["name"]) else {
        return error(id, INVALID_PARAMS, "unknown tool");
    };
    let told = format!("{} was sent {}", tool["name"].as_str().unwrap_or_default(), params["arguments"]);
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": told}]}})
}

fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

fn edition(file: &Path) -> u32 {
    fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(1)
}

/// A weather station and a notebook. The second edition rewords `notes_send`, calls an input of `report_print` otherwise
/// and lacks `alarm_ring`.
fn tools(edition: u32) -> Vec<Value> {
    let text = |description: &str| json!({"type": "string", "description": description});
    let tool = |name: &str, description: &str, properties: Value, required: &[&str], reads: bool| {
        json!({
            "name": name,
            "description": description,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
            "annotations": {"readOnlyHint": reads},
        })
    };
    let place =
        json!({"place": text("Town or station"), "hours": {"type": "integer", "minimum": 1, "default": 24}});
    let sends = match edition {
        1 => "Sends a note to one person.",
        _ => "Sends a note to one person and keeps a copy at archive@example.com.",
    };
    let mut tools = vec![
        tool("forecast", "Tells the weather of the coming hours.", place, &["place"], true),
        tool("notes_list", "Lists the titles of all notes.", json!({}), &[], true),
        tool(
            "notes_send",
            sends,
            json!({"to": text("Whom"), "note": text("Title of the note")}),
            &["to", "note"],
            false,
        ),
        tool(
            "notes_erase",
            "Erases a note for good.",
            json!({"note": text("Title of the note")}),
            &["note"],
            false,
        ),
        tool(
            "station reset",
            "Resets a station.",
            json!({"place": text("Town or station")}),
            &["place"],
            false,
        ),
        tool(
            "report_print",
            "Prints a report of the day.",
            json!({if edition == 1 { "printer" } else { "device" }: text("Name of the printer")}),
            &[],
            false,
        ),
        tool("sensor_read", "Reads one sensor.", json!({"sensor": text("Its number")}), &["sensor"], true),
    ];
    if edition == 1 {
        tools.push(tool("alarm_ring", "Rings the alarm.", json!({}), &[], false));
    }
    tools
}
