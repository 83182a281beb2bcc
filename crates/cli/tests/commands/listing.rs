use serde_json::{Value, json};
use tonic::Code;
use toolgate_api_proto::v1::{Effect, LockIssue, ToolState};
use toolgate_cli::Exit;

use crate::double::{Script, refusal};
use crate::{Double, file, hash, id, tool, upstream};

fn read(json: &str) -> Value {
    serde_json::from_str(json).expect("the output is JSON")
}

#[tokio::test]
async fn a_table_shows_the_tools_of_all_pages() {
    let mut served = tool(11, "search");
    served.set_state(ToolState::Served);
    served.set_effect(Effect::Reads);
    let mut foreign = tool(12, "x");
    foreign.upstream_id = id(2);
    let tools = vec![tool(10, "create_issue"), served, foreign];
    let double = Double::start(Script {
        tools,
        upstreams: vec![upstream(1, "gh")],
        page_size: 1,
        ..Default::default()
    })
    .await;

    let ended = double.run(&["tool", "list"]).await;

    let expected = "\
NAME              STATE       EFFECT   HASH                 UPSTREAM
gh__create_issue  unapproved  changes  sha256:637265617465  gh
gh__search        served      reads    sha256:736561726368  gh
gh__x             unapproved  changes  sha256:787878787878  00000000-0000-4000-8000-000000000002
";
    assert_eq!((ended.out.as_str(), ended.err.as_str(), ended.exit), (expected, "", Exit::Ok));
    let tokens: Vec<_> = double.script().lists.iter().map(|list| list.page_token.clone()).collect();
    assert_eq!(tokens, ["", "1", "2"]);
}

#[tokio::test]
async fn filters_are_sent_with_every_page() {
    let tools = vec![tool(10, "a"), tool(11, "b")];
    let double = Double::start(Script {
        tools,
        upstreams: vec![upstream(1, "gh")],
        page_size: 1,
        ..Default::default()
    })
    .await;
    let words = ["tool", "list", "--upstream", "gh", "--state", "unapproved,drifted", "--view", "served"];

    let ended = double.run(&[&words[..], &["--client", "c1", "--json"]].concat()).await;

    assert_eq!(read(&ended.out)["tools"].as_array().unwrap().len(), 2);
    let lists = &double.script().lists;
    assert_eq!(lists.len(), 2);
    for list in lists {
        assert_eq!((list.upstream_id.as_str(), list.client_id.as_str()), (id(1).as_str(), "c1"));
        assert_eq!((&list.states[..], list.view), (&[4, 5][..], 2));
    }
}

#[tokio::test]
async fn a_key_that_may_not_read_upstreams_still_lists_tools() {
    let denied = refusal(Code::PermissionDenied, "SCOPE_MISSING", "denied", [("scope", "mcp:read")]);
    let script = Script { tools: vec![tool(10, "a")], upstream_refusal: Some(denied), ..Default::default() };
    let ended = Double::start(script).await.run(&["tool", "list", "--view", "served"]).await;
    assert!(ended.out.ends_with(&format!("  {}\n", id(1))), "{}", ended.out);
    assert_eq!(ended.exit, Exit::Ok);
}

