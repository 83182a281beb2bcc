use toolgate_api_proto::v1::{
    Agent, AgentAttachment, AgentAttachmentType, ListServerToolsResponse, ServerTool, ServerToolsStatus,
};
use toolgate_cli::Exit;

use crate::double::Script;
use crate::{Double, Seat, file, id, parse};

/// The agent `support` with an upstream and a function.
fn support() -> Script {
    let attachment = |number, name: &str, kind: AgentAttachmentType| AgentAttachment {
        id: id(number),
        name: name.to_owned(),
        r#type: kind.into(),
        ..Default::default()
    };
    let agent = Agent {
        id: id(3),
        name: "support".to_owned(),
        etag: "e7".to_owned(),
        attachments: vec![
            AgentAttachment { upstream_id: id(1), ..attachment(4, "gh", AgentAttachmentType::Mcp) },
            AgentAttachment {
                description: "adds\u{1b}[2J".to_owned(),
                ..attachment(5, "add", AgentAttachmentType::Function)
            },
        ],
        ..Default::default()
    };
    Script { agents: vec![agent], ..Default::default() }
}

#[tokio::test]
async fn a_new_agent_is_told_with_its_id_and_what_comes_next() {
    let double = Double::start(support()).await;
    let made = double.run(&["agent", "create", "sales"]).await;
    assert_eq!(made.out, format!("made sales  {}\n", id(8)));
    assert!(made.err.contains("toolgate agent attach sales UPSTREAM"), "{}", made.err);
    let taken = double.run(&["agent", "create", "support"]).await;
    assert_eq!(taken.exit, Exit::Conflict);
    assert!(taken.err.contains("toolgate agent list"), "{}", taken.err);
}

#[tokio::test]
async fn agents_are_listed_and_shown_with_what_is_attached() {
    let double = Double::start(support()).await;
    let listed = double.run(&["agent", "list"]).await;
    assert!(listed.out.contains("gh,add"), "{}", listed.out);
    let shown = double.run(&["agent", "show", "support"]).await;
    assert!(shown.out.contains("function") && shown.out.contains("mcp"), "{}", shown.out);
    assert!(!shown.out.contains('\u{1b}'));
    let json = double.run(&["--json", "agent", "show", "support"]).await.out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["agent"]["attachments"][0]["type"], "AGENT_ATTACHMENT_TYPE_MCP");
    assert_eq!(double.run(&["agent", "show", "nobody"]).await.exit, Exit::NotFound);
}

