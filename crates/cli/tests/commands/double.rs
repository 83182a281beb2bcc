//! A server that plays a script, on a port of its own.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tonic::{Code, Request, Response, Status};
use tonic_types::{ErrorDetails, StatusExt};
use toolgate_api_proto::v1::tool_catalog_server::{ToolCatalog, ToolCatalogServer};
use toolgate_api_proto::v1::tool_governance_server::{ToolGovernance, ToolGovernanceServer};
use toolgate_api_proto::v1::*;

use crate::{Ended, Seat, id, toolgate_at};

/// What the server holds, and what it was asked.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) tools: Vec<Tool>,
    pub(crate) upstreams: Vec<Upstream>,
    pub(crate) units: Vec<(ToolUnit, Vec<ToolUnitCommand>)>,
    /// Of every tool, one a page.
    pub(crate) definitions: Vec<ObservedDefinition>,
    pub(crate) api_keys: Vec<ApiKey>,
    pub(crate) agents: Vec<Agent>,
    pub(crate) attached: Vec<AttachAgentToolRequest>,
    pub(crate) agents_deleted: Vec<DeleteAgentRequest>,
    pub(crate) rulings_logged: Vec<Ruling>,
    /// The log of calls.
    pub(crate) calls_logged: Vec<LoggedCall>,
    /// Tools a page; 0 for all.
    pub(crate) page_size: usize,
    /// Answer of every call that reads upstreams or syncs.
    pub(crate) upstream_refusal: Option<Status>,
    /// Answer of an approval, by tool id.
    pub(crate) approval_refusals: HashMap<String, Status>,
    /// Tools that take the place of those of the same id as soon as the first approval comes in.
    pub(crate) drifts: Vec<Tool>,
    /// What a server lists at this moment.
    pub(crate) server_tools: ListServerToolsResponse,
    /// Numbers of a sync: added, changed, removed, unchanged.
    pub(crate) found: [i32; 4],
    /// What each watch sends before it ends.
    pub(crate) watches: VecDeque<Vec<Result<WatchToolsResponse, Status>>>,

    pub(crate) keys: Vec<String>,
    pub(crate) lists: Vec<ListToolsRequest>,
    pub(crate) approvals: Vec<ApproveToolRequest>,
    pub(crate) rulings: Vec<(&'static str, String, bool)>,
    pub(crate) deleted_clients: Vec<String>,
    pub(crate) locked: Vec<(String, Vec<String>)>,
    pub(crate) created: Vec<CreateUpstreamRequest>,
    pub(crate) updates: Vec<UpdateUpstreamRequest>,
    pub(crate) deletions: Vec<DeleteUpstreamRequest>,
    pub(crate) syncs: Vec<SyncUpstreamRequest>,
    pub(crate) resumes: Vec<String>,
    pub(crate) asked_live: Vec<ListServerToolsRequest>,
}

#[derive(Clone)]
pub(crate) struct Double {
    script: Arc<Mutex<Script>>,
    endpoint: String,
}

impl Double {
    /// Starts the server. It ends with the test's runtime.
    pub(crate) async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let double = Self { script: Arc::new(Mutex::new(script)), endpoint: format!("http://{address}") };
        let server = Server::builder()
            .add_service(ToolCatalogServer::new(double.clone()))
            .add_service(ToolGovernanceServer::new(double.clone()))
            .serve_with_incoming(TcpListenerStream::new(listener));
        tokio::spawn(server);
        double
    }

    pub(crate) async fn run(&self, words: &[&str]) -> Ended {
        toolgate_at(&self.endpoint, Seat::Script, words).await
    }

    pub(crate) async fn run_as(&self, seat: Seat<'_>, words: &[&str]) -> Ended {
        toolgate_at(&self.endpoint, seat, words).await
    }

    pub(crate) fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().expect("no holder of the script panics")
    }

    fn note_key<T>(&self, request: &Request<T>) {
        let key = request
            .metadata()
            .get("authorization")
            .map(|value| value.to_str().expect("a key is ASCII").to_owned());
        self.script().keys.push(key.unwrap_or_default());
    }

    fn rule(
        &self,
        ruling: &'static str,
        tool_id: String,
        state: ToolState,
        dry_run: bool,
    ) -> Result<Option<Tool>, Status> {
        let mut script = self.script();
        let tool = script.tools.iter().find(|tool| tool.id == tool_id).cloned();
        let mut tool = tool.ok_or_else(|| refusal(Code::NotFound, "TOOL_NOT_FOUND", "no such tool", []))?;
        script.rulings.push((ruling, tool_id, dry_run));
        tool.set_state(state);
        Ok(Some(tool))
    }
}

