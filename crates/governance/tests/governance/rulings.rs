//! Rulings: bound to what was seen, written whole with their log, or not at all.

use toolgate_definition::Fingerprint;
use toolgate_domain::{Fault, ToolState, Violation, ruling::Act};
use toolgate_governance::Wish;

use crate::workbench::{Workbench, definition};

#[tokio::test]
async fn law_03_a_definition_that_changed_under_the_reviewer_is_not_approved() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("t", "1")]).await;
    let seen = bench.hash(id, "t").await;
    bench.lists(id, "srv", &[&definition("t", "2")]).await;
    let (revision, current) = (bench.store.revision().await.unwrap(), bench.hash(id, "t").await);
    let refused = bench.rule(id, "t", Wish::Approve(seen)).await.unwrap_err();
    assert_eq!(refused, Fault::DefinitionChanged { reviewed: seen, current });
    assert_eq!(bench.store.revision().await.unwrap(), revision, "nothing was written");
    assert_eq!(bench.state(id, "t").await, ToolState::Unapproved);
}

#[tokio::test]
async fn law_03_no_approval_slips_in_while_the_definition_changes() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("t", "0")]).await;
    for round in 1..40 {
        let seen = bench.hash(id, "t").await;
        let text = definition("t", &round.to_string());
        let entries = [text.as_str()];
        let (_, ruled) =
            tokio::join!(bench.lists(id, "srv", &entries), bench.rule(id, "t", Wish::Approve(seen)));
        let tool = bench.tool(id, "t").await.tool.clone();
        match ruled {
            Ok(_) => assert_eq!(tool.approved(), Some(seen)),
            Err(fault) => assert!(matches!(fault, Fault::DefinitionChanged { .. }), "{fault:?}"),
        }
        assert_ne!(tool.state(), ToolState::Served, "the change was never approved");
        bench.rule(id, "t", Wish::Revoke).await.unwrap();
    }
    bench.rulings().await;
}

#[tokio::test]
async fn a_ruling_stands_with_its_row_in_the_log_and_one_that_changes_nothing_has_none() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("t", "d")]).await;
    let hash = bench.hash(id, "t").await;
    for wish in [
        Wish::Approve(hash),
        Wish::Approve(hash),
        Wish::Disable,
        Wish::Disable,
        Wish::Enable,
        Wish::Revoke,
        Wish::Revoke,
    ] {
        bench.rule(id, "t", wish).await.unwrap();
    }
    let log = bench.rulings().await;
    let acts: Vec<_> = log.iter().map(|row| row.ruling.act.clone()).collect();
    let approve = Act::Approve { fingerprint: hash, binding_epoch: 1 };
    assert_eq!(acts, [approve, Act::Disable, Act::Enable, Act::RevokeApproval]);
    assert!(log.iter().all(|row| row.ruling.subject == "key:test" && row.ruling.tool_name == "t"));
}

#[tokio::test]
async fn rulings_made_at_once_all_stand_and_their_log_has_no_gap() {
    let bench = Workbench::new().await;
    let entries: Vec<String> = (0..200).map(|n| definition(&format!("t{n}"), "d")).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let id = bench.upstream("srv", &entries).await;
    let mut rulings = tokio::task::JoinSet::new();
    for n in 0..200 {
        let name = format!("t{n}");
        let hash = bench.hash(id, &name).await;
        let (governance, rule) = (bench.governance.clone(), bench.wish(id, &name, Wish::Approve(hash)));
        rulings.spawn(async move { governance.rule(rule).await });
    }
    while let Some(ruled) = rulings.join_next().await {
        assert_eq!(ruled.unwrap().unwrap().entry.tool.state(), ToolState::Served);
    }
    assert_eq!(bench.rulings().await.len(), 200);
}

#[tokio::test]
async fn a_dry_ruling_answers_as_it_would_and_writes_nothing() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("t", "d")]).await;
    let hash = bench.hash(id, "t").await;
    let revision = bench.store.revision().await.unwrap();
    let mut rule = bench.wish(id, "t", Wish::Approve(hash));
    rule.validate_only = true;
    let would = bench.governance.rule(rule.clone()).await.unwrap();
    assert_eq!(would.entry.tool.state(), ToolState::Served);
    assert_eq!(
        (bench.store.revision().await.unwrap(), bench.state(id, "t").await),
        (revision, ToolState::Unapproved)
    );
    rule.wish = Wish::Approve(Fingerprint::from_bytes([0; 32]));
    assert!(matches!(bench.governance.rule(rule).await, Err(Fault::DefinitionChanged { .. })));
}

