//! A catalogue that answers as a test says and remembers what it was asked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, BodyDataStream};
use futures::StreamExt;
use http::request::Builder;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Response, Status};
use tonic_types::{ErrorDetails, StatusExt};
use toolgate_api_proto::WholeAnswer;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;
use toolgate_api_proto::v1::tool_gateway_server::ToolGateway;
use toolgate_api_proto::v1::*;
use toolgate_mcp_face::{CallEvents, McpSettings, routes};
use toolgate_sealing::{MasterKey, Sealer};
use tower::ServiceExt;

pub(crate) const KEY: &str = "Bearer tg_1_secret";
pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// One call of `ListTools` as the service saw it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    pub(crate) request: ListToolsRequest,
    pub(crate) authorization: Option<String>,
}

type Watched = Result<WatchToolsResponse, Status>;

/// A catalogue of one client, whose pages hold two tools.
#[derive(Default)]
pub(crate) struct Double {
    pub(crate) definitions: Mutex<Vec<String>>,
    pub(crate) refusal: Mutex<Option<Status>>,
    pub(crate) units: Mutex<Vec<(ToolUnit, Vec<ToolUnitCommand>)>>,
    lists: Mutex<Vec<Listed>>,
    watches: Mutex<Vec<(WatchToolsRequest, mpsc::Sender<Watched>)>>,
    /// What the next call is answered.
    pub(crate) events: Mutex<Vec<Result<CallToolResponse, Status>>>,
    pub(crate) calls: Mutex<Vec<Called>>,
    /// Whether calls never end.
    pub(crate) hangs: Mutex<bool>,
    /// Held by each stream that hangs.
    hanging: Arc<()>,
}

const PAGE: usize = 2;

#[tonic::async_trait]
impl ToolCatalog for Double {
    async fn list_tools(
        &self,
        request: tonic::Request<ListToolsRequest>,
    ) -> Result<Response<ListToolsResponse>, Status> {
        let credential = request.metadata().get("authorization");
        let authorization = credential.map(|value| value.to_str().unwrap().to_owned());
        let request = request.into_inner();
        self.lists
            .lock()
            .unwrap()
            .push(Listed { request: request.clone(), authorization: authorization.clone() });
        if let Some(refusal) = self.refusal.lock().unwrap().clone() {
            return Err(refusal);
        }
        match authorization.as_deref() {
            None => return Err(failing(Code::Unauthenticated, "CREDENTIAL_MISSING")),
            Some("Bearer wrong") => return Err(failing(Code::Unauthenticated, "CREDENTIAL_INVALID")),
            Some(_) => {}
        }
        assert_eq!(request.view(), ToolView::Served);
        self.list(&request).map(Response::new)
    }

    async fn get_tool(&self, _: tonic::Request<GetToolRequest>) -> Result<Response<GetToolResponse>, Status> {
        Err(Status::unimplemented("not by this double"))
    }

    async fn list_observed_definitions(
        &self,
        _: tonic::Request<ListObservedDefinitionsRequest>,
    ) -> Result<Response<ListObservedDefinitionsResponse>, Status> {
        Err(Status::unimplemented("not by this double"))
    }

    async fn list_server_tools(
        &self,
        _: tonic::Request<ListServerToolsRequest>,
    ) -> Result<Response<ListServerToolsResponse>, Status> {
        Err(Status::unimplemented("not by this double"))
    }

    async fn list_tool_definitions(
        &self,
        _: tonic::Request<ListToolDefinitionsRequest>,
    ) -> Result<Response<ListToolDefinitionsResponse>, Status> {
        Err(Status::unimplemented("not by this double"))
    }

    async fn list_tool_units(
        &self,
        request: tonic::Request<ListToolUnitsRequest>,
    ) -> Result<Response<ListToolUnitsResponse>, Status> {
        self.admit(&request)?;
        let units = self.units.lock().unwrap().iter().map(|(unit, _)| unit.clone()).collect();
        Ok(Response::new(ListToolUnitsResponse { units, ..Default::default() }))
    }

