use axum::body::Body;
use http::{Method, Request};

use crate::double::{Face, KEY, META, initialize, modern, post, request};

#[tokio::test]
async fn what_is_no_message_is_refused_by_its_code() {
    let face = Face::new(&[]);
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{}{}}}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("{}{}", -32700),
        ("tru", -32700),
        ("\u{feff}{}", -32700),
        (r#"{"a":"\ud800"}"#, -32700),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"x"}"#, -32600),
        (&deep, -32600),
        ("7", -32600),
        ("null", -32600),
        ("{}", -32600),
        (r#"{"id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#, -32602),
    ] {
        assert_eq!(face.send(post(), body.to_owned()).await.refused(), (400, code), "{body:.80}");
    }
    assert_eq!(face.send(post(), Body::from(vec![b'"', 0xff, b'"'])).await.refused(), (400, -32700));
    let long_id = request("tools/list", "").replace(r#""id":1"#, &format!(r#""id":"{}""#, "x".repeat(2000)));
    assert_eq!(face.send(modern("tools/list"), long_id).await.refused(), (400, -32600));
}

#[tokio::test]
async fn an_error_bears_the_requests_id_where_there_is_one() {
    let face = Face::new(&[]);
    for (body, id) in [
        (r#"{"jsonrpc":"1.0","id":"a","method":"x"}"#, serde_json::json!("a")),
        (r#"{"jsonrpc":"2.0","id":7,"method":"x","params":7}"#, serde_json::json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"x"}"#, serde_json::json!(7)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, serde_json::Value::Null),
        ("{", serde_json::Value::Null),
    ] {
        assert_eq!(face.send(post(), body).await.json()["id"], id, "{body}");
    }
}

#[tokio::test]
async fn only_json_is_taken_and_only_up_to_a_bound() {
    let face = Face::new(&[]);
    let typed = |media_type: &str| {
        let mut request = modern("tools/list");
        request.headers_mut().unwrap().insert("content-type", media_type.parse().unwrap());
        request
    };
    for media_type in ["text/plain", "application/x-www-form-urlencoded", "application/json-seq"] {
        assert_eq!(face.send(typed(media_type), request("tools/list", "")).await.refused(), (415, 415));
    }
    let with_charset = typed("application/json; charset=utf-8");
    assert_eq!(face.send(with_charset, request("tools/list", "")).await.status, 200);
    let padded = |bytes: usize| format!("{}{}", request("tools/list", ""), " ".repeat(bytes));
    assert_eq!(face.send(modern("tools/list"), padded(1 << 20)).await.refused(), (413, 413));
    assert_eq!(face.send(modern("tools/list"), padded(1 << 19)).await.status, 200);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_not_said_to_be_too_large() {
    let face = Face::new(&[]);
    let parts = [Ok(request("tools/list", "")), Err(std::io::Error::other("the connection is gone"))];
    let broken = Body::from_stream(futures::stream::iter(parts));
    assert_eq!(face.send(modern("tools/list"), broken).await.refused(), (400, 400));
}

#[tokio::test]
async fn an_answer_that_the_client_would_not_read_is_not_sent() {
    let face = Face::new(&[]);
    let accepting = |method: &str, accept: &str| {
        let mut request = modern(method);
        request.headers_mut().unwrap().insert("accept", accept.parse().unwrap());
        request
    };
    let listen = || request("subscriptions/listen", r#""notifications":{}"#);
    for (accept, json, events) in [
        ("text/html", 406, 406),
        ("application/json", 200, 406),
        ("text/event-stream", 406, 200),
        ("*/*", 200, 200),
    ] {
        let listed = face.send(accepting("tools/list", accept), request("tools/list", "")).await;
        assert_eq!(listed.status.as_u16(), json, "{accept}");
        let streamed = face.open(accepting("subscriptions/listen", accept), listen()).await;
        assert_eq!(streamed.status().as_u16(), events, "{accept}");
    }
    let mut opening = post();
    opening.headers_mut().unwrap().insert("accept", "text/html".parse().unwrap());
    assert_eq!(face.send(opening, initialize("2025-11-25")).await.refused(), (406, 406));
}

#[tokio::test]
async fn other_methods_are_told_which_ones_there_are() {
    let face = Face::new(&[]);
    for method in [Method::DELETE, Method::PUT, Method::PATCH, Method::OPTIONS, Method::HEAD, Method::TRACE] {
        let request = Request::builder().method(method.clone()).uri("/mcp").header("authorization", KEY);
        let answer = face.send(request.header("host", "localhost"), "").await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, Some("GET, POST")), "{method}");
    }
    assert!(face.lists().is_empty());
}

#[tokio::test]
async fn a_request_with_nothing_of_either_era_is_told_how_to_begin() {
    let face = Face::new(&[]);
    let bare = face.send(post(), r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    assert_eq!(bare.refused(), (400, -32600));
    let message = bare.json()["error"]["message"].to_string();
    assert!(message.contains("initialize") && message.contains("_meta"), "{message}");
    let in_meta = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{META}}}}}"#);
    assert_eq!(face.send(post(), in_meta).await.refused(), (400, -32020));
}
