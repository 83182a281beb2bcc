use crate::double::{Face, initialize, modern, post};
use crate::tool_list::BUILT_IN;

const LIST: &str = r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#;
const TOLD: &str = r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#;
const A: &str = r#"{"name":"s__a","inputSchema":{}}"#;

#[tokio::test]
async fn the_requests_of_a_batch_are_answered_in_order_and_nothing_else_is() {
    let face = Face::new(&[A]);
    let session = face.session("2025-03-26").await;
    let unknown = r#"{"jsonrpc":"2.0","id":2,"method":"no/such"}"#;
    let answer = session.send(&format!("[{PING},{TOLD},{LIST},7,{unknown}]")).await;
    let expected = format!(
        r#"[{{"jsonrpc":"2.0","id":1.0,"result":{{}}}},{{"jsonrpc":"2.0","id":"l","result":{{"tools":[{A},{BUILT_IN}]}}}},{{"jsonrpc":"2.0","id":null,"error":{{"code":-32600,"message":"a message must be an object"}}}},{{"jsonrpc":"2.0","id":2,"error":{{"code":-32601,"message":"method not found: no/such"}}}}]"#
    );
    assert_eq!((answer.status.as_u16(), answer.text), (200, expected));
    let told = session.send(&format!("[{TOLD},{TOLD}]")).await;
    assert_eq!((told.status.as_u16(), told.text.as_str()), (202, ""));
}

#[tokio::test]
async fn a_batch_is_bounded_and_not_empty() {
    let face = Face::new(&[]);
    let session = face.session("2025-03-26").await;
    assert_eq!(session.send("[]").await.refused(), (400, -32600));
    let batch = |count: usize| format!("[{}]", vec![PING; count].join(","));
    assert_eq!(session.send(&batch(64)).await.status, 200);
    assert_eq!(session.send(&batch(65)).await.refused(), (400, -32600));
}

#[tokio::test]
async fn other_revisions_have_no_batches_and_none_opens_a_session() {
    let face = Face::new(&[]);
    for revision in ["2025-11-25", "2025-06-18", "2024-11-05"] {
        let session = face.session(revision).await;
        assert_eq!(session.send(&format!("[{PING}]")).await.refused(), (400, -32600), "{revision}");
    }
    let stateless = face.send(modern("tools/list"), format!("[{PING}]")).await;
    assert_eq!(stateless.refused(), (400, -32600));
    assert!(stateless.text.contains("batches belong to revision 2025-03-26"), "{}", stateless.text);
    let opening = format!("[{}]", initialize("2025-03-26"));
    assert_eq!(face.send(post(), opening.clone()).await.refused(), (400, -32600));
    let session = face.session("2025-03-26").await;
    assert_eq!(session.send(&opening).await.json()[0]["error"]["code"], -32601);
}
