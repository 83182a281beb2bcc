use std::time::Duration;

use axum::body::BodyDataStream;
use http::Request;
use tokio::time::{Instant, timeout};
use tonic::{Code, Status};
use toolgate_api_proto::v1::{ToolChange, ToolView, WatchToolsResponse};

use crate::double::{Face, KEY, event, failing, modern, request};

const CHANGED: &str =
    "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}";
const COMMENT: &str = ":";

fn group(changes: usize, revision: &str) -> Result<WatchToolsResponse, Status> {
    Ok(WatchToolsResponse { changes: vec![ToolChange::default(); changes], revision: revision.into() })
}

async fn listen(face: &Face, filter: &str) -> BodyDataStream {
    let body = request("subscriptions/listen", &format!(r#""notifications":{filter}"#))
        .replace(r#""id":1"#, r#""id":"l-\u0031""#);
    let opened = face.open(modern("subscriptions/listen"), body).await;
    assert_eq!(opened.status(), 200);
    assert_eq!(opened.headers()["content-type"], "text/event-stream");
    assert_eq!(opened.headers()["x-accel-buffering"], "no");
    opened.into_body().into_data_stream()
}

async fn in_session(face: &Face) -> BodyDataStream {
    let session = face.session("2025-11-25").await;
    let get = Request::get("/mcp").header("host", "localhost").header("authorization", KEY);
    let get = get.header("accept", "text/event-stream").header("mcp-session-id", &session.id);
    face.open(get, "").await.into_body().into_data_stream()
}

#[tokio::test]
async fn a_subscription_is_acknowledged_first_and_then_told_of_changes_under_its_id() {
    let face = Face::new(&[]);
    let mut stream = listen(&face, r#"{"toolsListChanged":true,"promptsListChanged":true}"#).await;
    let meta = r#""_meta":{"io.modelcontextprotocol/subscriptionId":"l-\u0031"}"#;
    let acknowledged = format!(
        "event: message\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{{{meta},\"notifications\":{{\"toolsListChanged\":true}}}}}}"
    );
    assert_eq!(event(&mut stream).await, Some(acknowledged));
    let (watch, told) = face.watch();
    assert_eq!((watch.view(), watch.resume_revision.as_str()), (ToolView::Served, "r0"));
    told.send(group(1, "r1")).await.unwrap();
    let changed = format!(
        "event: message\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{{{meta}}}}}"
    );
    assert_eq!(event(&mut stream).await, Some(changed));
    told.send(Err(failing(Code::Unavailable, "DRAINING"))).await.unwrap();
    let closed = format!(
        "event: message\ndata: {{\"jsonrpc\":\"2.0\",\"id\":\"l-\\u0031\",\"result\":{{\"resultType\":\"complete\",{meta}}}}}"
    );
    assert_eq!(event(&mut stream).await, Some(closed), "a server that stops says so");
    assert_eq!(event(&mut stream).await, None);
}

#[tokio::test]
async fn a_subscription_to_nothing_that_is_offered_is_told_nothing() {
    let face = Face::new(&[]);
    for filter in ["{}", r#"{"toolsListChanged":false}"#, r#"{"resourceSubscriptions":["file:///x"]}"#] {
        let mut stream = listen(&face, filter).await;
        assert!(event(&mut stream).await.unwrap().contains(r#""notifications":{}"#));
        let (_, told) = face.watch();
        told.send(group(1, "r1")).await.unwrap();
        assert_eq!(event(&mut stream).await.as_deref(), Some(COMMENT));
    }
    for filter in ["[]", r#"{"toolsListChanged":"yes"}"#, r#"{"toolsListChanged":null}"#] {
        let body = request("subscriptions/listen", &format!(r#""notifications":{filter}"#));
        assert_eq!(
            face.send(modern("subscriptions/listen"), body).await.refused(),
            (400, -32602),
            "{filter}"
        );
    }
}

#[tokio::test]
async fn progress_becomes_a_comment_and_a_group_in_parts_is_told_once() {
    let face = Face::new(&[]);
    let mut stream = in_session(&face).await;
    let (_, told) = face.watch();
    told.send(group(0, "r0")).await.unwrap();
    assert_eq!(event(&mut stream).await.as_deref(), Some(COMMENT));
    told.send(group(5, "")).await.unwrap();
    told.send(group(5, "")).await.unwrap();
    told.send(group(0, "r1")).await.unwrap();
    assert_eq!(event(&mut stream).await.as_deref(), Some(CHANGED));
}

#[tokio::test(start_paused = true)]
async fn notices_keep_their_distance() {
    let face = Face::new(&[]);
    let mut stream = in_session(&face).await;
    let (_, told) = face.watch();
    let begun = Instant::now();
    for revision in ["r1", "r2", "r3"] {
        told.send(group(1, revision)).await.unwrap();
    }
    assert_eq!(event(&mut stream).await.as_deref(), Some(CHANGED));
    assert!(begun.elapsed() < Duration::from_millis(10), "the first comes at once");
    event(&mut stream).await.unwrap();
    event(&mut stream).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(1000));
}

#[tokio::test]
async fn a_watch_that_fell_behind_goes_on_where_it_was() {
    let face = Face::new(&[]);
    let mut stream = in_session(&face).await;
    let (_, told) = face.watch();
    told.send(group(1, "r7")).await.unwrap();
    assert_eq!(event(&mut stream).await.as_deref(), Some(CHANGED));
    told.send(Err(failing(Code::Unavailable, "WATCH_LAGGED"))).await.unwrap();
    assert!(timeout(Duration::from_secs(1), event(&mut stream)).await.is_err(), "nothing is said of it");
    let (watch, told) = face.watch();
    assert_eq!(watch.resume_revision, "r7");
    told.send(group(1, "r8")).await.unwrap();
    assert_eq!(event(&mut stream).await.as_deref(), Some(CHANGED));
}

#[tokio::test]
async fn a_watch_whose_past_is_forgotten_goes_on_from_now_and_tells_that_something_changed() {
    let face = Face::new(&[]);
    let mut stream = in_session(&face).await;
    let (_, told) = face.watch();
    told.send(Err(failing(Code::OutOfRange, "WATCH_EXPIRED"))).await.unwrap();
    assert!(timeout(Duration::from_millis(200), event(&mut stream)).await.is_err());
    let (watch, told) = face.watch();
    assert_eq!(watch.resume_revision, "r0");
    told.send(group(0, "r0")).await.unwrap();
    assert_eq!(event(&mut stream).await.as_deref(), Some(CHANGED));
}

#[tokio::test]
async fn a_stream_ends_with_its_credential_and_without_a_word() {
    let face = Face::new(&[]);
    for reason in ["CREDENTIAL_INVALID", "INTERNAL"] {
        let mut stream = in_session(&face).await;
        let (_, told) = face.watch();
        told.send(Err(failing(Code::Unauthenticated, reason))).await.unwrap();
        assert_eq!(event(&mut stream).await, None, "{reason}");
    }
    *face.double.refusal.lock().unwrap() = Some(failing(Code::Unauthenticated, "CREDENTIAL_INVALID"));
    let body = request("subscriptions/listen", r#""notifications":{}"#);
    assert_eq!(face.send(modern("subscriptions/listen"), body).await.refused(), (401, 401));
}

#[tokio::test]
async fn the_watch_ends_when_the_listener_goes_away() {
    let face = Face::new(&[]);
    let stream = in_session(&face).await;
    let (_, told) = face.watch();
    drop(stream);
    told.closed().await;
}
