use crate::double::{Face, META, modern, request};

const A: &str = r#"{"name":"s__a","inputSchema":{}}"#;

fn call(params: &str) -> String {
    request("tools/call", params)
}

fn named(name: &str) -> http::request::Builder {
    modern("tools/call").header("mcp-name", name)
}

#[tokio::test]
async fn a_call_of_a_served_tool_says_that_calls_are_not_enabled() {
    let face = Face::new(&[A]);
    let session = face.session("2025-11-25").await;
    let stateless = face.send(named("s__a"), call(r#""name":"s__a","arguments":{}"#)).await;
    let in_session =
        session.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__a"}}"#).await;
    for answer in [&stateless, &in_session] {
        assert_eq!(answer.status, 200);
        let result = &answer.json()["result"];
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().contains("not enabled"));
    }
    assert_eq!(stateless.json()["result"]["resultType"], "complete");
    assert_eq!(stateless.json()["result"].get("ttlMs"), None);
}

#[tokio::test]
async fn law_04_a_tool_that_is_not_served_is_unknown() {
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