#[tokio::test]
async fn each_kind_is_attached_as_it_was_given() {
    let double = Double::start(support()).await;
    let (_folder, parameters) = file("{ \"type\": \"object\", \"n\": 1.0 }");
    let parameters = parameters.to_str().expect("a plain path");
    for words in [
        vec!["gl"],
        vec!["--function", "sum", "--parameters-file", parameters],
        vec!["--file-search", "docs", "--vector-store", "vs_1"],
    ] {
        let ended = double.run(&[&["agent", "attach", "support"], &words[..]].concat()).await;
        assert_eq!(ended.exit, Exit::Ok, "{}", ended.err);
        assert!(ended.out.starts_with("attached "), "{}", ended.out);
    }
    let sent = double.script().attached.clone();
    let kinds: Vec<_> = sent.iter().map(|request| request.r#type()).collect();
    use AgentAttachmentType::{FileSearch, Function, Mcp};
    assert_eq!(kinds, [Mcp, Function, FileSearch]);
    assert_eq!(sent[0].upstream_id, "gl");
    assert_eq!(sent[1].parameters_json, "{ \"type\": \"object\", \"n\": 1.0 }");
    assert_eq!((sent[2].name.as_str(), sent[2].vector_store_id.as_str()), ("docs", "vs_1"));
}

#[tokio::test]
async fn what_cannot_be_attached_together_is_refused_on_the_command_line() {
    for words in [
        "agent attach a",
        "agent attach a up --function f",
        "agent attach a up --vector-store v",
        "agent attach a --file-search s",
        "agent attach a --function f --vector-store v",
        "key create --scope mcp:call --agent a --operator",
    ] {
        assert!(parse(words).is_err(), "{words}");
    }
}

#[tokio::test]
async fn something_is_detached_by_its_name() {
    let double = Double::start(support()).await;
    assert_eq!(double.run(&["agent", "detach", "support", "gh"]).await.out, "detached gh from support\n");
    let unknown = double.run(&["agent", "detach", "support", "nothing"]).await;
    assert_eq!(unknown.exit, Exit::NotFound);
    assert!(unknown.err.contains("toolgate agent show"), "{}", unknown.err);
}

#[tokio::test]
async fn an_agent_is_deleted_as_it_was_told_and_never_unasked() {
    let double = Double::start(support()).await;
    let unasked = double.run(&["agent", "delete", "support"]).await;
    assert_eq!(unasked.exit, Exit::Usage);
    let refused = double.run_as(Seat::Person("n\n"), &["agent", "delete", "support"]).await;
    assert_eq!(refused.exit, Exit::Failure);
    assert!(refused.err.contains("2 attachments, and 2 keys end with it"), "{}", refused.err);
    assert!(double.script().agents_deleted.iter().all(|request| request.validate_only));
    let agreed = double.run_as(Seat::Person("y\n"), &["agent", "delete", "support"]).await;
    assert_eq!(agreed.out, "deleted support; 2 keys ended with it\n");
    let last = double.script().agents_deleted.last().cloned().expect("it was deleted");
    assert_eq!((last.validate_only, last.etag.as_str()), (false, "e7"));
    assert_eq!(double.run(&["agent", "delete", "support", "--yes"]).await.exit, Exit::Ok);
}

#[tokio::test]
async fn a_key_of_an_agent_says_so() {
    let double = Double::start(support()).await;
    let made = double.run(&["key", "create", "--scope", "mcp:call", "--agent", "support"]).await;
    assert_eq!(made.out, "tg_5_secret\n");
    assert!(made.err.contains("for agent support with mcp:call"), "{}", made.err);
}

fn listed(status: ServerToolsStatus) -> Script {
    let tool = ServerTool {
        name: "a.b".to_owned(),
        canonical_name: "gh__a_b".to_owned(),
        description: Some("adds\u{1b}[2J\nand more".to_owned()),
        input_schema_json: Some(r#"{"n" : 1.0}"#.to_owned()),
        annotations_json: None,
    };
    let is_ok = status == ServerToolsStatus::Ok;
    let server_tools = ListServerToolsResponse {
        status: status.into(),
        tools: if is_ok { vec![tool] } else { Vec::new() },
        error: if is_ok { String::new() } else { "The server cannot be reached.".to_owned() },
        list_time: Some(toolgate_api_proto::Timestamp { seconds: 1_767_225_600, nanos: 0 }),
        expire_time: None,
        from_cache: is_ok,
        revision: "r7".to_owned(),
    };
    Script { server_tools, ..support() }
}

#[tokio::test]
async fn what_a_server_lists_at_this_moment_is_shown_with_the_time_that_it_was_asked() {
    let double = Double::start(listed(ServerToolsStatus::Ok)).await;
    let shown = double.run(&["tool", "live", "support", "gh"]).await;
    assert_eq!(shown.exit, Exit::Ok, "{}", shown.err);
    assert!(shown.out.contains("gh__a_b  a.b            adds\\u{1b}[2J\n"), "{}", shown.out);
    assert!(shown.err.contains("2026-01-01T00:00:00Z"), "{}", shown.err);
    let sent = double.script().asked_live.pop().expect("it was asked");
    assert_eq!((sent.agent_id.as_str(), sent.attachment_id.as_str()), ("support", "gh"));
    let json = double.run(&["--json", "tool", "live", "support", "gh"]).await.out;
    let expected = concat!(
        r#"{"status":"SERVER_TOOLS_STATUS_OK","tools":[{"name":"a.b","canonicalName":"gh__a_b","#,
        r#""description":"adds\u001b[2J\nand more","inputSchemaJson":"{\"n\" : 1.0}"}],"error":"","#,
        r#""listTime":"2026-01-01T00:00:00Z","fromCache":true,"revision":"r7"}"#,
        "\n",
    );
    assert_eq!(json, expected);
    assert_eq!(double.run(&["tool", "live", "nobody", "gh"]).await.exit, Exit::NotFound);
}

#[tokio::test]
async fn a_server_that_cannot_be_listed_ends_the_command_as_a_sync_of_it_would() {
    for (status, word) in [
        (ServerToolsStatus::Unavailable, "The server cannot be reached."),
        (ServerToolsStatus::AuthRequired, "credential"),
    ] {
        let double = Double::start(listed(status)).await;
        for flags in [&[][..], &["--json"]] {
            let ended = double.run(&[flags, &["tool", "live", "support", "gh"]].concat()).await;
            assert_eq!(ended.exit, Exit::Unavailable);
            assert!(ended.err.contains("gh") && ended.err.contains(word), "{}", ended.err);
            assert_eq!(ended.out.is_empty(), flags.is_empty());
        }
    }
}
