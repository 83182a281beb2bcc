use std::io::Read;

use http::Method;

use crate::double::{Answer, Face, PATH, get, list, tool};

const SHARED: [&str; 4] = ["etag", "x-toolgate-revision", "cache-control", "vary"];

fn gunzip(answer: &Answer) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(&*answer.body).read_to_string(&mut text).unwrap();
    text
}

#[tokio::test]
async fn an_answer_carries_its_tag_its_revision_and_how_it_may_be_cached() {
    let answer = Face::holding(Vec::new()).get(PATH).await;
    assert_eq!(answer.status, 200);
    let expected = [r#""e1""#, "r-e1", "private, no-cache", "authorization, accept-encoding"];
    assert_eq!(SHARED.map(|name| answer.header(name).unwrap()), expected);
}

#[tokio::test]
async fn a_caller_that_holds_the_answer_is_told_so_without_a_body() {
    for held in [r#""e1""#, r#"W/"e1""#, r#""e0", "e1""#, "*"] {
        for earlier_requests in [0, 1] {
            let face = Face::holding(vec![tool("{}")]);
            for _ in 0..earlier_requests {
                face.get(PATH).await;
            }
            let answer = face.send(get(PATH).header("if-none-match", held)).await;
            assert_eq!((answer.status.as_u16(), answer.body.len()), (304, 0), "{held}");
            let full = face.get(PATH).await;
            assert_eq!(SHARED.map(|name| answer.header(name)), SHARED.map(|name| full.header(name)));
            assert_eq!((answer.header("content-length"), answer.header("content-type")), (None, None));
        }
    }
}

#[tokio::test]
async fn a_caller_that_holds_another_answer_gets_the_present_one() {
    let face = Face::holding(vec![tool("{}")]);
    let full = face.get(PATH).await;
    for held in [r#""e0""#, "e1", r#""e0","e2""#] {
        let answer = face.send(get(PATH).header("if-none-match", held)).await;
        assert_eq!((answer.status.as_u16(), &answer.body), (200, &full.body), "{held}");
    }
}

#[tokio::test]
async fn the_service_is_asked_about_the_tag_that_the_caller_holds() {
    let face = Face::holding(Vec::new());
    face.send(get(PATH).header("if-none-match", r#"W/"e9""#)).await;
    assert_eq!(face.calls()[0].request.if_none_match, "e9");
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    for coding in ["identity", "gzip"] {
        let face = Face::holding(vec![tool("{}")]);
        let full = face.send(get(PATH).header("accept-encoding", coding)).await;
        let head = face.send(get(PATH).method(Method::HEAD).header("accept-encoding", coding)).await;
        assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
        assert_eq!(head.headers, full.headers);
        assert_eq!(head.header("content-length"), Some(full.body.len().to_string().as_str()));
        let held = get(PATH).method(Method::HEAD).header("if-none-match", r#""e1""#);
        assert_eq!(face.send(held).await.status, 304);
    }
}

#[tokio::test]
async fn gzip_is_the_same_body_under_a_weak_tag() {
    let face = Face::holding(vec![tool(r#"{"name":"a"}"#)]);
    let plain = face.get(PATH).await;
    assert_eq!(plain.header("content-encoding"), None);
    for _ in 0..2 {
        let coded = face.send(get(PATH).header("accept-encoding", "br, gzip")).await;
        assert_eq!(coded.header("content-encoding"), Some("gzip"));
        assert_eq!(coded.header("etag"), Some(r#"W/"e1""#));
        assert_eq!(gunzip(&coded), plain.text());
    }
    let held = get(PATH).header("accept-encoding", "gzip").header("if-none-match", r#"W/"e1""#);
    let answer = face.send(held).await;
    assert_eq!((answer.status.as_u16(), answer.header("etag")), (304, Some(r#"W/"e1""#)));
    assert_eq!(answer.header("content-encoding"), None);
}

#[tokio::test]
async fn an_answer_that_breaks_the_services_contract_is_a_fault_and_never_a_wrong_list() {
    type Breach = fn(&mut toolgate_api_proto::v1::ListToolsResponse);
    let breaches: [Breach; 5] = [
        |list| list.next_page_token = "more".to_owned(),
        |list| list.etag.clear(),
        |list| list.not_modified = true,
        |list| list.etag = "a\nb".to_owned(),
        |list| list.revision = "a\nb".to_owned(),
    ];
    for breach in breaches {
        let face = Face::new(move |call| {
            let mut list = list(call, "e1", &[]);
            breach(&mut list);
            Ok(list)
        });
        assert_eq!(face.get(PATH).await.status, 500);
    }
}
