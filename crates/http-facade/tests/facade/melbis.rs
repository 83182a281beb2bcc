//! `GET /tool_list`, as Melbis documents it.

use http::Request;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};
use toolgate_api_proto::v1::{ToolUnit, ToolUnitCommand, ToolUnitParam};

use crate::contract::{Contract, assert_valid};
use crate::double::{Answer, Face, UnitsCall, UnitsTold, get};

pub(crate) const PATH: &str = "/tool_list";
pub(crate) const ONE: &str = "/tool_list?unit=MCP_TASKS";

pub(crate) fn unit() -> ToolUnit {
    ToolUnit {
        unit: "MCP_TASKS".to_owned(),
        path: "Business -> Scheduler".to_owned(),
        description: "Tasks\nand \"notes\".".to_owned(),
        may: vec!["CmdAdd".to_owned()],
        also: vec!["CmdDrop".to_owned(), "a.b".to_owned()],
        upstream_id: "019c1b2a-0000-7000-8000-000000000002".to_owned(),
    }
}

fn command() -> ToolUnitCommand {
    let param = ToolUnitParam {
        name: "kind.key".to_owned(),
        r#type: "int/null".to_owned(),
        required: true,
        default: "\"\"".to_owned(),
        description: "of it".to_owned(),
    };
    ToolUnitCommand {
        name: "CmdAdd".to_owned(),
        may: true,
        description: "Adds.".to_owned(),
        params: vec![param],
    }
}

fn told(units: &[ToolUnit]) -> UnitsTold {
    UnitsTold { etag: "e1", units: units.to_vec(), commands: vec![command()], ..UnitsTold::default() }
}

/// Over a catalogue that holds these, the first of them with one command.
pub(crate) fn holding(units: Vec<ToolUnit>) -> Face {
    Face::telling(move |_| Ok(told(&units)))
}

fn failing(code: Code, reason: &'static str) -> Face {
    Face::telling(move |_| {
        let details =
            ErrorDetails::with_error_info(reason, "toolgate.dev", [("scope".into(), "mcp:read".into())]);
        Err(Status::with_error_details(code, "in the service's words", details))
    })
}

/// Status and line of a refusal, which is text and no more.
fn refused(answer: &Answer) -> (u16, &str) {
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    (answer.status.as_u16(), answer.text())
}

const LIST: &str = concat!(
    r#"{"grant":"Sales -> Tools","tools":{"columns":["unit","path","descr","may","also"],"#,
    r#""rows":[["MCP_TASKS","Business -> Scheduler","Tasks\nand \"notes\".",["CmdAdd"],["CmdDrop","a.b"]]]}}"#
);
const UNIT: &str = concat!(
    r#"{"unit":"MCP_TASKS","path":"Business -> Scheduler","descr":"Tasks\nand \"notes\".","#,
    r#""commands":[{"name":"CmdAdd","may":true,"descr":"Adds.","params":{"columns":["name","type","required","default","descr"],"#,
    r#""rows":[["kind.key","int/null",true,"\"\"","of it"]]},"files":null}]}"#
);

#[tokio::test]
async fn the_body_is_the_documented_list_or_unit() {
    let face = holding(vec![unit()]);
    for target in [PATH, "/tool_list?unit=", "/tool_list?x=1"] {
        let list = face.get(target).await;
        assert_eq!((list.status.as_u16(), list.text()), (200, LIST), "{target}");
        assert_eq!(list.header("content-type"), Some("application/json"));
        assert_eq!(list.header("vary"), Some("authorization, accept-encoding"));
        assert_eq!(list.header("x-toolgate-hint"), None);
    }
    let one = face.get(ONE).await;
    assert_eq!((one.status.as_u16(), one.text()), (200, UNIT));
    let call = |unit: Option<&str>| UnitsCall {
        unit: unit.map(str::to_owned),
        if_none_match: String::new(),
        min_revision: String::new(),
        authorization: Some("Bearer tg_1_secret".to_owned()),
        whole: true,
    };
    let calls = face.units_calls();
    assert_eq!((&calls[0], calls.last()), (&call(None), Some(&call(Some("MCP_TASKS")))));
    assert_eq!(calls.len(), 4, "each request is one call");
}

#[tokio::test]
async fn an_empty_list_comes_with_a_hint_and_no_other_answer_does() {
    let empty =
        r#"{"grant":"Sales -> Tools","tools":{"columns":["unit","path","descr","may","also"],"rows":[]}}"#;
    let face = holding(Vec::new());
    for _ in ["made", "kept"] {
        let answer = face.get(PATH).await;
        assert_eq!(answer.text(), empty);
        assert!(answer.header("x-toolgate-hint").unwrap().contains("toolgate upstream add"));
        let coded = face.send(get(PATH).header("accept-encoding", "gzip")).await;
        assert!(
            coded.header("x-toolgate-hint").is_some() && coded.header("content-encoding") == Some("gzip")
        );
    }
    assert_eq!(face.units_calls().last().unwrap().if_none_match, "e1");
}

