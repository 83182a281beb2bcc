//! The services and short words for calling them.

use std::{future::Future, sync::Arc, time::Duration};

use futures::StreamExt;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Request, Response, Status};
use tonic_types::StatusExt;
use toolgate_api_proto::v1::{
    self as pb, call_tool_response::Event, create_upstream_request::Transport,
    tool_catalog_server::ToolCatalog, tool_gateway_server::ToolGateway,
    tool_governance_server::ToolGovernance,
};
use toolgate_call_log::{ArgumentsKept, CallLog, CallLogOptions};
use toolgate_catalog::{
    Catalog,
    server_tools::ServerTools,
    sync::{SyncLimits, Syncs},
};
use toolgate_domain::ClientId;
use toolgate_gateway::Gateway;
use toolgate_governance::Governance;
use toolgate_grpc_api::{CatalogService, Gate, GatewayService, GovernanceService};
use toolgate_identity::Authenticator;
use toolgate_records::Record;
use toolgate_sealing::{MasterKey, Sealer};
use toolgate_store::{Commit, SharedStore};
use toolgate_store_memory::MemoryStore;
use toolgate_test_support::{
    ambient::{CountingEntropy, MovableClock},
    scripted_servers::{ScriptedServers, complete},
};

/// Every scope.
pub(crate) const ALL: [&str; 4] = ["mcp:read", "mcp:write", "mcp:call", "mcp:admin"];

/// Somebody's key.
#[derive(Debug, Clone)]
pub(crate) struct Key(pub(crate) String);

impl Key {
    /// A request that carries it.
    pub(crate) fn asks<Q>(&self, message: Q) -> Request<Q> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", self.bearer().parse().unwrap());
        request
    }

    /// As the value of an `Authorization` header.
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

pub(crate) struct Ring {
    pub(crate) catalog: CatalogService,
    pub(crate) governance: GovernanceService,
    pub(crate) gateway: GatewayService,
    pub(crate) servers: Arc<ScriptedServers>,
    /// Of an operator, with every scope.
    pub(crate) operator: Key,
    store: SharedStore,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) clock: Arc<MovableClock>,
    /// Of the log of calls.
    _folder: TempDir,
}

impl Ring {
    pub(crate) async fn new() -> Self {
        let sealer = Arc::new(Sealer::new(&MasterKey::ephemeral()));
        Self::over(Arc::new(MemoryStore::new()), Arc::default(), sealer, false).await
    }

    /// One whose log of calls is durable.
    pub(crate) async fn durable() -> Self {
        let sealer = Arc::new(Sealer::new(&MasterKey::ephemeral()));
        Self::over(Arc::new(MemoryStore::new()), Arc::default(), sealer, true).await
    }

    /// As after a restart: the same store, servers and master key, everything else new.
    pub(crate) async fn restarted(&self) -> Self {
        Self::over(Arc::clone(&self.store), Arc::clone(&self.servers), Arc::clone(&self.sealer), false).await
    }

    async fn over(
        store: SharedStore,
        servers: Arc<ScriptedServers>,
        sealer: Arc<Sealer>,
        is_durable: bool,
    ) -> Self {
        let (clock, entropy) = (Arc::new(MovableClock::default()), Arc::new(CountingEntropy::default()));
        let catalog = Catalog::new(Arc::clone(&store));
        let limits = SyncLimits::default();
        let syncs = Syncs::new(&catalog, servers.clone(), Arc::clone(&sealer), clock.clone(), limits);
        let folder = TempDir::new().unwrap();
        let options = CallLogOptions {
            folder: folder.path().join("calls"),
            max_bytes: 1024 * 1024,
            arguments: ArgumentsKept::Hash,
            is_durable,
        };
        let calls = Arc::new(CallLog::open(options, Arc::clone(&sealer), clock.clone()).unwrap());
        let gateway = Gateway::new(
            catalog.clone(),
            syncs.clone(),
            servers.clone(),
            Arc::clone(&sealer),
            clock.clone(),
            calls.clone(),
        );
        let server_tools = ServerTools::new(&catalog, &syncs, Duration::from_secs(60));
        let governance = Governance::new(
            catalog.clone(),
            syncs,
            servers.clone(),
            sealer.clone(),
            clock.clone(),
            entropy.clone(),
        );
        let operator = Key("an operator key of this test, long enough".into());
        governance.bootstrap(&operator.0).await.unwrap();
        let authenticator = Authenticator::new(Arc::clone(&store), Arc::clone(&sealer), clock.clone());
        let gate = Gate::new(authenticator, Arc::clone(&sealer), entropy);
        let catalog = CatalogService::new(catalog, server_tools, gate.clone(), CancellationToken::new());
        let gateway = GatewayService::new(gateway, gate.clone());
        let governance = GovernanceService::new(governance, calls, gate);
        Self { catalog, governance, gateway, servers, operator, store, sealer, clock, _folder: folder }
    }

    /// Another tenant, as a row of the store: there is no call that makes one.
    pub(crate) async fn client(&self, byte: u8) -> String {
        let (client, name) = (ClientId::from_bytes([byte; 16]), format!("client-{byte}"));
        let mut commit = Commit::new();
        let at = toolgate_domain::Moment::from_unix_ms(1);
        for record in [Record::Client(client, name.clone(), at), Record::ClientName(name, client)] {
            let (key, value) = record.encode();
            commit = commit.put(key, value);
        }
        self.store.commit(commit).await.unwrap();
        client.to_string()
    }

    /// A new key of a tenant, the operator's own when its id is empty.
    pub(crate) async fn key(&self, client_id: &str, scopes: &[&str]) -> Key {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let ask = pb::CreateApiKeyRequest { client_id: client_id.into(), scopes, ..Default::default() };
        Key(said(self.governance.create_api_key(self.operator.asks(ask))).await.unwrap().secret)
    }

