use sha2::{Digest, Sha256};
use toolgate_api_proto::v1::{CallOutcome, LoggedCall, Ruling, RulingAct, ToolState};
use toolgate_cli::Exit;

use crate::double::Script;
use crate::{Double, id};

/// SHA-256 of 32 zero bytes and `a`.
const HASH: &str = "41a0370c3d9f42773a59e8e01651911cf43b1e3f66944cbb690029debc4eb647";

fn ruling() -> Ruling {
    let byte = |at: usize| u8::from_str_radix(&HASH[at..at + 2], 16).expect("digits");
    Ruling {
        sequence: 1,
        create_time: Some(Default::default()),
        subject: "key:k".into(),
        tool_id: id(3),
        tool_name: "read\u{202e}".into(),
        act: RulingAct::Rename.into(),
        served_name: Some("gh__read".into()),
        stored: b"a".to_vec(),
        hash: (0..64).step_by(2).map(byte).collect(),
        ..Default::default()
    }
}

async fn start(rulings_logged: Vec<Ruling>) -> Double {
    Double::start(Script { rulings_logged, ..Default::default() }).await
}

#[tokio::test]
async fn rulings_are_listed_with_what_they_set() {
    let double = start(vec![ruling()]).await;
    let listed = double.run(&["audit", "list"]).await;
    assert!(listed.out.contains("key:k    rename  read\\u{202e}  gh__read"), "{}", listed.out);
    let json = double.run(&["audit", "list", "--json", "--tool", &id(3)]).await;
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["rulings"][0]["act"], "RULING_ACT_RENAME");
    assert_eq!(json["rulings"][0]["stored"], "YQ==");
}

#[tokio::test]
async fn rulings_about_an_upstream_that_was_deleted_are_listed_by_its_id() {
    let row = Ruling { tool_id: String::new(), tool_name: String::new(), tool_count: 3, ..ruling() };
    let mut row = Ruling { upstream_id: id(1), upstream_slug: "gh".into(), served_name: None, ..row };
    row.set_act(RulingAct::DeleteUpstream);
    let double = start(vec![row]).await;
    let listed = double.run(&["audit", "list", "--upstream", &id(1)]).await;
    assert!(listed.out.contains("key:k    delete_upstream  gh (3 tools)  -"), "{}", listed.out);
    assert_eq!(double.run(&["audit", "list", "--upstream", "gh"]).await.exit, Exit::NotFound);
}

#[tokio::test]
async fn law_14_a_server_that_lists_another_log_than_its_hashes_say_is_caught() {
    let ended = start(vec![ruling()]).await.run(&["audit", "verify"]).await;
    assert_eq!(ended.out, format!("1 ruling, each following from the one before\n1:{HASH}\n"));
    let mut forged = ruling();
    forged.stored = b"b".to_vec();
    let ended = start(vec![forged]).await.run(&["audit", "verify"]).await;
    assert_eq!(ended.exit, Exit::Failure);
    assert!(ended.err.contains("ruling 1 does not follow"), "{}", ended.err);
}

#[tokio::test]
async fn law_14_a_log_that_lacks_what_was_noted_is_caught() {
    let noted = format!("2:{HASH}");
    let ended = start(vec![ruling()]).await.run(&["audit", "verify", "--known", &noted]).await;
    assert_eq!(ended.exit, Exit::Failure);
    assert!(ended.err.contains("ends before ruling 2"), "{}", ended.err);
}

#[tokio::test]
async fn what_an_empty_log_proves_can_be_known_later() {
    let ended = start(Vec::new()).await.run(&["audit", "verify"]).await;
    let head = ended.out.lines().last().unwrap().to_owned();
    assert!(head.starts_with("0:000"), "{}{}", ended.out, ended.err);
    for log in [Vec::new(), vec![ruling()]] {
        let ended = start(log).await.run(&["audit", "verify", "--known", &head]).await;
        assert_eq!(ended.exit, Exit::Ok, "{}", ended.err);
    }
}

fn logged(sequence: i64, before: &[u8], stored: &[u8]) -> LoggedCall {
    let hash = Sha256::new().chain_update(before).chain_update(stored).finalize().to_vec();
    let mut row = LoggedCall { sequence, stored: stored.to_vec(), hash, ..Default::default() };
    row.set_outcome(CallOutcome::ToolNotServed);
    row.set_tool_state(ToolState::Drifted);
    row.namespaced_name = "gh__read".into();
    row
}

async fn with_calls(calls_logged: Vec<LoggedCall>) -> Double {
    Double::start(Script { calls_logged, ..Default::default() }).await
}

#[tokio::test]
async fn calls_are_listed_with_why_they_were_refused() {
    let double = with_calls(vec![logged(1, &[0; 32], b"a")]).await;
    let listed = double.run(&["audit", "list", "--calls"]).await;
    assert!(listed.out.contains("gh__read  tool_not_served (drifted)"), "{}", listed.out);
    let json = double.run(&["audit", "list", "--calls", "--json"]).await;
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["calls"][0]["outcome"], "CALL_OUTCOME_TOOL_NOT_SERVED");
}

#[tokio::test]
async fn law_14_a_changed_or_missing_row_of_the_log_of_calls_is_noticed_without_the_server() {
    let first = logged(7, &[9; 32], b"a");
    let second = logged(8, &first.hash, b"b");
    let third = logged(9, &second.hash, b"c");
    let rows = [first, second, third];
    let whole = with_calls(rows.to_vec()).await.run(&["audit", "verify", "--calls"]).await;
    assert!(whole.out.contains("before row 7") && whole.out.contains("3 rows"), "{}", whole.out);
    let missing = vec![rows[0].clone(), rows[2].clone()];
    let mut changed = rows.to_vec();
    changed[1].stored = b"x".to_vec();
    for forged in [missing, changed] {
        assert_eq!(with_calls(forged).await.run(&["audit", "verify", "--calls"]).await.exit, Exit::Failure);
    }
    let noted = whole.out.lines().last().unwrap().to_owned();
    let cut = with_calls(rows[..2].to_vec()).await;
    assert_eq!(cut.run(&["audit", "verify", "--calls", "--known", &noted]).await.exit, Exit::Failure);
}
