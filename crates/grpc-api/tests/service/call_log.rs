//! What the log of calls holds.

use tonic::Code;
use toolgate_api_proto::v1::{self as pb, CallOutcome, tool_governance_server::ToolGovernance};
use toolgate_upstream::{CallError, ListingError};

use crate::{
    calls::{approved, by_name, call, serving},
    ring::{Key, Ring, called, definition, reason, said, url},
};

const TAKES: &str = r#"{"name":"a","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}"#;

async fn logged(ring: &Ring, key: &Key) -> Vec<pb::LoggedCall> {
    said(ring.governance.list_calls(key.asks(pb::ListCallsRequest::default()))).await.unwrap().calls
}

#[tokio::test]
async fn law_14_every_call_is_logged_with_what_came_of_it() {
    let ring = serving(&[TAKES, &definition("b", "d")]).await;
    ring.lists(&ring.operator, "srv", &[TAKES, &definition("b", "drifted")]).await;
    let fails = |error, may_have_run| Err(CallError { error, may_have_run });
    let timeout = || ListingError::Timeout("the call took longer than 5 ms".into());
    let failed = r#"{"content":[],"isError":true}"#;
    for (name, arguments, answer) in [
        ("srv__a", r#"{"n":1}"#, Ok(r#"{"content":[]}"#.to_owned())),
        ("srv__a", "", Ok(failed.to_owned())),
        ("srv__a", "", fails(ListingError::Rpc { code: -32603, message: "no".into() }, false)),
        ("srv__a", "", fails(timeout(), true)),
        ("srv__a", r#"{"n":"1"}"#, Ok("{}".to_owned())),
        ("srv__b", "", Ok("{}".to_owned())),
        ("srv__c", "", Ok("{}".to_owned())),
    ] {
        ring.servers.ends_calls(&url("srv"), answer);
        let _ = call(&ring, &ring.operator, name, arguments).await;
    }
    let rows = logged(&ring, &ring.operator).await;
    let outcomes: Vec<_> = rows.iter().map(pb::LoggedCall::outcome).collect();
    assert_eq!(
        outcomes,
        [
            CallOutcome::Ok,
            CallOutcome::ToolError,
            CallOutcome::UpstreamRefused,
            CallOutcome::UpstreamFailed,
            CallOutcome::ArgumentsMisfit,
            CallOutcome::ToolNotServed,
            CallOutcome::ToolNotFound,
        ]
    );
    let [ok, tool_error, refused, failed_row, _, drifted, unknown] = &rows[..] else { panic!("7 rows") };
    let tool = ring.tools(&ring.operator).await.into_iter().find(|tool| tool.name == "a").unwrap();
    assert_eq!(
        (&ok.tool_id, &ok.definition_hash, &*ok.namespaced_name),
        (&tool.id, &tool.definition_hash, "srv__a")
    );
    assert_eq!((ok.arguments_bytes, ok.result_bytes, ok.arguments_hash.len()), (7, 14, 32));
    assert_eq!(ok.arguments_json, None, "of arguments a hash is kept");
    assert_eq!((tool_error.result_bytes, refused.upstream_code), (failed.len() as i64, -32603));
    assert!(failed_row.may_have_run && !refused.may_have_run);
    assert_eq!((drifted.tool_state(), drifted.namespaced_name.as_str()), (pb::ToolState::Drifted, "srv__b"));
    assert_eq!((unknown.tool_id.as_str(), unknown.namespaced_name.as_str()), ("", "srv__c"));
    assert!(rows.iter().all(|row| row.subject.starts_with("key:") && row.agent_id.is_empty()));
}

#[tokio::test]
async fn law_14_a_call_that_its_caller_gave_up_is_logged_as_such() {
    let ring = serving(&[TAKES]).await;
    let held = ring.servers.holds_calls(&url("srv"));
    tokio::select! {
        biased;
        _ = call(&ring, &ring.operator, "srv__a", "") => panic!("it is held"),
        () = held.arrived.notified() => {}
    }
    let rows = logged(&ring, &ring.operator).await;
    assert_eq!((rows.len(), rows[0].outcome(), rows[0].may_have_run), (1, CallOutcome::Cancelled, true));
}

#[tokio::test]
async fn a_call_with_an_id_is_logged_once_and_each_refusal_of_it() {
    let ring = serving(&[TAKES]).await;
    let asking = || pb::CallToolRequest { call_id: "c1".into(), ..by_name("srv__a", "") };
    called(&ring, &ring.operator, asking()).await.unwrap();
    called(&ring, &ring.operator, asking()).await.unwrap();
    let id = ring.tools(&ring.operator).await[0].id.clone();
    let disable = pb::DisableToolRequest { id, ..Default::default() };
    said(ring.governance.disable_tool(ring.operator.asks(disable))).await.unwrap();
    called(&ring, &ring.operator, asking()).await.unwrap_err();
    let outcomes: Vec<_> = logged(&ring, &ring.operator).await.iter().map(pb::LoggedCall::outcome).collect();
    assert_eq!(outcomes, [CallOutcome::Ok, CallOutcome::ToolNotServed]);
}

#[tokio::test]
async fn the_log_is_read_by_tool_and_by_agent_and_takes_a_key_that_may_read() {
    let ring = serving(&[TAKES, &definition("b", "d")]).await;
    let agent = ring.agent(&ring.operator, "support", &["srv"]).await;
    let key = ring.agent_key(&agent.id).await;
    for (key, name) in [(&key, "srv__a"), (&ring.operator, "srv__b"), (&ring.operator, "srv__a")] {
        call(&ring, key, name, "").await.unwrap();
    }
    let names = async |ask: pb::ListCallsRequest| {
        let rows = said(ring.governance.list_calls(ring.operator.asks(ask))).await.unwrap().calls;
        rows.into_iter().map(|row| (row.sequence, row.namespaced_name)).collect::<Vec<_>>()
    };
    let a = ring.tools(&ring.operator).await.into_iter().find(|tool| tool.name == "a").unwrap().id;
    let of_a = names(pb::ListCallsRequest { tool_id: a, ..Default::default() }).await;
    assert_eq!(of_a, [(1, "srv__a".to_owned()), (3, "srv__a".to_owned())]);
    let by_agent = names(pb::ListCallsRequest { agent_id: agent.id, ..Default::default() }).await;
    assert_eq!(by_agent, [(1, "srv__a".to_owned())]);
    let refused = said(ring.governance.list_calls(key.asks(pb::ListCallsRequest::default()))).await;
    assert_eq!(reason(refused), (Code::PermissionDenied, "SCOPE_MISSING".into()));
}

#[tokio::test]
async fn law_14_where_the_log_is_durable_a_call_that_changes_things_is_in_it_before_it_is_sent() {
    let reads = r#"{"name":"r","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;
    let ring = approved(Ring::durable().await, &[TAKES, reads]).await;
    let held = ring.servers.holds_calls(&url("srv"));
    let (called, rows) = tokio::join!(call(&ring, &ring.operator, "srv__a", ""), async {
        held.arrived.notified().await;
        let rows = logged(&ring, &ring.operator).await;
        held.go.notify_one();
        rows
    });
    called.unwrap();
    assert_eq!((rows.len(), rows[0].outcome()), (1, CallOutcome::Forwarded));
    held.go.notify_one();
    call(&ring, &ring.operator, "srv__r", "").await.unwrap();
    let rows = logged(&ring, &ring.operator).await;
    let outcomes: Vec<_> = rows.iter().map(|row| (row.outcome(), row.forwarded_sequence)).collect();
    assert_eq!(outcomes, [(CallOutcome::Forwarded, 0), (CallOutcome::Ok, 1), (CallOutcome::Ok, 0)]);
}
