//! What a call goes by: what the upstream lists at this moment, and what was ruled up to the moment that it leaves.

use tonic::Code;
use tonic_types::StatusExt;
use toolgate_api_proto::v1::{self as pb, FreshnessPolicy, tool_governance_server::ToolGovernance};
use toolgate_test_support::{eventually::eventually, scripted_servers::complete};
use toolgate_upstream::{CallError, Listing, ListingError};

use crate::{
    calls::{by_name, call, sent, serving},
    ring::{Ring, called, definition, reason, said, url},
};

const REFUSED: (Code, &str) = (Code::Unavailable, "LISTING_STALE");
const DRIFTED: (Code, &str) = (Code::FailedPrecondition, "TOOL_NOT_SERVED");
const UNLISTED: (Code, &str) = (Code::Unavailable, "UPSTREAM_FAILED");

/// A ring whose one tool is served, and whose server has just answered a call as if it did not know the tool. It answers
/// `listed` where it is listed from then on; `None` for never.
async fn in_doubt(
    policy: FreshnessPolicy,
    answer: Result<String, CallError>,
    listed: Option<Result<Listing, ListingError>>,
) -> Ring {
    let ring = serving(&[&definition("a", "d")]).await;
    let mut wanted = pb::Upstream { slug: "srv".into(), ..Default::default() };
    wanted.set_freshness(policy);
    ring.declare(wanted, "freshness").await;
    // A declaration of another policy has it listed anew.
    ring.lists(&ring.operator, "srv", &[&definition("a", "d")]).await;
    call(&ring, &ring.operator, "srv__a", "").await.unwrap();
    match listed {
        Some(listed) => ring.servers.answers(&url("srv"), listed),
        None => ring.servers.hangs(&url("srv")),
    }
    ring.servers.ends_calls(&url("srv"), answer);
    let _ = call(&ring, &ring.operator, "srv__a", "").await;
    ring
}

fn unknown_tool() -> Result<String, CallError> {
    let error = ListingError::Rpc { code: -32602, message: "Unknown tool: a".into() };
    Err(CallError { error, may_have_run: false })
}

async fn outcome(ring: &Ring) -> (Code, String) {
    reason(call(ring, &ring.operator, "srv__a", "").await)
}

fn said_so((code, reason): (Code, &str)) -> (Code, String) {
    (code, reason.to_owned())
}

/// BR-067
#[tokio::test]
async fn a_call_in_doubt_waits_for_a_sync_and_is_decided_by_what_that_found() {
    for answer in [
        unknown_tool(),
        Ok(r#"{"isError":true,"content":[{"type":"text","text":"MCP error -32602: Tool a not found"}]}"#
            .into()),
    ] {
        let moved = complete(&[&definition("a", "moved")]);
        let ring = in_doubt(FreshnessPolicy::Check, answer, Some(moved)).await;
        ring.servers.ends_calls(&url("srv"), Ok("{}".into()));
        assert_eq!(outcome(&ring).await, said_so(DRIFTED));
        assert_eq!(sent(&ring).len(), 2, "it is not forwarded on the old approval");
        ring.approve(&ring.operator, &ring.tools(&ring.operator).await[0]).await.unwrap();
        assert_eq!(outcome(&ring).await.0, Code::Ok, "the doubt is settled");
    }
}

#[tokio::test]
async fn a_call_in_doubt_is_refused_where_the_server_cannot_be_listed() {
    let down = Err(ListingError::Connect("connection refused".into()));
    let ring = in_doubt(FreshnessPolicy::Check, unknown_tool(), Some(down)).await;
    let asked = call(&ring, &ring.operator, "srv__a", "").await;
    let asked = asked.unwrap_err();
    assert_eq!(asked.get_details_error_info().unwrap().metadata["outcome"], "unchanged");
    assert_eq!(reason::<()>(Err(asked)), said_so(UNLISTED));
    let listings = ring.servers.listings(&url("srv"));
    assert_eq!(outcome(&ring).await, said_so(UNLISTED));
    assert_eq!(
        ring.servers.listings(&url("srv")),
        listings,
        "a server that is down is not listed for each call"
    );
    assert_eq!(sent(&ring).len(), 2);
}

#[tokio::test]
async fn where_the_policy_is_to_refuse_a_call_in_doubt_is_until_a_sync_has_settled_it() {
    let ring = in_doubt(FreshnessPolicy::Refuse, unknown_tool(), None).await;
    let refused = call(&ring, &ring.operator, "srv__a", "").await.unwrap_err();
    assert!(refused.get_details_retry_info().unwrap().retry_delay.is_some());
    assert_eq!(reason::<()>(Err(refused)), said_so(REFUSED));
    assert_eq!(sent(&ring).len(), 2);
}

#[tokio::test]
async fn where_the_policy_is_to_serve_a_call_in_doubt_goes_by_what_is_known() {
    let ring = in_doubt(FreshnessPolicy::Serve, unknown_tool(), None).await;
    ring.servers.ends_calls(&url("srv"), Ok("{}".into()));
    assert_eq!(outcome(&ring).await.0, Code::Ok);
    assert_eq!(sent(&ring).len(), 3);
}

#[tokio::test]
async fn a_server_that_tells_of_a_change_puts_its_tools_in_doubt_at_once() {
    let ring = Ring::new().await;
    let notices = ring.servers.tells_changes(&url("srv"));
    ring.upstream(&ring.operator, "srv", &[&definition("a", "d")]).await;
    ring.approve(&ring.operator, &ring.tools(&ring.operator).await[0]).await.unwrap();
    let mut wanted = pb::Upstream { slug: "srv".into(), ..Default::default() };
    wanted.set_freshness(FreshnessPolicy::Refuse);
    ring.declare(wanted, "freshness").await;
    ring.servers.hangs(&url("srv"));
    notices.notify_one();
    let refused = async || (outcome(&ring).await == said_so(REFUSED)).then_some(());
    eventually("the notice is heard", refused).await;
}

