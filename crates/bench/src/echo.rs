//! An upstream that does as little as one can: MCP of revision 2026-07-28 with one tool that tells what it was sent.

use axum::{Router, http::header::CONTENT_TYPE, response::IntoResponse, routing::post};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpListener;

/// The upstream's own name of its tool.
pub(crate) const TOOL: &str = "echo";

const DISCOVERED: &str = r#"{"resultType":"complete","ttlMs":3600000,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
const LISTED: &str = r#"{"resultType":"complete","ttlMs":3600000,"cacheScope":"private","tools":[{"name":"echo","description":"Tells what it was sent.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}"#;

#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// Serves until the process is ended, and says where.
#[expect(clippy::print_stdout, reason = "the load reads where to go")]
pub(crate) async fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
    println!("{}", listener.local_addr().expect("a bound socket has an address"));
    axum::serve(listener, Router::new().route("/mcp", post(answer))).await.expect("accepting never fails");
}

async fn answer(body: Bytes) -> impl IntoResponse {
    let asked: Asked<'_> = serde_json::from_slice(&body).expect("the load and the gateway send JSON-RPC");
    let id = asked.id.map_or("null", RawValue::get);
    let result = match asked.method {
        "server/discover" => DISCOVERED.to_owned(),
        "tools/list" => LISTED.to_owned(),
        _ => {
            let sent = asked.params.and_then(|params| params.arguments).map_or("{}", RawValue::get);
            format!(r#"{{"resultType":"complete","content":[],"structuredContent":{sent}}}"#)
        }
    };
    ([(CONTENT_TYPE, "application/json")], format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}