pub(crate) fn refusal<const N: usize>(
    code: Code,
    reason: &str,
    message: &str,
    metadata: [(&str, &str); N],
) -> Status {
    let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Status::with_error_details(code, message, ErrorDetails::with_error_info(reason, "toolgate.dev", metadata))
}

impl Double {
    fn agent(&self, name: &str) -> Result<Agent, Status> {
        let script = self.script();
        let found = script.agents.iter().find(|agent| agent.name == name || agent.id == name);
        found.cloned().ok_or_else(|| refusal(Code::NotFound, "AGENT_NOT_FOUND", "no such agent", []))
    }
}

fn no_upstream() -> Status {
    refusal(Code::NotFound, "UPSTREAM_NOT_FOUND", "no such upstream", [])
}

#[tonic::async_trait]
impl ToolCatalog for Double {
    async fn list_server_tools(
        &self,
        request: Request<ListServerToolsRequest>,
    ) -> Result<Response<ListServerToolsResponse>, Status> {
        let ask = request.into_inner();
        self.agent(&ask.agent_id)?;
        let mut script = self.script();
        script.asked_live.push(ask);
        Ok(Response::new(script.server_tools.clone()))
    }

    async fn list_tool_definitions(
        &self,
        _: Request<ListToolDefinitionsRequest>,
    ) -> Result<Response<ListToolDefinitionsResponse>, Status> {
        Err(Status::unimplemented("not by this double"))
    }

    async fn list_tool_units(
        &self,
        request: Request<ListToolUnitsRequest>,
    ) -> Result<Response<ListToolUnitsResponse>, Status> {
        let start: usize = request.into_inner().page_token.parse().unwrap_or(0);
        let units: Vec<_> = self.script().units.iter().map(|(unit, _)| unit.clone()).collect();
        // A unit a page.
        let next_page_token = if start + 1 < units.len() { (start + 1).to_string() } else { String::new() };
        let units = units.into_iter().skip(start).take(1).collect();
        Ok(Response::new(ListToolUnitsResponse { units, next_page_token, ..Default::default() }))
    }

    async fn get_tool_unit(
        &self,
        request: Request<GetToolUnitRequest>,
    ) -> Result<Response<GetToolUnitResponse>, Status> {
        let GetToolUnitRequest { unit: wanted, page_token, .. } = request.into_inner();
        let script = self.script();
        let (unit, commands) =
            script.units.iter().find(|(unit, _)| unit.unit == wanted).ok_or_else(no_upstream)?;
        let (unit, start): (_, usize) = (Some(unit.clone()), page_token.parse().unwrap_or(0));
        // A command a page.
        let next_page_token =
            if start + 1 < commands.len() { (start + 1).to_string() } else { String::new() };
        let commands = commands.iter().skip(start).take(1).cloned().collect();
        let revision = "r8".to_owned();
        Ok(Response::new(GetToolUnitResponse {
            unit,
            commands,
            next_page_token,
            revision,
            ..Default::default()
        }))
    }

    type WatchToolsStream = tokio_stream::Iter<std::vec::IntoIter<Result<WatchToolsResponse, Status>>>;

    async fn list_tools(
        &self,
        request: Request<ListToolsRequest>,
    ) -> Result<Response<ListToolsResponse>, Status> {
        self.note_key(&request);
        let request = request.into_inner();
        let mut script = self.script();
        script.lists.push(request.clone());
        let wanted = |tool: &&Tool| {
            (request.namespaced_name.is_empty() || request.namespaced_name == tool.namespaced_name)
                && (request.upstream_id.is_empty() || request.upstream_id == tool.upstream_id)
                && (request.states.is_empty() || request.states.contains(&tool.state))
        };
        let all: Vec<_> = script.tools.iter().filter(wanted).cloned().collect();
        let size = if script.page_size == 0 { all.len() } else { script.page_size };
        let start: usize = request.page_token.parse().unwrap_or(0);
        let end = (start + size).min(all.len());
        Ok(Response::new(ListToolsResponse {
            tools: all[start..end].to_vec(),
            next_page_token: if end < all.len() { end.to_string() } else { String::new() },
            revision: "r7".to_owned(),
            ..Default::default()
        }))
    }

