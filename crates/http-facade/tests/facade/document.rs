//! `/openapi.json` beside what the routes really do.

use std::collections::BTreeSet;

use http::Request;
use http::request::Builder;
use serde_json::Value;
use tonic::{Code, Status};
use toolgate_api_proto::v1::ServerToolsStatus;
use toolgate_http_facade::{MAX_CALL_BODY_BYTES, Route};

use crate::contract::{Contract, PATH};
use crate::double::{self, Answer, Face, get, tool};
use crate::{melbis, oxp, oxp_call, prisme};

/// What a read may be answered by.
const CODES: [Code; 8] = [
    Code::InvalidArgument,
    Code::Unauthenticated,
    Code::PermissionDenied,
    Code::NotFound,
    Code::ResourceExhausted,
    Code::Unavailable,
    Code::DeadlineExceeded,
    Code::Internal,
];

#[tokio::test]
async fn everybody_is_told_and_who_holds_it_is_told_so() {
    let face = Face::holding(Vec::new());
    let bare = || Request::get(PATH).header("host", "localhost");
    let full = face.send(bare()).await;
    assert_eq!((full.status.as_u16(), full.header("content-type")), (200, Some("application/json")));
    assert_eq!(full.header("cache-control"), Some("no-cache"));
    let etag = full.header("etag").unwrap();
    let held = face.send(bare().header("if-none-match", etag)).await;
    assert_eq!((held.status.as_u16(), held.body.len(), held.header("etag")), (304, 0, Some(etag)));
    assert_eq!(held.header("content-length"), None);
    let coded = face.send(bare().header("accept-encoding", "gzip")).await;
    assert_eq!(coded.header("etag").unwrap(), format!("W/{etag}"));
    assert!(coded.body.starts_with(&[0x1f, 0x8b]) && coded.header("content-encoding") == Some("gzip"));
    let head = face.send(bare().method("HEAD")).await;
    assert_eq!((head.status.as_u16(), head.body.len(), &head.headers), (200, 0, &full.headers));
    assert!(face.calls().is_empty());
}

#[tokio::test]
async fn it_bears_the_version_of_the_server() {
    let contract = Contract::read().await;
    assert_eq!(contract.0["info"]["version"], env!("CARGO_PKG_VERSION"));
}

#[tokio::test]
async fn it_has_the_paths_that_are_routed_and_no_other() {
    let routed = Route::ALL.iter().map(|route| route.path()).chain(toolgate_mcp_face::PATHS);
    assert_eq!(Contract::read().await.paths(), routed.collect());
}

#[tokio::test]
async fn every_method_is_documented_or_answered_by_those_that_are() {
    let (contract, face) = (Contract::read().await, Face::holding(Vec::new()));
    for path in contract.paths() {
        let documented = contract.methods(path);
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"] {
            let answer = face.send(get(&target(path)).method(method)).await;
            assert_eq!(answer.status == 405, !documented.contains(method), "{method} {path}");
            if answer.status == 405 {
                let allowed = answer.header("allow").unwrap().split(',').map(|name| name.trim().to_owned());
                assert_eq!(allowed.collect::<BTreeSet<_>>(), documented, "{method} {path}");
            }
        }
    }
}

