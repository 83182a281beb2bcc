use std::collections::BTreeMap;

use serde_json::value::RawValue;
use toolgate_api_proto::v1::{Effect, LockIssue, Tool, ToolState, ToolStatus};

use crate::double::{Face, PATH, tool};

/// The members of `McpTool` as documented, in order.
const MEMBERS: [&str; 18] = [
    "id",
    "clientId",
    "upstreamId",
    "name",
    "definition",
    "definitionHash",
    "approvedHash",
    "status",
    "removedAt",
    "effectOverride",
    "effect",
    "createdAt",
    "updatedAt",
    "namespacedName",
    "state",
    "fixedArgs",
    "descriptionOverride",
    "lockIssues",
];

/// Everything that can be set, set.
fn full() -> Tool {
    Tool {
        approved_hash: Some("sha256:a".to_owned()),
        status: ToolStatus::Disabled.into(),
        state: ToolState::Removed.into(),
        effect: Effect::Reads.into(),
        effect_override: Some(Effect::Reads.into()),
        description_override: Some("\"mine\"\r\n".to_owned()),
        fixed_args_json: Some(r#"{"n" : 1.0, "big":123456789012345678901234567890}"#.to_owned()),
        lock_issues: vec![
            LockIssue { name: "a".to_owned(), problem: "no such input".to_owned() },
            LockIssue { name: "b\"".to_owned(), problem: "value does not fit".to_owned() },
        ],
        remove_time: Some(prost_types::Timestamp { seconds: 1_767_225_700, nanos: 120_000_000 }),
        ..tool(r#"{"name":"a"}"#)
    }
}

#[tokio::test]
async fn nullable_members_are_null_and_never_left_out() {
    let answer = Face::holding(vec![tool(r#"{"name":"a"}"#)]).get(PATH).await;
    let expected = concat!(
        r#"{"data":[{"id":"5c7f1f36-0f0e-5c58-9d0c-0a2f6a7f5a10","#,
        r#""clientId":"019c1b2a-0000-7000-8000-000000000001","upstreamId":"019c1b2a-0000-7000-8000-000000000002","#,
        r#""name":"a","definition":{"name":"a"},"definitionHash":"sha256:d","approvedHash":null,"status":"active","#,
        r#""removedAt":null,"effectOverride":null,"effect":"changes","createdAt":"2026-01-01T00:00:00.000Z","#,
        r#""updatedAt":"2026-01-01T00:01:01.045Z","namespacedName":"files__a","state":"unapproved","#,
        r#""fixedArgs":null,"descriptionOverride":null,"lockIssues":[]}]}"#,
    );
    assert_eq!(answer.text(), expected);
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn every_member_is_there_once_and_in_the_documented_order() {
    for tool in [tool("{}"), full()] {
        let answer = Face::holding(vec![tool]).get(PATH).await;
        let text =
            answer.text().strip_prefix(r#"{"data":["#).and_then(|text| text.strip_suffix("]}")).unwrap();
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap();
        let mut found: Vec<(usize, String)> =
            members.into_iter().map(|(name, value)| (offset(text, value.get()), name)).collect();
        found.sort();
        assert!(found.iter().map(|(_, name)| name.as_str()).eq(MEMBERS), "{found:?}");
    }
}

/// Where `part`, a slice of `text`, stands in it.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

#[tokio::test]
async fn members_that_are_set_carry_their_values() {
    let answer = Face::holding(vec![full()]).get(PATH).await;
    let tool = &answer.json()["data"][0];
    for (member, value) in [
        ("approvedHash", "sha256:a"),
        ("status", "disabled"),
        ("removedAt", "2026-01-01T00:01:40.120Z"),
        ("effectOverride", "reads"),
        ("effect", "reads"),
        ("state", "removed"),
        ("descriptionOverride", "\"mine\"\r\n"),
    ] {
        assert_eq!(tool[member], value, "{member}");
    }
    let fixed = r#""fixedArgs":{"n" : 1.0, "big":123456789012345678901234567890},"#;
    assert!(answer.text().contains(fixed));
    let issues = r#""lockIssues":[{"name":"a","problem":"no such input"},{"name":"b\"","problem":"value does not fit"}]"#;
    assert!(answer.text().contains(issues));
}

/// One field at a time: what it says shows in its own member and in no other.
#[tokio::test]
async fn each_member_comes_from_its_own_field_of_the_message() {
    type Edit = fn(&mut Tool);
    let edits: [(&str, Edit); 18] = [
        ("id", |tool| tool.id = "x".to_owned()),
        ("clientId", |tool| tool.client_id = "x".to_owned()),
        ("upstreamId", |tool| tool.upstream_id = "x".to_owned()),
        ("name", |tool| tool.name = "x".to_owned()),
        ("definition", |tool| tool.definition_json = r#"{"name":"a","x":1}"#.to_owned()),
        ("definitionHash", |tool| tool.definition_hash = "x".to_owned()),
        ("approvedHash", |tool| tool.approved_hash = Some("x".to_owned())),
        ("status", |tool| tool.status = ToolStatus::Disabled.into()),
        ("removedAt", |tool| tool.remove_time = tool.update_time),
        ("effectOverride", |tool| tool.effect_override = Some(Effect::Reads.into())),
        ("effect", |tool| tool.effect = Effect::Reads.into()),
        ("namespacedName", |tool| tool.namespaced_name = "x".to_owned()),
        ("state", |tool| tool.state = ToolState::Served.into()),
        ("fixedArgs", |tool| tool.fixed_args_json = Some("{}".to_owned())),
        ("descriptionOverride", |tool| tool.description_override = Some(String::new())),
        ("lockIssues", |tool| tool.lock_issues = vec![LockIssue::default()]),
        ("createdAt", |tool| tool.create_time = tool.update_time),
        ("updatedAt", |tool| tool.update_time = tool.create_time),
    ];
    let plain = tool(r#"{"name":"a"}"#);
    let base = Face::holding(vec![plain.clone()]).get(PATH).await.json()["data"][0].clone();
    assert_eq!(edits.len(), MEMBERS.len());
    for (member, edit) in edits {
        let mut tool = plain.clone();
        edit(&mut tool);
        let answer = Face::holding(vec![tool]).get(PATH).await.json()["data"][0].clone();
        let changed = MEMBERS.iter().filter(|name| answer[**name] != base[**name]);
        assert_eq!(changed.collect::<Vec<_>>(), [&member]);
    }
}

#[tokio::test]
async fn every_state_has_its_documented_word() {
    for (state, word) in [
        (ToolState::Served, "served"),
        (ToolState::Removed, "removed"),
        (ToolState::Disabled, "disabled"),
        (ToolState::Unapproved, "unapproved"),
        (ToolState::Drifted, "drifted"),
        (ToolState::LockMismatch, "lock_mismatch"),
        (ToolState::BadName, "bad_name"),
    ] {
        let answer = Face::holding(vec![Tool { state: state.into(), ..tool("{}") }]).get(PATH).await;
        assert_eq!(answer.json()["data"][0]["state"], word);
    }
}

#[tokio::test]
async fn a_definition_is_sent_as_the_exact_text_that_was_listed() {
    let definition = concat!(
        r#"{ "name" :"a","maximum":1.0,"e":1E+2,"z":-0.0,"id":9007199254740993,"#,
        r#""big":123456789012345678901234567890,"x-unknown":{"b":1,"a":null},"#,
        r#""description":"l1\r\nl2 \u00e9\/ é "}"#,
        "\r\n",
    );
    let answer = Face::holding(vec![tool(definition)]).get(PATH).await;
    assert!(answer.text().contains(&format!(r#""definition":{definition},"definitionHash""#)));
}

#[tokio::test]
async fn names_are_escaped_and_otherwise_kept() {
    let name = "a\"\\\u{1}\u{200b}\r\n\u{2028}é";
    let answer = Face::holding(vec![Tool { name: name.to_owned(), ..tool("{}") }]).get(PATH).await;
    assert_eq!(answer.json()["data"][0]["name"], name);
}

#[tokio::test]
async fn tools_stay_in_the_order_of_the_service() {
    let named = |name: &str| Tool { name: name.to_owned(), ..tool("{}") };
    let answer = Face::holding(vec![named("b"), named("a"), named("c")]).get(PATH).await;
    let tools = answer.json()["data"].as_array().unwrap().clone();
    assert!(tools.iter().map(|tool| tool["name"].as_str().unwrap()).eq(["b", "a", "c"]));
}

#[tokio::test]
async fn a_catalogue_without_tools_is_an_empty_list() {
    assert_eq!(Face::holding(Vec::new()).get(PATH).await.text(), r#"{"data":[]}"#);
}

#[tokio::test]
async fn a_tool_that_does_not_fit_the_shape_is_a_fault_and_not_a_guess() {
    for tool in [
        Tool { state: 0, ..tool("{}") },
        Tool { state: 99, ..tool("{}") },
        Tool { status: 0, ..tool("{}") },
        Tool { effect: 0, ..tool("{}") },
        Tool { effect_override: Some(0), ..tool("{}") },
        Tool { create_time: None, ..tool("{}") },
        Tool { update_time: None, ..tool("{}") },
        Tool { remove_time: Some(prost_types::Timestamp { seconds: 0, nanos: -1 }), ..tool("{}") },
    ] {
        let answer = Face::holding(vec![tool]).get(PATH).await;
        assert_eq!(answer.status, 500);
        assert_eq!(answer.json()["error"], "INTERNAL");
    }
}