    async fn get_tool(&self, request: Request<GetToolRequest>) -> Result<Response<GetToolResponse>, Status> {
        let request = request.into_inner();
        let tool = self.script().tools.iter().find(|tool| tool.id == request.id).cloned();
        match tool {
            None => Err(refusal(Code::NotFound, "TOOL_NOT_FOUND", "no such tool", [])),
            tool => Ok(Response::new(GetToolResponse { tool, revision: "r7".to_owned() })),
        }
    }

    async fn list_observed_definitions(
        &self,
        request: Request<ListObservedDefinitionsRequest>,
    ) -> Result<Response<ListObservedDefinitionsResponse>, Status> {
        let request = request.into_inner();
        let script = self.script();
        if !script.tools.iter().any(|tool| tool.id == request.tool_id) {
            return Err(refusal(Code::NotFound, "TOOL_NOT_FOUND", "no such tool", []));
        }
        let hashes = &request.definition_hashes;
        let wanted = |one: &&ObservedDefinition| hashes.is_empty() || hashes.contains(&one.definition_hash);
        let all: Vec<_> = script.definitions.iter().filter(wanted).cloned().collect();
        let start: usize = request.page_token.parse().unwrap_or(0);
        let end = all.len().min(start + 1);
        Ok(Response::new(ListObservedDefinitionsResponse {
            definitions: all[start..end].to_vec(),
            next_page_token: if end < all.len() { end.to_string() } else { String::new() },
            revision: "r7".to_owned(),
        }))
    }

    async fn watch_tools(
        &self,
        request: Request<WatchToolsRequest>,
    ) -> Result<Response<Self::WatchToolsStream>, Status> {
        let mut script = self.script();
        script.resumes.push(request.into_inner().resume_revision);
        let messages = script.watches.pop_front().expect("the script has a watch left");
        Ok(Response::new(tokio_stream::iter(messages)))
    }

    async fn list_upstreams(
        &self,
        _: Request<ListUpstreamsRequest>,
    ) -> Result<Response<ListUpstreamsResponse>, Status> {
        let script = self.script();
        match &script.upstream_refusal {
            Some(status) => Err(status.clone()),
            None => Ok(Response::new(ListUpstreamsResponse {
                upstreams: script.upstreams.clone(),
                ..Default::default()
            })),
        }
    }

    async fn get_upstream(
        &self,
        request: Request<GetUpstreamRequest>,
    ) -> Result<Response<GetUpstreamResponse>, Status> {
        let name = request.into_inner().id;
        let script = self.script();
        let found = script.upstreams.iter().find(|upstream| upstream.slug == name || upstream.id == name);
        let upstream = Some(found.cloned().ok_or_else(no_upstream)?);
        Ok(Response::new(GetUpstreamResponse { upstream, revision: "r7".to_owned() }))
    }

    async fn list_agents(
        &self,
        _: Request<ListAgentsRequest>,
    ) -> Result<Response<ListAgentsResponse>, Status> {
        let agents = self.script().agents.clone();
        Ok(Response::new(ListAgentsResponse { agents, ..Default::default() }))
    }

    async fn get_agent(
        &self,
        request: Request<GetAgentRequest>,
    ) -> Result<Response<GetAgentResponse>, Status> {
        let agent = Some(self.agent(&request.into_inner().id)?);
        Ok(Response::new(GetAgentResponse { agent, revision: "r7".to_owned() }))
    }
}

#[tonic::async_trait]
impl ToolGovernance for Double {
    async fn create_upstream(
        &self,
        request: Request<CreateUpstreamRequest>,
    ) -> Result<Response<CreateUpstreamResponse>, Status> {
        let request = request.into_inner();
        let upstream = crate::upstream(9, &request.slug);
        self.script().created.push(request);
        Ok(Response::new(CreateUpstreamResponse { upstream: Some(upstream), revision: "r8".to_owned() }))
    }

    async fn update_upstream(
        &self,
        request: Request<UpdateUpstreamRequest>,
    ) -> Result<Response<UpdateUpstreamResponse>, Status> {
        let request = request.into_inner();
        let id = request.upstream.as_ref().map(|upstream| upstream.id.clone()).unwrap_or_default();
        let mut script = self.script();
        let upstream = script.upstreams.iter().find(|upstream| upstream.id == id).cloned();
        let upstream = Some(upstream.ok_or_else(no_upstream)?);
        script.updates.push(request);
        Ok(Response::new(UpdateUpstreamResponse { upstream, revision: "r8".to_owned() }))
    }

