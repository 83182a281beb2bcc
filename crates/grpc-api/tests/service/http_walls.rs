//! Every HTTP route with every id, revision, tag, cursor and session of another tenant: the answer is the one for what does
//! not exist. A route without its case does not compile, or ends the test.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Request, StatusCode, header, request::Builder},
    response::Response,
};
use http_body_util::BodyExt;
use serde_json::json;
use toolgate_api_proto::v1 as pb;
use toolgate_http_facade::{FacadeSettings, Route, X_CORRELATION_ID, router};
use toolgate_mcp_face::McpSettings;
use tower::ServiceExt;

use crate::{
    ring::{ALL, Key, Ring},
    walls::Things,
};

const SESSION_ID: &str = "mcp-session-id";
const REVISION: &str = "2026-07-28";

/// A route of either face.
#[derive(Debug, Clone, Copy)]
enum Door {
    Shape(Route),
    Mcp(&'static str),
}

/// What one tenant got from the HTTP routes and another one sends.
struct Held {
    things: Things,
    tag: String,
    session: String,
    cursor: String,
}

impl Held {
    /// By nobody: what was never given to anyone.
    fn nowhere() -> Self {
        let token = || "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA".to_owned();
        Self { things: Things::nowhere(), tag: format!("\"{}\"", token()), session: token(), cursor: token() }
    }

    /// By the tenant that `key` belongs to, from `door`.
    async fn by(ring: &Ring, face: &Face, key: &Key, things: Things, door: Door) -> Self {
        let page =
            pb::ListToolsRequest { page_size: 1, view: pb::ToolView::Served.into(), ..Default::default() };
        let cursor = ring.list(key, page).await.unwrap().next_page_token;
        let (tag, session) = match door {
            // The same to everybody, or of this moment: without a tag.
            Door::Shape(
                Route::OxpHealth
                | Route::OxpCall
                | Route::Document
                | Route::PrismeCapabilities
                | Route::PrismeWebhookCapabilities,
            ) => (String::new(), String::new()),
            Door::Shape(route) => (face.given(key, plain(route), "etag").await, String::new()),
            Door::Mcp(_) => (String::new(), face.given(key, initialize(), SESSION_ID).await),
        };
        Self { things, tag, session, cursor }
    }
}

/// The requests through a door that name something: ids in its path, query and body, and what its headers carry.
fn requests(door: Door, held: &Held) -> Vec<Request<Body>> {
    match door {
        Door::Shape(route) => of_shape(route, held),
        Door::Mcp(toolgate_mcp_face::PATH) => of_mcp(held),
        // Says the same to everybody.
        Door::Mcp(path) if path.starts_with("/.well-known/") => vec![bare(Request::get(path))],
        Door::Mcp(path) => panic!("{path} has no case here"),
    }
}

fn of_shape(route: Route, held: &Held) -> Vec<Request<Body>> {
    let Held { things: Things { upstream, agent, attachment, revision, .. }, tag, .. } = held;
    let path = route.path();
    match route {
        Route::RoarTools => vec![
            bare(Request::get(format!("{path}?upstreamId={upstream}"))),
            bare(Request::get(path).header("x-toolgate-min-revision", revision)),
            bare(Request::get(path).header(header::IF_NONE_MATCH, tag)),
            bare(Request::head(path).header(header::IF_NONE_MATCH, tag)),
        ],
        Route::PrismeCapabilities | Route::PrismeWebhookCapabilities => {
            let of = |agent: &str, tool: &str| {
                Request::get(path.replace("{agentId}", agent).replace("{toolId}", tool))
            };
            vec![
                bare(of(agent, "srv")),
                bare(of(agent, attachment)),
                bare(of("support", attachment)),
                bare(of("support", "srv").header("x-toolgate-min-revision", revision)),
            ]
        }
        Route::OxpTools => vec![
            bare(Request::get(path).header("x-toolgate-min-revision", revision)),
            bare(Request::get(path).header(header::IF_NONE_MATCH, tag)),
            bare(Request::head(path).header(header::IF_NONE_MATCH, tag)),
        ],
        Route::MelbisToolList => vec![
            bare(Request::get(format!("{path}?unit=MCP_SRV")).header("x-toolgate-min-revision", revision)),
            bare(Request::get(path).header("x-toolgate-min-revision", revision)),
            bare(Request::get(path).header(header::IF_NONE_MATCH, tag)),
            bare(Request::head(path).header(header::IF_NONE_MATCH, tag)),
        ],
        // The walls of `call_id` stand beside the other calls.
        Route::OxpCall => {
            let body = json!({"request": {"tool_id": "srv.b"}}).to_string();
            let call = Request::post(path).header(header::CONTENT_TYPE, "application/json");
            vec![call.header("x-toolgate-min-revision", revision).body(Body::from(body)).unwrap()]
        }
        // They say the same to everybody.
        Route::OxpHealth | Route::Document => vec![bare(Request::get(path))],
    }
}

fn of_mcp(held: &Held) -> Vec<Request<Body>> {
    let Held { session, cursor, .. } = held;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let stateless = posted().header("mcp-protocol-version", REVISION).header("mcp-method", "tools/list");
    let of_session = || posted().header(SESSION_ID, session);
    let stream = Request::get(toolgate_mcp_face::PATH).header(header::ACCEPT, "text/event-stream");
    vec![
        call(stateless, "tools/list", json!({"cursor": cursor, "_meta": meta})),
        call(of_session(), "tools/list", json!({})),
        call(of_session(), "tools/list", json!({"cursor": cursor})),
        bare(stream.header(SESSION_ID, session)),
    ]
}

/// A request that names nothing, of a route whose answers have a tag.
fn plain(route: Route) -> Request<Body> {
    bare(Request::get(route.path()))
}

fn initialize() -> Request<Body> {
    call(posted(), "initialize", json!({"protocolVersion": "2025-11-25"}))
}

fn posted() -> Builder {
    Request::post(toolgate_mcp_face::PATH)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream")
}

fn call(request: Builder, method: &str, params: serde_json::Value) -> Request<Body> {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    request.body(Body::from(message.to_string())).unwrap()
}

fn bare(request: Builder) -> Request<Body> {
    request.body(Body::empty()).unwrap()
}

/// All that a caller sees of an answer.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// Both faces, as the server puts them together.
struct Face(Router);

impl Face {
    fn of(ring: &Ring) -> Self {
        let (catalog, random) = (Arc::new(ring.catalog.clone()), Arc::new(|| 7));
        let sealer = Arc::clone(&ring.sealer);
        let melbis_grant: Arc<str> = "Sales -> Tools".into();
        let mcp = McpSettings {
            public_origin: None,
            version: "1.2.3",
            sealer,
            random: random.clone(),
            melbis_grant: Arc::clone(&melbis_grant),
        };
        let gateway = Arc::new(ring.gateway.clone());
        let mcp = toolgate_mcp_face::routes(Arc::clone(&catalog), Arc::clone(&gateway) as Arc<_>, mcp);
        Self(router(
            catalog,
            gateway,
            FacadeSettings { allowed_hosts: Vec::new(), random, takes_work: Arc::new(|| true), melbis_grant },
            mcp,
        ))
    }

