mod server_tools;

use std::{num::NonZeroUsize, pin::Pin, sync::Arc};

use bytes::Bytes;
use futures::Stream;
use prost::Message;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use toolgate_api_proto::{
    WholeAnswer,
    v1::{self as pb, tool_catalog_server::ToolCatalog},
};
use toolgate_catalog::{
    Catalog, Snapshot, View,
    agents::{ListAgents, get_agent, list_agents},
    get_tool::{GetTool, get_tool},
    list_definitions::{ListDefinitions, list_definitions},
    list_tool_definitions::{ListToolDefinitions, list_tool_definitions},
    list_tools::{ListTools, list_from},
    server_tools::ServerTools,
    snapshot::{Filter, PageSize},
    upstreams::{ListUpstreams, UpstreamRef, get_upstream, list_upstreams},
    watch_tools::{WatchTools, watch_tools},
};
use toolgate_domain::{AgentId, Caller, Fault, Scope, limits};

use crate::{
    Gate,
    convert::{agent, fields, tool, upstream},
    encoded_pages::EncodedPages,
    rpc::Rpc,
    tokens::{RequestDigest, digest},
    watch_stream::{Following, watch_stream},
};

mod units;

/// `ToolCatalog` over the use cases of the catalogue.
#[derive(Debug, Clone)]
pub struct CatalogService {
    catalog: Catalog,
    server_tools: ServerTools,
    gate: Gate,
    stopping: CancellationToken,
    encoded: Arc<EncodedPages>,
}

/// A list of tools that is about to be answered.
struct Asked {
    list: ListTools,
    of: RequestDigest,
    snapshot: Arc<Snapshot>,
    etag: String,
    revision: String,
    if_none_match: String,
}

impl Asked {
    /// Whether the caller holds the answer already.
    fn is_known(&self) -> bool {
        self.if_none_match == self.etag
    }

    /// The answer to a caller who does.
    fn not_modified(self) -> pb::ListToolsResponse {
        let Self { etag, revision, .. } = self;
        pb::ListToolsResponse { revision, etag, not_modified: true, ..Default::default() }
    }
}

impl CatalogService {
    /// Answers from `catalog`, and from tool servers through `server_tools`; streams end when `stopping` is cancelled.
    pub fn new(catalog: Catalog, server_tools: ServerTools, gate: Gate, stopping: CancellationToken) -> Self {
        Self { catalog, server_tools, gate, stopping, encoded: Arc::default() }
    }

    async fn list_tools(
        &self,
        caller: Caller,
        request: Request<pb::ListToolsRequest>,
    ) -> Result<pb::ListToolsResponse, Fault> {
        let asked = self.asked(&caller, request).await?;
        if asked.is_known() { Ok(asked.not_modified()) } else { self.page(asked) }
    }

    /// As [`ToolCatalog::list_tools`], encoded; a page that was asked for lately is not made again.
    pub(crate) async fn list_encoded_tools(
        &self,
        request: Request<pb::ListToolsRequest>,
    ) -> Result<Response<Bytes>, Status> {
        let call = async |caller: Caller, request| {
            let asked = self.asked(&caller, request).await?;
            if asked.is_known() {
                return Ok(asked.not_modified().encode_to_vec().into());
            }
            let (client, etag) = (asked.list.client, asked.etag.clone());
            if let Some(encoded) = self.encoded.get(client, &etag) {
                return Ok(encoded);
            }
            let encoded = Bytes::from(self.page(asked)?.encode_to_vec());
            self.encoded.put(client, &etag, encoded.clone());
            Ok(encoded)
        };
        self.gate.run(Rpc::ListTools, request, call).await
    }

