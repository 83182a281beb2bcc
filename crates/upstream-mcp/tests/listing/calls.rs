use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;
use toolgate_outbound::{Outbound, Private};
use toolgate_test_support::eventually::eventually;
use toolgate_test_support::mcp_server::{Reply, ScriptedServer};
use toolgate_upstream::{
    CallAnswer, CallBounds, CallError, CallNotice, Endpoint, InputAnswers, ListingError, LogLevel,
    SessionKey, ToolCall, ToolCalls, ToolServers,
};
use toolgate_upstream_mcp::{McpServers, StdioAllow};

use super::{bounds, endpoint, servers};

const ARGUMENTS: &str = r#"{"n": 9007199254740993, "x":1.0,"s":"\u00e9","z":null}"#;

pub(super) fn call_bounds() -> CallBounds {
    CallBounds {
        connect_timeout: Duration::from_secs(20),
        total_timeout: Duration::from_secs(30),
        max_answer_bytes: 1 << 20,
    }
}

pub(super) fn call(shares: u8) -> ToolCall<'static> {
    ToolCall {
        name: "a",
        definition: r#"{"name":"a"}"#,
        arguments: ARGUMENTS,
        argument_headers: &[],
        shares: Some(SessionKey([shares; 16])),
        may_leave: &|| true,
        wants_progress: false,
        log_level: None,
        elicitation: None,
        answers: None,
        trace: None,
    }
}

async fn run(servers: &McpServers, server: &ScriptedServer, shares: u8) -> Result<CallAnswer, CallError> {
    servers.call_tool(&endpoint(server), &call(shares), &call_bounds(), &|_| {}).await
}

