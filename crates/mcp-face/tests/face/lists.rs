use std::sync::Arc;

use proptest::prelude::*;
use tonic::Code;

use crate::double::{Face, failing, modern, post, request};
use crate::tool_list::BUILT_IN;

const A: &str = r#"{ "name":"s__a",  "inputSchema":{"type":"object","maximum":12345678901234567890123.0},"x":[1e2,1.0] }"#;
const B: &str = "{\"name\":\"s__b\",\n\t\"inputSchema\":{}}";
const C: &str = r#"{"inputSchema":{},"name":"s__c","description":"\u202e"}"#;

#[tokio::test]
async fn law_01_definitions_are_the_services_own_text_byte_for_byte() {
    let face = Face::new(&[A, B]);
    let stateless = face.ask("tools/list", "").await;
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{A},{B},{BUILT_IN}],"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"toolgate","version":"1.2.3"}}}}}}}}"#
    );
    assert_eq!((stateless.status.as_u16(), &stateless.text), (200, &expected));
    assert_eq!(stateless.header("content-type"), Some("application/json"));
    let session = face.session("2025-11-25").await;
    let listed = session.send(r#"{"jsonrpc":"2.0","id":"x","method":"tools/list"}"#).await;
    assert_eq!(
        listed.text,
        format!(r#"{{"jsonrpc":"2.0","id":"x","result":{{"tools":[{A},{B},{BUILT_IN}]}}}}"#)
    );
}

#[tokio::test]
async fn a_list_without_tools_has_the_built_in_one_alone() {
    let answer = Face::new(&[]).ask("tools/list", "").await.json();
    assert_eq!(answer["result"]["tools"][0]["name"], "tool_list");
    assert_eq!(answer["result"]["tools"].as_array().map(Vec::len), Some(1));
    assert_eq!(answer["result"].get("nextCursor"), None);
}

#[tokio::test]
async fn a_cursor_leads_to_the_next_page_and_the_last_page_has_none() {
    let face = Face::new(&[A, B, C]);
    let first = face.ask("tools/list", "").await.json();
    let cursor = first["result"]["nextCursor"].as_str().unwrap().to_owned();
    let second = face.ask("tools/list", &format!(r#""cursor":"{cursor}""#)).await;
    assert!(second.text.contains(&format!(r#""tools":[{C},{BUILT_IN}]"#)), "{}", second.text);
    assert_eq!(second.json()["result"].get("nextCursor"), None);
}

#[tokio::test]
async fn a_cursor_that_is_none_of_the_list_is_invalid_params() {
    let face = Face::new(&[A]);
    let session = face.session("2025-06-18").await;
    for cursor in [r#""nonsense""#, r#""""#, "null", "7"] {
        let answer = face.ask("tools/list", &format!(r#""cursor":{cursor}"#)).await;
        assert_eq!(answer.refused(), (400, -32602), "{cursor}");
        assert!(answer.json()["error"]["message"].as_str().unwrap().starts_with("cursor: "));
        let list =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"cursor":{cursor}}}}}"#);
        assert_eq!(session.send(&list).await.refused(), (200, -32602), "{cursor}");
    }
}

#[tokio::test]
async fn law_13_a_page_is_rendered_once_and_sent_again_while_the_service_says_that_it_is_good() {
    let face = Face::new(&[A, B, C]);
    let first = face.ask("tools/list", "").await;
    let again = face.ask("tools/list", "").await;
    assert_eq!(first.text, again.text);
    let known: Vec<_> = face.lists().into_iter().map(|list| list.request.if_none_match).collect();
    assert_eq!(known, ["", "e0-3"]);
    face.double.definitions.lock().unwrap().push(A.replace("s__a", "s__d"));
    assert_eq!(face.ask("tools/list", "").await.text, first.text, "the first page is the same");
    assert_eq!(face.lists().last().unwrap().request.if_none_match, "e0-3");
    face.double.definitions.lock().unwrap().clear();
    assert!(face.ask("tools/list", "").await.text.contains(&format!(r#""tools":[{BUILT_IN}]"#)));
}

#[tokio::test]
async fn law_10_a_kept_page_is_offered_to_its_own_credential_alone_and_not_after_its_end() {
    let face = Face::new(&[A]);
    face.ask("tools/list", "").await;
    let mut theirs = modern("tools/list");
    theirs.headers_mut().unwrap().insert("authorization", "Bearer tg_2_other".parse().unwrap());
    face.send(theirs, request("tools/list", "")).await;
    assert_eq!(face.lists().last().unwrap().request.if_none_match, "");
    *face.double.refusal.lock().unwrap() = Some(failing(Code::Unauthenticated, "CREDENTIAL_INVALID"));
    let ended = face.ask("tools/list", "").await;
    assert_eq!(ended.refused(), (401, 401));
    assert!(!ended.text.contains("s__a"));
}

#[tokio::test]
async fn an_answer_states_its_length() {
    let face = Face::new(&[A, B]);
    let answer = face.send(modern("tools/list"), request("tools/list", "")).await;
    assert_eq!(answer.header("content-length"), Some(&*answer.text.len().to_string()));
    assert_eq!(face.send(post(), "{").await.header("content-length").map(str::is_empty), Some(false));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// BR-089
    #[test]
    fn an_id_comes_back_as_it_was_written(id in r#"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?|"([ !#-\[\]-~]|\\u00[2-7]f|\\\\|\\")*""#) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let answer = runtime.block_on(async {
            let body = request("tools/list", "").replace(r#""id":1"#, &format!(r#""id": {id} "#));
            Face::new(&[]).send(modern("tools/list"), body).await
        });
        prop_assert!(answer.text.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)), "{}", answer.text);
    }

    #[test]
    fn no_body_is_answered_by_a_fault_of_the_server(body in ".*|[\\[\\]{}\",:0-9a-z]*", starts in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let body = if starts { format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{body}}}}}"#) } else { body };
        let answer = runtime.block_on(async { Face::new(&[]).send(post(), body).await });
        prop_assert_eq!(answer.status.as_u16(), 400);
        prop_assert!(answer.json()["error"]["code"].as_i64().unwrap() < 0);
    }
}

#[tokio::test]
async fn two_replicas_answer_the_same_bytes() {
    let sealer = Arc::new(toolgate_sealing::Sealer::new(&toolgate_sealing::MasterKey::ephemeral()));
    let [one, two] = [0, 1].map(|_| Face::sealing(&[A, B, C], Arc::clone(&sealer)));
    assert_eq!(one.ask("tools/list", "").await.text, two.ask("tools/list", "").await.text);
}
