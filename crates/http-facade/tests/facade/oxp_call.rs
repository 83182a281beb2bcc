//! `POST /tools/call`, as OXP 1.0 documents it.

use std::collections::HashMap;

use http::Request;
use http::request::Builder;
use serde_json::{Value, json};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};
use toolgate_api_proto::v1::{
    CallToolProgress, CallToolRequest, CallToolResponse, CallToolResult, call_tool_request::Tool,
    call_tool_response::Event,
};
use toolgate_http_facade::MAX_CALL_BODY_BYTES;

use crate::double::{Answer, Events, Face, ToolCall, get};

pub(crate) const CALL: &str = "/tools/call";
pub(crate) const BODY: &str = r#"{"request":{"tool_id":"srv.a","call_id":"c1"}}"#;
const MADE_ID: &str = "00000000-0000-4abc-8000-000000000abc";

pub(crate) fn post() -> Builder {
    get(CALL).method("POST").header("content-type", "application/json")
}

fn event(event: Event) -> Result<CallToolResponse, Status> {
    Ok(CallToolResponse { event: Some(event) })
}

fn ended(result: &str) -> Events {
    Ok(vec![event(Event::Result(CallToolResult { result_json: result.to_owned() }))])
}

pub(crate) fn answering(result: &'static str) -> Face {
    Face::calling(move |_| ended(result))
}

pub(crate) fn refusing(status: Status) -> Face {
    Face::calling(move |_| Ok(vec![Err(status.clone())]))
}

/// A refusal with this reason, as the service publishes it, and the places that are wrong.
pub(crate) fn refusal(code: Code, reason: &str, places: &[(&str, &str)]) -> Status {
    let mut details = ErrorDetails::with_error_info(reason, "toolgate.dev", HashMap::new());
    for (field, problem) in places {
        details.add_bad_request_violation(*field, *problem);
    }
    Status::with_error_details(code, "the service's own words", details)
}

/// The body of an answer with this status, which is kept by nobody.
fn body(answer: &Answer, status: u16) -> Value {
    assert_eq!(answer.status.as_u16(), status, "{}", answer.text());
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    answer.json()
}

#[tokio::test]
async fn one_call_is_made_with_what_was_sent_as_it_is_spelt() {
    let face = answering("{}");
    let sent = r#" { "$schema":"urn:oxp:1.0", "request": { "tool_id":"srv.a@1.0.0", "call_id":"c\u0031", "trace_id":"t",
        "input": { "n" : 9007199254740993, "x":1.0, "z":null },
        "context": {"authorization":[{"id":"srv","token":"secret"}],"user_id":"u"} } } "#;
    let answer = face.send_with(post().header("x-toolgate-min-revision", "r1"), sent).await;
    assert_eq!(body(&answer, 200)["result"]["call_id"], "c1");
    let request = CallToolRequest {
        tool: Some(Tool::OxpId("srv.a@1.0.0".to_owned())),
        arguments_json: r#"{ "n" : 9007199254740993, "x":1.0, "z":null }"#.to_owned(),
        call_id: "c1".to_owned(),
        min_revision: "r1".to_owned(),
        ..CallToolRequest::default()
    };
    let authorization = Some("Bearer tg_1_secret".to_owned());
    assert_eq!(face.tool_calls(), [ToolCall { request, authorization }]);
}

