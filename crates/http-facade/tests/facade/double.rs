//! A catalogue that answers lists as a test says and remembers what it was asked.

use std::sync::{Arc, LazyLock, Mutex};

use axum::Router;
use axum::body::Body;
use http::request::Builder;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use tonic::codegen::BoxStream;
use tonic::{Response, Status};
use toolgate_api_proto::WholeAnswer;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;
use toolgate_api_proto::v1::tool_gateway_server::ToolGateway;
use toolgate_api_proto::v1::*;
use toolgate_http_facade::{FacadeSettings, router};
use toolgate_mcp_face::McpSettings;
use toolgate_sealing::{MasterKey, Sealer};
use tower::ServiceExt;

pub(crate) const PATH: &str = "/client/mcp/tools";
pub(crate) const GRANT: &str = "Sales -> Tools";

type Answering = dyn Fn(&Call) -> Result<ListToolsResponse, Status> + Send + Sync;

/// One for all faces, so that a session of one is known to another.
static SEALER: LazyLock<Arc<Sealer>> = LazyLock::new(|| Arc::new(Sealer::new(&MasterKey::ephemeral())));

/// One call of `ListTools` as the service saw it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) request: ListToolsRequest,
    pub(crate) authorization: Option<String>,
    pub(crate) whole: bool,
}

type Defining = dyn Fn(&DefinitionsCall) -> Result<ListToolDefinitionsResponse, Status> + Send + Sync;

/// One call of `ListToolDefinitions` as the service saw it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DefinitionsCall {
    pub(crate) request: ListToolDefinitionsRequest,
    pub(crate) authorization: Option<String>,
    pub(crate) whole: bool,
}

type Asking = dyn Fn(&ServerCall) -> Result<ListServerToolsResponse, Status> + Send + Sync;

/// One call of `ListServerTools` as the service saw it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServerCall {
    pub(crate) request: ListServerToolsRequest,
    pub(crate) authorization: Option<String>,
}

type Telling = dyn Fn(&UnitsCall) -> Result<UnitsTold, Status> + Send + Sync;

/// One call of `ListToolUnits`, or of `GetToolUnit` where it has a unit, as the service saw it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnitsCall {
    pub(crate) unit: Option<String>,
    pub(crate) if_none_match: String,
    pub(crate) min_revision: String,
    pub(crate) authorization: Option<String>,
    pub(crate) whole: bool,
}

/// What is told of units: all of them, or the first with its commands.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnitsTold {
    pub(crate) etag: &'static str,
    pub(crate) units: Vec<ToolUnit>,
    pub(crate) commands: Vec<ToolUnitCommand>,
    pub(crate) next_page_token: String,
}

/// What comes of a call: refused at once, or event after event.
pub(crate) type Events = Result<Vec<Result<CallToolResponse, Status>>, Status>;
type Calling = dyn Fn(&ToolCall) -> Events + Send + Sync;

/// One call of `CallTool` as the service saw it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolCall {
    pub(crate) request: CallToolRequest,
    pub(crate) authorization: Option<String>,
}

pub(crate) struct Double {
    calling: Box<Calling>,
    tool_calls: Mutex<Vec<ToolCall>>,
    telling: Box<Telling>,
    units_calls: Mutex<Vec<UnitsCall>>,
    answering: Box<Answering>,
    calls: Mutex<Vec<Call>>,
    defining: Box<Defining>,
    definitions_calls: Mutex<Vec<DefinitionsCall>>,
    asking: Box<Asking>,
    server_calls: Mutex<Vec<ServerCall>>,
}

impl Default for Double {
    /// Of a catalogue that answers nothing.
    fn default() -> Self {
        Self {
            calling: Box::new(|_| Err(Status::unimplemented("not by this double"))),
            tool_calls: Mutex::default(),
            answering: Box::new(|_| Err(Status::unimplemented("not by this double"))),
            calls: Mutex::default(),
            defining: Box::new(|_| Err(Status::unimplemented("not by this double"))),
            definitions_calls: Mutex::default(),
            telling: Box::new(|_| Err(Status::unimplemented("not by this double"))),
            units_calls: Mutex::default(),
            asking: Box::new(|_| Err(Status::unimplemented("not by this double"))),
            server_calls: Mutex::default(),
        }
    }
}