    async fn delete_upstream(
        &self,
        request: Request<DeleteUpstreamRequest>,
    ) -> Result<Response<DeleteUpstreamResponse>, Status> {
        let request = request.into_inner();
        let mut script = self.script();
        let is_named = |upstream: &&Upstream| upstream.slug == request.id || upstream.id == request.id;
        let upstream = script.upstreams.iter().find(is_named).cloned().ok_or_else(no_upstream)?;
        let tool_count = script.tools.iter().filter(|tool| tool.upstream_id == upstream.id).count() as i32;
        script.deletions.push(request);
        let (revision, approved_count) = ("r8".to_owned(), 1);
        let upstream = Some(upstream);
        Ok(Response::new(DeleteUpstreamResponse { upstream, revision, tool_count, approved_count }))
    }

    async fn sync_upstream(
        &self,
        request: Request<SyncUpstreamRequest>,
    ) -> Result<Response<SyncUpstreamResponse>, Status> {
        let request = request.into_inner();
        let mut script = self.script();
        let upstream = script.upstreams.iter().find(|upstream| upstream.slug == request.id).cloned();
        let upstream = Some(upstream.ok_or_else(no_upstream)?);
        script.syncs.push(request);
        let [added, changed, removed, unchanged] = script.found;
        let revision = "r8".to_owned();
        Ok(Response::new(SyncUpstreamResponse { upstream, revision, added, changed, removed, unchanged }))
    }

    async fn approve_tool(
        &self,
        request: Request<ApproveToolRequest>,
    ) -> Result<Response<ApproveToolResponse>, Status> {
        let request = request.into_inner();
        let mut script = self.script();
        for drifted in std::mem::take(&mut script.drifts) {
            let place = script.tools.iter_mut().find(|tool| tool.id == drifted.id);
            *place.expect("a tool that drifts is in the script") = drifted;
        }
        script.approvals.push(request.clone());
        if let Some(status) = script.approval_refusals.get(&request.id) {
            return Err(status.clone());
        }
        let tool = script.tools.iter().find(|tool| tool.id == request.id).cloned();
        let mut tool = tool.ok_or_else(|| refusal(Code::NotFound, "TOOL_NOT_FOUND", "no such tool", []))?;
        if tool.definition_hash != request.definition_hash {
            return Err(refusal(
                Code::Aborted,
                "DEFINITION_CHANGED",
                "the definition changed",
                [("reviewed_hash", &request.definition_hash), ("current_hash", &tool.definition_hash)],
            ));
        }
        tool.set_state(ToolState::Served);
        tool.remedy.clear();
        tool.approved_hash = Some(request.definition_hash);
        Ok(Response::new(ApproveToolResponse { tool: Some(tool), revision: "r8".to_owned() }))
    }

    async fn revoke_tool_approval(
        &self,
        request: Request<RevokeToolApprovalRequest>,
    ) -> Result<Response<RevokeToolApprovalResponse>, Status> {
        let RevokeToolApprovalRequest { id, validate_only, .. } = request.into_inner();
        let tool = self.rule("revoke", id, ToolState::Unapproved, validate_only)?;
        Ok(Response::new(RevokeToolApprovalResponse { tool, revision: "r8".to_owned() }))
    }

    async fn disable_tool(
        &self,
        request: Request<DisableToolRequest>,
    ) -> Result<Response<DisableToolResponse>, Status> {
        let DisableToolRequest { id, validate_only, .. } = request.into_inner();
        let tool = self.rule("disable", id, ToolState::Disabled, validate_only)?;
        Ok(Response::new(DisableToolResponse { tool, revision: "r8".to_owned() }))
    }

    async fn enable_tool(
        &self,
        request: Request<EnableToolRequest>,
    ) -> Result<Response<EnableToolResponse>, Status> {
        let EnableToolRequest { id, validate_only, .. } = request.into_inner();
        let tool = self.rule("enable", id, ToolState::Served, validate_only)?;
        Ok(Response::new(EnableToolResponse { tool, revision: "r8".to_owned() }))
    }