    /// What is asked, and the snapshot that answers it.
    async fn asked(&self, caller: &Caller, request: Request<pb::ListToolsRequest>) -> Result<Asked, Fault> {
        let whole = request.extensions().get::<WholeAnswer>().is_some();
        let ask = request.into_inner();
        let view = admitted_view(caller, ask.view)?;
        let (client, tokens) = self.gate.tenant(caller, &ask.client_id)?;
        let of = list_digest(&ask, view, caller.agent);
        let size = fields::page_size(ask.page_size, limits::TOOLS_PAGE_SIZE, limits::TOOLS_PAGE_SIZE)?;
        let list = ListTools {
            client,
            view,
            agent: caller.agent,
            filter: filter_from_proto(&ask)?,
            after: tokens.open_tool_page(of, &ask.page_token)?,
            size: if whole { PageSize::Whole } else { PageSize::AtMost(size) },
            min_revision: tokens.open_revision(&ask.min_revision, "min_revision")?,
        };
        let snapshot = self.catalog.snapshot(client, list.min_revision).await?;
        let page_of = digest([&of[..], &list_size_bytes(list.size), ask.page_token.as_bytes()]);
        let etag = tokens.answer(page_of, snapshot.revision());
        let revision = tokens.revision(snapshot.revision());
        Ok(Asked { list, of, snapshot, etag, revision, if_none_match: ask.if_none_match })
    }

    fn page(&self, asked: Asked) -> Result<pb::ListToolsResponse, Fault> {
        let Asked { list, of, snapshot, etag, revision, .. } = asked;
        let tokens = self.gate.tokens(list.client);
        let page = list_from(snapshot, &list)?.page;
        let next_page_token = page.more_after.map(|key| tokens.tool_page(of, &key)).unwrap_or_default();
        let tools = page.tools.iter().map(|entry| tool::to_proto(entry, list.view, &tokens)).collect();
        Ok(pb::ListToolsResponse { tools, next_page_token, revision, etag, not_modified: false })
    }

    async fn get_tool(&self, caller: Caller, ask: pb::GetToolRequest) -> Result<pb::GetToolResponse, Fault> {
        let view = admitted_view(&caller, ask.view)?;
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let get = GetTool {
            client,
            id: fields::required(&ask.id, "id")?,
            view,
            agent: caller.agent,
            min_revision: tokens.open_revision(&ask.min_revision, "min_revision")?,
        };
        let (entry, snapshot) = get_tool(&self.catalog, &get).await?;
        let tool = Some(tool::to_proto(&entry, view, &tokens));
        Ok(pb::GetToolResponse { tool, revision: tokens.revision(snapshot.revision()) })
    }

