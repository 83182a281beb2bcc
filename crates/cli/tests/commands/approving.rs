use tonic::{Code, Status};
use toolgate_api_proto::v1::{Tool, ToolState};
use toolgate_cli::Exit;

use crate::double::{Script, refusal};
use crate::{Double, Seat, hash, id, seen, tool, toolgate_at, upstream};

fn script(tools: Vec<Tool>) -> Script {
    Script { tools, upstreams: vec![upstream(1, "gh")], ..Default::default() }
}

/// What was approved: tool id and fingerprint.
fn approved(double: &Double) -> Vec<(String, String)> {
    let script = double.script();
    script.approvals.iter().map(|request| (request.id.clone(), request.definition_hash.clone())).collect()
}

#[tokio::test]
async fn a_given_fingerprint_is_sent_as_it_is() {
    let double = Double::start(script(vec![tool(10, "a")])).await;
    let ended = double.run(&["tool", "approve", "gh__a", "--hash", &hash("a")]).await;
    assert_eq!(ended.out, format!("approved gh__a  {}: served\n", hash("a")));
    assert_eq!((ended.err.as_str(), ended.exit), ("", Exit::Ok));
    assert_eq!(approved(&double), [(id(10), hash("a"))]);
}

#[tokio::test]
async fn a_stale_fingerprint_is_a_conflict_that_names_the_present_one() {
    let double = Double::start(script(vec![tool(10, "a")])).await;

    let ended = double.run(&["tool", "approve", "gh__a", "--hash", &hash("old")]).await;

    let expected = format!(
        "error: the definition of gh__a is not the reviewed one; its fingerprint is now {}\n\
         hint: review it: toolgate tool show gh__a\n",
        hash("a")
    );
    assert_eq!((ended.err, ended.exit.code(), ended.out.as_str()), (expected, 4, ""));
}