/// A path with something in place of each parameter.
fn target(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with('{') { "a" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_component_is_used_and_every_reference_leads_somewhere() {
    fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
        found.extend(value["$ref"].as_str());
        match value {
            Value::Object(members) => members.values().for_each(|value| references(value, found)),
            Value::Array(elements) => elements.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let contract = Contract::read().await;
    let mut found = BTreeSet::new();
    references(&contract.0, &mut found);
    let mut standing = BTreeSet::new();
    for (kind, components) in contract.0["components"].as_object().unwrap() {
        standing
            .extend(components.as_object().unwrap().keys().map(|name| format!("#/components/{kind}/{name}")));
    }
    standing.retain(|place| !place.contains("/securitySchemes/"));
    assert_eq!(found, standing.iter().map(String::as_str).collect());
}

/// BR-105: no shape has a number of ours in it, 64 bits wide or less; what stands as JSON text keeps its own numbers.
#[tokio::test]
async fn the_only_number_of_ours_is_the_code_of_a_json_rpc_error() {
    fn numbers(value: &Value, place: &str, found: &mut Vec<String>) {
        if matches!(value["type"].as_str(), Some("integer" | "number")) {
            found.push(place.to_owned());
        }
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(name, value)| numbers(value, &format!("{place}/{name}"), found));
            }
            Value::Array(elements) => elements.iter().for_each(|value| numbers(value, place, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    numbers(&Contract::read().await.0["components"]["schemas"], "", &mut found);
    assert_eq!(found, ["/JsonRpcError/properties/error/properties/code"]);
}

/// The answers of one operation, each held against the document; together they have every documented status.
struct Operation<'a> {
    contract: &'a Contract,
    method: &'a str,
    path: &'a str,
    answered: BTreeSet<u16>,
}

impl<'a> Operation<'a> {
    fn new(contract: &'a Contract, method: &'a str, path: &'a str) -> Self {
        Self { contract, method, path, answered: BTreeSet::new() }
    }

    fn ask(&self) -> Builder {
        get(&target(self.path)).method(self.method)
    }

    async fn send(&mut self, face: &Face, request: Builder, body: &str) -> Answer {
        let answer = face.send_with(request, body.to_owned()).await;
        self.contract.check(self.method, self.path, &answer);
        self.answered.insert(answer.status.as_u16());
        answer
    }

    /// What the guard before every route refuses.
    async fn send_past_the_guard(&mut self, face: &Face) {
        self.send(face, self.ask().header("host", "localhost"), "").await;
        self.send(face, self.ask().header("origin", "https://evil.example"), "").await;
        let elsewhere = Request::builder().method(self.method).uri(self.path).header("host", "evil.example");
        self.send(face, elsewhere, "").await;
    }

    fn end(self) {
        let documented = self.contract.statuses(self.method, self.path);
        assert_eq!(self.answered, documented, "{} {}", self.method, self.path);
    }
}

#[tokio::test]
async fn lists_answer_every_documented_status_and_no_other() {
    let tools = Face::holding(vec![tool(r#"{"name":"a"}"#)]);
    check_list(double::PATH, &tools, |code| Face::new(move |_| Err(Status::new(code, "words")))).await;
    let definitions = oxp::holding(vec![oxp::full()]);
    check_list(oxp::TOOLS, &definitions, |code| Face::defining(move |_| Err(Status::new(code, "words"))))
        .await;
    let units = melbis::holding(vec![melbis::unit()]);
    check_list(melbis::PATH, &units, |code| Face::telling(move |_| Err(Status::new(code, "words")))).await;
}

#[tokio::test]
async fn capabilities_answer_every_documented_status_and_no_other() {
    let contract = Contract::read().await;
    for path in prisme::PATHS {
        let mut capabilities = Operation::new(&contract, "GET", path);
        let face = prisme::telling(ServerToolsStatus::Ok, vec![prisme::full(), prisme::bare()]);
        capabilities.send_past_the_guard(&face).await;
        for status in [ServerToolsStatus::Ok, ServerToolsStatus::AuthRequired, ServerToolsStatus::Unavailable]
        {
            let face = prisme::telling(status, Vec::new());
            capabilities.send(&face, capabilities.ask(), "").await;
        }
        capabilities.send(&face, capabilities.ask(), "").await;
        for code in CODES {
            let face = Face::asking(move |_| Err(Status::new(code, "words")));
            capabilities.send(&face, capabilities.ask(), "").await;
        }
        // Documented with the method that it is not.
        capabilities.send(&face, capabilities.ask().method("POST"), "").await;
        capabilities.end();
    }
}

async fn check_list(path: &str, face: &Face, failing: impl Fn(Code) -> Face) {
    let contract = Contract::read().await;
    let mut list = Operation::new(&contract, "GET", path);
    list.send_past_the_guard(face).await;
    list.send(face, list.ask(), "").await;
    list.send(face, list.ask().header("if-none-match", "*"), "").await;
    for code in CODES {
        list.send(&failing(code), list.ask(), "").await;
    }
    list.end();
}

#[tokio::test]
async fn open_routes_answer_every_documented_status_and_no_other() {
    let contract = Contract::read().await;
    for path in [PATH, "/health"].into_iter().chain(toolgate_mcp_face::PATHS.into_iter().skip(1)) {
        let face = Face::holding(Vec::new());
        let mut open = Operation::new(&contract, "GET", path);
        open.send_past_the_guard(&face).await;
        open.send(&face, open.ask(), "").await;
        if path == PATH {
            open.send(&face, open.ask().header("if-none-match", "*"), "").await;
        }
        if path == "/health" {
            open.send(&Face::of_process(|| false), open.ask(), "").await;
        }
        open.end();
    }
}

#[tokio::test]
async fn calls_answer_every_documented_status_and_no_other() {
    let contract = Contract::read().await;
    let mut call = Operation::new(&contract, "POST", oxp_call::CALL);
    let json = |operation: &Operation<'_>| operation.ask().header("content-type", "application/json");
    let face = oxp_call::answering(r#"{"structuredContent":[1.0]}"#);
    call.send_past_the_guard(&face).await;
    call.send(&face, call.ask(), oxp_call::BODY).await;
    call.send(&face, json(&call), oxp_call::BODY).await;
    call.send(&oxp_call::answering(r#"{"isError":true}"#), json(&call), oxp_call::BODY).await;
    call.send(&face, json(&call), &" ".repeat(MAX_CALL_BODY_BYTES + 1)).await;
    let misfit =
        oxp_call::refusal(Code::InvalidArgument, "ARGUMENTS_MISFIT", &[("arguments_json/n", "is x")]);
    call.send(&oxp_call::refusing(misfit), json(&call), oxp_call::BODY).await;
    for code in CODES {
        call.send(&oxp_call::refusing(Status::new(code, "words")), json(&call), oxp_call::BODY).await;
    }
    call.end();
}

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
const UNKNOWN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

#[tokio::test]
async fn the_mcp_endpoint_answers_every_documented_status_and_no_other() {
    let (contract, face) = (Contract::read().await, Face::holding(Vec::new()));
    let mut post = Operation::new(&contract, "POST", toolgate_mcp_face::PATH);
    let json = |operation: &Operation<'_>| operation.ask().header("content-type", "application/json");
    post.send_past_the_guard(&face).await;
    let session = post.send(&face, json(&post), INITIALIZE).await;
    let session = session.header("mcp-session-id").unwrap();
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    post.send(&face, json(&post).header("mcp-session-id", session), notification).await;
    let stateless = json(&post).header("mcp-protocol-version", "2026-07-28").header("mcp-method", "x");
    post.send(&face, stateless, UNKNOWN).await;
    post.send(&face, json(&post).header("accept", "text/html"), INITIALIZE).await;
    post.send(&face, json(&post), &" ".repeat(toolgate_mcp_face::MAX_REQUEST_BYTES + 1)).await;
    post.send(&face, post.ask().header("content-type", "text/plain"), INITIALIZE).await;

    let mut follow = Operation::new(&contract, "GET", toolgate_mcp_face::PATH);
    follow.send_past_the_guard(&face).await;
    let in_session = |operation: &Operation<'_>, id: &str| operation.ask().header("mcp-session-id", id);
    follow.send(&face, in_session(&follow, session), "").await;
    follow.send(&face, in_session(&follow, "x"), "").await;
    follow.send(&face, in_session(&follow, session).header("accept", "text/html"), "").await;
    follow.send(&face, follow.ask().header("mcp-protocol-version", "2026-07-28"), "").await;

    for code in CODES {
        let face = Face::new(move |_| Err(Status::new(code, "words")));
        post.send(&face, json(&post), INITIALIZE).await;
        follow.send(&face, in_session(&follow, session), "").await;
    }
    post.end();
    follow.end();
}