    async fn list_definitions(
        &self,
        caller: Caller,
        ask: pb::ListObservedDefinitionsRequest,
    ) -> Result<pb::ListObservedDefinitionsResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let of = definitions_digest(&ask);
        let most = limits::DEFINITIONS_PAGE_SIZE;
        let list = ListDefinitions {
            client,
            tool: fields::required(&ask.tool_id, "tool_id")?,
            only: tool::hashes_from_proto(&ask.definition_hashes)?,
            after: tokens.open_definition_page(of, &ask.page_token)?,
            size: NonZeroUsize::new(fields::page_size(ask.page_size, most, most)?)
                .unwrap_or(NonZeroUsize::MIN),
            min_revision: tokens.open_revision(&ask.min_revision, "min_revision")?,
        };
        let page = list_definitions(&self.catalog, &list).await?;
        let next_page_token = page.more_after.map(|after| tokens.definition_page(of, &after));
        Ok(pb::ListObservedDefinitionsResponse {
            definitions: page.definitions.into_iter().map(tool::definition_to_proto).collect(),
            next_page_token: next_page_token.unwrap_or_default(),
            revision: tokens.revision(page.snapshot.revision()),
        })
    }

    async fn list_tool_definitions(
        &self,
        caller: Caller,
        request: Request<pb::ListToolDefinitionsRequest>,
    ) -> Result<pb::ListToolDefinitionsResponse, Fault> {
        let whole = request.extensions().get::<WholeAnswer>().is_some();
        let ask = request.into_inner();
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let of = digest([&b"tool definitions"[..], agent_bytes(caller.agent.as_ref())]);
        let size = fields::page_size(ask.page_size, limits::TOOLS_PAGE_SIZE, limits::TOOLS_PAGE_SIZE)?;
        let list = ListToolDefinitions {
            agent: caller.agent,
            after: tokens.open_tool_page(of, &ask.page_token)?,
            size: if whole { PageSize::Whole } else { PageSize::AtMost(size) },
        };
        let min_revision = tokens.open_revision(&ask.min_revision, "min_revision")?;
        let snapshot = self.catalog.snapshot(client, min_revision).await?;
        let page_of = digest([&of[..], &list_size_bytes(list.size), ask.page_token.as_bytes()]);
        let etag = tokens.answer(page_of, snapshot.revision());
        let revision = tokens.revision(snapshot.revision());
        if ask.if_none_match == etag {
            let not_modified = true;
            return Ok(pb::ListToolDefinitionsResponse {
                revision,
                etag,
                not_modified,
                ..Default::default()
            });
        }
        // Off the threads that serve connections: schemas are inlined for each tool.
        let page = tokio::task::spawn_blocking(move || list_tool_definitions(&snapshot, &list)).await;
        let page = page.map_err(|error| Fault::Internal { cause: error.to_string() })??;
        let next_page_token = page.more_after.map(|key| tokens.tool_page(of, &key)).unwrap_or_default();
        let definitions = page.definitions.into_iter().map(tool::tool_definition_to_proto).collect();
        Ok(pb::ListToolDefinitionsResponse {
            definitions,
            next_page_token,
            revision,
            etag,
            not_modified: false,
        })
    }

    async fn watch_tools(
        &self,
        caller: Caller,
        ask: pb::WatchToolsRequest,
    ) -> Result<WatchToolsStream, Fault> {
        let view = admitted_view(&caller, ask.view)?;
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let resume = tokens.open_revision(&ask.resume_revision, "resume_revision")?;
        let agent = caller.agent;
        let watch = watch_tools(&self.catalog, WatchTools { client, view, agent, resume }).await?;
        let (gate, stopping) = (self.gate.clone(), self.stopping.clone());
        let lost = gate.until_lost(caller);
        Ok(Box::pin(watch_stream(Following { watch, client, view, gate, stopping, lost })))
    }

    async fn list_upstreams(
        &self,
        caller: Caller,
        ask: pb::ListUpstreamsRequest,
    ) -> Result<pb::ListUpstreamsResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let of = digest([&b"upstreams"[..]]);
        let size =
            fields::page_size(ask.page_size, limits::UPSTREAMS_PAGE_SIZE, limits::MAX_UPSTREAMS_PAGE_SIZE)?;
        let list = ListUpstreams {
            client,
            after: tokens.open_upstream_page(of, &ask.page_token)?,
            size: NonZeroUsize::new(size).unwrap_or(NonZeroUsize::MIN),
            min_revision: tokens.open_revision(&ask.min_revision, "min_revision")?,
        };
        let page = list_upstreams(&self.catalog, &list).await?;
        Ok(pb::ListUpstreamsResponse {
            upstreams: page
                .upstreams
                .iter()
                .map(|detail| upstream::for_reader(upstream::to_proto(detail, &tokens), &caller))
                .collect(),
            next_page_token: page.more_after.map(|id| tokens.upstream_page(of, id)).unwrap_or_default(),
            revision: tokens.revision(page.snapshot.revision()),
        })
    }

    async fn get_upstream(
        &self,
        caller: Caller,
        ask: pb::GetUpstreamRequest,
    ) -> Result<pb::GetUpstreamResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let name = upstream_ref(&ask.id)?;
        let min_revision = tokens.open_revision(&ask.min_revision, "min_revision")?;
        let (detail, snapshot): (_, Arc<Snapshot>) =
            get_upstream(&self.catalog, client, &name, min_revision).await?;
        let upstream = Some(upstream::for_reader(upstream::to_proto(&detail, &tokens), &caller));
        Ok(pb::GetUpstreamResponse { upstream, revision: tokens.revision(snapshot.revision()) })
    }
}

