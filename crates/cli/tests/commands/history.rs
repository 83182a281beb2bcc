//! What a tool was, and what differs between two of its definitions.

use toolgate_api_proto::v1::{ObservedDefinition, Tool, ToolState};
use toolgate_cli::Exit;

use crate::double::Script;
use crate::{Double, Seat, hash, id, seen, tool, upstream};

const OLD: &str = r#"{"name":"a","description":"Reads.","n":1.0}"#;
const NEW: &str = "{\"n\":1,\"description\":\"Reads. \u{202e}Mails.\",\"name\":\"a\",\"enum\":[]}";

/// A tool that was listed with another definition since `old` was approved, and its history.
fn drifted() -> Script {
    let mut tool = Tool { definition_json: NEW.into(), definition_hash: hash("new"), ..tool(10, "a") };
    tool.set_state(ToolState::Drifted);
    tool.approved_hash = Some(hash("old"));
    let current = ObservedDefinition { current: true, ..seen("new", Some(NEW), 30) };
    let approved = ObservedDefinition {
        approved: true,
        return_time: Some(toolgate_api_proto::Timestamp { seconds: 20, nanos: 0 }),
        ..seen("old", Some(OLD), 0)
    };
    let definitions = vec![current, seen("lost", None, 10), approved];
    Script { tools: vec![tool], upstreams: vec![upstream(1, "gh")], definitions, ..Script::default() }
}

const DIFF: &str = "/description\n- \"Reads.\"\n+ \"Reads. \\u{202e}Mails.\"\n/enum\n+ []\n";

#[tokio::test]
async fn a_history_names_each_definition_and_what_is_left_of_it() {
    let double = Double::start(drifted()).await;
    let ended = double.run(&["tool", "history", "gh__a"]).await;
    let expected = format!(
        "FIRST LISTED          LISTED AGAIN          IS        TEXT      HASH\n\
         1970-01-01T00:00:30Z  -                     current   {} bytes  {}\n\
         1970-01-01T00:00:10Z  -                     -         not kept  {}\n\
         1970-01-01T00:00:00Z  1970-01-01T00:00:20Z  approved  {} bytes  {}\n",
        NEW.len(),
        hash("new"),
        hash("lost"),
        OLD.len(),
        hash("old")
    );
    assert_eq!((ended.out, ended.exit), (expected, Exit::Ok));

    let json = double.run(&["tool", "history", "gh__a", "--json"]).await.out;
    assert!(!json.contains('\u{202e}'), "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["definitions"][0]["definitionJson"], NEW);
    assert_eq!(
        json["definitions"][1],
        serde_json::json!({
            "definitionHash": hash("lost"), "createTime": "1970-01-01T00:00:10Z", "current": false, "approved": false
        })
    );
    let unknown = double.run(&["tool", "history", &id(11)]).await;
    assert_eq!((unknown.out.as_str(), unknown.exit), ("", Exit::NotFound));
}

#[tokio::test]
async fn a_diff_shows_what_changed_since_the_approval_and_nothing_that_only_looks_changed() {
    let double = Double::start(drifted()).await;
    let ended = double.run(&["tool", "diff", "gh__a"]).await;
    assert_eq!((ended.out.as_str(), ended.err.as_str(), ended.exit), (DIFF, "", Exit::Ok));
    let json = double.run(&["tool", "diff", "gh__a", "--json"]).await.out;
    assert!(!json.contains('\u{202e}'), "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let expected = serde_json::json!({
        "toolId": id(10), "from": hash("old"), "to": hash("new"), "differences": [
            { "path": "/description", "oldJson": "\"Reads.\"", "newJson": "\"Reads. \u{202e}Mails.\"" },
            { "path": "/enum", "newJson": "[]" },
        ]
    });
    assert_eq!(json, expected);
}

#[tokio::test]
async fn any_two_definitions_can_be_compared() {
    let double = Double::start(drifted()).await;
    let (old, new, lost, other) = (hash("old"), hash("new"), hash("lost"), hash("other"));
    let back = double.run(&["tool", "diff", "gh__a", "--from", &new, "--to", &old]).await;
    assert!(back.out.contains("- \"Reads. \\u{202e}Mails.\"\n+ \"Reads.\"\n"), "{}", back.out);
    let same = double.run(&["tool", "diff", "gh__a", "--from", &old, "--to", &old]).await;
    assert_eq!((same.out.as_str(), same.exit), ("no difference\n", Exit::Ok));
    let gone = double.run(&["tool", "diff", "gh__a", "--from", &lost]).await;
    assert!(gone.err.contains("was not kept") && gone.exit == Exit::Failure, "{}", gone.err);
    let unknown = double.run(&["tool", "diff", "gh__a", "--to", &other]).await;
    assert!(
        unknown.err.contains("was never listed with") && unknown.exit == Exit::NotFound,
        "{}",
        unknown.err
    );

    double.script().tools[0].approved_hash = None;
    let unapproved = double.run(&["tool", "diff", "gh__a"]).await;
    assert!(unapproved.err.contains("--from HASH") && unapproved.exit == Exit::Usage, "{}", unapproved.err);
}

#[tokio::test]
async fn a_drifted_tool_is_shown_with_what_changed_wherever_it_is_reviewed() {
    let double = Double::start(drifted()).await;
    let shown = DIFF.lines().map(|line| format!("  {line}\n")).collect::<String>();
    let shown = format!("changed since it was approved\n{shown}");
    let show = double.run(&["tool", "show", "gh__a"]).await;
    assert!(show.out.ends_with(&shown), "{}", show.out);
    let asked = double.run_as(Seat::Person("n\n"), &["tool", "approve", "gh__a"]).await;
    assert!(asked.err.contains(&format!("{shown}Approve this definition?")), "{}", asked.err);
    let all = double.run(&["tool", "approve", "--all", "--upstream", "gh", "--dry-run"]).await;
    assert!(all.err.contains(&shown), "{}", all.err);

    double.script().definitions.clear();
    let asked = double.run_as(Seat::Person("y\n"), &["tool", "approve", "gh__a"]).await;
    let told = format!(
        "changed since it was approved\n  cannot be shown: gh__a was never listed with the definition {}\n",
        hash("old")
    );
    assert!(asked.err.contains(&told), "{}", asked.err);
    assert_eq!(asked.exit, Exit::Ok, "the definition itself was shown");

    double.script().tools[0].set_state(ToolState::Served);
    assert!(!double.run(&["tool", "show", "gh__a"]).await.out.contains("changed since"));
}