#[tokio::test]
async fn a_person_is_shown_the_definition_and_asked() {
    let mut tool = tool(10, "a");
    tool.definition_json = "{\"name\":\"a\",\n\"description\":\"x\u{200b}\"}".to_owned();
    tool.set_state(ToolState::Drifted);
    tool.approved_hash = Some(hash("old"));
    let definitions = vec![seen("old", Some(r#"{"name":"a","x":1}"#), 1)];
    let double = Double::start(Script { definitions, ..script(vec![tool]) }).await;

    let ended = double.run_as(Seat::Person("y\n"), &["tool", "approve", "gh__a"]).await;

    let expected = format!(
        "name                   gh__a
state                  drifted
effect                 changes
hash                   {}
approved hash          {}
definition
  {{\"name\":\"a\",
  \"description\":\"x\\u{{200b}}\"}}
warning: the definition holds 1 character that does not show: U+200B at /description
changed since it was approved
  /x
  - 1
  /description
  + \"x\\u{{200b}}\"
Approve this definition? [y/N] ",
        hash("a"),
        hash("old")
    );
    assert_eq!(ended.err, expected);
    assert_eq!((approved(&double), ended.exit), (vec![(id(10), hash("a"))], Exit::Ok));
}

#[tokio::test]
async fn anything_but_yes_approves_nothing() {
    let double = Double::start(script(vec![tool(10, "a")])).await;
    for answer in ["", "\n", "n\n", "sure\n"] {
        for words in [&["tool", "approve", "gh__a"][..], &["tool", "approve", "--all", "--upstream", "gh"]] {
            let ended = double.run_as(Seat::Person(answer), words).await;
            assert!(
                ended.err.ends_with("[y/N] error: not confirmed; nothing was changed\n"),
                "{}",
                ended.err
            );
            assert_eq!(ended.exit, Exit::Failure);
        }
    }
    assert!(approved(&double).is_empty());
}

#[tokio::test]
async fn a_script_must_say_what_was_reviewed() {
    let double = Double::start(script(vec![tool(10, "a")])).await;
    let one = double.run(&["tool", "approve", "gh__a"]).await;
    let all = double.run(&["tool", "approve", "--all", "--upstream", "gh"]).await;
    assert!(one.err.contains("--hash must name what was reviewed"), "{}", one.err);
    assert!(all.err.contains("then pass --yes"), "{}", all.err);
    assert_eq!((one.exit, all.exit), (Exit::Usage, Exit::Usage));
    assert!(approved(&double).is_empty());
}

#[tokio::test]
async fn all_approves_exactly_the_definitions_that_were_printed() {
    let mut served = tool(10, "served");
    served.set_state(ToolState::Served);
    let mut drifted = tool(12, "drifted");
    drifted.set_state(ToolState::Drifted);
    let double =
        Double::start(Script { page_size: 1, ..script(vec![served, tool(11, "new"), drifted]) }).await;

    let ended = double.run(&["tool", "approve", "--all", "--upstream", "gh", "--yes"]).await;

    for name in ["new", "drifted"] {
        assert!(ended.err.contains(&tool(0, name).definition_json), "{}", ended.err);
        assert!(ended.err.contains(&format!("hash                   {}\n", hash(name))), "{}", ended.err);
    }
    assert!(!ended.err.contains("served"), "{}", ended.err);
    assert_eq!(approved(&double), [(id(11), hash("new")), (id(12), hash("drifted"))]);
    assert_eq!(ended.exit, Exit::Ok);
}

#[tokio::test]
async fn a_definition_that_changes_after_it_was_printed_is_refused_and_reported() {
    let changed = Tool { definition_hash: hash("other"), ..tool(11, "b") };
    let tools = vec![tool(10, "a"), tool(11, "b"), tool(12, "c")];
    let double = Double::start(Script { drifts: vec![changed], ..script(tools) }).await;

    let ended = double.run_as(Seat::Person("yes\n"), &["tool", "approve", "--all", "--upstream", "gh"]).await;

    assert_eq!(approved(&double), [(id(10), hash("a")), (id(11), hash("b")), (id(12), hash("c"))]);
    let expected = format!("approved gh__a  {}: served\napproved gh__c  {}: served\n", hash("a"), hash("c"));
    assert_eq!(ended.out, expected);
    let expected = format!(
        "Approve all of them? [y/N] not approved: gh__b
error: the definition of gh__b is not the reviewed one; its fingerprint is now {}
hint: review it: toolgate tool show gh__b
error: 1 of 3 approvals failed, 0 were not tried
",
        hash("other")
    );
    assert!(ended.err.ends_with(&expected), "{}", ended.err);
    assert_eq!(ended.exit, Exit::Conflict);
}

#[tokio::test]
async fn a_hint_holds_no_name_that_a_shell_would_act_on() {
    let evil = Tool { namespaced_name: "gh__a; $(reboot)".to_owned(), ..tool(10, "a") };
    let changed = Tool { definition_hash: hash("other"), ..evil.clone() };
    let double = Double::start(Script { drifts: vec![changed], ..script(vec![evil]) }).await;
    let ended = double.run(&["tool", "approve", "--all", "--upstream", "gh", "--yes"]).await;
    assert!(
        ended.err.contains(&format!("hint: review it: toolgate tool show {}\n", id(10))),
        "{}",
        ended.err
    );
}

#[tokio::test]
async fn all_stops_when_the_server_goes_away() {
    let tools = vec![tool(10, "a"), tool(11, "b"), tool(12, "c")];
    let gone = Status::unavailable("the store is unavailable");
    let removed = refusal(Code::FailedPrecondition, "TOOL_REMOVED", "it is gone", []);
    let approval_refusals = [(id(10), removed), (id(11), gone)].into();
    let double = Double::start(Script { approval_refusals, ..script(tools) }).await;

    let ended = double.run(&["tool", "approve", "--all", "--upstream", "gh", "--yes", "--json"]).await;

    assert_eq!((approved(&double).len(), ended.out.as_str()), (2, ""));
    assert!(ended.err.ends_with("error: 2 of 3 approvals failed, 1 were not tried\n"), "{}", ended.err);
    assert_eq!(ended.exit, Exit::Failure, "the reasons differ");
}

#[tokio::test]
async fn nothing_to_approve_is_no_failure() {
    let double = Double::start(script(vec![])).await;
    let ended = double.run(&["tool", "approve", "--all", "--upstream", "gh", "--yes"]).await;
    assert_eq!((ended.err.as_str(), ended.exit), ("no tool of gh waits for approval\n", Exit::Ok));
}

#[tokio::test]
async fn a_dry_run_writes_nothing_and_asks_nothing() {
    let double = Double::start(script(vec![tool(10, "a")])).await;
    let all = double.run(&["tool", "approve", "--all", "--upstream", "gh", "--dry-run"]).await;
    let disable = double.run(&["tool", "disable", "gh__a", "--dry-run"]).await;
    let note = "(dry run: nothing was written)\n";
    assert!(all.out.ends_with(note) && disable.out.ends_with(note), "{all:?} {disable:?}");
    let script = double.script();
    assert!(script.approvals.iter().all(|request| request.validate_only));
    assert!(script.approvals.iter().all(|request| request.etag == "e1"), "as it was printed");
    assert_eq!(script.rulings, [("disable", id(10), true)]);
}

#[tokio::test]
async fn rulings_say_what_the_tool_is_now() {
    let double = Double::start(script(vec![tool(10, "a")])).await;
    let cases = [
        ("revoke", "revoked the approval of gh__a: unapproved; approve it\n"),
        ("disable", "disabled gh__a: disabled; approve it\n"),
        ("enable", "enabled gh__a: served; approve it\n"),
    ];
    for (ruling, expected) in cases {
        assert_eq!(double.run(&["tool", ruling, "gh__a"]).await.out, expected);
        assert_eq!(double.script().rulings.pop(), Some((ruling, id(10), false)));
    }
}

#[tokio::test]
async fn locks_are_sent_as_typed_and_a_word_that_is_none_ends_before_anything_is_sent() {
    let double = Double::start(script(vec![tool(10, "a")])).await;
    let lock = double.run(&["tool", "lock", "gh__a", "n=1.0", r#"city="Oslo""#]).await;
    let unlock = double.run(&["tool", "unlock", "gh__a", "n"]).await;
    assert_eq!((lock.exit, unlock.exit), (Exit::Ok, Exit::Ok));
    let sent = [(r#"{"n":1.0,"city":"Oslo"}"#.to_owned(), vec![]), (String::new(), vec!["n".to_owned()])];
    assert_eq!(double.script().locked, sent);
    let wrong = double.run(&["tool", "lock", "gh__a", "city=Oslo"]).await;
    assert_eq!(wrong.exit, Exit::Usage);
    assert!(wrong.err.contains("INPUT=JSON") && wrong.err.contains("hint: "), "{}", wrong.err);
    assert_eq!(double.script().locked.len(), 2);
}

#[tokio::test]
async fn owners_words_about_a_tool_are_set_and_cleared() {
    let double = Double::start(script(vec![tool(10, "a")])).await;
    for (words, ruling) in [
        (&["effect", "gh__a", "reads"][..], "effect"),
        (&["effect", "gh__a", "none"], "effect"),
        (&["describe", "gh__a", "Reads one."], "describe"),
        (&["describe", "gh__a", "--clear"], "describe"),
        (&["rename", "gh__a", "letters"], "rename"),
        (&["rename", "gh__a", "--clear"], "rename"),
    ] {
        let ended = double.run(&[&["tool"], words].concat()).await;
        assert_eq!(ended.exit, Exit::Ok, "{words:?}: {}", ended.err);
        assert_eq!(double.script().rulings.pop(), Some((ruling, id(10), false)));
    }
}

#[tokio::test]
async fn a_blank_description_is_refused_with_the_way_to_clear_it() {
    let ended = toolgate_at("http://127.0.0.1:1", Seat::Script, &["tool", "describe", "gh__a", " "]).await;
    assert_eq!(ended.exit, Exit::Usage);
    assert!(ended.err.contains("--clear"), "{}", ended.err);
}