#[track_caller]
fn assert_echoes(answer: &CallAnswer) {
    let CallAnswer::Result(result) = answer else { panic!("{answer:?}") };
    assert!(result.contains(&format!(r#""structuredContent":{{"sent":{ARGUMENTS}}}"#)), "{result}");
    assert!(result.contains(r#""x-spelt":1.0"#), "{result}");
}

/// BR-079.
#[tokio::test]
async fn arguments_and_results_pass_as_they_are_spelt_in_both_eras() {
    let (older, newer) = (ScriptedServer::start().await, ScriptedServer::start().await);
    newer.speak_statelessly(&["2026-07-28"]);
    older.answer_as_events();
    let servers = servers();
    for server in [&older, &newer] {
        assert_echoes(&run(&servers, server, 1).await.unwrap());
    }
    let sent = newer.received_for("tools/call").remove(0);
    assert_eq!(sent.headers["mcp-method"], "tools/call");
    assert_eq!(sent.headers["mcp-name"], "a");
    assert_eq!(sent.headers["authorization"], "Bearer s3cret-token");
}

#[tokio::test]
async fn a_name_that_no_header_can_hold_is_wrapped() {
    let server = ScriptedServer::start().await;
    server.speak_statelessly(&["2026-07-28"]);
    for (name, header) in [
        ("naïve", "=?base64?bmHDr3Zl?="),
        (" a", "=?base64?IGE=?="),
        ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ("a b", "a b"),
    ] {
        let named = ToolCall { name, ..call(1) };
        servers().call_tool(&endpoint(&server), &named, &call_bounds(), &|_| {}).await.unwrap();
        let sent = server.received_for("tools/call").pop().unwrap();
        assert_eq!(sent.headers["mcp-name"], header);
        let body: Value = serde_json::from_str(&sent.body).unwrap();
        assert_eq!(body["params"]["name"], name);
    }
}

#[tokio::test]
async fn arguments_that_are_bound_to_headers_are_repeated_in_them_where_the_revision_has_them() {
    let (older, newer) = (ScriptedServer::start().await, ScriptedServer::start().await);
    newer.speak_statelessly(&["2026-07-28"]);
    let headers = [("Region", "eu west"), ("Name", "é"), ("Line", "a\r\nx-evil: 1"), ("Empty", "")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let bound = ToolCall { argument_headers: &headers, ..call(1) };
    let servers = servers();
    for server in [&older, &newer] {
        servers.call_tool(&endpoint(server), &bound, &call_bounds(), &|_| {}).await.unwrap();
    }
    let sent = newer.received_for("tools/call").remove(0).headers;
    for (name, value) in [
        ("mcp-param-region", "eu west"),
        ("mcp-param-name", "=?base64?w6k=?="),
        ("mcp-param-line", "=?base64?YQ0KeC1ldmlsOiAx?="),
        ("mcp-param-empty", ""),
    ] {
        assert_eq!(sent[name], value, "{name}");
    }
    let sent = older.received_for("tools/call").remove(0).headers;
    assert!(sent.keys().all(|name| !name.as_str().starts_with("mcp-param")), "{sent:?}");
}

#[tokio::test]
async fn calls_of_one_key_share_a_session_and_those_of_another_do_not() {
    let server = ScriptedServer::start().await;
    server.open_sessions();
    let servers = servers();
    for shares in [1, 1, 2, 1] {
        assert_echoes(&run(&servers, &server, shares).await.unwrap());
    }
    let sessions: Vec<_> = server.received_for("tools/call");
    let sessions: Vec<_> =
        sessions.iter().map(|sent| sent.headers["mcp-session-id"].to_str().unwrap()).collect();
    assert_eq!(sessions, ["session-1", "session-1", "session-2", "session-1"]);
    assert_eq!(server.received_for("server/discover").len(), 1, "an era is found out once");
}

#[tokio::test]
async fn a_call_that_shares_with_none_has_a_session_of_its_own_to_its_end() {
    let server = ScriptedServer::start().await;
    server.open_sessions();
    let servers = servers();
    let alone = ToolCall { shares: None, ..call(1) };
    for _ in 0..2 {
        let result = servers.call_tool(&endpoint(&server), &alone, &call_bounds(), &|_| {}).await;
        assert_echoes(&result.unwrap());
    }
    let session = |sent: &toolgate_test_support::mcp_server::Received| {
        sent.headers.get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned())
    };
    let called: Vec<_> = server.received_for("tools/call").iter().filter_map(session).collect();
    assert_eq!(called, ["session-1", "session-2"]);
    let ended = server.received().into_iter().filter(|sent| sent.method == "DELETE");
    assert_eq!(ended.filter_map(|sent| session(&sent)).collect::<Vec<_>>(), called);
}

#[tokio::test]
async fn a_call_that_was_withdrawn_is_not_sent() {
    let (older, newer) = (ScriptedServer::start().await, ScriptedServer::start().await);
    newer.speak_statelessly(&["2026-07-28"]);
    let servers = servers();
    let withdrawn = ToolCall { may_leave: &|| false, ..call(1) };
    for server in [&older, &newer] {
        let refused = servers.call_tool(&endpoint(server), &withdrawn, &call_bounds(), &|_| {}).await;
        assert!(!refused.unwrap_err().may_have_run);
        assert_eq!(server.received_for("tools/call").len(), 0);
    }
}

#[tokio::test]
async fn calls_at_once_open_one_session() {
    let server = ScriptedServer::start().await;
    server.open_sessions();
    let servers = servers();
    servers.list_tools(&endpoint(&server), &bounds()).await.unwrap();
    let before = server.received_for("initialize").len();
    let (one, other) = tokio::join!(run(&servers, &server, 1), run(&servers, &server, 1));
    assert_echoes(&one.unwrap());
    assert_echoes(&other.unwrap());
    assert_eq!(server.received_for("initialize").len(), before + 1);
}

/// BR-049.
#[tokio::test]
async fn a_forgotten_session_is_opened_anew_and_the_call_is_made_once() {
    let server = ScriptedServer::start().await;
    server.open_sessions();
    let servers = servers();
    run(&servers, &server, 1).await.unwrap();
    server.forget_sessions();
    assert_echoes(&run(&servers, &server, 1).await.unwrap());
    // The first, the one that was answered 404, and the one in the new session.
    assert_eq!(server.received_for("tools/call").len(), 3);
    assert_eq!(server.received_for("initialize").len(), 2);

    server.reply("tools/call", Reply::status(404, ""));
    let refused = run(&servers, &server, 1).await.unwrap_err();
    assert_eq!((refused.error, refused.may_have_run), (ListingError::Status(404), false));
}

#[tokio::test]
async fn it_is_told_whether_a_failed_call_may_have_run() {
    let server = ScriptedServer::start().await;
    let servers = servers();
    run(&servers, &server, 1).await.unwrap();
    for (reply, may_have_run) in [
        (Reply::error(-32602, "unknown tool"), false),
        (Reply::status(401, ""), false),
        (Reply::status(429, ""), false),
        (Reply::status(500, ""), true),
        (Reply::cut(r#"{"jsonrpc":"2.0""#), true),
        (Reply::json("{}"), true),
    ] {
        server.reply_once("tools/call", reply.clone());
        let error = run(&servers, &server, 1).await.unwrap_err();
        assert_eq!(error.may_have_run, may_have_run, "{reply:?}: {error:?}");
    }
    server.hang();
    let short = CallBounds { total_timeout: Duration::from_millis(100), ..call_bounds() };
    let error = servers.call_tool(&endpoint(&server), &call(1), &short, &|_| {}).await.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.may_have_run),
        ("timed out: the call took longer than 100 ms", true)
    );
    let error = servers.call_tool(&endpoint(&server), &call(2), &short, &|_| {}).await.unwrap_err();
    assert!(!error.may_have_run, "the handshake alone was sent: {error:?}");
}

#[tokio::test]
async fn an_answer_over_the_bound_is_not_read_on() {
    let server = ScriptedServer::start().await;
    server.reply("tools/call", Reply::flood());
    let error = run(&servers(), &server, 1).await.unwrap_err();
    assert!(matches!(error.error, ListingError::TooLarge(_)), "{error:?}");
}

#[tokio::test]
async fn progress_of_the_call_is_told_and_no_other() {
    let server = ScriptedServer::start().await;
    let progress = |token: &str, done: &str| {
        format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{token},\"progress\":{done},\"message\":\"a\"}}}}\n\n"
        )
    };
    let answer = "data: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[]}}\n\n";
    let log = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"data\":1}}\n\n";
    let stream =
        [log.to_owned(), progress("$ID", "0.50"), progress("99", "7"), progress("$ID", "1"), answer.into()]
            .concat();
    server.reply("tools/call", Reply::events(&stream));
    let told = Mutex::new(Vec::new());
    let wanting = ToolCall { wants_progress: true, ..call(1) };
    let hear = |notice: CallNotice| match notice {
        CallNotice::Progress(members) => told.lock().unwrap().push(members),
        CallNotice::Log(params) => panic!("nobody asked for {params}"),
    };
    servers().call_tool(&endpoint(&server), &wanting, &call_bounds(), &hear).await.unwrap();
    assert_eq!(*told.lock().unwrap(), [r#""progress":0.50,"message":"a""#, r#""progress":1,"message":"a""#]);
    let sent: Value = serde_json::from_str(&server.received_for("tools/call")[0].body).unwrap();
    assert_eq!(sent["params"]["_meta"]["progressToken"], sent["id"]);
}

#[tokio::test]
async fn of_the_log_as_much_is_told_as_was_asked_for() {
    let entry = |level: &str| {
        format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"{level}\",\"data\":1.0}}}}\n\n"
        )
    };
    let answer = "data: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[]}}\n\n";
    let levels = ["debug", "info", "warning", "emergency", "loud"].map(entry);
    let stream = [levels.concat(), answer.to_owned()].concat();
    let (older, newer) = (ScriptedServer::start().await, ScriptedServer::start().await);
    newer.speak_statelessly(&["2026-07-28"]);
    for server in [&older, &newer] {
        server.reply("tools/call", Reply::events(&stream));
        let told = Mutex::new(Vec::new());
        let hear = |notice: CallNotice| {
            if let CallNotice::Log(params) = notice {
                told.lock().unwrap().push(params);
            }
        };
        let wanting = ToolCall { log_level: Some(LogLevel::Warning), ..call(1) };
        servers().call_tool(&endpoint(server), &wanting, &call_bounds(), &hear).await.unwrap();
        let expected = [r#"{"level":"warning","data":1.0}"#, r#"{"level":"emergency","data":1.0}"#];
        assert_eq!(*told.lock().unwrap(), expected);
    }
    let sent: Value = serde_json::from_str(&newer.received_for("tools/call")[0].body).unwrap();
    assert_eq!(sent["params"]["_meta"]["io.modelcontextprotocol/logLevel"], "warning");
}

#[tokio::test]
async fn a_server_is_told_of_a_call_that_is_given_up_and_of_one_that_takes_too_long() {
    let server = ScriptedServer::start().await;
    server.open_sessions();
    let servers = std::sync::Arc::new(servers());
    run(&servers, &server, 1).await.unwrap();
    server.reply("tools/call", Reply::hang());
    let cancelled = async |count: usize| {
        eventually("the server is told", async || {
            let told = server.received_for("notifications/cancelled");
            (told.len() == count).then(|| told[count - 1].clone())
        })
        .await
    };
    let asking = {
        let (servers, endpoint) = (servers.clone(), endpoint(&server));
        tokio::spawn(async move { servers.call_tool(&endpoint, &call(1), &call_bounds(), &|_| {}).await })
    };
    eventually("the call arrives", async || (server.received_for("tools/call").len() == 2).then_some(()))
        .await;
    asking.abort();
    let told = cancelled(1).await;
    let id = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(id(&told.body)["params"]["requestId"], id(&server.received_for("tools/call")[1].body)["id"]);
    assert_eq!(told.headers["mcp-session-id"], "session-1");

    let short = CallBounds { total_timeout: Duration::from_millis(100), ..call_bounds() };
    servers.call_tool(&endpoint(&server), &call(1), &short, &|_| {}).await.unwrap_err();
    cancelled(2).await;
    server.recover();
    run(&servers, &server, 1).await.unwrap();
    assert_eq!(server.received_for("notifications/cancelled").len(), 2, "what was answered is not cancelled");
}

#[tokio::test]
async fn a_server_that_is_not_there_ran_nothing() {
    let address = ScriptedServer::start().await.url();
    let endpoint = Endpoint::Http { url: address, headers: Vec::new(), allow_private: true };
    let error = servers().call_tool(&endpoint, &call(1), &call_bounds(), &|_| {}).await.unwrap_err();
    assert!(matches!(error, CallError { error: ListingError::Connect(_), may_have_run: false }), "{error:?}");
}

/// Declines `server/discover`, answers `initialize`, asks for a sign of life itself, and can answer calls.
const OPENING: &str = r#"
id() { echo "$1" | sed 's/.*"id":\([0-9]*\).*/\1/'; }
call() { while read -r line; do case "$line" in *tools/call*) return;; esac; done; exit; }
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":{"pid":%s,"of":%s}}\n' "$(id "$1")" $$ "$(id "$1")"; }
read -r line
case "$line" in *server/discover*)
  echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}'; read -r line;;
esac
printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}\n' "$(id "$line")"
read -r line
echo '{"jsonrpc":"2.0","id":"p","method":"ping"}'
"#;

fn read(answer: &CallAnswer) -> Value {
    let CallAnswer::Result(result) = answer else { panic!("{answer:?}") };
    serde_json::from_str(result).unwrap()
}

fn shell(script: &str) -> (McpServers, Endpoint) {
    let shell = ["/bin/sh", "-c"].map(str::to_owned).to_vec();
    let servers =
        McpServers::new(Outbound::new(Private::Never).unwrap(), StdioAllow::new(vec![shell]).unwrap());
    let args = vec!["-c".into(), script.into()];
    let path = "PATH".to_owned();
    let env = vec![(path, toolgate_upstream::Secret::new("/usr/bin:/bin"))];
    (servers, Endpoint::Stdio { command: "/bin/sh".into(), args, env })
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_answers_calls_at_once_each_by_its_id_and_stays_for_the_next() {
    let (servers, endpoint) = shell(&format!(
        "{OPENING} call; first=$line; call; answer \"$line\"; answer \"$first\"; while call; do answer \"$line\"; done"
    ));
    let ask = async || servers.call_tool(&endpoint, &call(1), &call_bounds(), &|_| {}).await.unwrap();
    let (one, other) = tokio::join!(ask(), ask());
    let (one, other) = (read(&one), read(&other));
    assert_eq!(one["pid"], other["pid"], "one process for one key");
    assert_ne!(one["of"], other["of"]);
    assert_eq!(read(&ask().await)["pid"], one["pid"]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_ended_is_started_again_for_the_next_call() {
    let (servers, endpoint) = shell(&format!("{OPENING} call; answer \"$line\""));
    let ask = async || servers.call_tool(&endpoint, &call(1), &call_bounds(), &|_| {}).await;
    let pid = |answer: &CallAnswer| read(answer)["pid"].clone();
    let first = pid(&ask().await.unwrap());
    let next = match ask().await {
        Ok(next) => next,
        // It was asked while it was ending.
        Err(error) => {
            assert!(matches!(error.error, ListingError::Protocol(_)), "{error:?}");
            ask().await.unwrap()
        }
    };
    assert_ne!(pid(&next), first);
}

#[tokio::test]
async fn a_question_of_the_newer_era_passes_with_the_answers_to_it_and_only_what_is_offered_is_told() {
    let server = ScriptedServer::start().await;
    server.speak_statelessly(&["2026-07-28"]);
    let question = r#"{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{}}},"requestState":"s"}"#;
    server.reply("tools/call", Reply::result(question));
    let servers = servers();
    let asked = ToolCall { elicitation: Some(r#"{"form":{}}"#), ..call(1) };
    let answer = servers.call_tool(&endpoint(&server), &asked, &call_bounds(), &|_| {}).await.unwrap();
    assert_eq!(answer, CallAnswer::Asks(question.into()));
    let responses = r#"{"who":{"action":"accept", "content":{"n":1.0}}}"#;
    let answered =
        ToolCall { answers: Some(InputAnswers { responses: Some(responses), state: Some("s") }), ..asked };
    servers.call_tool(&endpoint(&server), &answered, &call_bounds(), &|_| {}).await.unwrap();
    let sent = server.received_for("tools/call").pop().unwrap().body;
    assert!(sent.contains(&format!(r#""inputResponses":{responses},"requestState":"s""#)), "{sent}");
    assert!(
        sent.contains(r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}"#),
        "{sent}"
    );
    servers.call_tool(&endpoint(&server), &call(1), &call_bounds(), &|_| {}).await.unwrap();
    let sent = server.received_for("tools/call").pop().unwrap().body;
    assert!(sent.contains(r#""io.modelcontextprotocol/clientCapabilities":{}"#), "{sent}");
    server.reply(
        "tools/call",
        Reply::result(&question.replace("elicitation/create", "sampling/createMessage")),
    );
    let refused = servers.call_tool(&endpoint(&server), &asked, &call_bounds(), &|_| {}).await.unwrap_err();
    assert!(refused.to_string().contains("asks for `sampling/createMessage`"), "{refused}");
}

#[tokio::test]
async fn a_session_is_sent_no_answers_to_what_it_cannot_have_asked() {
    let server = ScriptedServer::start().await;
    let answers = Some(InputAnswers { responses: Some("{}"), state: Some("s") });
    let answered = ToolCall { answers, elicitation: Some("{}"), ..call(1) };
    assert_echoes(
        &servers().call_tool(&endpoint(&server), &answered, &call_bounds(), &|_| {}).await.unwrap(),
    );
    let sent = &server.received_for("tools/call")[0].body;
    assert!(!sent.contains("inputResponses") && !sent.contains("requestState"), "{sent}");
}
