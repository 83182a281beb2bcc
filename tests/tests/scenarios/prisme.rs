//! `GET /v1/agents/{agentId}/tools/{toolId}/capabilities` against the running server and servers that it asks.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use toolgate_api_proto::v1::{
    CreateApiKeyRequest, CreateUpstreamRequest, Effect, HttpTransport, NamePolicy, ToolState,
    create_upstream_request::Transport,
};
use toolgate_test_support::{
    mcp_server::{Reply, ScriptedServer},
    server::{Answer, OPERATOR_KEY, Server},
};

use crate::{
    installed::Installed,
    mcp_endpoint::definitions,
    real_servers::{CONNECT_TIMEOUT, PATIENT_MS, everything_over_http, list_raw},
    report,
    steps::{approve_all, entry, register, states, sync, tool, with_scopes},
};

const WEBHOOKS: &str = "/v2/workspaces/slug:agent-factory/webhooks";

fn route(agent: &str, tool: &str) -> String {
    format!("/v1/agents/{agent}/tools/{tool}/capabilities")
}

/// Attaches `srv` to a new agent, `support`.
async fn attach(server: &Server) {
    server.cli(&["agent", "create", "support"]).await.succeeded();
    server.cli(&["agent", "attach", "support", "srv"]).await.succeeded();
}

/// A server, with a scripted one attached to `support` as `srv`.
async fn attached(entries: &[String]) -> (Server, ScriptedServer) {
    let (server, scripted) = crate::steps::with_scripted(entries).await;
    attach(&server).await;
    (server, scripted)
}

/// The members of a good answer.
fn body(answer: &Answer) -> Map<String, Value> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_slice(&answer.body).unwrap()
}

async fn capabilities(server: &Server) -> Map<String, Value> {
    body(&server.get(&route("support", "srv"), &[]).await)
}

/// Status and code of an error.
async fn refused(server: &Server, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
    error(&server.get(path, headers).await)
}

fn error(answer: &Answer) -> (u16, String) {
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    assert!(body["message"].is_string() && !answer.header("x-correlation-id").is_empty(), "{body}");
    (answer.status, body["error"].as_str().unwrap().to_owned())
}

fn is(status: u16, error: &str) -> (u16, String) {
    (status, error.to_owned())
}

#[tokio::test]
async fn server_everything_is_told_as_it_lists_itself_and_none_of_it_is_ruled_on() {
    let Some(installed) = Installed::find("server-everything in the Prisme shape") else { return };
    let (_child, url) = everything_over_http(&installed).await;
    let server = Server::builder().env(CONNECT_TIMEOUT, PATIENT_MS).start().await;
    register(&server, "srv", &url).await;
    sync(&server, "srv").await;
    attach(&server).await;
    let raw = list_raw(&installed, &["http", &url]).await.entries;
    for prefix in ["", WEBHOOKS] {
        let answer = server.get(&format!("{prefix}{}", route("support", "srv")), &[]).await;
        let body = body(&answer);
        assert!(body.keys().eq(["items", "status"]), "{:?}", body.keys());
        assert_eq!(body["status"], "ok");
        let items = body["items"].as_array().unwrap();
        assert!(!raw.is_empty() && items.len() == raw.len());
        for (item, raw) in items.iter().zip(&raw) {
            check(item, &serde_json::from_str(raw).unwrap());
        }
    }
    let all = states(&server).await;
    assert!(all.iter().all(|(_, state)| *state == ToolState::Unapproved));
    report(&format!("Prisme: server-everything, {} tools as it lists them itself", raw.len()));
}

/// An item against the entry that it was made of.
fn check(item: &Value, raw: &Value) {
    let members = item.as_object().unwrap();
    let known = ["name", "canonical_name", "description", "inputSchema", "annotations"];
    assert!(members.keys().all(|name| known.contains(&name.as_str())), "{item}");
    assert_eq!(item["name"], raw["name"]);
    assert_eq!(item["canonical_name"], format!("srv__{}", raw["name"].as_str().unwrap()));
    assert_eq!(members.get("description"), raw.get("description"));
    assert_eq!(members.get("inputSchema"), raw.get("inputSchema"));
    assert_eq!(item["annotations"], *raw.get("annotations").unwrap_or(&Value::Null));
}