    async fn set_tool_effect(
        &self,
        request: Request<SetToolEffectRequest>,
    ) -> Result<Response<SetToolEffectResponse>, Status> {
        let SetToolEffectRequest { id, validate_only, .. } = request.into_inner();
        let tool = self.rule("effect", id, ToolState::Served, validate_only)?;
        Ok(Response::new(SetToolEffectResponse { tool, revision: "r8".to_owned() }))
    }

    async fn set_tool_description(
        &self,
        request: Request<SetToolDescriptionRequest>,
    ) -> Result<Response<SetToolDescriptionResponse>, Status> {
        let SetToolDescriptionRequest { id, validate_only, .. } = request.into_inner();
        let tool = self.rule("describe", id, ToolState::Served, validate_only)?;
        Ok(Response::new(SetToolDescriptionResponse { tool, revision: "r8".to_owned() }))
    }

    async fn rename_tool(
        &self,
        request: Request<RenameToolRequest>,
    ) -> Result<Response<RenameToolResponse>, Status> {
        let RenameToolRequest { id, validate_only, .. } = request.into_inner();
        let tool = self.rule("rename", id, ToolState::Served, validate_only)?;
        Ok(Response::new(RenameToolResponse { tool, revision: "r8".to_owned() }))
    }

    async fn update_tool_locks(
        &self,
        request: Request<UpdateToolLocksRequest>,
    ) -> Result<Response<UpdateToolLocksResponse>, Status> {
        let UpdateToolLocksRequest { id, validate_only, set_json, remove, .. } = request.into_inner();
        self.script().locked.push((set_json, remove));
        let tool = self.rule("locks", id, ToolState::Served, validate_only)?;
        Ok(Response::new(UpdateToolLocksResponse { tool, revision: "r8".to_owned() }))
    }

    async fn create_agent(
        &self,
        request: Request<CreateAgentRequest>,
    ) -> Result<Response<CreateAgentResponse>, Status> {
        let CreateAgentRequest { name, display_name, .. } = request.into_inner();
        if self.agent(&name).is_ok() {
            let metadata = [("name", name.as_str())];
            return Err(refusal(
                Code::AlreadyExists,
                "AGENT_NAME_TAKEN",
                "the name is taken by another agent",
                metadata,
            ));
        }
        let agent = Some(Agent { id: id(8), name, display_name, ..Default::default() });
        Ok(Response::new(CreateAgentResponse { agent, revision: "r8".to_owned() }))
    }

    async fn delete_agent(
        &self,
        request: Request<DeleteAgentRequest>,
    ) -> Result<Response<DeleteAgentResponse>, Status> {
        let request = request.into_inner();
        let agent = Some(self.agent(&request.id)?);
        self.script().agents_deleted.push(request);
        Ok(Response::new(DeleteAgentResponse { agent, revision: "r8".to_owned(), api_key_count: 2 }))
    }