    async fn get_tool_unit(
        &self,
        request: tonic::Request<GetToolUnitRequest>,
    ) -> Result<Response<GetToolUnitResponse>, Status> {
        self.admit(&request)?;
        let asked = request.into_inner().unit;
        let found = self.units.lock().unwrap().iter().find(|(unit, _)| unit.unit == asked).cloned();
        let (unit, commands) = found.ok_or_else(|| failing(Code::NotFound, "UPSTREAM_NOT_FOUND"))?;
        Ok(Response::new(GetToolUnitResponse { unit: Some(unit), commands, ..Default::default() }))
    }

    type WatchToolsStream = ReceiverStream<Watched>;

    async fn watch_tools(
        &self,
        request: tonic::Request<WatchToolsRequest>,
    ) -> Result<Response<Self::WatchToolsStream>, Status> {
        let (told, heard) = mpsc::channel(8);
        self.watches.lock().unwrap().push((request.into_inner(), told));
        Ok(Response::new(ReceiverStream::new(heard)))
    }

    async fn list_upstreams(
        &self,
        _: tonic::Request<ListUpstreamsRequest>,
    ) -> Result<Response<ListUpstreamsResponse>, Status> {
        Err(Status::unimplemented("not by this double"))
    }

    async fn get_upstream(
        &self,
        _: tonic::Request<GetUpstreamRequest>,
    ) -> Result<Response<GetUpstreamResponse>, Status> {
        Err(Status::unimplemented("not by this double"))
    }

    async fn list_agents(
        &self,
        _: tonic::Request<ListAgentsRequest>,
    ) -> Result<Response<ListAgentsResponse>, Status> {
        Err(Status::unimplemented("not by this double"))
    }

    async fn get_agent(
        &self,
        _: tonic::Request<GetAgentRequest>,
    ) -> Result<Response<GetAgentResponse>, Status> {
        Err(Status::unimplemented("not by this double"))
    }
}

/// One call as the gateway saw it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Called {
    pub(crate) request: CallToolRequest,
    pub(crate) authorization: Option<String>,
}

/// A gateway to the tools of the double, which answers what it was told to, else what was sent.
pub(crate) struct GatewayDouble(Arc<Double>);

#[tonic::async_trait]
impl ToolGateway for GatewayDouble {
    type CallToolStream = CallEvents;

