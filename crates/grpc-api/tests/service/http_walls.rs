//! Every route of the HTTP face with every id, revision and tag of another tenant: the answer is the one for what does not
//! exist.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Request, StatusCode, header, request::Builder},
};
use http_body_util::BodyExt;
use toolgate_http_facade::{FacadeSettings, Route, X_CORRELATION_ID, router};
use tower::ServiceExt;

use crate::{
    ring::{ALL, Key, Ring},
    walls::Things,
};

/// The requests of a route that name something: ids in its path and query, and what its headers carry. `tag` is that of an
/// answer which the route gave to the owner of `things`.
fn requests(route: Route, things: &Things, tag: &str) -> Vec<Builder> {
    let Things { upstream, revision, .. } = things;
    let path = route.path();
    match route {
        Route::RoarTools => vec![
            Request::get(format!("{path}?upstreamId={upstream}")),
            Request::get(path).header("x-toolgate-min-revision", revision),
            Request::get(path).header(header::IF_NONE_MATCH, tag),
            Request::head(path).header(header::IF_NONE_MATCH, tag),
        ],
    }
}

/// A request of a route that names nothing, and is answered with what the caller has.
fn plain(route: Route) -> Builder {
    match route {
        Route::RoarTools => Request::get(route.path()),
    }
}

/// All that a caller sees of an answer.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

struct Face(Router);

impl Face {
    fn of(ring: &Ring) -> Self {
        let settings = FacadeSettings { allowed_hosts: Vec::new(), random: Arc::new(|| 7) };
        Self(router(Arc::new(ring.catalog.clone()), settings, Router::new()))
    }

    async fn answers(&self, key: &Key, request: Builder) -> Seen {
        let request = request.header(header::HOST, "localhost").header(header::AUTHORIZATION, key.bearer());
        let answer = self.0.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (mut head, body) = answer.into_parts();
        head.headers.remove(X_CORRELATION_ID);
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Seen { status: head.status, headers: head.headers, body }
    }

    /// The tag of what `key` is answered by a route; one of nothing where the route gives none.
    async fn tag(&self, key: &Key, route: Route) -> String {
        let answer = self.answers(key, plain(route)).await;
        assert_eq!(answer.status, StatusCode::OK, "{route:?}");
        let tag = answer.headers.get(header::ETAG);
        tag.map_or(NO_TAG.to_owned(), |tag| tag.to_str().unwrap().to_owned())
    }
}

const NO_TAG: &str = r#""AQIDBAUGBwgJCgsMDQ4PEA""#;

#[tokio::test]
async fn law_10_every_route_answers_for_what_is_anothers_as_for_what_does_not_exist() {
    let ring = Ring::new().await;
    let (our_client, their_client) = (ring.client(1).await, ring.client(2).await);
    let (ours, theirs) = (ring.key(&our_client, &ALL).await, ring.key(&their_client, &ALL).await);
    Things::of(&ring, &ours, &our_client).await;
    let (foreign, nothing) = (Things::of(&ring, &theirs, &their_client).await, Things::nowhere());
    let face = Face::of(&ring);
    for &route in Route::ALL {
        let their_tag = face.tag(&theirs, route).await;
        let of_foreign = requests(route, &foreign, &their_tag);
        let of_nothing = requests(route, &nothing, NO_TAG);
        for (index, (foreign, nothing)) in of_foreign.into_iter().zip(of_nothing).enumerate() {
            let told = face.answers(&ours, foreign).await;
            assert_ne!(told.status, StatusCode::NOT_MODIFIED, "{route:?} {index}");
            assert_eq!(told, face.answers(&ours, nothing).await, "{route:?} {index}");
        }
    }
}

#[tokio::test]
async fn each_of_these_requests_finds_what_is_the_callers_own() {
    let ring = Ring::new().await;
    let client = ring.client(1).await;
    let key = ring.key(&client, &ALL).await;
    let own = Things::of(&ring, &key, &client).await;
    let face = Face::of(&ring);
    for &route in Route::ALL {
        let tag = face.tag(&key, route).await;
        for (index, request) in requests(route, &own, &tag).into_iter().enumerate() {
            let status = face.answers(&key, request).await.status;
            assert!(
                matches!(status, StatusCode::OK | StatusCode::NOT_MODIFIED),
                "{route:?} {index}: {status}"
            );
        }
    }
}
