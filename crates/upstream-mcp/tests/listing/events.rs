use toolgate_test_support::mcp_server::{Reply, ScriptedServer};
use toolgate_upstream::ListingError;

use super::{A, assert_complete, assert_protocol_error, list};

/// BR-051.
#[tokio::test]
async fn both_kinds_of_answer_are_offered_and_event_streams_are_read() {
    let server = ScriptedServer::start().await;
    server.list(&[A]);
    server.answer_as_events();
    assert_complete(list(&server).await, &[A]);
    for request in server.received() {
        assert_eq!(request.headers["accept"], "application/json, text/event-stream");
        assert_eq!(request.headers["content-type"], "application/json");
    }
}

/// BR-051.
#[tokio::test]
async fn what_comes_before_the_answer_in_a_stream_is_passed_over_and_data_lines_are_joined() {
    let server = ScriptedServer::start().await;
    let stream = format!(
        ": keep-alive\n\nid: 1\nretry: 500\ndata:\n\nevent: message\n\
         data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"info\"}}}}\n\n\
         event: other\ndata: {{\"id\":$ID,\"result\":{{\"tools\":[]}}}}\n\n\
         event: message\ndata: {{\"jsonrpc\":\"2.0\",\"id\":$ID,\ndata: \"result\":{{\"tools\":[{A}]}}}}\n\n"
    );
    server.reply("tools/list", Reply::events(&stream));
    assert_complete(list(&server).await, &[A]);
}

/// BR-045.
#[tokio::test]
async fn a_stream_with_carriage_returns_is_read_and_those_inside_strings_are_kept() {
    let entry = r#"{"name":"a","description":"l1\r\nl2","inputSchema":{}}"#;
    let server = ScriptedServer::start().await;
    for end in ["\r\n", "\r"] {
        let stream = format!("data: {{\"id\":$ID,\"result\":{{\"tools\":[{entry}]}}}}{end}{end}");
        server.reply("tools/list", Reply::events(&stream));
        assert_complete(list(&server).await, &[entry]);
    }
}

/// BR-089.
#[tokio::test]
async fn a_foreign_id_in_a_stream_is_not_the_answer_and_a_text_id_is() {
    let server = ScriptedServer::start().await;
    let stream = format!(
        "data: {{\"id\":77,\"result\":{{\"tools\":[]}}}}\n\ndata: {{\"id\":\"$ID\",\"result\":{{\"tools\":[{A}]}}}}\n\n"
    );
    server.reply("tools/list", Reply::events(&stream));
    assert_complete(list(&server).await, &[A]);
}

/// BR-089.
#[tokio::test]
async fn a_document_or_a_stream_without_our_answer_is_an_error_at_once() {
    let server = ScriptedServer::start().await;
    server.reply("tools/list", Reply::json(r#"{"jsonrpc":"2.0","id":77,"result":{"tools":[]}}"#));
    assert_protocol_error(list(&server).await, "its id is not ours");
    server.reply("tools/list", Reply::events("data: {\"id\":77,\"result\":{\"tools\":[]}}\n\n"));
    assert_protocol_error(list(&server).await, "ended before the answer");
}

#[tokio::test]
async fn a_ping_in_a_stream_is_answered() {
    let server = ScriptedServer::start().await;
    let stream = format!(
        "data: {{\"id\":\"p1\",\"method\":\"ping\"}}\n\ndata: {{\"id\":9,\"method\":\"roots/list\"}}\n\n\
         data: {{\"id\":$ID,\"result\":{{\"tools\":[{A}]}}}}\n\n"
    );
    server.reply("tools/list", Reply::events(&stream));
    assert_complete(list(&server).await, &[A]);
    let answers: Vec<_> = server.received_for("").into_iter().map(|request| request.body).collect();
    assert_eq!(answers[0], r#"{"jsonrpc":"2.0","id":"p1","result":{}}"#);
    assert!(answers[1].contains(r#""id":9,"error":{"code":-32601"#));
}

/// BR-041.
#[tokio::test]
async fn an_ambiguous_envelope_is_refused() {
    let server = ScriptedServer::start().await;
    for envelope in [
        r#"{"id":$ID,"result":{"tools":[]},"result":{"tools":[1]}}"#,
        r#"{"id":$ID,"result":{"tools":[],"tools":[1]}}"#,
    ] {
        server.reply("tools/list", Reply::json(envelope));
        assert!(matches!(list(&server).await, Err(ListingError::Protocol(_))));
    }
}

#[tokio::test]
async fn a_text_that_is_not_utf_8_is_refused() {
    let server = ScriptedServer::start().await;
    server.reply("tools/list", Reply::bytes(&b"{\"id\":2,\"result\":{\"tools\":[\"\xff\"]}}"[..]));
    assert_protocol_error(list(&server).await, "UTF-8");
}
