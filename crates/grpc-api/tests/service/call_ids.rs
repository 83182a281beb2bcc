//! Calls that are named by an id of their caller, and tools that are named by their OXP ids.

use tonic::{Code, Status};
use toolgate_api_proto::v1::{self as pb, call_tool_request::Tool, tool_governance_server::ToolGovernance};
use toolgate_upstream::{CallError, ListingError};

use crate::{
    calls::{by_name, sent, serving},
    ring::{ALL, Key, Ring, called, definition, reason, said, url},
};

const INVALID: (Code, &str) = (Code::InvalidArgument, "FIELD_INVALID");

async fn once(ring: &Ring, key: &Key, call_id: &str, arguments: &str) -> Result<String, Status> {
    let call = pb::CallToolRequest { call_id: call_id.into(), ..by_name("srv__a", arguments) };
    called(ring, key, call).await.map(|(_, result)| result)
}

#[tokio::test]
async fn a_call_with_an_id_is_made_once_and_asked_again_brings_what_came_of_it() {
    let ring = serving(&[&definition("a", "d"), &definition("b", "d")]).await;
    let first = once(&ring, &ring.operator, "c1", r#"{"x":1.0,"y":2}"#).await.unwrap();
    let again = once(&ring, &ring.operator, "c1", r#"{ "y":2, "x":1 }"#).await.unwrap();
    assert_eq!((again, sent(&ring).len()), (first, 1), "equal by value is the same call");
    let other = once(&ring, &ring.operator, "c1", r#"{"x":2}"#).await;
    assert_eq!(reason(other), (INVALID.0, INVALID.1.to_owned()));
    let of_another = pb::CallToolRequest { call_id: "c1".into(), ..by_name("srv__b", r#"{"x":1,"y":2}"#) };
    assert_eq!(reason(called(&ring, &ring.operator, of_another).await), (INVALID.0, INVALID.1.to_owned()));
    once(&ring, &ring.operator, "c2", r#"{"x":1,"y":2}"#).await.unwrap();
    assert_eq!(sent(&ring).len(), 2);
    let long = once(&ring, &ring.operator, &"c".repeat(129), "").await;
    assert_eq!(reason(long), (INVALID.0, INVALID.1.to_owned()));
}

#[tokio::test]
async fn who_asks_while_the_call_is_under_way_waits_for_it_and_it_goes_on_without_its_first_caller() {
    let ring = serving(&[&definition("a", "d")]).await;
    let held = ring.servers.holds_calls(&url("srv"));
    tokio::select! {
        biased;
        _ = once(&ring, &ring.operator, "c1", "") => panic!("it is held"),
        () = held.arrived.notified() => {}
    }
    let (one, other, ()) =
        tokio::join!(once(&ring, &ring.operator, "c1", ""), once(&ring, &ring.operator, "c1", "{}"), async {
            tokio::task::yield_now().await;
            held.go.notify_one();
        });
    assert_eq!(one.unwrap(), other.unwrap());
    assert_eq!(sent(&ring).len(), 1);
}

#[tokio::test]
async fn a_call_of_which_nothing_came_is_made_again_under_its_id_and_one_that_may_have_run_is_not() {
    let ring = serving(&[&definition("a", "d")]).await;
    let timeout = || ListingError::Timeout("the call took longer than 5 ms".into());
    ring.servers.ends_calls(&url("srv"), Err(CallError { error: timeout(), may_have_run: false }));
    once(&ring, &ring.operator, "c1", "").await.unwrap_err();
    ring.servers.ends_calls(&url("srv"), Err(CallError { error: timeout(), may_have_run: true }));
    let unknown = once(&ring, &ring.operator, "c1", "").await.unwrap_err();
    ring.servers.ends_calls(&url("srv"), Ok("{}".into()));
    let again = once(&ring, &ring.operator, "c1", "").await.unwrap_err();
    assert_eq!(again.message(), unknown.message());
    assert_eq!(sent(&ring).len(), 2);
}

#[tokio::test]
async fn law_04_what_came_of_a_call_is_told_to_nobody_who_could_not_make_it_now() {
    let ring = serving(&[&definition("a", "d")]).await;
    once(&ring, &ring.operator, "c1", "").await.unwrap();
    let id = ring.tools(&ring.operator).await[0].id.clone();
    let disable = pb::DisableToolRequest { id, ..Default::default() };
    said(ring.governance.disable_tool(ring.operator.asks(disable))).await.unwrap();
    let refused = once(&ring, &ring.operator, "c1", "").await;
    assert_eq!(reason(refused), (Code::FailedPrecondition, "TOOL_NOT_SERVED".into()));
}

#[tokio::test]
async fn law_10_an_id_of_a_call_is_its_callers_own() {
    let ring = serving(&[&definition("a", "d")]).await;
    let client = ring.client(2).await;
    let theirs = ring.key(&client, &ALL).await;
    ring.upstream(&theirs, "srv", &[&definition("a", "d")]).await;
    ring.approve(&theirs, &ring.tools(&theirs).await[0]).await.unwrap();
    let agent = ring.agent(&ring.operator, "support", &["srv"]).await;
    let (one, same) = (ring.agent_key(&agent.id).await, ring.agent_key(&agent.id).await);
    for (key, calls) in [(&ring.operator, 1), (&theirs, 2), (&one, 3), (&same, 3)] {
        once(&ring, key, "c1", r#"{"x":1}"#).await.unwrap();
        assert_eq!(sent(&ring).len(), calls);
    }
}

#[tokio::test]
async fn a_tool_is_called_by_its_oxp_id_in_the_version_that_is_served() {
    let ring = serving(&[&definition("a", "d"), &definition("b.c", "d")]).await;
    ring.lists(&ring.operator, "srv", &[&definition("a", "2"), &definition("b.c", "d")]).await;
    let tools = ring.tools(&ring.operator).await;
    let by_id = async |id: &str| {
        let tool = Some(Tool::OxpId(id.into()));
        reason(called(&ring, &ring.operator, pb::CallToolRequest { tool, ..Default::default() }).await)
    };
    let not_served = (Code::FailedPrecondition, "TOOL_NOT_SERVED".to_owned());
    assert_eq!((by_id("srv.a").await, by_id("srv.a@1.0.0").await), (not_served.clone(), not_served));
    ring.approve(&ring.operator, tools.iter().find(|tool| tool.name == "a").unwrap()).await.unwrap();
    for (id, code) in [
        ("srv.a", Code::Ok),
        ("srv.a@2.0.0", Code::Ok),
        ("srv.a@2", Code::Ok),
        ("srv.a@1.0.0", Code::InvalidArgument),
        ("srv.a@2.0", Code::InvalidArgument),
        ("srv__a", Code::InvalidArgument),
        ("srv.none", Code::NotFound),
        ("SRV.a", Code::NotFound),
        ("srv.b_c", Code::FailedPrecondition),
    ] {
        assert_eq!(by_id(id).await.0, code, "{id}");
    }
    assert_eq!(sent(&ring).len(), 3);
}