#[tonic::async_trait]
impl ToolCatalog for Double {
    async fn list_tools(
        &self,
        request: tonic::Request<ListToolsRequest>,
    ) -> Result<Response<ListToolsResponse>, Status> {
        let credential = request.metadata().get("authorization");
        let call = Call {
            authorization: credential.map(|value| value.to_str().unwrap().to_owned()),
            whole: request.extensions().get::<WholeAnswer>().is_some(),
            request: request.into_inner(),
        };
        self.calls.lock().unwrap().push(call.clone());
        (self.answering)(&call).map(Response::new)
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

    async fn list_tool_definitions(
        &self,
        request: tonic::Request<ListToolDefinitionsRequest>,
    ) -> Result<Response<ListToolDefinitionsResponse>, Status> {
        let credential = request.metadata().get("authorization");
        let call = DefinitionsCall {
            authorization: credential.map(|value| value.to_str().unwrap().to_owned()),
            whole: request.extensions().get::<WholeAnswer>().is_some(),
            request: request.into_inner(),
        };
        self.definitions_calls.lock().unwrap().push(call.clone());
        (self.defining)(&call).map(Response::new)
    }

    async fn list_server_tools(
        &self,
        request: tonic::Request<ListServerToolsRequest>,
    ) -> Result<Response<ListServerToolsResponse>, Status> {
        let credential = request.metadata().get("authorization");
        let call = ServerCall {
            authorization: credential.map(|value| value.to_str().unwrap().to_owned()),
            request: request.into_inner(),
        };
        self.server_calls.lock().unwrap().push(call.clone());
        (self.asking)(&call).map(Response::new)
    }

    async fn list_tool_units(
        &self,
        request: tonic::Request<ListToolUnitsRequest>,
    ) -> Result<Response<ListToolUnitsResponse>, Status> {
        let ListToolUnitsRequest { if_none_match, min_revision, .. } = request.get_ref().clone();
        let told = self.tell(&request, None, if_none_match.clone(), min_revision)?;
        let not_modified = if_none_match == told.etag;
        Ok(Response::new(ListToolUnitsResponse {
            units: if not_modified { Vec::new() } else { told.units },
            next_page_token: told.next_page_token,
            revision: format!("r-{}", told.etag),
            etag: told.etag.to_owned(),
            not_modified,
        }))
    }

    async fn get_tool_unit(
        &self,
        request: tonic::Request<GetToolUnitRequest>,
    ) -> Result<Response<GetToolUnitResponse>, Status> {
        let GetToolUnitRequest { unit, if_none_match, min_revision, .. } = request.get_ref().clone();
        let told = self.tell(&request, Some(unit), if_none_match.clone(), min_revision)?;
        let not_modified = if_none_match == told.etag;
        Ok(Response::new(GetToolUnitResponse {
            unit: told.units.into_iter().next().filter(|_| !not_modified),
            commands: if not_modified { Vec::new() } else { told.commands },
            next_page_token: told.next_page_token,
            revision: format!("r-{}", told.etag),
            etag: told.etag.to_owned(),
            not_modified,
        }))
    }

    type WatchToolsStream = BoxStream<WatchToolsResponse>;

    async fn watch_tools(
        &self,
        _: tonic::Request<WatchToolsRequest>,
    ) -> Result<Response<Self::WatchToolsStream>, Status> {
        Ok(Response::new(Box::pin(futures::stream::empty())))
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

impl Double {
    fn tell<Q>(
        &self,
        request: &tonic::Request<Q>,
        unit: Option<String>,
        if_none_match: String,
        min_revision: String,
    ) -> Result<UnitsTold, Status> {
        let credential = request.metadata().get("authorization");
        let call = UnitsCall {
            unit,
            if_none_match,
            min_revision,
            authorization: credential.map(|value| value.to_str().unwrap().to_owned()),
            whole: request.extensions().get::<WholeAnswer>().is_some(),
        };
        self.units_calls.lock().unwrap().push(call.clone());
        (self.telling)(&call)
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// The facade over a double, with the MCP endpoint beside it.
pub(crate) struct Face {
    pub(crate) router: Router,
    double: Arc<Double>,
}

impl Face {
    pub(crate) fn new(
        answering: impl Fn(&Call) -> Result<ListToolsResponse, Status> + Send + Sync + 'static,
    ) -> Self {
        Self::over(Double { answering: Box::new(answering), ..Double::default() }, Arc::new(|| true))
    }

    /// Over a catalogue that answers `ListServerTools` alone.
    pub(crate) fn asking(
        asking: impl Fn(&ServerCall) -> Result<ListServerToolsResponse, Status> + Send + Sync + 'static,
    ) -> Self {
        Self::over(Double { asking: Box::new(asking), ..Double::default() }, Arc::new(|| true))
    }

    /// Over a catalogue that answers `ListToolDefinitions` alone.
    pub(crate) fn defining(
        defining: impl Fn(&DefinitionsCall) -> Result<ListToolDefinitionsResponse, Status> + Send + Sync + 'static,
    ) -> Self {
        Self::over(Double { defining: Box::new(defining), ..Double::default() }, Arc::new(|| true))
    }

    /// Over a catalogue that answers `ListToolUnits` and `GetToolUnit` alone.
    pub(crate) fn telling(
        telling: impl Fn(&UnitsCall) -> Result<UnitsTold, Status> + Send + Sync + 'static,
    ) -> Self {
        Self::over(Double { telling: Box::new(telling), ..Double::default() }, Arc::new(|| true))
    }

    /// Over a gateway alone.
    pub(crate) fn calling(calling: impl Fn(&ToolCall) -> Events + Send + Sync + 'static) -> Self {
        Self::over(Double { calling: Box::new(calling), ..Double::default() }, Arc::new(|| true))
    }

    pub(crate) fn tool_calls(&self) -> Vec<ToolCall> {
        self.double.tool_calls.lock().unwrap().clone()
    }

    /// Of a process that takes work or not, as `takes_work` says.
    pub(crate) fn of_process(takes_work: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self::over(Double::default(), Arc::new(takes_work))
    }

    fn over(double: Double, takes_work: Arc<dyn Fn() -> bool + Send + Sync>) -> Self {
        let double = Arc::new(double);
        let settings = FacadeSettings {
            allowed_hosts: vec!["Tools.Example".to_owned()],
            random: Arc::new(|| 0xabc),
            takes_work,
            melbis_grant: GRANT.into(),
        };
        let mcp = McpSettings {
            public_origin: None,
            version: "1",
            sealer: Arc::clone(&SEALER),
            random: Arc::new(|| 0xdef),
            melbis_grant: GRANT.into(),
        };
        let beside = toolgate_mcp_face::routes(Arc::clone(&double), Arc::clone(&double) as Arc<_>, mcp);
        Self { router: router(Arc::clone(&double), Arc::clone(&double) as Arc<_>, settings, beside), double }
    }

    /// Over a catalogue that holds `tools` and keeps the contract of `if_none_match`.
    pub(crate) fn holding(tools: Vec<Tool>) -> Self {
        Self::new(move |call| Ok(list(call, "e1", &tools)))
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.double.calls.lock().unwrap().clone()
    }

    pub(crate) fn definitions_calls(&self) -> Vec<DefinitionsCall> {
        self.double.definitions_calls.lock().unwrap().clone()
    }

    pub(crate) fn server_calls(&self) -> Vec<ServerCall> {
        self.double.server_calls.lock().unwrap().clone()
    }

    pub(crate) fn units_calls(&self) -> Vec<UnitsCall> {
        self.double.units_calls.lock().unwrap().clone()
    }

    pub(crate) async fn send(&self, request: Builder) -> Answer {
        self.send_with(request, Body::empty()).await
    }

    pub(crate) async fn send_with(&self, request: Builder, body: impl Into<Body>) -> Answer {
        let request = request.body(body.into()).unwrap();
        let (head, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: head.status, headers: head.headers, body }
    }

    pub(crate) async fn get(&self, target: &str) -> Answer {
        self.send(get(target)).await
    }
}

/// A request as a well-behaved local client sends it.
pub(crate) fn get(target: &str) -> Builder {
    Request::get(target).header("host", "localhost:8080").header("authorization", "Bearer tg_1_secret")
}

/// What a catalogue at `etag` answers.
pub(crate) fn list(call: &Call, etag: &str, tools: &[Tool]) -> ListToolsResponse {
    let not_modified = call.request.if_none_match == etag;
    ListToolsResponse {
        tools: if not_modified { Vec::new() } else { tools.to_vec() },
        next_page_token: String::new(),
        revision: format!("r-{etag}"),
        etag: etag.to_owned(),
        not_modified,
    }
}

/// A tool with nothing in it that may be absent.
pub(crate) fn tool(definition: &str) -> Tool {
    let moment = |seconds, nanos| Some(prost_types::Timestamp { seconds, nanos });
    Tool {
        id: "5c7f1f36-0f0e-5c58-9d0c-0a2f6a7f5a10".to_owned(),
        client_id: "019c1b2a-0000-7000-8000-000000000001".to_owned(),
        upstream_id: "019c1b2a-0000-7000-8000-000000000002".to_owned(),
        name: "a".to_owned(),
        namespaced_name: "files__a".to_owned(),
        definition_json: definition.to_owned(),
        definition_hash: "sha256:d".to_owned(),
        approved_hash: None,
        status: ToolStatus::Active.into(),
        state: ToolState::Unapproved.into(),
        remedy: "approve it".to_owned(),
        effect: Effect::Changes.into(),
        effect_override: None,
        description_override: None,
        fixed_args_json: None,
        lock_issues: Vec::new(),
        create_time: moment(1_767_225_600, 0),
        update_time: moment(1_767_225_661, 45_999_999),
        remove_time: None,
        etag: "t".to_owned(),
    }
}

#[tonic::async_trait]
impl ToolGateway for Double {
    type CallToolStream = BoxStream<CallToolResponse>;

    async fn call_tool(
        &self,
        request: tonic::Request<CallToolRequest>,
    ) -> Result<Response<Self::CallToolStream>, Status> {
        let credential = request.metadata().get("authorization");
        let call = ToolCall {
            authorization: credential.map(|value| value.to_str().unwrap().to_owned()),
            request: request.into_inner(),
        };
        self.tool_calls.lock().unwrap().push(call.clone());
        let events = (self.calling)(&call)?;
        Ok(Response::new(Box::pin(futures::stream::iter(events))))
    }
}