/// BR-057
#[tokio::test]
async fn a_server_that_wants_a_credential_says_so_in_every_place_and_loses_no_tool() {
    let (server, scripted) = attached(&[entry("a", "d")]).await;
    approve_all(&server, &["srv__a"]).await;
    let folder = tempfile::tempdir().unwrap();
    let headers = folder.path().join("headers");
    std::fs::write(&headers, "Authorization: Bearer hunter2-hunter2\n").unwrap();
    server.cli(&["upstream", "update", "srv", "--header-file", headers.to_str().unwrap()]).await.succeeded();
    sync(&server, "srv").await;
    let challenge = r#"Bearer resource_metadata="https://up.example/.well-known/oauth-protected-resource/mcp", scope="tools.read", error="invalid_token""#;
    let refusal = Reply::status(401, "").header("www-authenticate", challenge);
    scripted.reply_to_everything(refusal);
    let before = scripted.received().len();
    let answer = server.get(&route("support", "srv"), &[]).await;
    assert_eq!(answer.text(), r#"{"status":"auth_required","items":[]}"#);
    let live = server.cli(&["tool", "live", "support", "srv"]).await;
    assert_eq!(live.code, Some(6));
    assert!(live.stderr.contains("credential"), "{}", live.stderr);
    let asked = scripted.received().len() - before;
    assert!((2..=4).contains(&asked), "one attempt a question: {asked} requests");

    let failed = server.cli(&["upstream", "sync", "srv", "--wait"]).await;
    assert_eq!(failed.code, Some(6));
    let shown = server.cli(&["upstream", "show", "srv"]).await.succeeded();
    for part in ["401", "oauth-protected-resource/mcp", "tools.read"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(states(&server).await, [("srv__a".to_owned(), ToolState::Served)]);
    for told in [answer.text(), &live.stderr, &shown, &server.log()] {
        assert!(!told.contains("hunter2") && !told.contains("parse"), "{told}");
    }
}

#[tokio::test]
async fn a_server_that_fails_is_an_answer_and_no_error() {
    let limits = [("TOOLGATE_SYNC_ANSWER_TIMEOUT_MS", "300"), ("TOOLGATE_SYNC_CONNECT_TIMEOUT_MS", "300")];
    let builder = limits.iter().fold(Server::builder(), |builder, (name, value)| builder.env(name, value));
    let server = builder.start().await;
    let scripted = ScriptedServer::start().await;
    let page = format!("[{}]", entry("a", "d"));
    scripted.pages(&[(&page, Some(r#""2""#)), (&format!("[{}]", entry("b", "d")), None)]);
    let slugs = ["ok", "rpc", "page", "status", "words", "hang"];
    server.cli(&["agent", "create", "support"]).await.succeeded();
    for slug in slugs {
        register(&server, slug, &scripted.url()).await;
        sync(&server, slug).await;
        server.cli(&["agent", "attach", "support", slug]).await.succeeded();
    }
    let told = async |slug: &str| body(&server.get(&route("support", slug), &[]).await);
    assert_eq!(told("ok").await["items"].as_array().unwrap().len(), 2);
    let unavailable = async |slug: &str| {
        let body = told(slug).await;
        assert_eq!((&body["status"], &body["items"]), (&"unavailable".into(), &Value::Array(Vec::new())));
        body["error"].as_str().unwrap().to_owned()
    };
    scripted.reply("tools/list", Reply::error(-32_000, "no quota at 10.0.0.7:80"));
    assert_eq!(unavailable("rpc").await, "The server answered with an error: no quota at [address]");
    scripted.recover();
    scripted.reply_once("tools/list", Reply::result(&format!(r#"{{"tools":{page},"nextCursor":"2"}}"#)));
    scripted.reply("tools/list", Reply::status(500, ""));
    assert_eq!(unavailable("page").await, "The server answered with an HTTP error.");
    scripted.fail(503, "");
    assert_eq!(unavailable("status").await, "The server answered with an HTTP error.");
    scripted.reply_to_everything(Reply::json("hello"));
    assert_eq!(unavailable("words").await, "The server's answer is not MCP.");
    scripted.hang();
    let begun = Instant::now();
    assert_eq!(unavailable("hang").await, "The server did not answer in time.");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(told("ok").await["status"], "ok", "what is kept needs no server");
}

#[tokio::test]
async fn each_refusal_has_its_code_and_they_come_in_their_order() {
    let (server, _scripted) = attached(&[entry("a", "d")]).await;
    let attach = ["agent", "attach", "support", "--function", "sum"];
    server.cli(&attach).await.succeeded();
    let request = CreateApiKeyRequest {
        scopes: vec!["mcp:call".into()],
        agent_id: "support".into(),
        ..Default::default()
    };
    let bound = server.governance().create_api_key(request).await.unwrap().into_inner().secret;
    let (found, nobodys) = (route("support", "srv"), route("nobody", "srv"));
    let long = (route(&"x".repeat(65), "srv"), route("support", &"x".repeat(129)));

    let anyone = server.as_nobody();
    for method in ["POST", "PUT", "DELETE"] {
        let answer = anyone.request(method, &nobodys, &[]).await;
        assert_eq!((error(&answer), answer.header("allow")), (is(405, "METHOD_NOT_ALLOWED"), "GET, HEAD"));
    }
    for path in [&found, &nobodys, &long.0, &format!("{WEBHOOKS}{found}")] {
        assert_eq!(error(&anyone.get(path, &[]).await), is(401, "UNAUTHORIZED"));
    }
    for caller in [server.as_key(&bound), with_scopes(&server, &["mcp:call", "mcp:write"]).await] {
        assert_eq!(error(&caller.get(&nobodys, &[]).await), is(404, "AgentNotFound"));
        for tool in ["srv", "none", "sum"] {
            assert_eq!(error(&caller.get(&route("support", tool), &[]).await), is(403, "FORBIDDEN"));
        }
    }
    assert_eq!(refused(&server, &nobodys, &[]).await, is(404, "AgentNotFound"));
    assert_eq!(refused(&server, &route("support", "none"), &[]).await, is(404, "ToolNotFound"));
    let not_mcp = server.get(&route("support", "sum"), &[]).await;
    assert_eq!(error(&not_mcp), is(400, "VALIDATION_ERROR"));
    assert!(not_mcp.text().contains(r#""type":"function""#), "{}", not_mcp.text());
    for path in [&long.0, &long.1] {
        assert_eq!(refused(&server, path, &[]).await, is(400, "VALIDATION_ERROR"));
    }
    let reader = with_scopes(&server, &["mcp:read"]).await;
    assert_eq!(body(&reader.get(&found, &[]).await)["status"], "ok");
    let head = server.operator().request("HEAD", &found, &[]).await;
    assert_eq!((head.status, head.body.len(), head.header("cache-control")), (200, 0, "no-store"));
}

#[tokio::test]
async fn a_key_of_ours_is_good_in_either_header_and_one_of_an_organisation_in_neither() {
    let (server, _scripted) = attached(&[entry("a", "d")]).await;
    let anyone = server.as_nobody();
    let get = async |headers: &[(&str, &str)]| anyone.get(&route("support", "srv"), headers).await;
    let bearer = format!("Bearer {OPERATOR_KEY}");
    for headers in [
        &[("authorization", bearer.as_str())][..],
        &[("x-prismeai-api-key", OPERATOR_KEY)],
        &[("authorization", &bearer), ("x-prismeai-api-key", OPERATOR_KEY)],
    ] {
        assert_eq!(body(&get(headers).await)["status"], "ok");
    }
    for headers in [
        &[("authorization", "Bearer iak_acme_01")][..],
        &[("x-prismeai-api-key", "iak_acme_01")],
        &[("x-prismeai-api-key", "tg_wrong")],
        &[("x-prismeai-api-key", "")],
        &[("authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.e30.x")],
        &[("authorization", "Bearer at:user")],
        &[("authorization", &bearer), ("x-prismeai-api-key", "tg_other")],
    ] {
        assert_eq!(error(&get(headers).await), is(401, "UNAUTHORIZED"), "{headers:?}");
    }
}

/// BR-103
#[tokio::test]
async fn what_is_written_in_a_path_is_data_and_is_decoded_once() {
    let (server, _scripted) = attached(&[entry("a", "d")]).await;
    assert_eq!(body(&server.get(&route("%73upport", "sr%76"), &[]).await)["status"], "ok");
    for tool in ["files__read%2Ffile", "x%3Ay", "%E6%97%A5", "a%2500b", "..%2f..%2fadmin", "sr%2576"] {
        assert_eq!(refused(&server, &route("support", tool), &[]).await, is(404, "ToolNotFound"), "{tool}");
        assert_eq!(refused(&server, &route(tool, "srv"), &[]).await, is(404, "AgentNotFound"), "{tool}");
    }
    for path in [route("support", "%FF"), route("%FF", "srv")] {
        assert_eq!(refused(&server, &path, &[]).await, is(400, "VALIDATION_ERROR"));
    }
}

/// BR-083
#[tokio::test]
async fn annotations_are_told_as_they_are_listed_and_never_made_up() {
    let listed = [
        ("a", r#","annotations":{"title":"A","readOnlyHint":true}"#, Effect::Reads),
        ("b", r#","annotations":{}"#, Effect::Changes),
        ("c", "", Effect::Changes),
        ("d", r#","annotations":null"#, Effect::Changes),
        ("e", r#","annotations":{"readOnlyHint":"yes","destructiveHint":false,"vendor":1}"#, Effect::Changes),
    ];
    let text = |name: &str, annotations: &str| {
        format!(
            r#"{{"name":"{name}","description":"d","inputSchema":{{"type":"object","properties":{{}}}}{annotations}}}"#
        )
    };
    let entries = listed.map(|(name, annotations, _)| text(name, annotations));
    let (server, _scripted) = attached(&entries).await;
    approve_all(&server, &["srv__a", "srv__b", "srv__c", "srv__d", "srv__e"]).await;

    let over_mcp = definitions(&server.operator()).await;
    let body = server.get(&route("support", "srv"), &[]).await;
    for (place, (name, annotations, effect)) in listed.into_iter().enumerate() {
        let tool = tool(&server, &format!("srv__{name}")).await;
        assert_eq!((tool.definition_json, tool.effect), (text(name, annotations), effect.into()));
        assert_eq!(over_mcp[place], text(&format!("srv__{name}"), annotations));
        let shown = if annotations.is_empty() { r#","annotations":null"# } else { annotations };
        let item = text(name, shown).replace(
            &format!(r#""name":"{name}""#),
            &format!(r#""name":"{name}","canonical_name":"srv__{name}""#),
        );
        assert!(body.text().contains(&item), "{item}");
    }
}

/// BR-087
#[tokio::test]
async fn the_list_is_the_same_bytes_until_the_server_lists_another() {
    let names = ["z", "a.b", "m", "a_b"];
    let entries = names.map(|name| {
        format!(r#"{{"name":"{name}","inputSchema":{{"properties":{{"z":{{}},"a":{{}}}},"type":"object"}}}}"#)
    });
    let scripted = ScriptedServer::start().await;
    scripted.list(&entries);
    let mut server = Server::builder().env("TOOLGATE_SERVER_TOOLS_KEEP_SECONDS", "0").start().await;
    let http = HttpTransport { url: scripted.url(), allow_private: true, ..Default::default() };
    let request = CreateUpstreamRequest {
        slug: "srv".into(),
        name_policy: NamePolicy::Repair.into(),
        transport: Some(Transport::Http(http)),
        ..Default::default()
    };
    server.governance().create_upstream(request).await.unwrap();
    sync(&server, "srv").await;
    attach(&server).await;
    let asked = scripted.received_for("tools/list").len();
    let first = server.get(&route("support", "srv"), &[]).await;
    for _ in 0..49 {
        assert_eq!(server.get(&route("support", "srv"), &[]).await.body, first.body);
    }
    assert_eq!(scripted.received_for("tools/list").len() - asked, 50, "each was asked for");
    server.restart().await;
    assert_eq!(server.get(&route("support", "srv"), &[]).await.body, first.body);
    assert!(first.text().contains(r#""inputSchema":{"properties":{"z":{},"a":{}},"type":"object"}"#));

    let (turned, body) = (entries.iter().rev().collect::<Vec<_>>(), body(&first));
    scripted.list(&turned);
    let mut again = capabilities(&server).await;
    again["items"].as_array_mut().unwrap().reverse();
    assert_eq!(again, body, "the order is the server's, and every tool keeps its name");
}

#[tokio::test]
async fn a_server_of_each_users_own_is_not_asked_and_one_may_say_whose_it_is_at_the_command_line() {
    let scripted = ScriptedServer::start().await;
    scripted.list(&[entry("a", "d")]);
    let server = Server::start().await;
    let url = scripted.url();
    let add = ["upstream", "add", "srv", "--url", &url, "--allow-private", "--auth", "per-user"];
    server.cli(&add).await.succeeded();
    attach(&server).await;
    let synced = server.cli(&["upstream", "sync", "srv", "--wait"]).await;
    assert_eq!(synced.code, Some(0));
    assert!(synced.stderr.contains("not synced"), "{}", synced.stderr);
    assert_eq!(capabilities(&server).await["status"], "auth_required");
    assert_eq!(scripted.received().len(), 0);
    let shown = server.cli(&["upstream", "show", "srv"]).await.succeeded();
    assert!(shown.contains("per_user"), "{shown}");

    server.cli(&["upstream", "update", "srv", "--auth", "none"]).await.succeeded();
    let live = server.cli(&["--json", "tool", "live", "support", "srv"]).await.succeeded();
    let live: Value = serde_json::from_str(&live).unwrap();
    assert_eq!(live["status"], "SERVER_TOOLS_STATUS_OK");
    assert_eq!(live["tools"][0]["canonicalName"], "srv__a");
    let wrong = server.cli(&["upstream", "update", "srv", "--auth", "static"]).await;
    assert_eq!(wrong.code, Some(2));
}
