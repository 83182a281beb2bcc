//! `tool_list`, the tool that is the face's own.

use http::request::Builder;
use tonic::Code;
use toolgate_api_proto::v1::{ToolUnit, ToolUnitCommand, ToolUnitParam};

use crate::double::{Face, failing, modern, request};

/// The tool as every list ends with it.
pub(crate) const BUILT_IN: &str = concat!(
    r#"{"name":"tool_list","title":"Tool list","description":"Lists the units that tools come in: where each stands, what it "#,
    r#"is for and which of its commands you may use. With `unit`, one of them whole: every command and what it takes.","#,
    r#""inputSchema":{"type":"object","properties":{"unit":{"type":"string","description":"Address of a unit as the list "#,
    r#"gives it, for example MCP_FILES; leave it out for the list."}}},"annotations":{"readOnlyHint":true,"openWorldHint":false}}"#
);

fn face() -> Face {
    let face = Face::new(&[]);
    let unit = ToolUnit {
        unit: "MCP_TASKS".into(),
        path: "Business -> Scheduler".into(),
        description: "Tasks \"and\" notes.".into(),
        may: vec!["add".into()],
        ..Default::default()
    };
    let param =
        ToolUnitParam { name: "name".into(), r#type: "str".into(), required: true, ..Default::default() };
    let command =
        ToolUnitCommand { name: "add".into(), may: true, params: vec![param], ..Default::default() };
    face.double.units.lock().unwrap().push((unit, vec![command]));
    face
}

fn named() -> Builder {
    modern("tools/call").header("mcp-name", "tool_list")
}

fn call(arguments: &str) -> String {
    request("tools/call", &format!(r#""name":"tool_list"{arguments}"#))
}

/// What a model reads: the texts of the blocks, and whether they are a refusal.
async fn told(face: &Face, arguments: &str) -> (Vec<String>, bool) {
    let answer = face.send(named(), call(arguments)).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let result = &answer.json()["result"];
    let blocks = result["content"].as_array().unwrap().iter().map(|block| {
        assert_eq!((block.as_object().unwrap().len(), &block["type"]), (2, &"text".into()));
        block["text"].as_str().unwrap().to_owned()
    });
    (blocks.collect(), result["isError"] == true)
}

const LIST: &str = concat!(
    r#"{"grant":"Sales -> Tools","tools":{"columns":["unit","path","descr","may","also"],"#,
    r#""rows":[["MCP_TASKS","Business -> Scheduler","Tasks \"and\" notes.",["add"],[]]]}}"#
);
const UNIT: &str = concat!(
    r#"{"unit":"MCP_TASKS","path":"Business -> Scheduler","descr":"Tasks \"and\" notes.","commands":[{"name":"add","may":true,"descr":"","#,
    r#""params":{"columns":["name","type","required","default","descr"],"rows":[["name","str",true,"",""]]},"files":null}]}"#
);

#[tokio::test]
async fn a_call_answers_the_documented_list_or_unit_as_its_one_block() {
    let face = face();
    for arguments in ["", r#","arguments":{}"#, r#","arguments":{"unit":"","more":1}"#] {
        assert_eq!(told(&face, arguments).await, (vec![LIST.to_owned()], false), "{arguments}");
    }
    let one = r#","arguments":{"unit":"MCP_TASKS"}"#;
    assert_eq!(told(&face, one).await, (vec![UNIT.to_owned()], false));
    let exact = face.send(named(), call(one)).await.text;
    let text = serde_json::Value::from(UNIT);
    let result =
        format!(r#""result":{{"resultType":"complete","content":[{{"type":"text","text":{text}}}]}}"#);
    assert!(exact.contains(&result), "{exact}");
    let session = face.session("2025-11-25").await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool_list"}}"#;
    assert_eq!(session.send(body).await.json()["result"]["content"][0]["text"], LIST);
}

#[tokio::test]
async fn an_empty_store_is_told_in_a_second_block_where_tools_are_made() {
    let empty =
        r#"{"grant":"Sales -> Tools","tools":{"columns":["unit","path","descr","may","also"],"rows":[]}}"#;
    let hint = "This store has no AI-tools of its own yet. They are created in the program: window Sales, tab Tools.";
    assert_eq!(told(&Face::new(&[]), "").await, (vec![empty.to_owned(), hint.to_owned()], false));
}

#[tokio::test]
async fn a_refusal_is_a_result_with_the_documented_line() {
    let face = face();
    for (unit, line) in [
        ("\"MCP_NONE\"", "ACCESS_DENIED: no such tool: MCP_NONE"),
        ("\"a\\n\\\"b\\\"\"", "ACCESS_DENIED: no such tool: a\n\"b\""),
        ("7", "unit: is a number; send a string, or leave it out for the list"),
        ("null", "unit: is null; send a string, or leave it out for the list"),
    ] {
        let arguments = format!(r#","arguments":{{"unit":{unit}}}"#);
        assert_eq!(told(&face, &arguments).await, (vec![line.to_owned()], true));
    }
    assert_eq!(face.send(named(), call(r#","arguments":[]"#)).await.refused(), (400, -32602));
}

#[tokio::test]
async fn a_call_is_the_services_to_refuse() {
    let face = face();
    for arguments in ["", r#","arguments":{"unit":"MCP_TASKS"}"#, r#","arguments":{"unit":7}"#] {
        let mut wrong = named();
        wrong.headers_mut().unwrap().insert("authorization", "Bearer wrong".parse().unwrap());
        assert_eq!(face.send(wrong, call(arguments)).await.refused(), (401, 401), "{arguments}");
    }
    *face.double.refusal.lock().unwrap() = Some(failing(Code::PermissionDenied, "SCOPE_MISSING"));
    assert_eq!(face.send(named(), call("")).await.refused(), (403, 403));
    *face.double.refusal.lock().unwrap() = Some(failing(Code::Unavailable, "DRAINING"));
    assert_eq!(face.send(named(), call("")).await.refused(), (503, 503));
}

#[tokio::test]
async fn every_list_ends_with_it_and_no_other_page_has_it() {
    let entry = |name: &str| format!(r#"{{"name":"s__{name}","inputSchema":{{}}}}"#);
    let [a, b, c] = ["a", "b", "c"].map(entry);
    let face = Face::new(&[&a, &b, &c]);
    let first = face.ask("tools/list", "").await;
    assert!(first.text.contains(&format!(r#""tools":[{a},{b}],"nextCursor""#)), "{}", first.text);
    let cursor = first.json()["result"]["nextCursor"].as_str().unwrap().to_owned();
    let second = face.ask("tools/list", &format!(r#""cursor":"{cursor}""#)).await;
    assert!(second.text.contains(&format!(r#""tools":[{c},{BUILT_IN}]"#)), "{}", second.text);
    let nothing = Face::new(&[]).ask("tools/list", "").await;
    assert!(nothing.text.contains(&format!(r#""tools":[{BUILT_IN}]"#)), "{}", nothing.text);
}

#[test]
fn no_other_tool_can_be_served_under_its_name() {
    assert_eq!(toolgate_tool_list::NAME, toolgate_definition::names::BUILT_IN_TOOL);
    assert!(!toolgate_definition::names::is_valid_served_name("tool_list"));
}