    async fn attach_agent_tool(
        &self,
        request: Request<AttachAgentToolRequest>,
    ) -> Result<Response<AttachAgentToolResponse>, Status> {
        let request = request.into_inner();
        let mut agent = self.agent(&request.agent_id)?;
        let name = if request.name.is_empty() { &request.upstream_id } else { &request.name };
        let mut attachment = AgentAttachment { id: id(9), name: name.clone(), ..Default::default() };
        attachment.set_type(request.r#type());
        agent.attachments.push(attachment.clone());
        self.script().attached.push(request);
        let revision = "r8".to_owned();
        Ok(Response::new(AttachAgentToolResponse {
            agent: Some(agent),
            attachment: Some(attachment),
            revision,
        }))
    }

    async fn detach_agent_tool(
        &self,
        request: Request<DetachAgentToolRequest>,
    ) -> Result<Response<DetachAgentToolResponse>, Status> {
        let request = request.into_inner();
        let mut agent = self.agent(&request.agent_id)?;
        let before = agent.attachments.len();
        agent.attachments.retain(|attachment| attachment.name != request.attachment_id);
        if agent.attachments.len() == before {
            return Err(refusal(Code::NotFound, "ATTACHMENT_NOT_FOUND", "nothing of this name", []));
        }
        let agent = Some(agent);
        Ok(Response::new(DetachAgentToolResponse { agent, revision: "r8".to_owned() }))
    }

    async fn create_api_key(
        &self,
        request: Request<CreateApiKeyRequest>,
    ) -> Result<Response<CreateApiKeyResponse>, Status> {
        let CreateApiKeyRequest { display_name, scopes, ttl, operator, agent_id, .. } = request.into_inner();
        let client_id = id(0);
        let expire_time = ttl.map(|ttl| toolgate_api_proto::Timestamp { seconds: ttl.seconds, nanos: 0 });
        let mut api_key =
            ApiKey { id: id(5), client_id, display_name, scopes, agent_id, ..Default::default() };
        (api_key.operator, api_key.expire_time) = (operator, expire_time);
        let secret = "tg_5_secret".to_owned();
        Ok(Response::new(CreateApiKeyResponse { api_key: Some(api_key), secret }))
    }

    async fn list_api_keys(
        &self,
        _: Request<ListApiKeysRequest>,
    ) -> Result<Response<ListApiKeysResponse>, Status> {
        let api_keys = self.script().api_keys.clone();
        Ok(Response::new(ListApiKeysResponse { api_keys, ..Default::default() }))
    }

    async fn revoke_api_key(
        &self,
        request: Request<RevokeApiKeyRequest>,
    ) -> Result<Response<RevokeApiKeyResponse>, Status> {
        let id = request.into_inner().id;
        let api_key = self.script().api_keys.iter().find(|key| key.id == id).cloned();
        match api_key {
            None => Err(refusal(Code::NotFound, "API_KEY_NOT_FOUND", "no such API key", [])),
            api_key => Ok(Response::new(RevokeApiKeyResponse { api_key })),
        }
    }

    async fn list_rulings(
        &self,
        request: Request<ListRulingsRequest>,
    ) -> Result<Response<ListRulingsResponse>, Status> {
        let wanted = request.into_inner().tool_id;
        let rulings = self.script().rulings_logged.clone();
        let rulings = rulings.into_iter().filter(|row| wanted.is_empty() || row.tool_id == wanted).collect();
        Ok(Response::new(ListRulingsResponse { rulings, ..Default::default() }))
    }

    async fn verify_rulings(
        &self,
        _: Request<VerifyRulingsRequest>,
    ) -> Result<Response<VerifyRulingsResponse>, Status> {
        let script = self.script();
        let head_hash = script.rulings_logged.last().map_or(vec![0; 32], |row| row.hash.clone());
        let count = i64::try_from(script.rulings_logged.len()).expect("a short log");
        Ok(Response::new(VerifyRulingsResponse { count, head_hash, ..Default::default() }))
    }

    async fn list_calls(
        &self,
        request: Request<ListCallsRequest>,
    ) -> Result<Response<ListCallsResponse>, Status> {
        let wanted = request.into_inner().tool_id;
        let calls = self.script().calls_logged.clone();
        let calls = calls.into_iter().filter(|row| wanted.is_empty() || row.tool_id == wanted).collect();
        Ok(Response::new(ListCallsResponse { calls, ..Default::default() }))
    }

    async fn create_client(
        &self,
        request: Request<CreateClientRequest>,
    ) -> Result<Response<CreateClientResponse>, Status> {
        let name = request.into_inner().name;
        if name == "default" {
            return Err(refusal(
                Code::AlreadyExists,
                "CLIENT_NAME_TAKEN",
                "the name is taken",
                [("name", &name)],
            ));
        }
        let client = Some(Client { id: id(7), name, ..Default::default() });
        Ok(Response::new(CreateClientResponse { client }))
    }

    async fn delete_client(
        &self,
        request: Request<DeleteClientRequest>,
    ) -> Result<Response<DeleteClientResponse>, Status> {
        let DeleteClientRequest { id, validate_only } = request.into_inner();
        if !validate_only {
            self.script().deleted_clients.push(id.clone());
        }
        let client = Some(Client { id, name: "acme".to_owned(), ..Default::default() });
        let gone = DeleteClientResponse { client, upstream_count: 2, tool_count: 30, api_key_count: 4 };
        Ok(Response::new(gone))
    }

    async fn list_clients(
        &self,
        _: Request<ListClientsRequest>,
    ) -> Result<Response<ListClientsResponse>, Status> {
        let client =
            |(n, name): (usize, &str)| Client { id: id(n), name: name.to_owned(), ..Default::default() };
        let clients = [(7, "acme"), (0, "default")].map(client).into();
        Ok(Response::new(ListClientsResponse { clients, ..Default::default() }))
    }
}
