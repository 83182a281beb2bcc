//! `GET /tools` and `GET /health`, as OXP 1.0 documents them.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use http::Request;
use tokio::time::{Instant, timeout};
use tonic::{Code, Status};
use toolgate_api_proto::v1::{
    AuthorizationRequirement, ListToolDefinitionsResponse, ToolDefinition, ToolRequirements,
};
use toolgate_http_facade::BODY_DEADLINE_SECONDS;

use crate::double::{Answer, DefinitionsCall, Face, get};

pub(crate) const TOOLS: &str = "/tools";

pub(crate) fn definition() -> ToolDefinition {
    ToolDefinition {
        id: "srv.a_b@2.0.0".to_owned(),
        name: "srv__a-b".to_owned(),
        description: "two\n\"lines\"".to_owned(),
        version: "2.0.0".to_owned(),
        input_schema_json: None,
        output_schema_json: None,
        requirements: None,
    }
}

pub(crate) fn full() -> ToolDefinition {
    ToolDefinition {
        input_schema_json: Some(r#"{"properties":{"n":{"maximum" : 1.0}}}"#.to_owned()),
        output_schema_json: Some("{}".to_owned()),
        requirements: Some(ToolRequirements {
            authorization: vec![AuthorizationRequirement { id: "my-srv".to_owned() }],
            user_id: true,
        }),
        ..definition()
    }
}

fn list(call: &DefinitionsCall, definitions: &[ToolDefinition]) -> ListToolDefinitionsResponse {
    let not_modified = call.request.if_none_match == "e1";
    ListToolDefinitionsResponse {
        definitions: if not_modified { Vec::new() } else { definitions.to_vec() },
        next_page_token: String::new(),
        revision: "r1".to_owned(),
        etag: "e1".to_owned(),
        not_modified,
    }
}

pub(crate) fn holding(definitions: Vec<ToolDefinition>) -> Face {
    Face::defining(move |call| Ok(list(call, &definitions)))
}

/// Status and message of an error, which has OXP's form and no other member.
fn refused(answer: &Answer) -> (u16, String) {
    let body = answer.json();
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert!(body.as_object().unwrap().keys().eq(["$schema", "message"]), "{body}");
    assert_eq!(body["$schema"], "urn:oxp:1.0");
    (answer.status.as_u16(), body["message"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn each_member_comes_from_the_message_and_an_absent_one_is_left_out() {
    let answer = holding(vec![full(), definition()]).get(TOOLS).await;
    let expected = concat!(
        r#"{"$schema":"urn:oxp:1.0","items":["#,
        r#"{"id":"srv.a_b@2.0.0","name":"srv__a-b","description":"two\n\"lines\"","version":"2.0.0","#,
        r#""input_schema":{"properties":{"n":{"maximum" : 1.0}}},"output_schema":{},"#,
        r#""requirements":{"authorization":[{"id":"my-srv"}],"user_id":true}},"#,
        r#"{"id":"srv.a_b@2.0.0","name":"srv__a-b","description":"two\n\"lines\"","version":"2.0.0"}]}"#,
    );
    assert_eq!((answer.status.as_u16(), answer.text()), (200, expected));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("x-toolgate-revision"), Some("r1"));
    assert_eq!(answer.header("vary"), Some("authorization, oxp-api-key, accept-encoding"));
    let none = holding(Vec::new()).get(TOOLS).await;
    assert_eq!(none.text(), r#"{"$schema":"urn:oxp:1.0","items":[]}"#);
}

#[tokio::test]
async fn a_request_may_say_which_version_it_speaks() {
    let face = holding(Vec::new());
    for body in [
        "",
        " \n",
        "{}",
        r#"{"other":1}"#,
        r#"{"$schema":"urn:oxp:1.0"}"#,
        r#"{"$schema":"otc://1.0"}"#,
        r#"{"$schema":"https://github.com/a/b/tree/main/spec/http/1.0/openapi.json"}"#,
    ] {
        assert_eq!(face.send_with(get(TOOLS), body).await.status, 200, "{body}");
    }
    let long = format!(r#"{{"x":"{}"}}"#, "x".repeat(16 * 1024));
    let calls = face.definitions_calls().len();
    for body in [
        r#"{"$schema":"urn:oxp:2.0"}"#,
        r#"{"$schema":"urn:oxp:1.0 "}"#,
        r#"{"$schema":"file:///http/1.0/openapi.json"}"#,
        r#"{"$schema":""}"#,
        r#"{"$schema":null}"#,
        r#"{"$schema":1}"#,
        r#"["urn:oxp:1.0"]"#,
        "{",
        "{} {}",
        "\u{feff}{}",
        &long,
    ] {
        let (status, message) = refused(&face.send_with(get(TOOLS), body.to_owned()).await);
        assert_eq!(status, 400, "{body:.40}");
        assert!(message.starts_with("body: ") || message.starts_with("$schema: "), "{message}");
    }
    assert_eq!(face.definitions_calls().len(), calls);
}

#[tokio::test]
async fn a_key_is_taken_from_either_header_and_not_from_both() {
    let face = holding(Vec::new());
    let bare = || Request::get(TOOLS).header("host", "localhost");
    for request in
        [bare().header("authorization", "Bearer tg_1_s"), bare().header("oxp-api-key", "tg_1_s"), bare()]
    {
        assert_eq!(face.send(request).await.status, 200);
    }
    let given: Vec<_> = face.definitions_calls().into_iter().map(|call| call.authorization).collect();
    let bearer = || Some("Bearer tg_1_s".to_owned());
    assert_eq!(given, [bearer(), bearer(), None]);
    for request in [
        bare().header("authorization", "Bearer a").header("oxp-api-key", "b"),
        bare().header("oxp-api-key", "a").header("oxp-api-key", "b"),
    ] {
        assert_eq!(refused(&face.send(request).await).0, 400);
    }
    assert_eq!(face.definitions_calls().len(), 3);
}

#[tokio::test]
async fn one_request_is_one_call_for_the_whole_list_as_far_as_the_caller_wants_to_read() {
    let face = holding(Vec::new());
    face.send(get(TOOLS).header("x-toolgate-min-revision", "r0")).await;
    let [call] = &face.definitions_calls()[..] else { panic!("one call") };
    assert!(call.whole);
    assert_eq!((call.request.min_revision.as_str(), call.request.client_id.as_str()), ("r0", ""));
}

#[tokio::test]
async fn what_is_held_is_not_sent_again_and_the_service_is_still_asked() {
    let face = holding(vec![full()]);
    let first = face.get(TOOLS).await;
    assert_eq!(first.header("etag"), Some("\"e1\""));
    assert_eq!(face.get(TOOLS).await.body, first.body);
    let same = face.send(get(TOOLS).header("if-none-match", "\"e1\"")).await;
    assert_eq!((same.status.as_u16(), same.body.len(), same.header("etag")), (304, 0, Some("\"e1\"")));
    let coded = face.send(get(TOOLS).header("accept-encoding", "gzip")).await;
    assert!(coded.body.starts_with(&[0x1f, 0x8b]));
    let head = face.send(get(TOOLS).method("HEAD")).await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
    assert_eq!(face.definitions_calls().len(), 5);
}

/// Even a service that gives two clients one tag cannot make the facade mix up their bodies.
#[tokio::test]
async fn law_10_a_kept_body_is_never_sent_to_another_key() {
    let face = Face::defining(|call| {
        let name = call.authorization.clone().unwrap_or_default();
        Ok(list(call, &[ToolDefinition { name, ..definition() }]))
    });
    for _ in 0..2 {
        for key in ["a", "b"] {
            let request = Request::get(TOOLS).header("host", "localhost").header("oxp-api-key", key);
            assert_eq!(face.send(request).await.json()["items"][0]["name"], format!("Bearer {key}"));
        }
    }
}

#[tokio::test]
async fn every_error_has_the_form_and_a_status_that_oxp_knows() {
    for (code, status) in [
        (Code::Unauthenticated, 401),
        (Code::PermissionDenied, 401),
        (Code::InvalidArgument, 400),
        (Code::NotFound, 400),
        (Code::ResourceExhausted, 429),
        (Code::Unavailable, 503),
        (Code::Internal, 500),
    ] {
        let answer = Face::defining(move |_| Err(Status::new(code, "words"))).get(TOOLS).await;
        assert_eq!(refused(&answer).0, status, "{code:?}");
        assert_eq!(answer.header("www-authenticate").is_some(), code == Code::Unauthenticated);
    }
    let partial = Face::defining(|call| {
        Ok(ListToolDefinitionsResponse { next_page_token: "more".to_owned(), ..list(call, &[]) })
    });
    assert_eq!(refused(&partial.get(TOOLS).await).0, 500);
    for path in [TOOLS, "/health"] {
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
            let answer = holding(Vec::new()).send(get(path).method(method)).await;
            assert_eq!((refused(&answer).0, answer.header("allow")), (405, Some("GET, HEAD")), "{path}");
        }
    }
}

#[tokio::test]
async fn health_is_told_to_everybody() {
    let works = Arc::new(AtomicBool::new(true));
    let now = Arc::clone(&works);
    let face = Face::of_process(move || now.load(Ordering::SeqCst));
    for (takes_work, status) in [(true, 200), (false, 503), (true, 200)] {
        works.store(takes_work, Ordering::SeqCst);
        for method in ["GET", "HEAD"] {
            let request = Request::builder().method(method).uri("/health").header("host", "localhost");
            let answer = face.send(request).await;
            assert_eq!((answer.status.as_u16(), answer.body.len()), (status, 0));
            assert_eq!(answer.header("cache-control"), Some("no-store"));
        }
    }
    assert!(face.definitions_calls().is_empty() && face.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_holds_a_request_for_a_bounded_time() {
    let face = Face::defining(|_| panic!("an unread request was answered"));
    let begun = Instant::now();
    let stalled = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
    let answer = timeout(Duration::from_secs(60), face.send_with(get(TOOLS), stalled)).await;
    let answer = answer.expect("it is ended");
    assert_eq!(answer.status, 400);
    assert_eq!(begun.elapsed().as_secs(), BODY_DEADLINE_SECONDS);
}
