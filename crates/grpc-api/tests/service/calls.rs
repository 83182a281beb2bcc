//! Calls of tools, held to every rule of the catalogue.

use tonic::{Code, Status};
use tonic_types::StatusExt;
use toolgate_api_proto::v1::{self as pb, call_tool_request::Tool, tool_governance_server::ToolGovernance};
use toolgate_test_support::{
    eventually::eventually,
    scripted_servers::{Called, complete},
};
use toolgate_upstream::{CallError, ListingError};

use crate::ring::{ALL, Key, Ring, called, definition, reason, said, url};

const TAKES: &str = r#"{"name":"send","inputSchema":{"type":"object","properties":{"to":{"type":"string"},
    "token":{"type":"string"},"n":{"type":"integer"}},"required":["to"],"additionalProperties":false}}"#;

pub(crate) fn by_name(name: &str, arguments_json: &str) -> pb::CallToolRequest {
    let tool = Some(Tool::NamespacedName(name.into()));
    pb::CallToolRequest { tool, arguments_json: arguments_json.into(), ..Default::default() }
}

pub(crate) async fn call(ring: &Ring, key: &Key, name: &str, arguments: &str) -> Result<String, Status> {
    called(ring, key, by_name(name, arguments)).await.map(|(_, result)| result)
}

/// A ring with the upstream `srv`, all of whose tools are approved.
pub(crate) async fn serving(entries: &[&str]) -> Ring {
    approved(Ring::new().await, entries).await
}

pub(crate) async fn approved(ring: Ring, entries: &[&str]) -> Ring {
    ring.upstream(&ring.operator, "srv", entries).await;
    for tool in ring.tools(&ring.operator).await {
        ring.approve(&ring.operator, &tool).await.unwrap();
    }
    ring
}

pub(crate) fn sent(ring: &Ring) -> Vec<(String, String)> {
    ring.servers.calls().into_iter().map(|Called { name, arguments, .. }| (name, arguments)).collect()
}