#[tokio::test]
async fn what_was_read_before_a_restart_is_in_doubt_until_it_is_read_again() {
    let ring = serving(&[&definition("a", "d")]).await;
    let mut wanted = pb::Upstream { slug: "srv".into(), ..Default::default() };
    wanted.set_freshness(FreshnessPolicy::Refuse);
    ring.declare(wanted, "freshness").await;
    let ring = ring.restarted().await;
    assert_eq!(outcome(&ring).await, said_so(REFUSED));
    ring.lists(&ring.operator, "srv", &[&definition("a", "d")]).await;
    assert_eq!(outcome(&ring).await.0, Code::Ok);
}

#[tokio::test]
async fn law_04_a_disable_that_was_acknowledged_stops_a_call_that_has_not_left() {
    let ring = serving(&[&definition("a", "d")]).await;
    let held = ring.servers.holds_calls(&url("srv"));
    let id = ring.tools(&ring.operator).await[0].id.clone();
    let (asked, ()) = tokio::join!(outcome(&ring), async {
        held.arrived.notified().await;
        let disable = pb::DisableToolRequest { id, ..Default::default() };
        said(ring.governance.disable_tool(ring.operator.asks(disable))).await.unwrap();
        ring.servers.lets_calls_go(&url("srv"));
    });
    assert_eq!(asked, said_so(DRIFTED));
    assert_eq!(sent(&ring), []);
}

#[tokio::test]
async fn law_06_a_lock_that_was_acknowledged_is_sent_by_a_call_that_has_not_left() {
    let entry = r#"{"name":"a","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}"#;
    let ring = serving(&[entry]).await;
    let held = ring.servers.holds_calls(&url("srv"));
    let id = ring.tools(&ring.operator).await[0].id.clone();
    let (asked, ()) =
        tokio::join!(called(&ring, &ring.operator, by_name("srv__a", r#"{"to":"me"}"#)), async {
            held.arrived.notified().await;
            let set_json = r#"{"to":"ops"}"#.to_owned();
            let lock = pb::UpdateToolLocksRequest { id, set_json, ..Default::default() };
            said(ring.governance.update_tool_locks(ring.operator.asks(lock))).await.unwrap();
            ring.servers.lets_calls_go(&url("srv"));
        });
    asked.unwrap();
    assert_eq!(sent(&ring), [("a".to_owned(), r#"{"to":"ops"}"#.to_owned())]);
}

#[tokio::test]
async fn law_05_a_call_of_an_agent_that_the_upstream_was_detached_from_does_not_leave() {
    let ring = serving(&[&definition("a", "d")]).await;
    let agent = ring.agent(&ring.operator, "support", &["srv"]).await;
    let key = ring.agent_key(&agent.id).await;
    let held = ring.servers.holds_calls(&url("srv"));
    let (asked, ()) = tokio::join!(call(&ring, &key, "srv__a", ""), async {
        held.arrived.notified().await;
        let (agent_id, attachment_id) = (agent.id.clone(), agent.attachments[0].id.clone());
        let detach = pb::DetachAgentToolRequest { agent_id, attachment_id, ..Default::default() };
        said(ring.governance.detach_agent_tool(ring.operator.asks(detach))).await.unwrap();
        ring.servers.lets_calls_go(&url("srv"));
    });
    assert_eq!(reason(asked), (Code::NotFound, "TOOL_NOT_FOUND".to_owned()));
    assert_eq!(sent(&ring), []);
}

#[tokio::test]
async fn law_08_an_upstream_that_calls_do_not_reach_is_given_time_and_the_others_go_on() {
    let ring = serving(&[&definition("a", "d")]).await;
    ring.upstream(&ring.operator, "other", &[&definition("a", "d")]).await;
    let tools = ring.tools(&ring.operator).await;
    ring.approve(&ring.operator, tools.iter().find(|tool| tool.namespaced_name == "other__a").unwrap())
        .await
        .unwrap();
    let down = ListingError::Connect("connection refused".into());
    ring.servers.ends_calls(&url("srv"), Err(CallError { error: down, may_have_run: false }));
    for _ in 0..20 {
        assert_eq!(outcome(&ring).await, said_so(UNLISTED));
    }
    assert_eq!(sent(&ring).len(), 5, "the others were refused at once");
    call(&ring, &ring.operator, "other__a", "").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_under_way_ends_with_its_callers_key() {
    let ring = serving(&[&definition("a", "d")]).await;
    let ask = pb::CreateApiKeyRequest { scopes: vec!["mcp:call".into()], ..Default::default() };
    let made = said(ring.governance.create_api_key(ring.operator.asks(ask))).await.unwrap();
    let (key, id) = (crate::ring::Key(made.secret), made.api_key.unwrap().id);
    let held = ring.servers.holds_calls(&url("srv"));
    let (asked, ()) = tokio::join!(call(&ring, &key, "srv__a", ""), async {
        held.arrived.notified().await;
        let revoke = pb::RevokeApiKeyRequest { id, ..Default::default() };
        said(ring.governance.revoke_api_key(ring.operator.asks(revoke))).await.unwrap();
    });
    assert_eq!(reason(asked), (Code::Unauthenticated, "CREDENTIAL_INVALID".to_owned()));
    assert_eq!(sent(&ring), []);
}