    async fn answers(&self, key: &Key, mut request: Request<Body>) -> Response {
        let headers = request.headers_mut();
        headers.insert(header::HOST, "localhost".parse().unwrap());
        headers.insert(header::AUTHORIZATION, key.bearer().parse().unwrap());
        self.0.clone().oneshot(request).await.unwrap()
    }

    async fn shows(&self, key: &Key, request: Request<Body>) -> Seen {
        let (mut head, body) = self.answers(key, request).await.into_parts();
        head.headers.remove(X_CORRELATION_ID);
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Seen { status: head.status, headers: head.headers, body }
    }

    /// A header of the good answer to `request`.
    async fn given(&self, key: &Key, request: Request<Body>, name: &str) -> String {
        let answer = self.answers(key, request).await;
        assert_eq!(answer.status(), StatusCode::OK);
        answer.headers()[name].to_str().unwrap().to_owned()
    }

    fn doors() -> impl Iterator<Item = Door> {
        let shapes = Route::ALL.iter().copied().map(Door::Shape);
        shapes.chain(toolgate_mcp_face::PATHS.into_iter().map(Door::Mcp))
    }
}

#[tokio::test]
async fn law_10_every_route_answers_for_what_is_anothers_as_for_what_does_not_exist() {
    let ring = Ring::new().await;
    let (our_client, their_client) = (ring.client(1).await, ring.client(2).await);
    let (ours, theirs) = (ring.key(&our_client, &ALL).await, ring.key(&their_client, &ALL).await);
    Things::of(&ring, &ours, &our_client).await;
    let their_things = Things::of(&ring, &theirs, &their_client).await;
    let (face, nothing) = (Face::of(&ring), Held::nowhere());
    for door in Face::doors() {
        let foreign = Held::by(&ring, &face, &theirs, their_things.clone(), door).await;
        let both = requests(door, &foreign).into_iter().zip(requests(door, &nothing));
        for (index, (foreign, nothing)) in both.enumerate() {
            let told = face.shows(&ours, foreign).await;
            assert_ne!(told.status, StatusCode::NOT_MODIFIED, "{door:?} {index}");
            assert_eq!(told, face.shows(&ours, nothing).await, "{door:?} {index}");
        }
    }
}

#[tokio::test]
async fn each_of_these_requests_finds_what_is_the_callers_own() {
    let ring = Ring::new().await;
    let client = ring.client(1).await;
    let key = ring.key(&client, &ALL).await;
    let things = Things::of(&ring, &key, &client).await;
    let face = Face::of(&ring);
    for door in Face::doors() {
        let own = Held::by(&ring, &face, &key, things.clone(), door).await;
        for (index, request) in requests(door, &own).into_iter().enumerate() {
            let (head, body) = face.answers(&key, request).await.into_parts();
            let is_fine = matches!(head.status, StatusCode::OK | StatusCode::NOT_MODIFIED);
            assert!(is_fine, "{door:?} {index}: {}", head.status);
            // A stream goes on.
            if head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json") {
                let body = body.collect().await.unwrap().to_bytes();
                let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
                assert!(body.get("error").is_none(), "{door:?} {index}: {body}");
            }
        }
    }
}