/// BR-077, BR-079
#[tokio::test]
async fn a_call_reaches_the_upstream_under_its_own_name_with_the_arguments_as_they_are_spelt() {
    let ring = serving(&[&definition("a", "d")]).await;
    let arguments = r#"{ "n": 9007199254740993, "x":1.0, "e":1E400, "z":null, "s":"\u00e9" }"#;
    let result = call(&ring, &ring.operator, "srv__a", arguments).await.unwrap();
    assert_eq!(sent(&ring), [("a".to_owned(), arguments.to_owned())]);
    assert_eq!(result, format!(r#"{{"content":[],"sent":{arguments}}}"#));
    let id = ring.tools(&ring.operator).await[0].id.clone();
    let by_id = pb::CallToolRequest { tool: Some(Tool::ToolId(id)), ..Default::default() };
    called(&ring, &ring.operator, by_id).await.unwrap();
    assert_eq!(sent(&ring)[1], ("a".to_owned(), "{}".to_owned()), "no arguments are none");
    let null = call(&ring, &ring.operator, "srv__a", "null").await;
    assert_eq!(reason(null), (Code::InvalidArgument, "FIELD_INVALID".into()));
}

/// BR-077
#[tokio::test]
async fn defaults_are_not_filled_in() {
    let entry = r#"{"name":"a","inputSchema":{"type":"object","properties":{"q":{"type":"string","default":"x"}},"required":[]}}"#;
    let ring = serving(&[entry]).await;
    for arguments in ["", "{}"] {
        call(&ring, &ring.operator, "srv__a", arguments).await.unwrap();
        assert_eq!(sent(&ring).pop().unwrap().1, "{}");
    }
}

/// BR-079
#[tokio::test]
async fn integers_of_any_size_pass_exactly_both_ways_and_a_lock_after_a_restart() {
    let entry = r#"{"name":"t","inputSchema":{"type":"object","properties":{"acct":{"type":"integer"}}}}"#;
    let ring = serving(&[entry]).await;
    let id = ring.tools(&ring.operator).await[0].id.clone();
    let set_json = r#"{"acct":9007199254740993}"#.to_owned();
    let lock = pb::UpdateToolLocksRequest { id, set_json, ..Default::default() };
    said(ring.governance.update_tool_locks(ring.operator.asks(lock))).await.unwrap();
    let ring = ring.restarted().await;
    let result = r#"{"content":[],"structuredContent":{"id":9007199254740993}}"#;
    ring.servers.ends_calls(&url("srv"), Ok(result.to_owned()));
    let arguments = r#"{"id":9223372036854775807,"u":18446744073709551615,"big":123456789012345678901234567890,"f":0.1,"e":1E+2,"z":-0.0}"#;
    assert_eq!(call(&ring, &ring.operator, "srv__t", arguments).await.unwrap(), result);
    let expected = arguments.replace('}', r#","acct":9007199254740993}"#);
    assert_eq!(sent(&ring), [("t".to_owned(), expected)]);
}

/// BR-081
#[tokio::test]
async fn a_result_that_breaks_the_output_schema_passes_unchanged() {
    let entry = r#"{"name":"c","inputSchema":{"type":"object","properties":{}},"outputSchema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}"#;
    let ring = serving(&[entry]).await;
    for result in [
        r#"{"content":[{"type":"text","text":"limit exceeded"}],"isError":true}"#,
        r#"{"content":[],"structuredContent":{"ok":"no"},"x":1.0}"#,
    ] {
        ring.servers.ends_calls(&url("srv"), Ok(result.to_owned()));
        assert_eq!(call(&ring, &ring.operator, "srv__c", "").await.unwrap(), result);
    }
}

/// BR-071
#[tokio::test]
async fn law_04_what_is_not_served_is_refused_before_anything_is_sent() {
    let locked = r#"{"name":"l","inputSchema":{"type":"object","properties":{"old":{"type":"string"}}}}"#;
    let plain = ["a", "b", "c", "served", "too long a name "].map(|name| definition(name, "d"));
    let ring = serving(&[&plain[0], &plain[1], &plain[2], &plain[3], &plain[4], locked]).await;
    let key = &ring.operator;
    let tools = ring.tools(key).await;
    let [a, b, l] = ["a", "b", "l"].map(|name| tools.iter().find(|tool| tool.name == name).unwrap());
    let lock = pb::UpdateToolLocksRequest {
        id: l.id.clone(),
        set_json: r#"{"old":"x"}"#.into(),
        ..Default::default()
    };
    said(ring.governance.update_tool_locks(key.asks(lock))).await.unwrap();
    let relocked = locked.replace("old", "new");
    let lists =
        [&definition("a", "another"), &plain[1], &definition("new", "d"), &plain[3], &plain[4], &relocked];
    ring.lists(key, "srv", &lists.map(String::as_str)).await;
    let moved = ring.tools(key).await.into_iter().find(|tool| tool.name == "l").unwrap();
    ring.approve(key, &moved).await.unwrap();
    let disable = pb::DisableToolRequest { id: b.id.clone(), ..Default::default() };
    said(ring.governance.disable_tool(key.asks(disable))).await.unwrap();
    for (name, state) in [
        ("a", "DRIFTED"),
        ("b", "DISABLED"),
        ("c", "REMOVED"),
        ("new", "UNAPPROVED"),
        ("l", "LOCK_MISMATCH"),
        ("too long a name ", "BAD_NAME"),
    ] {
        let refused = call(&ring, key, &format!("srv__{name}"), "").await.unwrap_err();
        let info = refused.get_details_error_info().unwrap();
        assert_eq!((refused.code(), info.reason.as_str()), (Code::FailedPrecondition, "TOOL_NOT_SERVED"));
        assert_eq!(info.metadata["state"], state);
    }
    let close = ["a", "b", "c", "new", "l", "served"].map(|name| {
        [
            name.to_owned(),
            format!("srv__{}", name.to_uppercase()),
            format!(" srv__{name}"),
            format!("srv__{name} "),
        ]
    });
    for unknown in close.iter().flatten().map(String::as_str).chain(["srv__x", "srv_a", "SRV__served"]) {
        let refused = call(&ring, key, unknown, "").await;
        assert_eq!(reason(refused), (Code::NotFound, "TOOL_NOT_FOUND".into()), "{unknown}");
    }
    let nameless = called(&ring, key, pb::CallToolRequest::default()).await;
    assert_eq!(reason(nameless), (Code::InvalidArgument, "FIELD_INVALID".into()));
    assert_eq!(sent(&ring), []);

    // The moment it is served again, it is called again.
    let drifted = ring.tools(key).await.into_iter().find(|tool| tool.id == a.id).unwrap();
    ring.approve(key, &drifted).await.unwrap();
    call(&ring, key, "srv__a", "").await.unwrap();
    assert_eq!(sent(&ring).len(), 1);
}

#[tokio::test]
async fn law_05_an_agent_calls_exactly_what_it_lists() {
    let ring = serving(&[&definition("a", "d")]).await;
    ring.upstream(&ring.operator, "other", &[&definition("a", "d"), &definition("b", "d")]).await;
    let other = ring.tools(&ring.operator).await.into_iter().find(|tool| tool.namespaced_name == "other__a");
    ring.approve(&ring.operator, &other.unwrap()).await.unwrap();
    let agent = ring.agent(&ring.operator, "support", &["other"]).await;
    let agent = ring.agent_key(&agent.id).await;
    let view = pb::ToolView::Served.into();
    for key in [&agent, &ring.operator] {
        let listed = ring.list(key, pb::ListToolsRequest { view, ..Default::default() }).await.unwrap();
        let listed: Vec<_> = listed.tools.into_iter().map(|tool| tool.namespaced_name).collect();
        for name in ["srv__a", "other__a", "other__b"] {
            let answer = call(&ring, key, name, "").await;
            assert_eq!(answer.is_ok(), listed.iter().any(|listed| listed == name), "{name}: {answer:?}");
        }
    }
    // What the agent does not reach does not exist for it; of what it reaches it is told why.
    let unreached = call(&ring, &agent, "srv__a", "").await;
    assert_eq!(reason(unreached), (Code::NotFound, "TOOL_NOT_FOUND".into()));
    let unapproved = call(&ring, &agent, "other__b", "").await;
    assert_eq!(reason(unapproved), (Code::FailedPrecondition, "TOOL_NOT_SERVED".into()));
}

/// BR-073
#[tokio::test]
async fn law_06_a_locked_input_is_sent_with_its_value_whatever_the_caller_sends() {
    let ring = serving(&[TAKES]).await;
    let id = ring.tools(&ring.operator).await[0].id.clone();
    let set_json = r#"{"token":"the \u0022fixed\u0022 one"}"#.to_owned();
    let lock = pb::UpdateToolLocksRequest { id, set_json, ..Default::default() };
    said(ring.governance.update_tool_locks(ring.operator.asks(lock))).await.unwrap();
    for (arguments, expected) in [
        (r#"{"to":"x"}"#, r#"{"to":"x","token":"the \u0022fixed\u0022 one"}"#),
        (r#"{"token":"mine","to":"x"}"#, r#"{"token":"the \u0022fixed\u0022 one","to":"x"}"#),
        (r#"{"t\u006fken":null,"to":"x"}"#, r#"{"t\u006fken":"the \u0022fixed\u0022 one","to":"x"}"#),
    ] {
        call(&ring, &ring.operator, "srv__send", arguments).await.unwrap();
        assert_eq!(sent(&ring).pop().unwrap().1, expected);
    }
    let refused = call(&ring, &ring.operator, "srv__send", r#"{"token":"mine"}"#).await.unwrap_err();
    let said = format!("{} {:?}", refused.message(), String::from_utf8_lossy(refused.details()));
    assert!(!said.contains("fixed") && !said.contains("token"), "{said}");
}

#[tokio::test]
async fn law_06_a_lock_is_repeated_in_the_header_that_its_input_is_bound_to() {
    let takes = r#"{"name":"send","inputSchema":{"type":"object","properties":{"to":{"type":"string","x-mcp-header":"To"},"n":{"type":"integer","x-mcp-header":"Count"}}}}"#;
    let ring = serving(&[takes]).await;
    let id = ring.tools(&ring.operator).await[0].id.clone();
    let set_json = r#"{"to":"ops"}"#.to_owned();
    let lock = pb::UpdateToolLocksRequest { id, set_json, ..Default::default() };
    said(ring.governance.update_tool_locks(ring.operator.asks(lock))).await.unwrap();
    for (arguments, expected) in
        [(r#"{"to":"me","n":1e2}"#, vec![("To", "ops"), ("Count", "100")]), ("{}", vec![("To", "ops")])]
    {
        call(&ring, &ring.operator, "srv__send", arguments).await.unwrap();
        let sent = ring.servers.calls().pop().unwrap().argument_headers;
        let sent: Vec<_> = sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(sent, expected);
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_with_each_place() {
    let ring = serving(&[TAKES]).await;
    let refused = call(&ring, &ring.operator, "srv__send", r#"{"n":"7","x":1}"#).await.unwrap_err();
    assert_eq!(reason::<()>(Err(refused.clone())), (Code::InvalidArgument, "ARGUMENTS_MISFIT".into()));
    let violations = refused.get_details_bad_request().unwrap().field_violations;
    let fields: Vec<_> = violations.iter().map(|violation| violation.field.as_str()).collect();
    assert_eq!(violations.len(), 3, "{violations:?}");
    assert!(fields.contains(&"arguments_json/n") && fields.contains(&"arguments_json"), "{fields:?}");
    for malformed in ["null", "[]", "{", r#"{"to":"a","to":"b"}"#, r#"{"to":{"a":1,"\u0061":2}}"#] {
        let refused = call(&ring, &ring.operator, "srv__send", malformed).await;
        assert_eq!(reason(refused), (Code::InvalidArgument, "FIELD_INVALID".into()), "{malformed}");
    }
    assert_eq!(sent(&ring), []);
}

#[tokio::test]
async fn what_the_upstream_says_instead_of_a_result_is_told_with_whether_the_tool_may_have_run() {
    let ring = serving(&[&definition("a", "d")]).await;
    let refusing = |error, may_have_run| Err(CallError { error, may_have_run });
    let server = |code| ListingError::Rpc { code, message: "database is locked".into() };
    ring.servers.ends_calls(&url("srv"), refusing(server(-32603), false));
    let refused = call(&ring, &ring.operator, "srv__a", "").await.unwrap_err();
    let info = refused.get_details_error_info().unwrap();
    assert_eq!((refused.code(), info.reason.as_str()), (Code::FailedPrecondition, "UPSTREAM_REFUSED"));
    assert_eq!(
        (info.metadata["code"].as_str(), info.metadata["message"].as_str()),
        ("-32603", "database is locked")
    );
    for (may_have_run, outcome) in [(true, "unknown"), (false, "unchanged")] {
        let timeout = ListingError::Timeout("the call took longer than 5 ms".into());
        ring.servers.ends_calls(&url("srv"), refusing(timeout, may_have_run));
        let failed = call(&ring, &ring.operator, "srv__a", "").await.unwrap_err();
        let info = failed.get_details_error_info().unwrap();
        assert_eq!((failed.code(), info.reason.as_str()), (Code::Unavailable, "UPSTREAM_FAILED"));
        assert_eq!(
            (info.metadata["outcome"].as_str(), failed.message().contains("may have run")),
            (outcome, may_have_run)
        );
    }
}

/// law 12
#[tokio::test]
async fn the_credential_of_syncs_is_not_used_for_calls_where_each_user_has_their_own() {
    let ring = serving(&[&definition("a", "d")]).await;
    let upstream =
        pb::Upstream { slug: "srv".into(), auth: pb::UpstreamAuth::PerUser.into(), ..Default::default() };
    let update_mask = Some(prost_types::FieldMask { paths: vec!["auth".into()] });
    let update = pb::UpdateUpstreamRequest { upstream: Some(upstream), update_mask, ..Default::default() };
    said(ring.governance.update_upstream(ring.operator.asks(update))).await.unwrap();
    let refused = call(&ring, &ring.operator, "srv__a", "").await;
    assert_eq!(reason(refused), (Code::Unavailable, "UPSTREAM_FAILED".into()));
    assert_eq!(sent(&ring), []);
}

/// BR-067
#[tokio::test]
async fn a_server_that_no_longer_knows_the_tool_is_listed_anew() {
    let ring = serving(&[&definition("a", "d")]).await;
    ring.servers.answers(&url("srv"), complete(&[&definition("a", "moved")]));
    let unknown = ListingError::Rpc { code: -32602, message: "Unknown tool: a".into() };
    ring.servers.ends_calls(&url("srv"), Err(CallError { error: unknown, may_have_run: false }));
    call(&ring, &ring.operator, "srv__a", "").await.unwrap_err();
    let drifted = async || {
        let tools = ring.tools(&ring.operator).await;
        (tools[0].state() == pb::ToolState::Drifted).then_some(())
    };
    eventually("the new listing is read", drifted).await;
    let refused = call(&ring, &ring.operator, "srv__a", "").await;
    assert_eq!(reason(refused), (Code::FailedPrecondition, "TOOL_NOT_SERVED".into()));
    assert_eq!(sent(&ring).len(), 1, "it is never forwarded on the old approval");
}

#[tokio::test]
async fn progress_is_told_to_who_asks_before_the_result() {
    let ring = serving(&[&definition("a", "d")]).await;
    let asking = pb::CallToolRequest { wants_progress: true, ..by_name("srv__a", "") };
    let (progress, _) = called(&ring, &ring.operator, asking).await.unwrap();
    assert_eq!(progress, [r#"{"progress":1}"#]);
    assert_eq!(called(&ring, &ring.operator, by_name("srv__a", "")).await.unwrap().0, [""; 0]);
}

#[tokio::test]
async fn law_10_callers_share_a_session_only_within_one_agent_and_one_client() {
    let ring = serving(&[&definition("a", "d")]).await;
    let client = ring.client(2).await;
    ring.upstream(&ring.key(&client, &ALL).await, "srv", &[&definition("a", "d")]).await;
    let theirs = pb::ListToolsRequest { client_id: client.clone(), ..Default::default() };
    let theirs = ring.list(&ring.operator, theirs).await.unwrap().tools.remove(0);
    let approve = pb::ApproveToolRequest {
        id: theirs.id,
        client_id: client.clone(),
        definition_hash: theirs.definition_hash,
        ..Default::default()
    };
    said(ring.governance.approve_tool(ring.operator.asks(approve))).await.unwrap();
    let agent = ring.agent(&ring.operator, "support", &["srv"]).await;
    let (one, same) = (ring.agent_key(&agent.id).await, ring.agent_key(&agent.id).await);
    let other = ring.agent(&ring.operator, "sales", &["srv"]).await;
    let other = ring.agent_key(&other.id).await;
    for key in [&one, &same, &other, &ring.operator] {
        call(&ring, key, "srv__a", "").await.unwrap();
    }
    let elsewhere = pb::CallToolRequest { client_id: client, ..by_name("srv__a", "") };
    called(&ring, &ring.operator, elsewhere).await.unwrap();
    let shares: Vec<_> = ring.servers.calls().into_iter().map(|called| called.shares).collect();
    assert_eq!(shares[0], shares[1], "two keys of one agent");
    let distinct: std::collections::HashSet<_> = shares[1..].iter().collect();
    assert_eq!(distinct.len(), 4, "an agent, another, a key without one, the same key for another client");
}

#[tokio::test]
async fn which_calls_share_a_session_is_as_the_upstream_was_declared() {
    let ring = serving(&[&definition("a", "d")]).await;
    let agent = ring.agent(&ring.operator, "support", &["srv"]).await;
    let agent = ring.agent_key(&agent.id).await;
    let shares = async |isolation: pb::SessionIsolation| {
        let mut wanted = pb::Upstream { slug: "srv".into(), ..Default::default() };
        wanted.set_isolation(isolation);
        ring.declare(wanted, "isolation").await;
        for (key, session) in
            [(&agent, "1"), (&agent, "2"), (&agent, "1"), (&agent, ""), (&ring.operator, "1")]
        {
            let asking = pb::CallToolRequest { session: session.into(), ..by_name("srv__a", "") };
            called(&ring, key, asking).await.unwrap();
        }
        let calls = ring.servers.calls();
        let shares = calls[calls.len() - 5..].iter().map(|called| called.shares.map(|key| key.0));
        <[_; 5]>::try_from(shares.collect::<Vec<_>>()).unwrap()
    };
    let all = shares(pb::SessionIsolation::Shared).await;
    assert!(all[0].is_some() && all.iter().all(|one| *one == all[0]), "{all:?}");
    let [one, other, again, none, by_operator] = shares(pb::SessionIsolation::PerAgent).await;
    assert!(one.is_some() && one != all[0] && [other, again, none] == [one; 3] && by_operator != one);
    let [one, other, again, none, by_operator] = shares(pb::SessionIsolation::PerSession).await;
    assert!(one.is_some() && again == one && other.is_some() && other != one);
    assert!(none.is_none(), "a call outside a session shares with none");
    assert!(by_operator.is_some() && by_operator != one, "another caller's session of that name is another");
    let long = pb::CallToolRequest { session: "s".repeat(1025), ..by_name("srv__a", "") };
    assert_eq!(reason(called(&ring, &agent, long).await), (Code::InvalidArgument, "FIELD_INVALID".into()));
}

#[tokio::test]
async fn what_headers_repeat_is_checked_where_there_are_any_and_nothing_is_sent_on_a_mismatch() {
    let takes = r#"{"name":"send","inputSchema":{"type":"object","properties":{"to":{"type":"string","x-mcp-header":"To"}}}}"#;
    let ring = serving(&[takes]).await;
    let calling = |headers: Option<&[(&str, &str)]>| {
        let values = |headers: &[(&str, &str)]| {
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let argument_headers = headers.map(|headers| pb::ArgumentHeaders { values: values(headers) });
        pb::CallToolRequest { argument_headers, ..by_name("srv__send", r#"{"to":"me"}"#) }
    };
    called(&ring, &ring.operator, calling(None)).await.unwrap();
    called(&ring, &ring.operator, calling(Some(&[("to", "me"), ("else", "x")]))).await.unwrap();
    for headers in [&[][..], &[("to", "you")]] {
        let refused = called(&ring, &ring.operator, calling(Some(headers))).await;
        assert_eq!(reason(refused), (Code::InvalidArgument, "ARGUMENT_HEADER_MISMATCH".into()));
    }
    assert_eq!(sent(&ring).len(), 2);
}