    async fn call_tool(
        &self,
        request: tonic::Request<CallToolRequest>,
    ) -> Result<Response<CallEvents>, Status> {
        let credential = request.metadata().get("authorization");
        let authorization = credential.map(|value| value.to_str().unwrap().to_owned());
        let request = request.into_inner();
        self.0
            .calls
            .lock()
            .unwrap()
            .push(Called { request: request.clone(), authorization: authorization.clone() });
        match authorization.as_deref() {
            None => return Err(failing(Code::Unauthenticated, "CREDENTIAL_MISSING")),
            Some("Bearer wrong") => return Err(failing(Code::Unauthenticated, "CREDENTIAL_INVALID")),
            Some(_) => {}
        }
        let Some(call_tool_request::Tool::NamespacedName(name)) = &request.tool else {
            panic!("by its name")
        };
        let named = ListToolsRequest { namespaced_name: name.clone(), ..Default::default() };
        if self.0.list(&named)?.tools.is_empty() {
            return Err(failing(Code::NotFound, "TOOL_NOT_FOUND"));
        }
        if *self.0.hangs.lock().unwrap() {
            let held = Arc::clone(&self.0.hanging);
            let hanging = futures::stream::once(async move {
                let _held = held;
                std::future::pending().await
            });
            return Ok(Response::new(Box::pin(hanging)));
        }
        let mut events = self.0.events.lock().unwrap().drain(..).collect::<Vec<_>>();
        if events.is_empty() {
            let sent =
                Some(request.arguments_json.as_str()).filter(|sent| !sent.is_empty()).unwrap_or("null");
            events.push(Ok(result(&format!(r#"{{"content":[],"sent":{sent}}}"#))));
        }
        Ok(Response::new(Box::pin(futures::stream::iter(events))))
    }
}

pub(crate) fn result(result_json: &str) -> CallToolResponse {
    let result = CallToolResult { result_json: result_json.to_owned() };
    CallToolResponse { event: Some(call_tool_response::Event::Result(result)) }
}

pub(crate) fn asked(result_json: &str) -> CallToolResponse {
    let asked = toolgate_api_proto::v1::CallToolInputRequired { result_json: result_json.to_owned() };
    CallToolResponse { event: Some(call_tool_response::Event::InputRequired(asked)) }
}

pub(crate) fn log(log_json: &str) -> CallToolResponse {
    let log = CallToolLog { log_json: log_json.to_owned() };
    CallToolResponse { event: Some(call_tool_response::Event::Log(log)) }
}

pub(crate) fn progress(progress_json: &str) -> CallToolResponse {
    let progress = CallToolProgress { progress_json: progress_json.to_owned() };
    CallToolResponse { event: Some(call_tool_response::Event::Progress(progress)) }
}

impl Double {
    /// Takes any credential but none and a wrong one, asked for the whole answer.
    fn admit<Q>(&self, request: &tonic::Request<Q>) -> Result<(), Status> {
        assert!(request.extensions().get::<WholeAnswer>().is_some());
        if let Some(refusal) = self.refusal.lock().unwrap().clone() {
            return Err(refusal);
        }
        match request.metadata().get("authorization").map(|value| value.to_str().unwrap()) {
            None => Err(failing(Code::Unauthenticated, "CREDENTIAL_MISSING")),
            Some("Bearer wrong") => Err(failing(Code::Unauthenticated, "CREDENTIAL_INVALID")),
            Some(_) => Ok(()),
        }
    }

    /// Whether no stream that hangs is waited for.
    pub(crate) fn is_given_up(&self) -> bool {
        Arc::strong_count(&self.hanging) == 1
    }

    fn list(&self, request: &ListToolsRequest) -> Result<ListToolsResponse, Status> {
        let definitions = self.definitions.lock().unwrap().clone();
        let start = match request.page_token.strip_prefix("after-") {
            Some(count) => count.parse().unwrap(),
            None if request.page_token.is_empty() => 0,
            None => return Err(failing(Code::InvalidArgument, "FIELD_INVALID")),
        };
        let (revision, etag) = (format!("r{}", definitions.len()), format!("e{start}-{}", definitions.len()));
        if request.if_none_match == etag {
            return Ok(ListToolsResponse { revision, etag, not_modified: true, ..Default::default() });
        }
        let named = |text: &&String| {
            let name = serde_json::from_str::<Value>(text).unwrap()["name"].as_str().unwrap().to_owned();
            request.namespaced_name.is_empty() || name == request.namespaced_name
        };
        let page = definitions.iter().filter(named).skip(start).take(PAGE);
        let tools: Vec<_> =
            page.map(|text| Tool { definition_json: text.clone(), ..Default::default() }).collect();
        let end = start + tools.len();
        let goes_on = request.namespaced_name.is_empty() && end < definitions.len();
        let next_page_token = if goes_on { format!("after-{end}") } else { String::new() };
        Ok(ListToolsResponse { tools, next_page_token, revision, etag, not_modified: false })
    }
}

/// An error as the service makes it.
pub(crate) fn failing(code: Code, reason: &str) -> Status {
    let details = ErrorDetails::with_error_info(reason, "toolgate.dev", HashMap::new());
    Status::with_error_details(code, "in the service's words", details)
}

/// That the tool's server requires these capabilities.
pub(crate) fn missing_capability(required: &str) -> Status {
    let metadata = HashMap::from([("required_capabilities".to_owned(), required.to_owned())]);
    let details = ErrorDetails::with_error_info("CLIENT_CAPABILITY_MISSING", "toolgate.dev", metadata);
    Status::with_error_details(Code::FailedPrecondition, "in the service's words", details)
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Status and code of an error.
    pub(crate) fn refused(&self) -> (u16, i64) {
        (self.status.as_u16(), self.json()["error"]["code"].as_i64().unwrap())
    }
}

/// The face over a double.
pub(crate) struct Face {
    router: Router,
    pub(crate) double: Arc<Double>,
}

impl Face {
    pub(crate) fn new(definitions: &[&str]) -> Self {
        Self::sealing(definitions, Arc::new(Sealer::new(&MasterKey::ephemeral())))
    }

    pub(crate) fn sealing(definitions: &[&str], sealer: Arc<Sealer>) -> Self {
        Self::with(definitions, sealer, None)
    }

    pub(crate) fn with(definitions: &[&str], sealer: Arc<Sealer>, public_origin: Option<&str>) -> Self {
        let double = Double::default();
        *double.definitions.lock().unwrap() = definitions.iter().map(|text| (*text).to_owned()).collect();
        let double = Arc::new(double);
        let drawn = AtomicU64::new(0);
        let settings = McpSettings {
            public_origin: public_origin.map(str::to_owned),
            version: "1.2.3",
            sealer,
            random: Arc::new(move || drawn.fetch_add(1, Ordering::Relaxed)),
            melbis_grant: "Sales -> Tools".into(),
        };
        let gateway = Arc::new(GatewayDouble(Arc::clone(&double)));
        Self { router: routes(Arc::clone(&double), gateway, settings), double }
    }

    pub(crate) fn lists(&self) -> Vec<Listed> {
        self.double.lists.lock().unwrap().clone()
    }

    pub(crate) async fn open(&self, request: Builder, body: impl Into<Body>) -> http::Response<Body> {
        self.router.clone().oneshot(request.body(body.into()).unwrap()).await.unwrap()
    }

    pub(crate) async fn send(&self, request: Builder, body: impl Into<Body>) -> Answer {
        let (head, body) = self.open(request, body).await.into_parts();
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        let length = head.headers.get("content-length").map(|value| value.to_str().unwrap().parse().unwrap());
        let is_head = text.is_empty();
        assert!(length.is_none_or(|length: usize| is_head || length == text.len()), "{head:?} {text}");
        Answer { status: head.status, headers: head.headers, text }
    }

    /// A request of the stateless revision, as a well-behaved client sends it. `params` are the members after `_meta`.
    pub(crate) async fn ask(&self, method: &str, params: &str) -> Answer {
        self.send(modern(method), request(method, params)).await
    }

    /// A session of this revision.
    pub(crate) async fn session(&self, revision: &str) -> Session<'_> {
        let opened = self.send(post(), initialize(revision)).await;
        assert_eq!(opened.status, 200, "{}", opened.text);
        let id = opened.header("mcp-session-id").expect("a session has an id").to_owned();
        Session {
            face: self,
            id,
            revision: opened.json()["result"]["protocolVersion"].as_str().unwrap().to_owned(),
        }
    }

    /// The watch that was opened last: what it was asked, and where its messages are put in.
    pub(crate) fn watch(&self) -> (WatchToolsRequest, mpsc::Sender<Watched>) {
        self.double.watches.lock().unwrap().last().expect("a watch was opened").clone()
    }
}

/// A session as a well-behaved client keeps it.
pub(crate) struct Session<'a> {
    face: &'a Face,
    pub(crate) id: String,
    pub(crate) revision: String,
}

impl Session<'_> {
    pub(crate) fn post(&self) -> Builder {
        post().header("mcp-session-id", &self.id).header("mcp-protocol-version", &self.revision)
    }

    pub(crate) async fn send(&self, body: &str) -> Answer {
        self.face.send(self.post(), body.to_owned()).await
    }
}

pub(crate) fn post() -> Builder {
    Request::post("/mcp")
        .header("host", "localhost:8080")
        .header("authorization", KEY)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
}

pub(crate) fn modern(method: &str) -> Builder {
    post().header("mcp-protocol-version", MODERN).header("mcp-method", method)
}

/// A request with the id 1; `params` are the members after `_meta`.
pub(crate) fn request(method: &str, params: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{META}{comma}{params}}}}}"#)
}

pub(crate) fn initialize(revision: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
    )
}

/// The next event of a stream, without its last line break; `None` at the end.
pub(crate) async fn event(stream: &mut BodyDataStream) -> Option<String> {
    let event = stream.next().await?.unwrap();
    Some(String::from_utf8(event.to_vec()).unwrap().trim_end().to_owned())
}