#[tokio::test]
async fn a_ruling_based_on_an_older_state_of_the_tool_is_refused() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("t", "d")]).await;
    let seen = bench.tool(id, "t").await.changed;
    let mut rule = bench.wish(id, "t", Wish::Disable);
    rule.based_on = Some(seen);
    bench.governance.rule(rule.clone()).await.unwrap();
    rule.wish = Wish::Enable;
    assert!(matches!(bench.governance.rule(rule).await, Err(Fault::EtagMismatch { .. })));
    assert_eq!(bench.state(id, "t").await, ToolState::Disabled);
}

#[tokio::test]
async fn law_09_rulings_stand_after_a_restart() {
    let bench = Workbench::new().await;
    let id = bench.upstream("srv", &[&definition("a", "d"), &definition("b", "d")]).await;
    bench.approve(id, "a").await;
    bench.rule(id, "b", Wish::Disable).await.unwrap();
    let again = bench.restarted().await;
    assert_eq!(again.state(id, "a").await, ToolState::Served);
    assert_eq!(again.state(id, "b").await, ToolState::Disabled);
    assert_eq!(again.rulings().await.len(), 2);
}

#[tokio::test]
async fn a_slug_that_another_upstream_has_is_refused_in_any_folding() {
    let bench = Workbench::new().await;
    bench.upstream("git-hub", &[]).await;
    let taken = bench.governance.create_upstream(&bench.caller(), bench.http("git_hub")).await.unwrap_err();
    assert_eq!(taken, Fault::SlugTaken { slug: "git_hub".into() });
}

/// BR-005.
#[tokio::test]
async fn a_slug_that_would_make_names_ambiguous_is_refused() {
    let bench = Workbench::new().await;
    for slug in ["my__db", "a_", "_a", "A", ""] {
        let Err(Fault::Invalid(found)) =
            bench.governance.create_upstream(&bench.caller(), bench.http(slug)).await
        else {
            panic!("{slug} was taken")
        };
        let Violation { field, problem } = &found[0];
        assert!(field == "slug" && !problem.is_empty(), "{slug}: {problem}");
    }
}

#[tokio::test]
async fn law_12_an_upstreams_secret_is_not_in_the_store_in_the_clear() {
    let bench = Workbench::new().await;
    bench.upstream("srv", &[]).await;
    let (rows, _) =
        toolgate_store::scan_all(bench.store.as_ref(), &toolgate_store::KeyRange::all()).await.unwrap();
    let needle = b"upstream-secret";
    assert!(rows.len() > 5);
    assert!(rows.iter().all(|row| !row.value.windows(needle.len()).any(|part| part == needle)));
}

#[tokio::test]
async fn nobody_grants_a_scope_that_they_lack() {
    use toolgate_domain::{Scope, Scopes};
    use toolgate_governance::CreateApiKey;
    let bench = Workbench::new().await;
    let mut caller = bench.caller();
    caller.scopes = [Scope::Admin, Scope::Read].into_iter().collect();
    let wanted = |scopes: &[Scope]| CreateApiKey {
        client: bench.client,
        display_name: String::new(),
        scopes: scopes.iter().copied().collect::<Scopes>(),
        ttl_ms: None,
        operator: false,
        agent: None,
        validate_only: false,
    };
    let refused = bench.governance.create_api_key(&caller, wanted(&[Scope::Write])).await.unwrap_err();
    assert_eq!(refused, Fault::ScopeMissing(Scope::Write));
    assert!(bench.governance.create_api_key(&caller, wanted(&[Scope::Read])).await.unwrap().secret.is_some());
    let empty = bench.governance.create_api_key(&caller, wanted(&[])).await.unwrap_err();
    assert!(matches!(empty, Fault::Invalid(_)));
}

#[tokio::test]
async fn a_header_that_the_connection_sets_itself_is_refused() {
    use toolgate_domain::upstream::Transport;
    let bench = Workbench::new().await;
    for name in ["Host", "mcp-session-id", "Accept-Encoding"] {
        let mut wanted = bench.http("srv");
        let Transport::Http { headers, .. } = &mut wanted.transport else { panic!("not HTTP") };
        headers.push((name.into(), "x".into()));
        let refused = bench.governance.create_upstream(&bench.caller(), wanted).await.unwrap_err();
        let problem = "is set by the connection; remove it";
        assert_eq!(
            refused,
            Fault::Invalid(vec![Violation::new(format!("http.headers[\"{name}\"]"), problem)])
        );
    }
}