impl CatalogService {
    async fn list_agents(
        &self,
        caller: Caller,
        ask: pb::ListAgentsRequest,
    ) -> Result<pb::ListAgentsResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let of = digest([&b"agents"[..]]);
        let size = fields::page_size(ask.page_size, limits::AGENTS_PAGE_SIZE, limits::MAX_AGENTS_PAGE_SIZE)?;
        let list = ListAgents {
            client,
            after: tokens.open_agent_page(of, &ask.page_token)?,
            size: NonZeroUsize::new(size).unwrap_or(NonZeroUsize::MIN),
            min_revision: tokens.open_revision(&ask.min_revision, "min_revision")?,
        };
        let page = list_agents(&self.catalog, &list).await?;
        let shown = page.agents.iter().map(|entry| agent::to_proto(entry, &page.snapshot, &tokens));
        Ok(pb::ListAgentsResponse {
            agents: shown.collect(),
            next_page_token: page.more_after.map(|id| tokens.agent_page(of, id)).unwrap_or_default(),
            revision: tokens.revision(page.snapshot.revision()),
        })
    }

    async fn get_agent(
        &self,
        caller: Caller,
        ask: pb::GetAgentRequest,
    ) -> Result<pb::GetAgentResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let name = agent::required_agent(&ask.id, "id")?;
        let min_revision = tokens.open_revision(&ask.min_revision, "min_revision")?;
        let (entry, snapshot) = get_agent(&self.catalog, client, &name, min_revision).await?;
        let agent = Some(agent::to_proto(&entry, &snapshot, &tokens));
        Ok(pb::GetAgentResponse { agent, revision: tokens.revision(snapshot.revision()) })
    }
}

pub(crate) fn upstream_ref(id: &str) -> Result<UpstreamRef, Fault> {
    if id.is_empty() {
        return Err(Fault::invalid("id", "is required: an upstream's id or slug"));
    }
    Ok(UpstreamRef::parse(id))
}

/// The view, if the caller may see it: RAW is for `mcp:read` alone.
fn admitted_view(caller: &Caller, view: i32) -> Result<View, Fault> {
    let view = tool::view_from_proto(view)?;
    if view == View::Raw {
        caller.require(Scope::Read)?;
    }
    Ok(view)
}

fn filter_from_proto(ask: &pb::ListToolsRequest) -> Result<Filter, Fault> {
    Ok(Filter {
        upstream: fields::optional(&ask.upstream_id, "upstream_id")?,
        states: tool::states_from_proto(&ask.states)?,
        namespaced_name: Some(ask.namespaced_name.clone()).filter(|name| !name.is_empty()),
    })
}

/// What the pages of one list have in common. The answer to one agent is not the answer to another.
fn list_digest(ask: &pb::ListToolsRequest, view: View, agent: Option<AgentId>) -> RequestDigest {
    let view = view_byte(view);
    let states: Vec<u8> = ask.states.iter().flat_map(|state| state.to_be_bytes()).collect();
    let agent = agent_bytes(agent.as_ref());
    let (upstream, name) = (ask.upstream_id.as_bytes(), ask.namespaced_name.as_bytes());
    digest([&b"tools"[..], &view, agent, upstream, &states, name])
}

fn view_byte(view: View) -> [u8; 1] {
    [u8::from(view == View::Served)]
}

fn agent_bytes(agent: Option<&AgentId>) -> &[u8] {
    agent.map_or(&[], |agent| agent.bytes())
}

/// What the pages of one tool's definitions have in common.
fn definitions_digest(ask: &pb::ListObservedDefinitionsRequest) -> RequestDigest {
    let parts = [&b"definitions"[..], ask.tool_id.as_bytes()];
    digest(parts.into_iter().chain(ask.definition_hashes.iter().map(String::as_bytes)))
}

fn list_size_bytes(size: PageSize) -> [u8; 8] {
    match size {
        PageSize::Whole => [0xff; 8],
        PageSize::AtMost(size) => (size as u64).to_be_bytes(),
    }
}

type WatchToolsStream = Pin<Box<dyn Stream<Item = Result<pb::WatchToolsResponse, Status>> + Send>>;

