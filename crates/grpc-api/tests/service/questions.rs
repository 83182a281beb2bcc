//! What an upstream asks for before it can give a result, and what is answered.

use serde_json::{Value, json};
use tonic::{Code, Status};
use toolgate_api_proto::v1::{
    self as pb, CallOutcome, call_tool_response::Event, tool_gateway_server::ToolGateway,
    tool_governance_server::ToolGovernance, upstream::Transport,
};
use toolgate_domain::limits::QUESTION_LIFETIME_MS;
use toolgate_test_support::scripted_servers::{Called, complete};
use toolgate_upstream::{CallError, ListingError};

use crate::{
    calls::{by_name, serving},
    ring::{ALL, Key, Ring, called, definition, reason, said, url},
};

use futures::StreamExt;

const CAPABILITIES: &str = r#"{"sampling":{},"elicitation":{"form":{ }},"roots":{}}"#;
const QUESTION: &str = r#"{"inputRequests":{"who":{"method":"elicitation/create","params":{"n":1.0}}},"requestState":"their own","resultType":"input_required","x-more":1E2}"#;
const RESPONSES: &str = r#"{"who":{"action":"accept","content":{"n":1.0}}}"#;

fn asking(name: &str, arguments: &str) -> pb::CallToolRequest {
    pb::CallToolRequest { client_capabilities_json: CAPABILITIES.into(), ..by_name(name, arguments) }
}

fn answering(name: &str, arguments: &str, request_state: &str) -> pb::CallToolRequest {
    pb::CallToolRequest {
        input_responses_json: RESPONSES.into(),
        request_state: request_state.into(),
        ..asking(name, arguments)
    }
}

/// What is asked for, and the state that came with it.
async fn asked(ring: &Ring, key: &Key, call: pb::CallToolRequest) -> Result<(String, String), Status> {
    let mut events = ring.gateway.call_tool(key.asks(call)).await?.into_inner();
    match events.next().await.unwrap()?.event {
        Some(Event::InputRequired(question)) => {
            let text = question.result_json;
            let state = serde_json::from_str::<Value>(&text).unwrap()["requestState"].clone();
            Ok((text, state.as_str().unwrap().to_owned()))
        }
        other => panic!("{other:?}"),
    }
}

async fn questioned() -> Ring {
    let ring = serving(&[&definition("a", "d"), &definition("b", "d")]).await;
    ring.servers.ends_calls(&url("srv"), Ok(QUESTION.into()));
    ring
}

fn last(ring: &Ring) -> Called {
    ring.servers.calls().pop().unwrap()
}

