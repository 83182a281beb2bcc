//! The documented schemas beside what is sent: in every state, each nullable member both ways, and no member more.

use serde_json::{Value, json};
use toolgate_api_proto::v1::{
    Effect, LockIssue, ServerTool, ServerToolsStatus, Tool, ToolDefinition, ToolState, ToolStatus, ToolUnit,
    ToolUnitCommand, ToolUnitParam,
};

use crate::contract::{Contract, assert_valid};
use crate::double::{Face, PATH, UnitsTold, tool};
use crate::{melbis, oxp, prisme};

const STATES: [ToolState; 7] = [
    ToolState::Served,
    ToolState::Removed,
    ToolState::Disabled,
    ToolState::Unapproved,
    ToolState::Drifted,
    ToolState::LockMismatch,
    ToolState::BadName,
];

/// A tool whose members that may be missing are there as the bits of `present` say.
fn with(state: ToolState, present: u8) -> Tool {
    let has = |bit: u8| present & (1 << bit) != 0;
    let moment = prost_types::Timestamp { seconds: 1_767_225_700, nanos: 0 };
    let issue = LockIssue { name: "a".to_owned(), problem: "no such input".to_owned() };
    Tool {
        state: state.into(),
        status: if has(0) { ToolStatus::Disabled } else { ToolStatus::Active }.into(),
        approved_hash: has(1).then(|| "sha256:a".to_owned()),
        effect_override: has(2).then(|| Effect::Reads.into()),
        description_override: has(3).then(|| "mine".to_owned()),
        fixed_args_json: has(4).then(|| r#"{"a":1}"#.to_owned()),
        remove_time: has(5).then_some(moment),
        lock_issues: has(6).then_some(issue).into_iter().collect(),
        ..tool(r#"{"name":"a","x":[]}"#)
    }
}

#[tokio::test]
async fn a_tool_fits_in_every_state_with_each_nullable_member_both_ways() {
    let validator = Contract::read().await.component("McpToolList");
    let tools: Vec<_> =
        STATES.into_iter().flat_map(|state| (0..1 << 7).map(move |present| with(state, present))).collect();
    let answer = Face::holding(tools.clone()).get(PATH).await.json();
    assert_eq!(answer["data"].as_array().unwrap().len(), tools.len());
    assert_valid(&validator, &answer, "tools");
    assert_valid(&validator, &Face::holding(Vec::new()).get(PATH).await.json(), "no tools");
}

#[tokio::test]
async fn a_definition_fits_with_each_optional_member_both_ways() {
    let validator = Contract::read().await.component("ToolDefinitionList");
    let schema = |is_there: bool| is_there.then(|| r#"{"type":"object"}"#.to_owned());
    let definitions = (0..8_u8).map(|present| ToolDefinition {
        input_schema_json: schema(present & 1 != 0),
        output_schema_json: schema(present & 2 != 0),
        requirements: oxp::full().requirements.filter(|_| present & 4 != 0),
        ..oxp::definition()
    });
    let answer = oxp::holding(definitions.collect()).get(oxp::TOOLS).await.json();
    assert_eq!(answer["items"].as_array().unwrap().len(), 8);
    assert_valid(&validator, &answer, "definitions");
    assert_valid(&validator, &oxp::holding(Vec::new()).get(oxp::TOOLS).await.json(), "no definitions");
}

#[tokio::test]
async fn capabilities_fit_in_every_status_with_each_optional_member_both_ways() {
    let validator = Contract::read().await.component("ToolCapabilities");
    let object = |is_there: bool| is_there.then(|| r#"{"type":"object"}"#.to_owned());
    let tools: Vec<_> = (0..8_u8)
        .map(|present| ServerTool {
            description: object(present & 1 != 0),
            input_schema_json: object(present & 2 != 0),
            annotations_json: object(present & 4 != 0),
            ..prisme::bare()
        })
        .collect();
    for status in [ServerToolsStatus::Ok, ServerToolsStatus::AuthRequired, ServerToolsStatus::Unavailable] {
        let answer = prisme::telling(status, tools.clone()).get(prisme::PATHS[0]).await.json();
        let is_ok = status == ServerToolsStatus::Ok;
        assert_eq!(answer["items"].as_array().unwrap().len(), if is_ok { 8 } else { 0 });
        assert_valid(&validator, &answer, "capabilities");
    }
}

/// The answer for `target` where the catalogue has units and commands as the bits of `present` say.
async fn units(target: &str, present: u8) -> Value {
    let has = move |bit: u8| present & (1 << bit) != 0;
    let names = move |bit: u8| if has(bit) { vec!["CmdAdd".to_owned()] } else { Vec::new() };
    let words = move |bit: u8| if has(bit) { "Words." } else { "" }.to_owned();
    let unit = ToolUnit { description: words(0), may: names(1), also: names(2), ..melbis::unit() };
    let param = ToolUnitParam {
        name: "n".to_owned(),
        r#type: if has(0) { "int/null" } else { "str/json" }.to_owned(),
        required: has(1),
        default: words(2),
        description: words(3),
    };
    let params = if has(4) { vec![param] } else { Vec::new() };
    let command = ToolUnitCommand { name: "CmdAdd".to_owned(), may: has(5), description: words(6), params };
    let told = UnitsTold { etag: "e1", units: vec![unit], commands: vec![command], ..UnitsTold::default() };
    Face::telling(move |_| Ok(told.clone())).get(target).await.json()
}

#[tokio::test]
async fn units_fit_with_each_member_empty_and_not() {
    let contract = Contract::read().await;
    let (list, one) = (contract.component("ToolUnitList"), contract.component("ToolUnit"));
    for present in 0..1 << 7 {
        assert_valid(&list, &units(melbis::PATH, present).await, "units");
        assert_valid(&one, &units(melbis::ONE, present).await, "unit");
    }
    assert_valid(&list, &melbis::holding(Vec::new()).get(melbis::PATH).await.json(), "no units");
}

/// As Melbis itself answers.
#[tokio::test]
async fn a_stores_own_units_fit_too() {
    let contract = Contract::read().await;
    let row = json!(["MELBIS_AGENT_TASK", "Business -> Scheduler", "The scheduler.", ["CmdList"], []]);
    let columns = ["unit", "path", "descr", "may", "also"];
    let list = json!({"grant": "Development -> AI Components", "tools": {"columns": columns, "rows": [row]}});
    assert_valid(&contract.component("ToolUnitList"), &list, "list");
    let one = contract.component("ToolUnit");
    for files in [Value::Null, json!({"required": true, "descr": "what to attach"})] {
        let params = json!({"columns": ["name", "type", "required", "default", "descr"],
            "rows": [["kind_key", "str", false, "kDefault", "a value of TASK_KIND_KEY"]]});
        let command =
            json!({"name": "CmdAdd", "may": true, "descr": "Adds.", "params": params, "files": files});
        let unit = json!({"unit": "MELBIS_AGENT_TASK", "path": "Business -> Scheduler", "descr": "The scheduler.",
            "commands": [command]});
        assert_valid(&one, &unit, "unit");
    }
}

/// Every answer that differs from `answer` by one member that is gone, or by one that is new, with the place.
fn with_a_member_more_or_less(answer: &Value) -> Vec<(String, Value)> {
    fn objects(value: &Value, place: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                found.push(place.to_owned());
                members.iter().for_each(|(name, value)| objects(value, &format!("{place}/{name}"), found));
            }
            Value::Array(elements) => {
                elements
                    .iter()
                    .enumerate()
                    .for_each(|(n, value)| objects(value, &format!("{place}/{n}"), found));
            }
            _ => {}
        }
    }
    let mut places = Vec::new();
    objects(answer, "", &mut places);
    let mut changed = Vec::new();
    for place in places {
        let edit = |edit: &dyn Fn(&mut serde_json::Map<String, Value>)| {
            let mut answer = answer.clone();
            edit(answer.pointer_mut(&place).unwrap().as_object_mut().unwrap());
            answer
        };
        changed.push((format!("+{place}"), edit(&|members| _ = members.insert("more".to_owned(), 1.into()))));
        for name in answer.pointer(&place).unwrap().as_object().unwrap().keys() {
            changed.push((format!("-{place}/{name}"), edit(&|members| _ = members.remove(name))));
        }
    }
    changed
}

/// That the schema lets by only such answers as lack a member of `optional`, or differ within one of `free`.
async fn assert_closed(component: &str, answer: &Value, optional: &[&str], free: &[&str]) {
    let validator = Contract::read().await.component(component);
    assert_valid(&validator, answer, component);
    let changed = with_a_member_more_or_less(answer);
    let let_by = changed.iter().filter(|(_, changed)| validator.is_valid(changed)).map(|(place, _)| &**place);
    let is_within =
        |place: &str| free.iter().any(|free| place[1..].starts_with(free) && place != format!("-{free}"));
    let let_by: Vec<_> = let_by.filter(|place| !is_within(place)).collect();
    assert_eq!(let_by, optional, "{component}");
}

#[tokio::test]
async fn a_member_more_or_less_is_outside_the_schema() {
    let full = Face::holding(vec![with(ToolState::Drifted, u8::MAX)]).get(PATH).await.json();
    assert_closed("McpToolList", &full, &[], &["/data/0/definition", "/data/0/fixedArgs"]).await;
    let full = prisme::telling(ServerToolsStatus::Ok, vec![prisme::full()]);
    let full = full.get(prisme::PATHS[0]).await.json();
    let free = ["/items/0/inputSchema", "/items/0/annotations"];
    let optional = ["-/items/0/description", "-/items/0/inputSchema"];
    assert_closed("ToolCapabilities", &full, &optional, &free).await;
    let down = prisme::telling(ServerToolsStatus::Unavailable, Vec::new()).get(prisme::PATHS[0]).await.json();
    assert_closed("ToolCapabilities", &down, &["-/error"], &[]).await;
    assert_closed("ToolUnitList", &units(melbis::PATH, u8::MAX).await, &[], &[]).await;
    assert_closed("ToolUnit", &units(melbis::ONE, u8::MAX).await, &[], &[]).await;
    let full = oxp::holding(vec![oxp::full()]).get(oxp::TOOLS).await.json();
    let free = ["/items/0/input_schema", "/items/0/output_schema", "/items/0/requirements"];
    let optional =
        ["-/$schema", "-/items/0/input_schema", "-/items/0/output_schema", "-/items/0/requirements"];
    assert_closed("ToolDefinitionList", &full, &optional, &free).await;
}

#[tokio::test]
async fn values_that_the_seeds_do_not_know_are_outside_the_schema() {
    let validator = Contract::read().await.component("McpToolList");
    let full = Face::holding(vec![with(ToolState::Drifted, u8::MAX)]).get(PATH).await.json();
    let not_null = ["id", "name", "definition", "definitionHash", "status", "effect", "createdAt", "state"];
    for (member, value) in not_null.map(|member| (member, Value::Null)).into_iter().chain([
        ("state", "gone".into()),
        ("status", "off".into()),
        ("effect", "writes".into()),
        ("effectOverride", "writes".into()),
        ("id", "a".into()),
        ("createdAt", "yesterday".into()),
        ("removedAt", "2026-01-01".into()),
        ("fixedArgs", "{}".into()),
        ("definition", json!({})),
        ("lockIssues", Value::Null),
    ]) {
        let mut changed = full.clone();
        changed["data"][0][member] = value;
        assert!(!validator.is_valid(&changed), "{member}: {changed}");
    }
    let validator = Contract::read().await.component("ToolDefinitionList");
    let full = oxp::holding(vec![oxp::full()]).get(oxp::TOOLS).await.json();
    for (member, value) in [
        ("id", "a-b.c@1.0.0"),
        ("id", "a.b@1.0"),
        ("name", "a b"),
        ("version", "1.0"),
        ("input_schema", "{}"),
    ] {
        let mut changed = full.clone();
        changed["items"][0][member] = value.into();
        assert!(!validator.is_valid(&changed), "{member}: {changed}");
    }
}