    /// Makes an agent with these upstreams attached.
    pub(crate) async fn agent(&self, key: &Key, name: &str, upstreams: &[&str]) -> pb::Agent {
        let ask = pb::CreateAgentRequest { name: name.into(), ..Default::default() };
        let mut agent = said(self.governance.create_agent(key.asks(ask))).await.unwrap().agent.unwrap();
        for upstream in upstreams {
            agent = self.attach(key, &agent.id, upstream).await;
        }
        agent
    }

    /// Attaches an upstream to an agent.
    pub(crate) async fn attach(&self, key: &Key, agent: &str, upstream: &str) -> pb::Agent {
        let ask = pb::AttachAgentToolRequest {
            agent_id: agent.into(),
            r#type: pb::AgentAttachmentType::Mcp.into(),
            upstream_id: upstream.into(),
            ..Default::default()
        };
        said(self.governance.attach_agent_tool(key.asks(ask))).await.unwrap().agent.unwrap()
    }

    /// A key that is bound to an agent of the operator's own client.
    pub(crate) async fn agent_key(&self, agent: &str) -> Key {
        let (agent_id, scopes) = (agent.into(), vec!["mcp:call".to_owned()]);
        let ask = pb::CreateApiKeyRequest { agent_id, scopes, ..Default::default() };
        Key(said(self.governance.create_api_key(self.operator.asks(ask))).await.unwrap().secret)
    }

    /// Registers a server that lists these, and waits for its first sync.
    pub(crate) async fn upstream(&self, key: &Key, slug: &str, entries: &[&str]) -> pb::Upstream {
        self.servers.answers(&url(slug), complete(entries));
        let made = said(self.governance.create_upstream(key.asks(http(slug, &[])))).await.unwrap();
        let id = made.upstream.unwrap().id;
        let sync = pb::SyncUpstreamRequest { id, wait: true, ..Default::default() };
        said(self.governance.sync_upstream(key.asks(sync))).await.unwrap().upstream.unwrap()
    }

    /// Declares an upstream of the operator's differently.
    pub(crate) async fn declare(&self, upstream: pb::Upstream, path: &str) {
        let update_mask = Some(prost_types::FieldMask { paths: vec![path.into()] });
        let update =
            pb::UpdateUpstreamRequest { upstream: Some(upstream), update_mask, ..Default::default() };
        said(self.governance.update_upstream(self.operator.asks(update))).await.unwrap();
    }

    /// The server lists these from now on, and it is synced.
    pub(crate) async fn lists(&self, key: &Key, slug: &str, entries: &[&str]) {
        self.servers.answers(&url(slug), complete(entries));
        let sync = pb::SyncUpstreamRequest { id: slug.into(), wait: true, ..Default::default() };
        said(self.governance.sync_upstream(key.asks(sync))).await.unwrap();
    }

    pub(crate) async fn list(
        &self,
        key: &Key,
        ask: pb::ListToolsRequest,
    ) -> Result<pb::ListToolsResponse, Status> {
        said(self.catalog.list_tools(key.asks(ask))).await
    }

    /// Everything that is listed raw, in order.
    pub(crate) async fn tools(&self, key: &Key) -> Vec<pb::Tool> {
        self.list(key, pb::ListToolsRequest::default()).await.unwrap().tools
    }

    pub(crate) async fn approve(
        &self,
        key: &Key,
        tool: &pb::Tool,
    ) -> Result<pb::ApproveToolResponse, Status> {
        let (id, definition_hash) = (tool.id.clone(), tool.definition_hash.clone());
        let ask = pb::ApproveToolRequest { id, definition_hash, ..Default::default() };
        said(self.governance.approve_tool(key.asks(ask))).await
    }
}

/// What a call answered.
pub(crate) async fn said<A>(call: impl Future<Output = Result<Response<A>, Status>>) -> Result<A, Status> {
    call.await.map(Response::into_inner)
}

/// A call of a tool, to its end: what was told of its progress, and its result.
pub(crate) async fn called(
    ring: &Ring,
    key: &Key,
    call: pb::CallToolRequest,
) -> Result<(Vec<String>, String), Status> {
    let mut events = ring.gateway.call_tool(key.asks(call)).await?.into_inner();
    let mut progress = Vec::new();
    loop {
        match events.next().await.expect("a call ends with its result").map(|event| event.event)? {
            Some(Event::Progress(told)) => progress.push(told.progress_json),
            Some(Event::Result(result)) => {
                assert!(events.next().await.is_none(), "nothing follows the result");
                return Ok((progress, result.result_json));
            }
            Some(Event::Log(log)) => progress.push(log.log_json),
            other => panic!("{other:?}"),
        }
    }
}

/// The code and the reason of a refusal.
pub(crate) fn reason<A>(answer: Result<A, Status>) -> (Code, String) {
    let Err(status) = answer else { return (Code::Ok, String::new()) };
    (status.code(), status.get_details_error_info().map(|info| info.reason).unwrap_or_default())
}

pub(crate) fn http(slug: &str, headers: &[(&str, &str)]) -> pb::CreateUpstreamRequest {
    let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let transport = pb::HttpTransport { url: url(slug), headers, ..Default::default() };
    pb::CreateUpstreamRequest {
        slug: slug.into(),
        transport: Some(Transport::Http(transport)),
        ..Default::default()
    }
}

pub(crate) fn url(slug: &str) -> String {
    format!("https://{slug}.example.com/mcp")
}

/// A definition with this name and description.
pub(crate) fn definition(name: &str, description: &str) -> String {
    format!(r#"{{"name":"{name}","description":"{description}","inputSchema":{{"type":"object"}}}}"#)
}