#[tokio::test]
async fn a_question_reaches_its_caller_as_it_is_spelt_and_the_answers_reach_the_upstream_with_its_own_state()
{
    let ring = questioned().await;
    let (text, state) = asked(&ring, &ring.operator, asking("srv__a", r#"{"x":1}"#)).await.unwrap();
    assert!(!state.contains("their own") && !text.contains("their own"));
    let ours = QUESTION.replace(r#""requestState":"their own","#, "");
    let ours = ours.replace("1E2}", &format!(r#"1E2,"requestState":"{state}"}}"#));
    assert_eq!(text, ours, "all else is as it came");
    assert_eq!(last(&ring).elicitation.as_deref(), Some(r#"{"form":{ }}"#), "nothing else is passed on");
    assert_eq!(last(&ring).answers, None);

    ring.servers.ends_calls(&url("srv"), Ok("{}".into()));
    called(&ring, &ring.operator, answering("srv__a", r#"{ "x": 1.0 }"#, &state)).await.unwrap();
    assert_eq!(last(&ring).answers, Some((Some(RESPONSES.into()), Some("their own".into()))));
    let rows = said(ring.governance.list_calls(ring.operator.asks(pb::ListCallsRequest::default()))).await;
    let outcomes: Vec<_> = rows.unwrap().calls.iter().map(pb::LoggedCall::outcome).collect();
    assert_eq!(outcomes, [CallOutcome::InputRequired, CallOutcome::Ok]);
}

#[tokio::test]
async fn an_upstream_without_a_state_of_its_own_is_given_none() {
    let ring = questioned().await;
    ring.servers.ends_calls(&url("srv"), Ok(r#"{"resultType":"input_required","inputRequests":{}}"#.into()));
    let (_, state) = asked(&ring, &ring.operator, asking("srv__a", "")).await.unwrap();
    let (_, next) = asked(&ring, &ring.operator, answering("srv__a", "", &state)).await.unwrap();
    assert_eq!(last(&ring).answers, Some((Some(RESPONSES.into()), None)));
    asked(&ring, &ring.operator, answering("srv__a", "", &next)).await.unwrap();
    asked(&ring, &ring.operator, answering("srv__a", "", "")).await.unwrap();
    assert_eq!(
        last(&ring).answers,
        Some((Some(RESPONSES.into()), None)),
        "nothing has to come before an answer"
    );
}

#[tokio::test]
async fn law_11_an_answer_counts_for_what_was_asked_of_whom_and_for_nothing_else() {
    let ring = questioned().await;
    let (_, state) = asked(&ring, &ring.operator, asking("srv__a", r#"{"x":1}"#)).await.unwrap();
    let agent = ring.agent(&ring.operator, "support", &["srv"]).await;
    let agent = ring.agent_key(&agent.id).await;
    let sent = ring.servers.calls().len();
    let edited = state.chars().rev().collect::<String>();
    for (key, call) in [
        (&ring.operator, answering("srv__b", r#"{"x":1}"#, &state)),
        (&ring.operator, answering("srv__a", r#"{"x":2}"#, &state)),
        (&ring.operator, answering("srv__a", r#"{"x":1}"#, &edited)),
        (&ring.operator, answering("srv__a", r#"{"x":1}"#, "their own")),
        (&agent, answering("srv__a", r#"{"x":1}"#, &state)),
    ] {
        let refused = called(&ring, key, call).await;
        assert_eq!(reason(refused), (Code::InvalidArgument, "FIELD_INVALID".into()));
    }
    ring.clock.advance_ms(QUESTION_LIFETIME_MS);
    let late = called(&ring, &ring.operator, answering("srv__a", r#"{"x":1}"#, &state)).await.unwrap_err();
    assert!(late.message().contains("expired"), "{late:?}");
    assert_eq!(ring.servers.calls().len(), sent);
}

#[tokio::test]
async fn law_03_an_answer_is_decided_by_what_the_tool_is_now() {
    let ring = questioned().await;
    let (_, state) = asked(&ring, &ring.operator, asking("srv__a", "")).await.unwrap();
    ring.lists(&ring.operator, "srv", &[&definition("a", "other"), &definition("b", "d")]).await;
    let again = || called(&ring, &ring.operator, answering("srv__a", "", &state));
    assert_eq!(reason(again().await), (Code::FailedPrecondition, "TOOL_NOT_SERVED".into()));
    let tool = ring.tools(&ring.operator).await.into_iter().find(|tool| tool.name == "a").unwrap();
    ring.approve(&ring.operator, &tool).await.unwrap();
    assert_eq!(reason(again().await), (Code::InvalidArgument, "FIELD_INVALID".into()), "another definition");
    assert_eq!(ring.servers.calls().len(), 1);
}

#[tokio::test]
async fn law_11_an_answer_does_not_follow_its_tool_to_another_server() {
    let ring = questioned().await;
    let (_, state) = asked(&ring, &ring.operator, asking("srv__a", "")).await.unwrap();
    ring.servers.answers(&url("elsewhere"), complete(&[&definition("a", "d")]));
    let elsewhere = pb::HttpTransport { url: url("elsewhere"), ..Default::default() };
    let transport = Some(Transport::Http(elsewhere));
    ring.declare(pb::Upstream { slug: "srv".into(), transport, ..Default::default() }, "http.url").await;
    let sync = pb::SyncUpstreamRequest { id: "srv".into(), wait: true, ..Default::default() };
    said(ring.governance.sync_upstream(ring.operator.asks(sync))).await.unwrap();
    let tools = ring.tools(&ring.operator).await;
    ring.approve(&ring.operator, tools.iter().find(|tool| tool.name == "a").unwrap()).await.unwrap();
    let sent = ring.servers.calls().len();
    let refused = called(&ring, &ring.operator, answering("srv__a", "", &state)).await;
    assert_eq!(reason(refused), (Code::InvalidArgument, "FIELD_INVALID".into()));
    assert_eq!(ring.servers.calls().len(), sent);
}

#[tokio::test]
async fn law_10_a_question_is_of_one_client() {
    let ring = questioned().await;
    let (_, state) = asked(&ring, &ring.operator, asking("srv__a", "")).await.unwrap();
    let client = ring.client(2).await;
    let theirs = ring.key(&client, &ALL).await;
    ring.upstream(&theirs, "srv", &[&definition("a", "d")]).await;
    ring.approve(&theirs, &ring.tools(&theirs).await[0]).await.unwrap();
    let refused = called(&ring, &theirs, answering("srv__a", "", &state)).await;
    assert_eq!(reason(refused), (Code::InvalidArgument, "FIELD_INVALID".into()));
}

#[tokio::test]
async fn a_caller_that_cannot_be_asked_is_not_said_to_be_and_what_it_sends_is_checked() {
    let ring = serving(&[&definition("a", "d")]).await;
    for capabilities in ["", "{}", r#"{"sampling":{}}"#, r#"{"elicitation":null}"#] {
        let call =
            pb::CallToolRequest { client_capabilities_json: capabilities.into(), ..by_name("srv__a", "") };
        called(&ring, &ring.operator, call).await.unwrap();
        assert_eq!(last(&ring).elicitation, None, "{capabilities}");
    }
    for (field, call) in [
        (
            "client_capabilities_json",
            pb::CallToolRequest { client_capabilities_json: "7".into(), ..by_name("srv__a", "") },
        ),
        (
            "input_responses_json",
            pb::CallToolRequest {
                input_responses_json: "[]".into(),
                request_state: "s".into(),
                ..by_name("srv__a", "")
            },
        ),
        (
            "request_state",
            pb::CallToolRequest {
                input_responses_json: "{}".into(),
                request_state: "s".repeat(64 * 1024 + 1),
                ..by_name("srv__a", "")
            },
        ),
    ] {
        let refused = called(&ring, &ring.operator, call).await.unwrap_err();
        assert!(refused.message().contains(field), "{field}: {refused:?}");
    }
}

#[tokio::test]
async fn who_cannot_be_asked_is_told_what_it_takes_instead_of_the_question() {
    let ring = questioned().await;
    for capabilities in ["", "{}", r#"{"sampling":{}}"#] {
        let call =
            pb::CallToolRequest { client_capabilities_json: capabilities.into(), ..by_name("srv__a", "") };
        let refused = called(&ring, &ring.operator, call).await.unwrap_err();
        let info = tonic_types::StatusExt::get_details_error_info(&refused).unwrap();
        assert_eq!((refused.code(), &*info.reason), (Code::FailedPrecondition, "CLIENT_CAPABILITY_MISSING"));
        assert_eq!(info.metadata["required_capabilities"], r#"{"elicitation":{}}"#);
        assert!(refused.message().contains("revision 2026-07-28"), "the remedy: {refused:?}");
    }
}

#[tokio::test]
async fn to_call_once_more_takes_no_capability_but_knowing_how() {
    let ring = questioned().await;
    for question in [
        r#"{"resultType":"input_required","requestState":"wait"}"#,
        r#"{"resultType":"input_required","inputRequests":{},"requestState":"wait"}"#,
    ] {
        ring.servers.ends_calls(&url("srv"), Ok(question.into()));
        let call = pb::CallToolRequest { client_capabilities_json: "{}".into(), ..by_name("srv__a", "") };
        let (_, state) = asked(&ring, &ring.operator, call.clone()).await.unwrap();
        let again = pb::CallToolRequest { request_state: state, ..call };
        asked(&ring, &ring.operator, again).await.unwrap();
        assert_eq!(last(&ring).answers, Some((None, Some("wait".into()))));
        let refused = called(&ring, &ring.operator, by_name("srv__a", "")).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unavailable);
        assert!(refused.message().contains("revision 2026-07-28"), "the remedy: {refused:?}");
    }
    ring.servers.ends_calls(&url("srv"), Ok(r#"{"resultType":"input_required"}"#.into()));
    let nothing = called(&ring, &ring.operator, asking("srv__a", "")).await;
    assert_eq!(reason(nothing), (Code::Unavailable, "UPSTREAM_FAILED".into()), "it asks for nothing");
}

#[tokio::test]
async fn what_an_upstream_requires_of_its_client_is_told() {
    let ring = serving(&[&definition("a", "d")]).await;
    let required = json!({"elicitation": {}}).to_string();
    let error = ListingError::MissingCapability { capabilities_json: required.clone() };
    ring.servers.ends_calls(&url("srv"), Err(CallError { error, may_have_run: false }));
    let refused = called(&ring, &ring.operator, by_name("srv__a", "")).await.unwrap_err();
    let info = tonic_types::StatusExt::get_details_error_info(&refused).unwrap();
    assert_eq!((refused.code(), &*info.reason), (Code::FailedPrecondition, "CLIENT_CAPABILITY_MISSING"));
    assert_eq!(info.metadata["required_capabilities"], required);
}