#[tokio::test]
async fn json_holds_every_field_and_the_exact_text() {
    let mut tool = tool(10, "a");
    tool.definition_json = "{ \"name\":\"a\", \"n\":1.0e2, \"d\":\"\u{202e}\u{e0041}\" }".to_owned();
    tool.effect_override = Some(Effect::Reads.into());
    tool.fixed_args_json = Some(r#"{"k":1}"#.to_owned());
    tool.lock_issues = vec![LockIssue { name: "k".to_owned(), problem: "is gone".to_owned() }];
    tool.set_state(ToolState::LockMismatch);
    let definition = tool.definition_json.clone();
    let double = Double::start(Script { tools: vec![tool], ..Default::default() }).await;

    let ended = double.run(&["tool", "show", "gh__a", "--json"]).await;

    let expected = json!({
        "tool": {
            "id": id(10),
            "clientId": id(0),
            "upstreamId": id(1),
            "name": "a",
            "namespacedName": "gh__a",
            "definitionJson": definition,
            "definitionHash": hash("a"),
            "status": "TOOL_STATUS_ACTIVE",
            "state": "TOOL_STATE_LOCK_MISMATCH",
            "remedy": "approve it",
            "effect": "EFFECT_CHANGES",
            "effectOverride": "EFFECT_READS",
            "fixedArgsJson": "{\"k\":1}",
            "lockIssues": [{"name": "k", "problem": "is gone"}],
            "createTime": "1970-01-01T00:00:00Z",
            "etag": "e1",
        },
        "revision": "r7",
    });
    assert_eq!(read(&ended.out), expected);
    assert!(ended.out.contains(r"\u202e\udb40\udc41"), "{}", ended.out);
    assert!(ended.out.is_ascii() && ended.out.ends_with("}\n"), "{}", ended.out);
}

#[tokio::test]
async fn an_empty_list_is_json_too() {
    let double = Double::start(Script::default()).await;
    assert_eq!(double.run(&["tool", "list", "--json"]).await.out, "{\"tools\":[]}\n");
    assert_eq!(double.run(&["upstream", "list", "--json"]).await.out, "{\"upstreams\":[]}\n");
}

/// BR-035: a reviewer sees what the model sees.
#[tokio::test]
async fn hidden_characters_are_written_out_and_counted() {
    let mut tool = tool(10, "notes");
    tool.definition_json = "{\"name\":\"notes\",\n\"description\":\"Reads.\u{e0049}\u{e0067}\u{1b}[2J\",\
                            \"inputSchema\":{\"properties\":{\"p\":{\"enum\":[\"\\u202eexe\"]}}}}"
        .to_owned();
    tool.remedy = "approve\u{9b} it".to_owned();
    let double = Double::start(Script { tools: vec![tool], ..Default::default() }).await;

    let ended = double.run(&["tool", "show", &id(10)]).await;

    let shown = r#"
remedy                 approve\u{9b} it
"#;
    assert!(ended.out.contains(shown), "{}", ended.out);
    let definition = r#"
definition
  {"name":"notes",
  "description":"Reads.\u{e0049}\u{e0067}\u{1b}[2J","inputSchema":{"properties":{"p":{"enum":["\u202eexe"]}}}}
warning: the definition holds 4 characters that do not show: U+E0049 U+E0067 U+001B at /description; U+202E at /inputSchema/properties/p/enum/0
"#;
    assert!(ended.out.ends_with(definition), "{}", ended.out);
}

#[tokio::test]
async fn an_upstream_cannot_move_the_columns_or_the_cursor() {
    let mut tools = vec![tool(10, "a"), tool(11, "b")];
    tools[0].namespaced_name = "gh__\u{1b}[31m\u{202e}\nforged".to_owned();
    let double =
        Double::start(Script { tools, upstreams: vec![upstream(1, "gh")], ..Default::default() }).await;

    let ended = double.run(&["tool", "list"]).await;

    let expected = r"NAME                               STATE       EFFECT   HASH                 UPSTREAM
gh__\u{1b}[31m\u{202e}\u{a}forged  unapproved  changes  sha256:616161616161  gh
gh__b                              unapproved  changes  sha256:626262626262  gh
";
    assert_eq!(ended.out, expected);
}

#[tokio::test]
async fn an_ambiguous_name_lists_the_ids_and_fails() {
    let mut other = tool(11, "a");
    other.upstream_id = id(2);
    let tools = vec![tool(10, "a"), other];
    let double = Double::start(Script { tools, page_size: 1, ..Default::default() }).await;

    let ended = double.run(&["tool", "disable", "gh__a"]).await;

    let expected = format!(
        "error: 2 tools are named gh__a: {}, {}\nhint: give the id in place of the name\n",
        id(10),
        id(11)
    );
    assert_eq!((ended.err, ended.exit), (expected, Exit::Failure));
    assert!(double.script().rulings.is_empty());
    assert_eq!(double.run(&["tool", "disable", &id(11)]).await.exit, Exit::Ok);
}

#[tokio::test]
async fn an_empty_name_is_no_tools_name_even_where_there_is_only_one() {
    let double = Double::start(Script { tools: vec![tool(10, "a")], ..Default::default() }).await;
    let ended = double.run(&["tool", "disable", ""]).await;
    assert_eq!(ended.exit, Exit::NotFound);
    assert!(double.script().rulings.is_empty() && double.script().lists.is_empty());
}

#[tokio::test]
async fn a_name_that_no_tool_has_is_not_found() {
    let ended = Double::start(Script::default()).await.run(&["tool", "show", "search"]).await;
    let expected =
        "error: no tool is named search\nhint: a name is SLUG__TOOL; `toolgate tool list` shows them all\n";
    assert_eq!((ended.err.as_str(), ended.exit), (expected, Exit::NotFound));
}

#[tokio::test]
async fn the_key_comes_from_the_environment_or_a_file() {
    let double = Double::start(Script::default()).await;
    let (_folder, path) = file("tg_file_key\n");
    double.run(&["tool", "list", "--json"]).await;
    double.run(&["tool", "list", "--json", "--key-file", path.to_str().unwrap()]).await;
    assert_eq!(double.script().keys, ["Bearer tg_test_key", "Bearer tg_file_key"]);
}
