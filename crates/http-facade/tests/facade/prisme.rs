//! `GET /v1/agents/{agentId}/tools/{toolId}/capabilities`, as Prisme documents it.

use std::collections::HashMap;

use http::Request;
use http::request::Builder;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};
use toolgate_api_proto::v1::{ListServerToolsResponse, ServerTool, ServerToolsStatus};

use crate::double::{Answer, Face, get};

const PATH: &str = "/v1/agents/support/tools/files/capabilities";
const WEBHOOK: &str = "/v2/workspaces/slug:agent-factory/webhooks";
/// As they are routed.
pub(crate) const PATHS: [&str; 2] = [
    "/v1/agents/{agentId}/tools/{toolId}/capabilities",
    "/v2/workspaces/slug:agent-factory/webhooks/v1/agents/{agentId}/tools/{toolId}/capabilities",
];

pub(crate) fn bare() -> ServerTool {
    ServerTool { name: "a.b\"".to_owned(), canonical_name: "files__a_b_".to_owned(), ..Default::default() }
}

pub(crate) fn full() -> ServerTool {
    ServerTool {
        description: Some("two\n\"lines\"".to_owned()),
        input_schema_json: Some(r#"{"properties":{"n":{"maximum" : 1.0,"x":9007199254740993}}}"#.to_owned()),
        annotations_json: Some(r#"{ "readOnlyHint":"yes","vendor":1}"#.to_owned()),
        ..bare()
    }
}

/// An answer with everything in it that can be, whatever its status.
fn list(status: ServerToolsStatus, tools: &[ServerTool]) -> ListServerToolsResponse {
    ListServerToolsResponse {
        status: status.into(),
        tools: tools.to_vec(),
        error: "The server cannot be reached.".to_owned(),
        list_time: Some(prost_types::Timestamp { seconds: 1_767_225_600, nanos: 0 }),
        expire_time: Some(prost_types::Timestamp { seconds: 1_767_225_660, nanos: 0 }),
        from_cache: true,
        revision: "r1".to_owned(),
    }
}

pub(crate) fn telling(status: ServerToolsStatus, tools: Vec<ServerTool>) -> Face {
    Face::asking(move |_| Ok(list(status, &tools)))
}

fn empty() -> Face {
    telling(ServerToolsStatus::Ok, Vec::new())
}

fn refusing(code: Code, reason: &'static str, metadata: &'static [(&str, &str)]) -> Face {
    Face::asking(move |_| {
        let metadata: HashMap<_, _> =
            metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let details = ErrorDetails::with_error_info(reason, "toolgate.dev", metadata);
        Err(Status::with_error_details(code, "the service's words", details))
    })
}

/// Status and code of an error, which has the documented form and no other member.
fn refused(answer: &Answer) -> (u16, String) {
    let body = answer.json();
    let mut members = body.as_object().unwrap().keys();
    assert!(members.all(|member| ["error", "message", "details"].contains(&member.as_str())), "{body}");
    assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{body}");
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert!(answer.header("x-correlation-id").is_some());
    (answer.status.as_u16(), body["error"].as_str().unwrap().to_owned())
}

fn is(status: u16, error: &str) -> (u16, String) {
    (status, error.to_owned())
}

/// BR-083, BR-087
#[tokio::test]
async fn each_member_comes_from_the_message_and_only_annotations_are_null() {
    let answer = telling(ServerToolsStatus::Ok, vec![full(), bare()]).get(PATH).await;
    let expected = concat!(
        r#"{"status":"ok","items":["#,
        r#"{"name":"a.b\"","canonical_name":"files__a_b_","description":"two\n\"lines\"","#,
        r#""inputSchema":{"properties":{"n":{"maximum" : 1.0,"x":9007199254740993}}},"#,
        r#""annotations":{ "readOnlyHint":"yes","vendor":1}},"#,
        r#"{"name":"a.b\"","canonical_name":"files__a_b_","annotations":null}]}"#,
    );
    assert_eq!((answer.status.as_u16(), answer.text()), (200, expected));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("x-toolgate-revision"), Some("r1"));
}

#[tokio::test]
async fn items_stand_with_ok_alone_and_an_error_with_unavailable_alone() {
    for (status, body) in [
        (ServerToolsStatus::Ok, r#"{"status":"ok","items":[]}"#),
        (ServerToolsStatus::AuthRequired, r#"{"status":"auth_required","items":[]}"#),
        (
            ServerToolsStatus::Unavailable,
            r#"{"status":"unavailable","items":[],"error":"The server cannot be reached."}"#,
        ),
    ] {
        let tools = if status == ServerToolsStatus::Ok { Vec::new() } else { vec![full()] };
        let answer = telling(status, tools).get(PATH).await;
        assert_eq!((answer.status.as_u16(), answer.text()), (200, body));
    }
    let nothing = telling(ServerToolsStatus::Unspecified, Vec::new()).get(PATH).await;
    assert_eq!(refused(&nothing), is(500, "INTERNAL"));
}

#[tokio::test]
async fn nothing_may_keep_an_answer_and_one_request_is_one_call() {
    let face = telling(ServerToolsStatus::Ok, vec![full()]);
    for path in [PATH.to_owned(), format!("{WEBHOOK}{PATH}")] {
        let request = get(&path).header("x-toolgate-min-revision", "r0").header("if-none-match", "*");
        let answer = face.send(request).await;
        assert_eq!((answer.status.as_u16(), answer.header("etag")), (200, None));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("vary"), Some("authorization, x-prismeai-api-key, accept-encoding"));
        let coded = face.send(get(&path).header("accept-encoding", "gzip")).await;
        assert_eq!(coded.header("content-encoding"), Some("gzip"));
        assert!(coded.body.starts_with(&[0x1f, 0x8b]));
        let head = face.send(get(&path).method("HEAD")).await;
        assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
    }
    let calls = face.server_calls();
    assert_eq!(calls.len(), 6);
    for call in &calls {
        let ask = &call.request;
        assert_eq!((&*ask.agent_id, &*ask.attachment_id, &*ask.client_id), ("support", "files", ""));
    }
    assert_eq!(calls[0].request.min_revision, "r0");
}

/// BR-103
#[tokio::test]
async fn an_id_is_decoded_once_and_a_slash_in_it_leads_nowhere_else() {
    let face = empty();
    for (written, read) in [
        ("files__read%2Ffile", "files__read/file"),
        ("x%3Ay", "x:y"),
        ("x:y", "x:y"),
        ("%E6%97%A5", "日"),
        ("a%2500b", "a%00b"),
        ("a%252Fb", "a%2Fb"),
        ("..%2f..%2fadmin", "../../admin"),
        ("%2e%2e", ".."),
        ("a+b", "a+b"),
        ("a%20b", "a b"),
    ] {
        for prefix in ["", WEBHOOK] {
            let tool = face.get(&format!("{prefix}/v1/agents/support/tools/{written}/capabilities")).await;
            assert_eq!(tool.status, 200, "{written}");
            let asked = face.server_calls().pop().unwrap().request;
            assert_eq!((&*asked.agent_id, &*asked.attachment_id), ("support", read), "{written}");
            let agent = face.get(&format!("{prefix}/v1/agents/{written}/tools/files/capabilities")).await;
            assert_eq!(agent.status, 200, "{written}");
            let asked = face.server_calls().pop().unwrap().request;
            assert_eq!((&*asked.agent_id, &*asked.attachment_id), (read, "files"), "{written}");
        }
    }
    let calls = face.server_calls().len();
    for bad in ["%FF", "%C3%28", "a%ED%A0%80"] {
        let answer = face.get(&format!("/v1/agents/support/tools/{bad}/capabilities")).await;
        assert_eq!(refused(&answer), is(400, "VALIDATION_ERROR"), "{bad}");
        let answer = face.get(&format!("/v1/agents/{bad}/tools/files/capabilities")).await;
        assert_eq!(refused(&answer), is(400, "VALIDATION_ERROR"), "{bad}");
    }
    for elsewhere in [
        "/v1/agents/support/tools/a/b/capabilities",
        "/v1/agents/support/tools/files/capabilities/",
        "/v1/agents/support/tools/files/Capabilities",
        "/v1/agents/support/tools/files",
        "/webhooks/v1/agents/support/tools/files/capabilities",
    ] {
        assert_eq!(refused(&face.get(elsewhere).await), is(404, "NOT_FOUND"), "{elsewhere}");
    }
    assert_eq!(face.server_calls().len(), calls);
}

fn to() -> Builder {
    Request::get(PATH).header("host", "localhost")
}

#[tokio::test]
async fn a_key_is_taken_from_either_header_and_two_must_be_one() {
    let face = empty();
    let both =
        |bearer: &str, key: &str| to().header("authorization", bearer).header("x-prismeai-api-key", key);
    for request in [
        to().header("authorization", "Bearer tg_1_s"),
        to().header("x-prismeai-api-key", "tg_1_s"),
        both("Bearer tg_1_s", "tg_1_s"),
        both("bearer  tg_1_s", "tg_1_s"),
        to().header("x-prismeai-api-key", "iak_acme_1"),
        to(),
        to().header("authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.e30.x"),
    ] {
        assert_eq!(face.send(request).await.status, 200);
    }
    let given: Vec<_> = face.server_calls().into_iter().map(|call| call.authorization).collect();
    let own = || Some("Bearer tg_1_s".to_owned());
    let organisations = Some("Bearer iak_acme_1".to_owned());
    let token = Some("Bearer eyJhbGciOiJIUzI1NiJ9.e30.x".to_owned());
    assert_eq!(
        given,
        [own(), own(), own(), own(), organisations, None, token],
        "whether it is good is asked"
    );
    for request in [
        to().header("authorization", "Bearer iak_acme_1"),
        to().header("authorization", "bearer  iak_acme_1"),
        both("Bearer iak_acme_1", "iak_acme_1"),
        both("Bearer tg_1_s", "tg_2_s"),
        both("Basic tg_1_s", "tg_1_s"),
        both("tg_1_s", "tg_1_s"),
    ] {
        let answer = face.send(request).await;
        assert_eq!(refused(&answer), is(401, "UNAUTHORIZED"));
        assert!(answer.header("www-authenticate").is_some());
    }
    let twice = to().header("x-prismeai-api-key", "tg_1_s").header("x-prismeai-api-key", "tg_1_s");
    assert_eq!(refused(&face.send(twice).await), is(400, "VALIDATION_ERROR"));
    assert_eq!(face.server_calls().len(), given.len(), "none of these was asked about");
}

#[tokio::test]
async fn every_refusal_has_its_documented_code() {
    for (code, reason, metadata, expected) in [
        (Code::Unauthenticated, "CREDENTIAL_MISSING", &[][..], is(401, "UNAUTHORIZED")),
        (Code::Unauthenticated, "CREDENTIAL_INVALID", &[], is(401, "UNAUTHORIZED")),
        (Code::PermissionDenied, "SCOPE_MISSING", &[("scope", "mcp:read")], is(403, "FORBIDDEN")),
        (Code::NotFound, "AGENT_NOT_FOUND", &[], is(404, "AgentNotFound")),
        (Code::NotFound, "ATTACHMENT_NOT_FOUND", &[], is(404, "ToolNotFound")),
        (Code::NotFound, "CLIENT_NOT_FOUND", &[], is(404, "NOT_FOUND")),
        (Code::InvalidArgument, "FIELD_INVALID", &[("field", "agent_id")], is(400, "VALIDATION_ERROR")),
        (Code::InvalidArgument, "ATTACHMENT_NOT_MCP", &[("type", "function")], is(400, "VALIDATION_ERROR")),
        (Code::Unavailable, "DRAINING", &[], is(503, "UNAVAILABLE")),
        (Code::DeadlineExceeded, "", &[], is(504, "DEADLINE_EXCEEDED")),
        (Code::Internal, "INTERNAL", &[], is(500, "INTERNAL")),
    ] {
        let answer = refusing(code, reason, metadata).get(PATH).await;
        assert_eq!(refused(&answer), expected, "{reason}");
        for (key, value) in metadata {
            assert_eq!(answer.json()["details"][*key], *value);
        }
    }
}

#[tokio::test]
async fn the_method_is_looked_at_before_the_credential() {
    let face = Face::asking(|_| panic!("nothing is asked"));
    for path in [PATH.to_owned(), format!("{WEBHOOK}{PATH}")] {
        for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let request = Request::builder().method(method).uri(&path).header("host", "localhost");
            let answer = face.send(request).await;
            assert_eq!(refused(&answer), is(405, "METHOD_NOT_ALLOWED"), "{method}");
            assert_eq!(answer.header("allow"), Some("GET, HEAD"));
        }
    }
}