#[tokio::test]
async fn an_unknown_unit_is_denied_in_the_documented_line() {
    let face = failing(Code::NotFound, "UPSTREAM_NOT_FOUND");
    for (query, name) in [("MCP_NONE", "MCP_NONE"), ("mcp_%3Cb%3E+%C3%BC", "mcp_<b> ü"), ("a%0Ab", "a\nb")] {
        let answer = face.get(&format!("/tool_list?unit={query}")).await;
        let line = format!("ACCESS_DENIED: no such tool: {name}");
        assert_eq!(refused(&answer), (403, &*line));
    }
}

#[tokio::test]
async fn a_key_without_the_right_is_denied_in_the_documented_line() {
    let line = "ACCESS_DENIED: reading the AI tools takes the [AGENT_TOOL_LIST] right of the store - in the program that right is AI Assistant -> Tools -> Get list";
    for target in [PATH, ONE] {
        let answer = failing(Code::PermissionDenied, "SCOPE_MISSING").get(target).await;
        assert_eq!(refused(&answer), (403, line));
        let challenge = answer.header("www-authenticate").unwrap();
        assert_eq!(challenge, r#"Bearer error="insufficient_scope", scope="mcp:read""#);
    }
}

#[tokio::test]
async fn every_other_refusal_is_a_line_too() {
    for (code, reason, status, line) in [
        (
            Code::Unauthenticated,
            "CREDENTIAL_MISSING",
            401,
            "UNAUTHORIZED: send a valid key as `authorization: Bearer`",
        ),
        (Code::InvalidArgument, "FIELD_INVALID", 400, "VALIDATION_ERROR: in the service's words"),
        (Code::ResourceExhausted, "LIMIT_EXCEEDED", 429, "LIMIT_EXCEEDED: in the service's words"),
        (Code::Unavailable, "DRAINING", 503, "UNAVAILABLE: cannot be answered now; try again"),
        (Code::Internal, "INTERNAL", 500, "INTERNAL: a fault of the server"),
    ] {
        for target in [PATH, ONE] {
            let answer = failing(code, reason).get(target).await;
            assert_eq!(refused(&answer), (status, line));
            assert_eq!(answer.header("www-authenticate").is_some(), status == 401);
        }
    }
    let face = holding(vec![unit()]);
    let twice = face.get("/tool_list?unit=MCP_A&unit=MCP_B").await;
    assert_eq!(refused(&twice), (400, "VALIDATION_ERROR: unit: send it once"));
    let posted = face.send(Request::post(PATH).header("host", "localhost")).await;
    assert_eq!(refused(&posted), (405, "METHOD_NOT_ALLOWED: this route takes GET, HEAD"));
    assert_eq!(posted.header("allow"), Some("GET, HEAD"));
    assert!(face.units_calls().is_empty());
    let partial = Face::telling(|_| Ok(UnitsTold { next_page_token: "more".to_owned(), ..told(&[unit()]) }));
    assert_eq!(partial.get(PATH).await.status, 500);
    assert_eq!(partial.get(ONE).await.status, 500);
}

#[tokio::test]
async fn law_13_what_is_held_is_not_sent_again_and_the_grant_counts() {
    let face = holding(vec![unit()]);
    for target in [PATH, ONE] {
        let first = face.get(target).await;
        let etag = first.header("etag").unwrap();
        let held = face.send(get(target).header("if-none-match", etag)).await;
        assert_eq!((held.status.as_u16(), held.body.len(), held.header("etag")), (304, 0, Some(etag)));
        assert_eq!(held.header("x-toolgate-revision"), Some("r-e1"));
        assert_eq!(face.units_calls().last().unwrap().if_none_match, "e1", "in the service's own tag");
        let again = face.get(target).await;
        assert_eq!(
            (again.status.as_u16(), again.body, again.headers["etag"].clone()),
            (200, first.body, first.headers["etag"].clone())
        );
        // The service's tag alone is that of an answer with another grant.
        for other in ["\"e1\"", "\"e1.00000000\"", "\"e2\""] {
            assert_eq!(face.send(get(target).header("if-none-match", other)).await.status, 200, "{other}");
        }
    }
    assert_ne!(face.get(PATH).await.body, face.get(ONE).await.body);
    let fresh = holding(vec![unit()]);
    let held =
        fresh.send(get(PATH).header("if-none-match", face.get(PATH).await.header("etag").unwrap())).await;
    assert_eq!(held.status, 304, "on any replica");
}

#[tokio::test]
async fn head_answers_the_headers_of_get() {
    let face = holding(Vec::new());
    let full = face.get(PATH).await;
    let head = face.send(get(PATH).method("HEAD")).await;
    assert_eq!((head.status.as_u16(), head.body.len(), &head.headers), (200, 0, &full.headers));
}

#[tokio::test]
async fn every_answer_is_within_its_documented_schema() {
    let contract = Contract::read().await;
    let bare = ToolUnit { unit: "MCP_BARE".to_owned(), ..ToolUnit::default() };
    for units in [vec![], vec![unit(), bare]] {
        let face = holding(units.clone());
        let list = face.get(PATH).await;
        contract.check("GET", PATH, &list);
        assert_valid(&contract.component("ToolUnitList"), &list.json(), "the list");
        if !units.is_empty() {
            let one = face.get(ONE).await;
            contract.check("GET", PATH, &one);
            assert_valid(&contract.component("ToolUnit"), &one.json(), "the unit");
        }
    }
    contract.check("GET", PATH, &failing(Code::NotFound, "UPSTREAM_NOT_FOUND").get(ONE).await);
}