#[tonic::async_trait]
impl ToolCatalog for CatalogService {
    type WatchToolsStream = WatchToolsStream;

    async fn list_tools(
        &self,
        request: Request<pb::ListToolsRequest>,
    ) -> Result<Response<pb::ListToolsResponse>, Status> {
        self.gate.run(Rpc::ListTools, request, |caller, request| self.list_tools(caller, request)).await
    }

    async fn get_tool(
        &self,
        request: Request<pb::GetToolRequest>,
    ) -> Result<Response<pb::GetToolResponse>, Status> {
        self.gate
            .run(Rpc::GetTool, request, |caller, request| self.get_tool(caller, request.into_inner()))
            .await
    }

    async fn list_observed_definitions(
        &self,
        request: Request<pb::ListObservedDefinitionsRequest>,
    ) -> Result<Response<pb::ListObservedDefinitionsResponse>, Status> {
        let call = |caller, request: Request<_>| self.list_definitions(caller, request.into_inner());
        self.gate.run(Rpc::ListObservedDefinitions, request, call).await
    }

    async fn list_tool_definitions(
        &self,
        request: Request<pb::ListToolDefinitionsRequest>,
    ) -> Result<Response<pb::ListToolDefinitionsResponse>, Status> {
        let call = |caller, request| self.list_tool_definitions(caller, request);
        self.gate.run(Rpc::ListToolDefinitions, request, call).await
    }

    async fn list_server_tools(
        &self,
        request: Request<pb::ListServerToolsRequest>,
    ) -> Result<Response<pb::ListServerToolsResponse>, Status> {
        let call = |caller, request: Request<_>| self.list_server_tools(caller, request.into_inner());
        self.gate.run(Rpc::ListServerTools, request, call).await
    }

    async fn list_tool_units(
        &self,
        request: Request<pb::ListToolUnitsRequest>,
    ) -> Result<Response<pb::ListToolUnitsResponse>, Status> {
        let call = |caller, request| self.list_tool_units(caller, request);
        self.gate.run(Rpc::ListToolUnits, request, call).await
    }

    async fn get_tool_unit(
        &self,
        request: Request<pb::GetToolUnitRequest>,
    ) -> Result<Response<pb::GetToolUnitResponse>, Status> {
        let call = |caller, request| self.get_tool_unit(caller, request);
        self.gate.run(Rpc::GetToolUnit, request, call).await
    }

    async fn watch_tools(
        &self,
        request: Request<pb::WatchToolsRequest>,
    ) -> Result<Response<WatchToolsStream>, Status> {
        self.gate
            .run(Rpc::WatchTools, request, |caller, request| self.watch_tools(caller, request.into_inner()))
            .await
    }

    async fn list_upstreams(
        &self,
        request: Request<pb::ListUpstreamsRequest>,
    ) -> Result<Response<pb::ListUpstreamsResponse>, Status> {
        let call = |caller, request: Request<_>| self.list_upstreams(caller, request.into_inner());
        self.gate.run(Rpc::ListUpstreams, request, call).await
    }

    async fn get_upstream(
        &self,
        request: Request<pb::GetUpstreamRequest>,
    ) -> Result<Response<pb::GetUpstreamResponse>, Status> {
        let call = |caller, request: Request<_>| self.get_upstream(caller, request.into_inner());
        self.gate.run(Rpc::GetUpstream, request, call).await
    }

    async fn list_agents(
        &self,
        request: Request<pb::ListAgentsRequest>,
    ) -> Result<Response<pb::ListAgentsResponse>, Status> {
        let call = |caller, request: Request<_>| self.list_agents(caller, request.into_inner());
        self.gate.run(Rpc::ListAgents, request, call).await
    }

    async fn get_agent(
        &self,
        request: Request<pb::GetAgentRequest>,
    ) -> Result<Response<pb::GetAgentResponse>, Status> {
        let call = |caller, request: Request<_>| self.get_agent(caller, request.into_inner());
        self.gate.run(Rpc::GetAgent, request, call).await
    }
}
