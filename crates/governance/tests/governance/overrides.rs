//! What owners change of a tool: inputs, effect, description, name.

use toolgate_catalog::View;
use toolgate_definition::{Effect, locks::Locks};
use toolgate_domain::{Fault, ToolState, ruling::Act};
use toolgate_governance::Wish;

use crate::workbench::{Workbench, definition};

const SEND: &str = r#"{"name":"send","description":"Sends.","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"copies":{"type":"integer","maximum":5.0}},"required":["to","copies"]},"x-unknown":1.0}"#;

fn lock(set: &str) -> Wish {
    Wish::UpdateLocks { set: Locks::parse(set).unwrap(), remove: Vec::new() }
}

/// BR-073.
#[tokio::test]
async fn law_06_a_locked_input_is_not_in_what_an_agent_reads() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[SEND]).await;
    bench.approve(id, "send").await;
    bench.rule(id, "send", lock(r#"{"to":"ops@example.com"}"#)).await.unwrap();
    let tool = bench.tool(id, "send").await.tool.clone();
    assert_eq!(tool.state(), ToolState::Served);
    assert_eq!(tool.definition.text(), SEND, "as listed, it stays");
    let served = tool.served_definition().unwrap();
    assert!(!served.contains("\"to\"") && !served.contains("ops@example.com"), "{served}");
    assert!(
        served.contains(r#""copies":{"type":"integer","maximum":5.0}"#)
            && served.contains(r#""x-unknown":1.0"#)
    );
}

/// BR-075.
#[tokio::test]
async fn a_lock_that_stops_fitting_takes_the_tool_from_agents_until_it_fits_again() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[SEND]).await;
    bench.approve(id, "send").await;
    bench.rule(id, "send", lock(r#"{"copies":3}"#)).await.unwrap();
    let renamed = SEND.replace("copies", "count");
    bench.lists(id, "srv", &[&renamed]).await;
    assert_eq!(bench.state(id, "send").await, ToolState::Drifted, "trust comes before fit");
    bench.approve(id, "send").await;
    let tool = bench.tool(id, "send").await.tool.clone();
    assert_eq!(tool.state(), ToolState::LockMismatch);
    let issue = &tool.lock_issues[0];
    assert_eq!((issue.name.as_str(), issue.problem.to_string().as_str()), ("copies", "no such input"));
    let unlock = Wish::UpdateLocks { set: Locks::default(), remove: vec!["copies".into()] };
    bench.rule(id, "send", unlock).await.unwrap();
    assert_eq!(bench.state(id, "send").await, ToolState::Served);
    assert_eq!(bench.restarted().await.state(id, "send").await, ToolState::Served);
}

/// BR-085.
#[tokio::test]
async fn an_owners_words_outlive_drift_and_are_not_part_of_the_fingerprint() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[SEND]).await;
    let hash = bench.hash(id, "send").await;
    bench.approve(id, "send").await;
    bench.rule(id, "send", Wish::SetDescription(Some("Sends to us.".into()))).await.unwrap();
    bench.rule(id, "send", Wish::SetEffect(Some(Effect::Reads))).await.unwrap();
    let tool = bench.tool(id, "send").await.tool.clone();
    assert_eq!(
        (tool.state(), tool.observed.fingerprint, tool.effect()),
        (ToolState::Served, hash, Effect::Reads)
    );
    let served = tool.served_definition().unwrap();
    assert!(
        served.contains(r#""description":"Sends to us.""#) && served.contains(r#""readOnlyHint":true"#),
        "{served}"
    );
    bench.lists(id, "srv", &[&SEND.replace("Sends.", "Sends all.")]).await;
    assert_eq!(bench.state(id, "send").await, ToolState::Drifted);
    bench.approve(id, "send").await;
    let again = bench.restarted().await.tool(id, "send").await.tool.clone();
    assert!(again.served_definition().unwrap().contains("Sends to us."));
    bench.rule(id, "send", Wish::SetDescription(None)).await.unwrap();
    bench.rule(id, "send", Wish::SetEffect(None)).await.unwrap();
    let tool = bench.tool(id, "send").await.tool.clone();
    let named = tool.definition.text().replace(r#""name":"send""#, r#""name":"srv__send""#);
    assert_eq!(tool.served_definition().unwrap(), named, "all but the name is as listed");
    let acts: Vec<_> = bench.rulings().await.into_iter().map(|row| row.ruling.act).collect();
    assert!(acts.contains(&Act::SetDescription(None)) && acts.contains(&Act::SetEffect(Some(Effect::Reads))));
}

#[tokio::test]
async fn a_name_given_by_an_owner_is_the_tools_alone_and_free_again_when_it_is_given_up() {
    let bench = Workbench::new().await;
    let (dotted, plain) = (definition("a.b", "d"), definition("c", "d"));
    let id = bench.upstream("srv", &[&dotted, &plain]).await;
    bench.approve(id, "a.b").await;
    bench.approve(id, "c").await;
    assert_eq!(bench.state(id, "a.b").await, ToolState::BadName);
    bench.rule(id, "a.b", Wish::Rename(Some("letters".into()))).await.unwrap();
    let tool = bench.tool(id, "a.b").await.tool.clone();
    assert_eq!((tool.state(), tool.namespaced_name().as_str()), (ToolState::Served, "letters"));
    for name in ["letters", "srv__c"] {
        let other = if name == "letters" { "c" } else { "a.b" };
        let taken = bench.rule(id, other, Wish::Rename(Some(name.into()))).await.unwrap_err();
        assert_eq!(taken, Fault::NameTaken { name: name.into() });
    }
    bench.rule(id, "a.b", Wish::Rename(None)).await.unwrap();
    assert_eq!(bench.state(id, "a.b").await, ToolState::BadName);
    bench.rule(id, "c", Wish::Rename(Some("letters".into()))).await.unwrap();
    let again = bench.restarted().await;
    assert_eq!(again.tool(id, "c").await.tool.namespaced_name(), "letters");
    assert_eq!(again.state(id, "c").await, ToolState::Served);
    let back = again.rule(id, "a.b", Wish::Rename(Some("srv__c".into()))).await.unwrap_err();
    assert_eq!(back, Fault::NameTaken { name: "srv__c".into() }, "the name by policy stays with its tool");
}

#[tokio::test]
async fn renames_made_at_once_leave_one_holder() {
    let bench = Workbench::new().await;
    let entries: Vec<String> = (0..20).map(|n| definition(&format!("t{n}"), "d")).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let id = bench.upstream("srv", &entries).await;
    let mut rulings = tokio::task::JoinSet::new();
    for n in 0..20 {
        let rule = bench.wish(id, &format!("t{n}"), Wish::Rename(Some("wanted".into())));
        let governance = bench.governance.clone();
        rulings.spawn(async move { governance.rule(rule).await.is_ok() });
    }
    let mut granted = 0;
    while let Some(ruled) = rulings.join_next().await {
        granted += usize::from(ruled.unwrap());
    }
    assert_eq!((granted, bench.rulings().await.len()), (1, 1));
    let snapshot = bench.snapshot().await;
    let named = snapshot.page(
        &snapshot.sight(View::Raw, None),
        &toolgate_catalog::snapshot::Filter { namespaced_name: Some("wanted".into()), ..Default::default() },
        None,
        toolgate_catalog::snapshot::PageSize::Whole,
    );
    assert_eq!(named.tools.len(), 1);
}

/// BR-085.
#[tokio::test]
async fn an_owners_description_outlives_removal_and_return_and_is_no_part_of_what_was_listed() {
    let bench = Workbench::new().await;
    let listed = definition("a", "orig");
    let id = bench.upstream("srv", &[&listed]).await;
    let hash = bench.hash(id, "a").await;
    bench.approve(id, "a").await;
    bench.rule(id, "a", Wish::SetDescription(Some("mine".into()))).await.unwrap();
    let mine = definition("srv__a", "mine");
    assert_eq!(bench.tool(id, "a").await.tool.served_definition(), Some(mine.clone()));
    bench.lists(id, "srv", &[]).await;
    assert_eq!(bench.state(id, "a").await, ToolState::Removed);
    bench.lists(id, "srv", &[&listed]).await;
    let back = bench.tool(id, "a").await.tool.clone();
    assert_eq!((back.state(), back.served_definition()), (ToolState::Served, Some(mine)));
    assert_eq!((back.definition.text(), back.observed.fingerprint), (listed.as_str(), hash));
    for blank in ["", " "] {
        let refused = bench.rule(id, "a", Wish::SetDescription(Some(blank.into()))).await.unwrap_err();
        assert_eq!(refused, Fault::invalid("description", "is blank; leave it out to clear it"));
    }
    bench.rule(id, "a", Wish::SetDescription(None)).await.unwrap();
    assert_eq!(bench.tool(id, "a").await.tool.served_definition(), Some(definition("srv__a", "orig")));
}

/// BR-075.
#[tokio::test]
async fn a_lock_is_refused_where_it_does_not_fit_and_shown_where_it_stopped_fitting() {
    let snap = r#"{"name":"snap","inputSchema":{"type":"object","properties":{"env":{"anyOf":[{"type":"string","enum":["all","keys"]},{"const":false}]},"n":{"type":"integer","minimum":1}}}}"#;
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[snap]).await;
    bench.approve(id, "snap").await;
    for (set, field) in [(r#"{"env":true}"#, r#"set_json["env"]"#), (r#"{"n":0}"#, r#"set_json["n"]"#)] {
        let Fault::Invalid(found) = bench.rule(id, "snap", lock(set)).await.unwrap_err() else {
            panic!("{set} was taken")
        };
        assert_eq!(found[0].field, field);
    }
    for set in [r#"{"env":false}"#, r#"{"n":1.0}"#, r#"{"env":"keys"}"#] {
        bench.rule(id, "snap", lock(set)).await.unwrap();
        assert_eq!(bench.state(id, "snap").await, ToolState::Served, "{set}");
    }
    bench.lists(id, "srv", &[&snap.replace(r#","keys""#, "")]).await;
    bench.approve(id, "snap").await;
    let tool = bench.tool(id, "snap").await.tool.clone();
    let issues: Vec<_> = tool.lock_issues.iter().map(|issue| issue.name.as_str()).collect();
    assert_eq!((tool.state(), issues), (ToolState::LockMismatch, vec!["env"]));
}

/// BR-093.
#[tokio::test]
async fn a_dot_in_the_name_of_an_input_is_an_ordinary_character() {
    let search = r#"{"name":"search","inputSchema":{"type":"object","properties":{"projects.any":{"type":"string"},"due_on.before":{"type":"string"},"projects_any":{"type":"string"}},"required":["projects.any"]}}"#;
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[search]).await;
    bench.approve(id, "search").await;
    bench.rule(id, "search", lock(r#"{"projects.any":"42"}"#)).await.unwrap();
    let tool = bench.tool(id, "search").await.tool.clone();
    assert_eq!(
        (tool.state(), tool.ruled.locks.to_json().as_str()),
        (ToolState::Served, r#"{"projects.any":"42"}"#)
    );
    let served = tool.served_definition().unwrap();
    assert!(!served.contains("projects.any"), "{served}");
    assert!(served.contains("due_on.before") && served.contains("projects_any"), "{served}");
    let nested = bench.rule(id, "search", lock(r#"{"projects":{"any":"42"}}"#)).await.unwrap_err();
    assert!(matches!(nested, Fault::Invalid(_)), "{nested:?}");
}
