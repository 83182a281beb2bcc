use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tonic::Status;
use toolgate_api_proto::v1::Tool;

use crate::double::{Answer, Face, PATH, get, list, tool};

fn named(name: &str) -> Vec<Tool> {
    vec![Tool { name: name.to_owned(), ..tool("{}") }]
}

fn name(answer: &Answer) -> String {
    answer.json()["data"][0]["name"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_repeated_request_is_answered_from_the_same_tag_and_the_service_is_still_asked() {
    let face = Face::holding(named("a"));
    let first = face.get(PATH).await;
    let second = face.get(PATH).await;
    assert_eq!((first.body, first.headers), (second.body, second.headers));
    let asked: Vec<String> = face.calls().into_iter().map(|call| call.request.if_none_match).collect();
    assert_eq!(asked, ["", "e1"]);
}

#[tokio::test]
async fn a_change_is_in_the_very_next_answer() {
    let version = Arc::new(AtomicUsize::new(0));
    let current = Arc::clone(&version);
    let face = Face::new(move |call| {
        let version = current.load(Ordering::SeqCst);
        Ok(list(call, &format!("e{version}"), &named(&format!("v{version}"))))
    });
    for expected in ["v0", "v1", "v2"] {
        for _ in 0..2 {
            assert_eq!(name(&face.get(PATH).await), expected);
        }
        version.fetch_add(1, Ordering::SeqCst);
    }
}

/// Even a service that gives two clients one tag cannot make the facade mix up their bodies.
#[tokio::test]
async fn a_kept_body_is_never_sent_to_another_credential() {
    let face =
        Face::new(|call| Ok(list(call, "e1", &named(call.authorization.as_deref().unwrap_or("nobody")))));
    let request = |credential: &str| {
        http::Request::get(PATH).header("host", "localhost").header("authorization", credential)
    };
    for _ in 0..3 {
        for credential in ["Bearer a", "Bearer b", "Bearer ab"] {
            assert_eq!(name(&face.send(request(credential)).await), credential);
        }
        assert_eq!(name(&face.send(http::Request::get(PATH).header("host", "localhost")).await), "nobody");
    }
}

#[tokio::test]
async fn a_kept_body_is_never_sent_for_another_upstream_or_coding() {
    let face = Face::new(|call| Ok(list(call, "e1", &named(&format!("of {}", call.request.upstream_id)))));
    for _ in 0..2 {
        for upstream in ["019c1b2a-0000-7000-8000-00000000000a", "019c1b2a-0000-7000-8000-00000000000b"] {
            let target = format!("{PATH}?upstreamId={upstream}");
            assert_eq!(name(&face.get(&target).await), format!("of {upstream}"));
            let coded = face.send(get(&target).header("accept-encoding", "gzip")).await;
            assert!(coded.body.starts_with(&[0x1f, 0x8b]));
        }
        assert_eq!(name(&face.get(PATH).await), "of ");
    }
}

#[tokio::test]
async fn a_kept_body_does_not_outlive_the_right_to_it() {
    let calls = AtomicUsize::new(0);
    let face = Face::new(move |call| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Ok(list(call, "e1", &named("a"))),
        _ => Err(Status::unauthenticated("revoked")),
    });
    assert_eq!(face.get(PATH).await.status, 200);
    assert_eq!(face.get(PATH).await.status, 401);
}