#[tokio::test]
async fn without_a_call_id_one_is_made_for_the_answer_alone() {
    let face = answering("{}");
    let answer = face.send_with(post(), r#"{"request":{"tool_id":"srv.a"}}"#).await;
    assert_eq!(
        body(&answer, 200),
        json!({"$schema": "urn:oxp:1.0", "result": {"call_id": MADE_ID, "success": true}})
    );
    let [ToolCall { request, .. }] = &face.tool_calls()[..] else { panic!("one call") };
    assert_eq!((request.call_id.as_str(), request.arguments_json.as_str()), ("", ""));
}

#[tokio::test]
async fn the_value_is_the_structured_content_else_the_one_text_else_the_blocks_byte_for_byte() {
    for (result, value) in [
        (
            r#"{"content":[{"type":"text","text":"7"}],"structuredContent":{ "n" : 1.0 }}"#,
            r#","value":{ "n" : 1.0 }"#,
        ),
        (
            r#"{"content":[{"type":"text","text":"\u00e9\n","_meta":{}}],"isError":false}"#,
            r#","value":"\u00e9\n""#,
        ),
        (
            r#"{"content":[ {"type":"text","text":"a"}, {"type":"image","data":"","x":1.0}]}"#,
            r#","value":[ {"type":"text","text":"a"}, {"type":"image","data":"","x":1.0}]"#,
        ),
        (r#"{"content":[{"type":"image","data":""}]}"#, r#","value":[{"type":"image","data":""}]"#),
        (r#"{"content":[],"structuredContent":null}"#, ""),
        (r#"{"resultType":"complete"}"#, ""),
    ] {
        let answer = answering(result).send_with(post(), BODY).await;
        let expected =
            format!(r#"{{"$schema":"urn:oxp:1.0","result":{{"call_id":"c1","success":true{value}}}}}"#);
        assert_eq!(answer.text(), expected, "{result}");
    }
}

#[tokio::test]
async fn a_tool_that_failed_is_a_200_that_says_so() {
    for (result, message) in [
        (
            r#"{"isError":true,"content":[{"type":"text","text":"no\n"},{"type":"image"},{"type":"text","text":"disk"}]}"#,
            "no\n\ndisk",
        ),
        (r#"{"isError":true,"content":[],"structuredContent":{}}"#, "the tool failed, and did not say why"),
        (
            r#"{"resultType":"input_required","content":[]}"#,
            "the tool asks for more, and OXP has no way to give it",
        ),
    ] {
        let answer = answering(result).send_with(post(), BODY).await;
        let expected = json!({"call_id": "c1", "success": false, "error": {"message": message}});
        assert_eq!(body(&answer, 200)["result"], expected, "{result}");
    }
}

#[tokio::test]
async fn progress_is_passed_over() {
    let progress = || event(Event::Progress(CallToolProgress { progress_json: "{}".to_owned() }));
    let face = Face::calling(move |_| {
        let mut events = vec![progress(), progress()];
        events.extend(ended(r#"{"structuredContent":7}"#)?);
        Ok(events)
    });
    assert_eq!(body(&face.send_with(post(), BODY).await, 200)["result"]["value"], 7);
    let endless = Face::calling(move |_| Ok(Vec::new()));
    body(&endless.send_with(post(), BODY).await, 500);
}

#[tokio::test]
async fn input_that_does_not_fit_is_a_422_with_each_parameter() {
    let places = [
        ("arguments_json", "\"to\" is missing"),
        ("arguments_json/n", "is no number"),
        ("arguments_json/a~1b~0/0", "is x"),
        ("arguments_json/n", "is too large"),
        ("arguments_json", "\"x\" is unknown"),
    ];
    let answer =
        refusing(refusal(Code::InvalidArgument, "ARGUMENTS_MISFIT", &places)).send_with(post(), BODY).await;
    let expected = json!({
        "$schema": "urn:oxp:1.0",
        "message": "the input does not fit the tool's input schema: \"to\" is missing; \"x\" is unknown",
        "parameter_errors": {"n": "is no number; is too large", "a/b~": "is x"},
    });
    assert_eq!(body(&answer, 422), expected);
    let unread = refusal(Code::InvalidArgument, "FIELD_INVALID", &[("arguments_json", "is too deep")]);
    let answer = refusing(unread).send_with(post(), BODY).await;
    assert_eq!(body(&answer, 422), json!({"$schema": "urn:oxp:1.0", "message": "input: is too deep"}));
}

#[tokio::test]
async fn every_other_refusal_has_oxps_status_and_says_what_a_caller_can_use() {
    let theirs = "the service's own words";
    let field = |name: &'static str| [(name, "is wrong")];
    for (status, expected, message) in [
        (refusal(Code::NotFound, "TOOL_NOT_FOUND", &[]), 400, theirs),
        (refusal(Code::FailedPrecondition, "TOOL_NOT_SERVED", &[]), 400, theirs),
        (refusal(Code::FailedPrecondition, "UPSTREAM_REFUSED", &[]), 400, theirs),
        (refusal(Code::FailedPrecondition, "CLIENT_CAPABILITY_MISSING", &[]), 400, theirs),
        (refusal(Code::Unavailable, "UPSTREAM_FAILED", &[]), 400, theirs),
        (refusal(Code::InvalidArgument, "FIELD_INVALID", &field("oxp_id")), 400, "request.tool_id: is wrong"),
        (
            refusal(Code::InvalidArgument, "FIELD_INVALID", &field("call_id")),
            400,
            "request.call_id: is wrong",
        ),
        (refusal(Code::ResourceExhausted, "LIMIT_EXCEEDED", &[]), 429, theirs),
        (refusal(Code::PermissionDenied, "SCOPE_MISSING", &[]), 401, theirs),
        (refusal(Code::Unavailable, "DRAINING", &[]), 503, "cannot be answered now; try again"),
        (refusal(Code::Internal, "INTERNAL", &[]), 500, "a fault of the server"),
    ] {
        for face in [refusing(status.clone()), Face::calling(move |_| Err(status.clone()))] {
            let answer = face.send_with(post(), BODY).await;
            let refused = body(&answer, expected);
            assert_eq!(refused, json!({"$schema": "urn:oxp:1.0", "message": message}));
        }
    }
}

#[tokio::test]
async fn a_malformed_request_is_a_400_that_names_the_place_and_calls_nothing() {
    let face = answering("{}");
    for (sent, problem) in [
        ("", "body: "),
        ("[]", "body: is an array"),
        ("{}", "request: is missing"),
        (r#"{"request":1}"#, "request: is a number"),
        (r#"{"request":{}}"#, "request.tool_id: is missing"),
        (r#"{"request":{"tool_id":1}}"#, "request.tool_id: is a number"),
        (r#"{"request":{"tool_id":"a.b","call_id":""}}"#, "request.call_id: is empty"),
        (r#"{"request":{"tool_id":"a.b","trace_id":1}}"#, "request.trace_id: is a number"),
        (r#"{"request":{"tool_id":"a.b","input":null}}"#, "request.input: is null"),
        (r#"{"request":{"tool_id":"a.b","context":"secret"}}"#, "request.context: is a string"),
        (r#"{"request":{"tool_id":"a.b","inputs":{}}}"#, "request: has an unknown member"),
        (r#"{"request":{"tool_id":"a.b","input":{"a":1,"\u0061":2}}}"#, "body: "),
        (r#"{"$schema":"urn:oxp:2.0","request":{"tool_id":"a.b"}}"#, "$schema: is not supported"),
    ] {
        let answer = face.send_with(post(), sent).await;
        let message = body(&answer, 400)["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with(problem) && !message.contains("secret"), "{sent}: {message}");
    }
    body(&face.send_with(get(CALL).method("POST").header("content-type", "text/plain"), BODY).await, 415);
    assert!(face.tool_calls().is_empty());
}

#[tokio::test]
async fn a_body_is_read_for_a_good_credential_alone() {
    let nobody =
        || Request::post(CALL).header("host", "localhost").header("content-type", "application/json");
    let unauthenticated = || refusal(Code::Unauthenticated, "CREDENTIAL_MISSING", &[]);
    let refusing = Face::calling(move |_| Err(unauthenticated()));
    assert_eq!(
        body(&refusing.send_with(nobody(), "{").await, 401)["message"],
        "send a valid key as `authorization: Bearer`"
    );
    let large = " ".repeat(20 << 10);
    body(&refusing.send_with(post(), large.clone()).await, 401);
    let none = CallToolRequest::default();
    assert!(refusing.tool_calls().iter().all(|call| call.request == none));

    let judging = |call: &ToolCall| match call.request.tool {
        None => Err(refusal(Code::InvalidArgument, "FIELD_INVALID", &[("tool", "is required")])),
        Some(_) => ended("{}"),
    };
    body(&Face::calling(judging).send_with(post(), BODY.to_owned() + &large).await, 200);
    body(&Face::calling(judging).send_with(post(), " ".repeat(MAX_CALL_BODY_BYTES + 1)).await, 413);
    let key = nobody().header("oxp-api-key", "tg_1_secret");
    let face = answering("{}");
    body(&face.send_with(key, BODY).await, 200);
    assert_eq!(face.tool_calls()[0].authorization.as_deref(), Some("Bearer tg_1_secret"));
}

#[tokio::test]
async fn only_post_calls() {
    for method in ["GET", "HEAD", "PUT", "DELETE"] {
        let answer = answering("{}").send(get(CALL).method(method)).await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, Some("POST")), "{method}");
    }
}
