use tonic::{Code, Status};
use toolgate_api_proto::v1::{Tool, ToolChange, ToolChangeKind, WatchToolsResponse};
use toolgate_cli::Exit;

use crate::double::{Script, refusal};
use crate::{Double, id, tool};

fn upserted(tool: Tool) -> ToolChange {
    ToolChange { kind: ToolChangeKind::Upserted.into(), tool_id: tool.id.clone(), tool: Some(tool) }
}

fn withdrawn(number: usize) -> ToolChange {
    ToolChange { kind: ToolChangeKind::Withdrawn.into(), tool_id: id(number), tool: None }
}

fn message(changes: Vec<ToolChange>, revision: &str) -> Result<WatchToolsResponse, Status> {
    Ok(WatchToolsResponse { changes, revision: revision.to_owned() })
}

fn key_ended() -> Result<WatchToolsResponse, Status> {
    Err(refusal(Code::Unauthenticated, "CREDENTIAL_INVALID", "the credential is not valid", []))
}

async fn start(watches: Vec<Vec<Result<WatchToolsResponse, Status>>>) -> Double {
    Double::start(Script { watches: watches.into(), ..Default::default() }).await
}

#[tokio::test]
async fn a_watch_that_breaks_goes_on_where_it_broke() {
    let double = start(vec![
        vec![
            message(vec![upserted(tool(10, "a"))], ""),
            message(vec![upserted(tool(11, "b"))], "r1"),
            message(vec![], "r2"),
            message(vec![withdrawn(11)], ""),
            Err(Status::unavailable("draining")),
        ],
        vec![message(vec![withdrawn(11)], "r3")],
        vec![message(vec![withdrawn(12)], "r4"), key_ended()],
    ])
    .await;

    let ended = double.run(&["tool", "watch"]).await;

    let expected = format!(
        "+ gh__a  unapproved  changes  sha256:616161616161\n\
         + gh__b  unapproved  changes  sha256:626262626262\n\
         - gh__b\n\
         - {}\n\
         - {}\n",
        id(11),
        id(12)
    );
    assert_eq!(ended.out, expected);
    assert_eq!(double.script().resumes, ["", "r2", "r3"]);
    let expected = "note: draining; resuming\n\
                    note: the server ended the watch; resuming\n\
                    error: the credential is not valid\n\
                    hint: look at TOOLGATE_KEY, or at the file of --key-file\n";
    assert_eq!((ended.err.as_str(), ended.exit), (expected, Exit::Denied));
}

#[tokio::test]
async fn json_is_one_message_a_line() {
    let double = start(vec![vec![
        message(vec![upserted(tool(10, "a")), withdrawn(11)], "r1"),
        message(vec![], "r2"),
        key_ended(),
    ]])
    .await;

    let ended = double.run(&["tool", "watch", "--view", "served", "--json"]).await;

    let lines: Vec<serde_json::Value> =
        ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["changes"][0]["kind"], "TOOL_CHANGE_KIND_UPSERTED");
    assert_eq!(lines[0]["changes"][0]["tool"]["namespacedName"], "gh__a");
    assert_eq!(
        lines[0]["changes"][1],
        serde_json::json!({"kind": "TOOL_CHANGE_KIND_WITHDRAWN", "toolId": id(11)})
    );
    assert_eq!(lines[1], serde_json::json!({"changes": [], "revision": "r2"}));
}

#[tokio::test]
async fn a_watch_that_breaks_within_its_snapshot_ends_with_6() {
    let broken = vec![message(vec![upserted(tool(10, "a"))], ""), Err(Status::unavailable("draining"))];
    let ended = start(vec![broken]).await.run(&["tool", "watch"]).await;
    assert_eq!(ended.exit.code(), 6, "a second snapshot would not tell what left the view in between");
}

#[tokio::test]
async fn a_revision_that_is_no_longer_kept_ends_the_watch() {
    let double = start(vec![
        vec![message(vec![], "r1")],
        vec![Err(Status::out_of_range("the revision is no longer kept"))],
    ])
    .await;
    let ended = double.run(&["tool", "watch"]).await;
    assert!(ended.err.ends_with("error: the revision is no longer kept\n"), "{}", ended.err);
    assert_eq!(ended.exit, Exit::Failure);
}
