//! `GET /client/mcp/tools`: the documented shape, written out here once more and compared byte for byte.

use toolgate_api_proto::v1::{DisableToolRequest, Effect, Tool, ToolState, ToolStatus};
use toolgate_test_support::{
    mcp_server::ScriptedServer,
    server::{Answer, Server},
};

use crate::steps::{
    approve, approve_all, entry, page, register, sync, tool, tools, upstream, with_scopes, with_scripted,
};

const ROUTE: &str = "/client/mcp/tools";

/// What the route answers for these tools of the gRPC service.
fn expected(tools: &[Tool]) -> String {
    format!(r#"{{"data":[{}]}}"#, tools.iter().map(expected_tool).collect::<Vec<_>>().join(","))
}

fn expected_tool(tool: &Tool) -> String {
    let members = [
        ("id", text(&tool.id)),
        ("clientId", text(&tool.client_id)),
        ("upstreamId", text(&tool.upstream_id)),
        ("name", text(&tool.name)),
        ("definition", tool.definition_json.clone()),
        ("definitionHash", text(&tool.definition_hash)),
        ("approvedHash", tool.approved_hash.as_deref().map_or("null".into(), text)),
        ("status", word(tool.status().as_str_name(), "TOOL_STATUS_")),
        ("removedAt", time(tool.remove_time)),
        ("effectOverride", "null".into()),
        ("effect", word(tool.effect().as_str_name(), "EFFECT_")),
        ("createdAt", time(tool.create_time)),
        ("updatedAt", time(tool.update_time)),
        ("namespacedName", text(&tool.namespaced_name)),
        ("state", word(tool.state().as_str_name(), "TOOL_STATE_")),
        ("fixedArgs", "null".into()),
        ("descriptionOverride", "null".into()),
        ("lockIssues", "[]".into()),
    ];
    let members = members.map(|(name, value)| format!(r#""{name}":{value}"#));
    format!("{{{}}}", members.join(","))
}

fn text(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn word(name: &str, prefix: &str) -> String {
    text(&name.trim_start_matches(prefix).to_lowercase())
}

/// Always with milliseconds.
fn time(time: Option<prost_types::Timestamp>) -> String {
    let Some(time) = time else { return "null".into() };
    let shown = time.to_string();
    text(&if shown.contains('.') { shown } else { shown.replace('Z', ".000Z") })
}

fn envelope(answer: &Answer) -> (u16, String, String) {
    assert_eq!(answer.header("content-type"), "application/json");
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    let member = |name: &str| body[name].as_str().unwrap().to_owned();
    (answer.status, member("error"), member("message"))
}

#[tokio::test]
async fn every_member_of_every_tool_is_that_of_the_grpc_answer() {
    let tricky = concat!(
        r#"{"name":"tricky \u0022name\u0022","description":"two\r\nlines, \u202e and é","inputSchema":{"#,
        r#""type":"object", "properties":{"n":{"default":1.0,"maximum":12345678901234567890123}}},"#,
        r#""annotations":{"readOnlyHint":true},"x-unknown":{"b":[1e2],"a":null}}"#
    );
    let entries =
        [tricky.to_owned(), entry("drifting", "d"), entry("gone", "d"), entry("off", "d"), entry("ok", "d")];
    let (server, scripted) = with_scripted(&entries).await;
    approve_all(&server, &["srv__tricky \"name\"", "srv__drifting", "srv__gone", "srv__ok"]).await;
    let off = DisableToolRequest { id: tool(&server, "srv__off").await.id, ..Default::default() };
    server.governance().disable_tool(off).await.unwrap();
    scripted.list(&[tricky.to_owned(), entry("drifting", "other"), entry("off", "d"), entry("ok", "d")]);
    sync(&server, "srv").await;

    let tools = tools(&server).await;
    let mut states: Vec<_> = tools.iter().map(Tool::state).collect();
    states.sort();
    let all =
        [ToolState::Served, ToolState::Removed, ToolState::Disabled, ToolState::Drifted, ToolState::BadName];
    assert_eq!(states, all);
    assert!(tools.iter().any(|tool| tool.status() == ToolStatus::Disabled));
    assert!(tools.iter().any(|tool| tool.effect() == Effect::Reads && tool.definition_json == tricky));

    let answer = server.get(ROUTE, &[]).await;
    assert_eq!((answer.status, answer.text()), (200, expected(&tools).as_str()));
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("cache-control"), "private, no-cache");
    assert!(!answer.header("x-toolgate-revision").is_empty());
    assert!(!answer.header("x-correlation-id").is_empty());
}

#[tokio::test]
async fn one_upstream_can_be_asked_for_and_an_unknown_one_is_not_found() {
    let (server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    let second = ScriptedServer::start().await;
    second.list(&[entry("b", "d")]);
    register(&server, "two", &second.url()).await;
    sync(&server, "two").await;
    let all = tools(&server).await;
    assert_eq!(server.get(ROUTE, &[]).await.text(), expected(&all));
    let id = upstream(&server, "two").await.id;
    for id in [id.clone(), id.to_uppercase()] {
        let of_one = server.get(&format!("{ROUTE}?upstreamId={id}&unknown=x"), &[]).await;
        assert_eq!(of_one.text(), expected(&all[1..]));
    }

    let unknown = server.get(&format!("{ROUTE}?upstreamId=01890000-0000-7000-8000-000000000000"), &[]).await;
    assert_eq!(envelope(&unknown), (404, "NOT_FOUND".into(), "No such tool server".into()));
    for query in
        ["upstreamId=two".to_owned(), "upstreamId=".to_owned(), format!("upstreamId={id}&upstreamId={id}")]
    {
        let bad = envelope(&server.get(&format!("{ROUTE}?{query}"), &[]).await);
        assert_eq!((bad.0, bad.1.as_str()), (400, "VALIDATION_ERROR"), "{query}");
    }
}

#[tokio::test]
async fn the_route_takes_a_key_with_the_right_to_read() {
    let server = Server::start().await;
    let nobody = server.as_nobody().get(ROUTE, &[]).await;
    assert_eq!((nobody.status, envelope(&nobody).1.as_str()), (401, "UNAUTHORIZED"));
    assert_eq!(nobody.header("www-authenticate"), r#"Bearer realm="toolgate""#);
    let wrong = server.as_key("tg_wrong").get(ROUTE, &[]).await;
    assert_eq!((wrong.status, envelope(&wrong).1.as_str()), (401, "UNAUTHORIZED"));
    let agent = with_scopes(&server, &["mcp:call"]).await.get(ROUTE, &[]).await;
    assert_eq!((agent.status, envelope(&agent).1.as_str()), (403, "FORBIDDEN"));
    assert_eq!(agent.header("www-authenticate"), r#"Bearer error="insufficient_scope", scope="mcp:read""#);
    assert_eq!(with_scopes(&server, &["mcp:read"]).await.get(ROUTE, &[]).await.status, 200);
}

#[tokio::test]
async fn head_answers_as_get_without_a_body_and_other_methods_are_told_what_is_allowed() {
    let (server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    let (get, head) = (server.get(ROUTE, &[]).await, server.operator().request("HEAD", ROUTE, &[]).await);
    assert_eq!((head.status, head.body.len()), (200, 0));
    for name in ["content-type", "content-length", "etag", "x-toolgate-revision", "cache-control", "vary"] {
        assert_eq!(head.header(name), get.header(name), "{name}");
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let answer = server.operator().request(method, ROUTE, &[]).await;
        assert_eq!((answer.status, answer.header("allow")), (405, "GET, HEAD"), "{method}");
        assert_eq!(envelope(&answer).1, "METHOD_NOT_ALLOWED");
    }
    let elsewhere = envelope(&server.get("/client/mcp", &[]).await);
    assert_eq!((elsewhere.0, elsewhere.1.as_str()), (404, "NOT_FOUND"));
}

#[tokio::test]
async fn an_etag_saves_the_body_until_an_approval_moves_it() {
    let (server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    let first = server.get(ROUTE, &[]).await;
    let etag = first.header("etag");
    assert!(etag.starts_with('"') && etag.ends_with('"'), "{etag}");
    for held in [etag.to_owned(), format!("\"other\", W/{etag}"), "*".to_owned()] {
        let answer = server.get(ROUTE, &[("if-none-match", &held)]).await;
        assert_eq!((answer.status, answer.body.len(), answer.header("etag")), (304, 0, etag), "{held}");
    }
    approve_all(&server, &["srv__a"]).await;
    let moved = server.get(ROUTE, &[("if-none-match", etag)]).await;
    assert_eq!((moved.status, moved.text()), (200, expected(&tools(&server).await).as_str()));
    assert_ne!(moved.header("etag"), etag);
}

#[tokio::test]
async fn a_revision_carried_from_grpc_reads_ones_own_write() {
    let (server, _scripted) = with_scripted(&[entry("a", "d")]).await;
    let a = tool(&server, "srv__a").await;
    for _ in 0..20 {
        let request =
            toolgate_api_proto::v1::RevokeToolApprovalRequest { id: a.id.clone(), ..Default::default() };
        let written = server.governance().revoke_tool_approval(request).await.unwrap().into_inner().revision;
        let read = server.get(ROUTE, &[("x-toolgate-min-revision", &written)]).await;
        assert!(read.text().contains(r#""state":"unapproved""#), "{}", read.text());
        let served = approve(&server, &a).await.unwrap();
        let read = server.get(ROUTE, &[]).await;
        assert_eq!(read.text(), expected(&[served]));
    }
    let alien = server.get(ROUTE, &[("x-toolgate-min-revision", "nonsense")]).await;
    assert_eq!((alien.status, envelope(&alien).1.as_str()), (400, "VALIDATION_ERROR"));
}

#[tokio::test]
async fn a_web_page_that_names_another_host_is_not_answered() {
    let server = Server::builder().env("TOOLGATE_ALLOWED_HOSTS", "tools.example").start().await;
    let misdirected = server.get(ROUTE, &[("host", "evil.example")]).await;
    assert_eq!((misdirected.status, envelope(&misdirected).1.as_str()), (421, "MISDIRECTED_REQUEST"));
    let foreign = server.get(ROUTE, &[("origin", "https://evil.example")]).await;
    assert_eq!((foreign.status, envelope(&foreign).1.as_str()), (403, "FORBIDDEN"));
    for host in ["tools.example", "localhost:1", "127.0.0.1"] {
        assert_eq!(server.get(ROUTE, &[("host", host)]).await.status, 200, "{host}");
    }
    assert_eq!(server.get(ROUTE, &[("origin", "http://localhost:3000")]).await.status, 200);
}

#[tokio::test]
async fn law_13_the_same_question_gives_the_same_bytes_after_a_restart_too() {
    let names: Vec<_> = (0..50).map(|n| entry(&format!("t{n}"), "d")).collect();
    let (mut server, _scripted) = with_scripted(&names).await;
    approve_all(&server, &["srv__t3", "srv__t4"]).await;
    let over_http = server.get(ROUTE, &[]).await;
    let over_grpc = first_page(&server).await;
    assert!(!over_grpc.next_page_token.is_empty());
    for restarts in [false, true] {
        if restarts {
            server.restart().await;
        }
        let again = server.get(ROUTE, &[]).await;
        assert_eq!(again.body, over_http.body);
        for name in ["etag", "x-toolgate-revision"] {
            assert_eq!(again.header(name), over_http.header(name), "{name}");
        }
        assert_eq!(first_page(&server).await, over_grpc);
    }
}

async fn first_page(server: &Server) -> toolgate_api_proto::v1::ListToolsResponse {
    let request = toolgate_api_proto::v1::ListToolsRequest { page_size: 20, ..Default::default() };
    page(&server.operator(), request).await.unwrap()
}
