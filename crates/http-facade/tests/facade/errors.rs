use std::time::Duration;

use http::{Method, Request};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::double::{Answer, Face, PATH, get};

fn failing(code: Code, reason: &'static str, metadata: &[(&str, &str)]) -> Face {
    let metadata = metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let details = ErrorDetails::with_error_info(
        reason,
        "toolgate.dev",
        metadata.collect::<std::collections::HashMap<_, _>>(),
    );
    Face::new(move |_| Err(Status::with_error_details(code, "in the service's words", details.clone())))
}

async fn refused(face: Face) -> (u16, String, Answer) {
    let answer = face.get(PATH).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("etag"), None);
    assert!(answer.header("x-correlation-id").is_some());
    (answer.status.as_u16(), answer.text().to_owned(), answer)
}

#[tokio::test]
async fn a_missing_credential_is_challenged() {
    let (status, body, answer) = refused(failing(Code::Unauthenticated, "CREDENTIAL_MISSING", &[])).await;
    let expected = r#"{"error":"UNAUTHORIZED","message":"send a valid key as `authorization: Bearer`","details":{"reason":"CREDENTIAL_MISSING"}}"#;
    assert_eq!((status, body.as_str()), (401, expected));
    assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer "));
}

#[tokio::test]
async fn a_lacking_scope_is_named() {
    let (status, body, answer) =
        refused(failing(Code::PermissionDenied, "SCOPE_MISSING", &[("scope", "mcp:read")])).await;
    let expected = r#"{"error":"FORBIDDEN","message":"in the service's words","details":{"reason":"SCOPE_MISSING","scope":"mcp:read"}}"#;
    assert_eq!((status, body.as_str()), (403, expected));
    let challenge = r#"Bearer error="insufficient_scope", scope="mcp:read""#;
    assert_eq!(answer.header("www-authenticate"), Some(challenge));
}

#[tokio::test]
async fn an_unknown_upstream_is_no_such_tool_server() {
    let (status, body, _) = refused(failing(Code::NotFound, "UPSTREAM_NOT_FOUND", &[])).await;
    let expected =
        r#"{"error":"NOT_FOUND","message":"No such tool server","details":{"reason":"UPSTREAM_NOT_FOUND"}}"#;
    assert_eq!((status, body.as_str()), (404, expected));
}

#[tokio::test]
async fn a_server_that_cannot_answer_now_says_when_to_come_back() {
    let face = Face::new(|_| {
        let details = ErrorDetails::with_retry_info(Some(Duration::from_millis(2500)));
        Err(Status::with_error_details(Code::Unavailable, "store at 10.0.0.9 is down", details))
    });
    let (status, body, answer) = refused(face).await;
    let expected = r#"{"error":"UNAVAILABLE","message":"cannot be answered now; try again"}"#;
    assert_eq!((status, body.as_str()), (503, expected));
    assert_eq!(answer.header("retry-after"), Some("3"));
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_tells_nothing() {
    let (status, body, _) = refused(Face::new(|_| panic!("secret"))).await;
    assert_eq!((status, body.as_str()), (500, r#"{"error":"INTERNAL","message":"a fault of the server"}"#));
}

#[tokio::test]
async fn other_methods_are_told_which_ones_there_are() {
    let face = Face::holding(Vec::new());
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY"] {
        let answer = face.send(get(PATH).method(method)).await;
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.headers.get_all("allow").iter().collect::<Vec<_>>(), ["GET, HEAD"]);
        assert_eq!(answer.json()["error"], "METHOD_NOT_ALLOWED");
    }
    assert!(face.calls().is_empty());
}

#[tokio::test]
async fn an_unknown_path_is_not_found() {
    let face = Face::holding(Vec::new());
    for target in ["/", "/client/mcp/tools/", "/client/mcp", "/Client/mcp/tools", "//client/mcp/tools"] {
        let answer = face.get(target).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["error"]), (404, &"NOT_FOUND".into()), "{target}");
    }
    let head = face.send(Request::builder().method(Method::HEAD).uri("/x").header("host", "localhost")).await;
    assert_eq!((head.status.as_u16(), head.body.len()), (404, 0));
}
