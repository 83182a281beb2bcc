use tonic::Code;

use crate::double::{
    Face, KEY, META, asked, failing, log, missing_capability, modern, progress, request, result,
};

const A: &str = r#"{"name":"s__a","inputSchema":{}}"#;

fn call(params: &str) -> String {
    request("tools/call", params)
}

fn named(name: &str) -> http::request::Builder {
    modern("tools/call").header("mcp-name", name)
}

fn in_session(params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{{{params}}}}}"#)
}

/// BR-077, BR-079.
#[tokio::test]
async fn arguments_and_results_pass_as_they_are_spelt_in_both_eras() {
    let face = Face::new(&[A]);
    let session = face.session("2025-11-25").await;
    let arguments = r#"{"n": 9007199254740993, "x":1.0,"z":null}"#;
    let params = format!(r#""name":"s__a","arguments":{arguments}"#);
    let stateless = face.send(named("s__a"), call(&params)).await;
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","content":[],"sent":{arguments}}}}}"#
    );
    assert_eq!((stateless.status.as_u16(), stateless.text), (200, expected));
    let expected = format!(r#"{{"jsonrpc":"2.0","id":"c","result":{{"content":[],"sent":{arguments}}}}}"#);
    assert_eq!(session.send(&in_session(&params)).await.text, expected);
    session.send(&in_session(r#""name":"s__a""#)).await;
    let calls = face.double.calls.lock().unwrap().clone();
    let sent: Vec<_> = calls.iter().map(|called| called.request.arguments_json.as_str()).collect();
    assert_eq!(sent, [arguments, arguments, ""]);
    assert!(calls.iter().all(|called| called.authorization.as_deref() == Some(KEY)));
    assert!(calls.iter().all(|called| !called.request.wants_progress));
}

fn session_message(members: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"c",{members}}}"#)
}

#[tokio::test]
async fn what_a_model_can_act_on_is_a_result_and_says_why() {
    let face = Face::new(&[A]);
    let session = face.session("2025-11-25").await;
    for (code, reason) in [
        (Code::FailedPrecondition, "TOOL_NOT_SERVED"),
        (Code::InvalidArgument, "ARGUMENTS_MISFIT"),
        (Code::ResourceExhausted, "LIMIT_EXCEEDED"),
        (Code::FailedPrecondition, "UPSTREAM_REFUSED"),
        (Code::Unavailable, "UPSTREAM_FAILED"),
        (Code::Unavailable, "LISTING_STALE"),
    ] {
        let denied = || face.double.events.lock().unwrap().push(Err(failing(code, reason)));
        denied();
        let stateless = face.send(named("s__a"), call(r#""name":"s__a""#)).await;
        denied();
        let older = session.send(&in_session(r#""name":"s__a""#)).await;
        for answer in [&stateless, &older] {
            let result = &answer.json()["result"];
            assert_eq!((answer.status.as_u16(), &result["isError"]), (200, &true.into()), "{}", answer.text);
            assert_eq!(result["content"][0]["text"], "in the service's words");
            assert_eq!(result["_meta"]["dev.toolgate/reason"], reason);
        }
        assert_eq!(stateless.json()["result"]["resultType"], "complete");
    }
    for (code, reason, refused) in [
        (Code::Unauthenticated, "CREDENTIAL_INVALID", (401, 401)),
        (Code::PermissionDenied, "SCOPE_MISSING", (403, 403)),
        (Code::Unavailable, "DRAINING", (503, 503)),
        (Code::Internal, "INTERNAL", (500, -32603)),
    ] {
        face.double.events.lock().unwrap().push(Err(failing(code, reason)));
        let answer = face.send(named("s__a"), call(r#""name":"s__a""#)).await;
        assert_eq!(answer.refused(), refused, "{reason}");
    }
}

#[tokio::test]
async fn progress_is_told_to_who_asks_for_it_under_its_own_token() {
    let face = Face::new(&[A]);
    let session = face.session("2025-11-25").await;
    let tells = || {
        let told =
            [progress(r#"{"progress":0.50,"message":"a"}"#), progress("{}"), result(r#"{"content":[]}"#)];
        *face.double.events.lock().unwrap() = told.into_iter().map(Ok).collect();
    };
    tells();
    let asking = in_session(r#""name":"s__a","_meta":{"progressToken":"\u0074"}"#);
    let streamed = session.send(&asking).await;
    assert_eq!(streamed.header("content-type"), Some("text/event-stream"));
    let told = |params: &str| {
        format!(
            "event: message\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{params}}}\n\n"
        )
    };
    let expected = [
        told(r#"{"progressToken":"\u0074","progress":0.50,"message":"a"}"#),
        told(r#"{"progressToken":"\u0074"}"#),
        "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"c\",\"result\":{\"content\":[]}}\n\n".to_owned(),
    ];
    assert_eq!(streamed.text, expected.concat());
    assert!(face.double.calls.lock().unwrap()[0].request.wants_progress);

    tells();
    let quiet = session.send(&in_session(r#""name":"s__a""#)).await;
    assert_eq!(quiet.json()["result"]["content"], serde_json::json!([]), "nobody asked");
    tells();
    let mut json_only = session.post();
    json_only.headers_mut().unwrap().insert("accept", "application/json".parse().unwrap());
    let quiet = face.send(json_only, asking.clone()).await;
    assert_eq!(quiet.header("content-type"), Some("application/json"), "the client reads no events");
    // A tool that tells nothing is answered by one document.
    assert_eq!(session.send(&asking).await.header("content-type"), Some("application/json"));
    // What goes wrong after the first word of progress comes as the last event.
    *face.double.events.lock().unwrap() =
        vec![Ok(progress("{}")), Err(failing(Code::Unavailable, "UPSTREAM_FAILED"))];
    assert!(session.send(&asking).await.text.ends_with("\"isError\":true}}\n\n"));
}

#[tokio::test]
async fn a_log_is_told_as_far_as_the_client_wants_to_hear_it() {
    let face = Face::new(&[A]);
    let session = face.session("2025-11-25").await;
    let logs = || {
        let told = [log(r#"{"level":"error","data":1.0}"#), result(r#"{"content":[]}"#)];
        *face.double.events.lock().unwrap() = told.into_iter().map(Ok).collect();
    };
    let asked = || face.double.calls.lock().unwrap().last().unwrap().request.log_level.clone();
    let entry = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"data\":1.0}}\n\n";
    let asking = in_session(r#""name":"s__a""#);
    logs();
    let told = session.send(&asking).await.text;
    assert!(told.starts_with(entry) && told.contains(r#""result":{"content":[]}"#), "{told}");
    assert_eq!(asked(), "info", "of a session that did not say");
    let set = |level: &str| {
        session_message(&format!(r#""method":"logging/setLevel","params":{{"level":{level}}}"#))
    };
    assert_eq!(session.send(&set(r#""critical""#)).await.text, r#"{"jsonrpc":"2.0","id":"c","result":{}}"#);
    session.send(&asking).await;
    assert_eq!(asked(), "critical");
    let other = face.session("2025-11-25").await;
    other.send(&asking).await;
    assert_eq!(asked(), "info", "a wish is of one session");
    for level in [r#""loud""#, "7", "null"] {
        assert_eq!(session.send(&set(level)).await.refused(), (200, -32602), "{level}");
    }

    face.send(named("s__a"), call(r#""name":"s__a""#)).await;
    assert_eq!(asked(), "", "a stateless client says so with each request");
    let meta = META.replace("}}", r#"},"io.modelcontextprotocol/logLevel":"debug"}"#);
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{meta},"name":"s__a"}}}}"#);
    logs();
    assert!(face.send(named("s__a"), body.clone()).await.text.starts_with(entry));
    assert_eq!(asked(), "debug");
    let loud = body.replace(r#""debug""#, r#""loud""#);
    assert_eq!(face.send(named("s__a"), loud).await.refused(), (400, -32602));
}

#[tokio::test]
async fn a_session_cancels_its_own_call_and_no_other() {
    let face = Face::new(&[A]);
    let (session, other) = (face.session("2025-11-25").await, face.session("2025-11-25").await);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c","reason":"enough"}}"#;
    *face.double.hangs.lock().unwrap() = true;
    let asking = in_session(r#""name":"s__a""#);
    let calling = session.send(&asking);
    let cancelling = async {
        // It is under way once the gateway was asked.
        while face.double.calls.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(other.send(cancel).await.status, 202);
        let unknown = cancel.replace("\"c\"", "\"d\"");
        assert_eq!(session.send(&unknown).await.status, 202);
        assert!(!face.double.is_given_up());
        assert_eq!(session.send(cancel).await.status, 202);
    };
    let (answer, ()) = tokio::join!(calling, cancelling);
    assert_eq!(answer.refused(), (200, -32800));
    assert!(face.double.is_given_up(), "the gateway's stream is dropped");
    // Too late, and harmless.
    assert_eq!(session.send(cancel).await.status, 202);
}

#[tokio::test]
async fn a_batch_answers_its_calls() {
    let face = Face::new(&[A]);
    let session = face.session("2025-03-26").await;
    let batch = format!("[{},{}]", in_session(r#""name":"s__a""#), in_session(r#""name":"s__x""#));
    let answers = session.send(&batch).await.json();
    assert!(answers[0]["result"]["content"].is_array(), "{answers}");
    assert_eq!(answers[1]["error"]["code"], -32602);
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_unknown() {
    let face = Face::new(&[A]);
    let session = face.session("2025-11-25").await;
    for name in ["s__hidden", "", "s__A"] {
        let stateless = face.send(named(name), call(&format!(r#""name":"{name}""#))).await;
        assert_eq!(stateless.refused(), (400, -32602), "{name}");
        let message = format!("Unknown tool: {name}");
        assert_eq!(stateless.json()["error"]["message"], *message);
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}"}}}}"#);
        let in_session = session.send(&body).await;
        assert_eq!(in_session.refused(), (200, -32602), "{name}");
        assert_eq!(in_session.json()["error"]["message"], *message);
    }
    let long = "x".repeat(5000);
    let answer = face.send(named(&long), call(&format!(r#""name":"{long}""#))).await;
    assert!(answer.text.len() < 300, "{}", answer.text);
}

#[tokio::test]
async fn malformed_parameters_are_invalid() {
    let face = Face::new(&[A]);
    for params in [r#""name":7"#, r#""x":1"#, r#""name":null"#] {
        assert_eq!(face.send(named("s__a"), call(params)).await.refused(), (400, -32602), "{params}");
    }
    for arguments in ["null", "[]", "7", "\"x\""] {
        let params = format!(r#""name":"s__a","arguments":{arguments}"#);
        assert_eq!(face.send(named("s__a"), call(&params)).await.refused(), (400, -32602), "{params}");
    }
    let twice = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{META},"name":"s__a","arguments":{{"a":1,"\u0061":2}}}}}}"#
    );
    assert_eq!(face.send(named("s__a"), twice).await.refused(), (400, -32600), "which of the two counts?");
}

#[tokio::test]
async fn the_name_in_the_header_is_the_one_in_the_body() {
    let face = Face::new(&[r#"{"name":"s__ü","inputSchema":{}}"#, A]);
    let body = || call(r#""name":"s__ü""#);
    assert_eq!(face.send(named("=?base64?c19fw7w=?="), body()).await.status, 200);
    for header in ["s__a", "=?base64?c19fdQ==?=", "=?base64?!?=", ""] {
        assert_eq!(face.send(named(header), body()).await.refused(), (400, -32020), "{header}");
    }
    assert_eq!(face.send(modern("tools/call"), body()).await.refused(), (400, -32020));
    let twice = named("s__a").header("mcp-name", "s__a");
    assert_eq!(face.send(twice, call(r#""name":"s__a""#)).await.refused(), (400, -32020));
}

#[tokio::test]
async fn what_a_tools_server_asks_for_passes_with_the_answers_to_it() {
    let face = Face::new(&[A]);
    let question = r#"{"resultType":"input_required","inputRequests":{"w":{}},"requestState":"s"}"#;
    face.double.events.lock().unwrap().push(Ok(asked(question)));
    let answer = face.send(named("s__a"), call(r#""name":"s__a""#)).await;
    assert_eq!(answer.text, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{question}}}"#));
    let answers = r#""name":"s__a","inputResponses":{"w":{"n":1.0}},"requestState":"s""#;
    face.send(named("s__a"), call(answers)).await;
    let sent = face.double.calls.lock().unwrap()[1].request.clone();
    assert_eq!((&*sent.input_responses_json, &*sent.request_state), (r#"{"w":{"n":1.0}}"#, "s"));
    assert_eq!(sent.client_capabilities_json, "{}", "what the client declares is told");
    for wrong in [r#""inputResponses":7"#, r#""inputResponses":null"#, r#""requestState":7"#] {
        let refused = face.send(named("s__a"), call(&format!(r#""name":"s__a",{wrong}"#))).await;
        assert_eq!(refused.refused(), (400, -32602), "{wrong}");
    }
}

#[tokio::test]
async fn a_capability_that_a_tools_server_requires_is_named_where_the_era_has_a_word_for_it() {
    let face = Face::new(&[A]);
    let session = face.session("2025-11-25").await;
    let missing =
        || face.double.events.lock().unwrap().push(Err(missing_capability(r#"{"elicitation":{}}"#)));
    missing();
    let answer = face.send(named("s__a"), call(r#""name":"s__a""#)).await;
    assert_eq!(answer.refused(), (400, -32021));
    let error = &answer.json()["error"];
    assert_eq!(error["data"]["requiredCapabilities"], serde_json::json!({"elicitation": {}}));
    assert_eq!(error["message"], "in the service's words", "which name the remedy");
    missing();
    let older = session.send(&in_session(r#""name":"s__a""#)).await;
    assert_eq!(older.json()["result"]["isError"], true);
}

#[tokio::test]
async fn headers_that_repeat_arguments_are_passed_on_and_a_mismatch_is_the_protocols_own_error() {
    let face = Face::new(&[A]);
    let with = |value: &str| named("s__a").header("Mcp-Param-Region", value);
    face.send(with("=?base64?w6k=?="), call(r#""name":"s__a""#)).await;
    face.send(named("s__a"), call(r#""name":"s__a""#)).await;
    let session = face.session("2025-11-25").await;
    session.send(&in_session(r#""name":"s__a""#)).await;
    let calls = face.double.calls.lock().unwrap().clone();
    let told: Vec<_> = calls.iter().map(|called| called.request.argument_headers.clone()).collect();
    let values = |index: usize| told[index].as_ref().map(|headers| headers.values.clone());
    assert_eq!(values(0).unwrap()["region"], "\u{e9}");
    assert!(values(1).unwrap().is_empty() && values(2).is_none(), "sessions know of no such headers");
    for wrong in [with("=?base64?!?="), with("a").header("mcp-param-region", "a")] {
        assert_eq!(face.send(wrong, call(r#""name":"s__a""#)).await.refused(), (400, -32020));
    }
    let mismatch = failing(Code::InvalidArgument, "ARGUMENT_HEADER_MISMATCH");
    face.double.events.lock().unwrap().push(Err(mismatch));
    assert_eq!(face.send(with("x"), call(r#""name":"s__a""#)).await.refused(), (400, -32020));
}
