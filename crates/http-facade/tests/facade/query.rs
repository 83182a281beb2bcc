use toolgate_api_proto::v1::{ListToolsRequest, ToolView};

use crate::double::{Call, Face, PATH, get};

const UPSTREAM: &str = "019c1b2a-0000-7000-8000-0000000000ab";

#[tokio::test]
async fn one_request_is_one_call_for_the_whole_raw_list_under_the_callers_credential() {
    let face = Face::holding(Vec::new());
    face.send(get(PATH).header("x-toolgate-min-revision", "r7")).await;
    let request = ListToolsRequest {
        view: ToolView::Raw.into(),
        min_revision: "r7".to_owned(),
        ..ListToolsRequest::default()
    };
    let expected = Call { request, authorization: Some("Bearer tg_1_secret".to_owned()), whole: true };
    assert_eq!(face.calls(), [expected]);
}

#[tokio::test]
async fn a_request_without_a_credential_is_left_to_the_service_to_refuse() {
    let face = Face::holding(Vec::new());
    face.send(http::Request::get(PATH).header("host", "localhost")).await;
    assert_eq!(face.calls()[0].authorization, None);
}

#[tokio::test]
async fn an_upstream_id_is_passed_on_in_lower_case_and_other_parameters_are_ignored() {
    let face = Face::holding(Vec::new());
    for target in [
        format!("{PATH}?upstreamId={}", UPSTREAM.to_ascii_uppercase()),
        format!("{PATH}?a&upstreamId={}&UPSTREAMID=x&upstream_id=&a=1&", UPSTREAM.replace('-', "%2D")),
    ] {
        assert_eq!(face.get(&target).await.status, 200);
        assert_eq!(face.calls().last().unwrap().request.upstream_id, UPSTREAM);
    }
}

#[tokio::test]
async fn a_malformed_empty_or_repeated_upstream_id_is_refused_without_a_call() {
    let face = Face::holding(Vec::new());
    for query in [
        "upstreamId".to_owned(),
        "upstreamId=".to_owned(),
        "upstreamId=x".to_owned(),
        format!("upstreamId={}", UPSTREAM.replace('-', "")),
        format!("upstreamId=%7B{UPSTREAM}%7D"),
        format!("upstreamId=+{UPSTREAM}"),
        "upstreamId=%FF%FE".to_owned(),
        format!("upstreamId={UPSTREAM}&upstreamId={UPSTREAM}"),
    ] {
        let answer = face.get(&format!("{PATH}?{query}")).await;
        assert_eq!(answer.status, 400, "{query}");
        assert_eq!(answer.json()["error"], "VALIDATION_ERROR");
        assert_eq!(answer.json()["details"]["field"], "upstreamId");
    }
    assert!(face.calls().is_empty());
}

#[tokio::test]
async fn headers_that_mean_one_thing_are_refused_when_they_come_twice() {
    let face = Face::holding(Vec::new());
    for name in ["authorization", "x-toolgate-min-revision"] {
        let answer = face.send(get(PATH).header(name, "a").header(name, "b")).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["details"]["field"]), (400, &name.into()));
    }
    assert!(face.calls().is_empty());
}
