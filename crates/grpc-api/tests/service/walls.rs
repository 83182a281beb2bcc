//! Every call with every id, token and revision of another tenant: the answer is the one for what does not exist.

use std::collections::BTreeSet;

use futures::StreamExt;
use prost_types::FieldMask;
use tonic::{Code, Response, Status};
use toolgate_api_proto::v1::{
    self as pb, call_tool_request::Tool, tool_catalog_server::ToolCatalog,
    tool_governance_server::ToolGovernance,
};
use toolgate_grpc_api::rpc::RULES;

use crate::ring::{ALL, Key, Ring, called, definition, http, said};

/// What one tenant has and another one asks for.
#[derive(Clone)]
pub(crate) struct Things {
    client_id: String,
    client_name: String,
    tool: String,
    pub(crate) upstream: String,
    api_key: String,
    pub(crate) agent: String,
    pub(crate) attachment: String,
    agent_etag: String,
    agents_page: String,
    pub(crate) revision: String,
    answer_etag: String,
    tool_etag: String,
    upstream_etag: String,
    tools_page: String,
    definitions_page: String,
    oxp_etag: String,
    oxp_page: String,
    unit_etag: String,
    unit_page: String,
    units_etag: String,
    units_page: String,
    upstreams_page: String,
    keys_page: String,
    rulings_page: String,
    calls_page: String,
}

impl Things {
    /// Of nobody: ids that were never given, tokens that were never made.
    pub(crate) fn nowhere() -> Self {
        let id = || "00000000-0000-7000-8000-000000000000".to_owned();
        let token = || "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA".to_owned();
        Self {
            client_id: id(),
            client_name: "nobodys".into(),
            tool: id(),
            upstream: id(),
            api_key: id(),
            agent: id(),
            attachment: id(),
            agent_etag: token(),
            agents_page: token(),
            revision: token(),
            answer_etag: token(),
            tool_etag: token(),
            upstream_etag: token(),
            tools_page: token(),
            definitions_page: token(),
            oxp_etag: token(),
            oxp_page: token(),
            unit_etag: token(),
            unit_page: token(),
            units_etag: token(),
            units_page: token(),
            upstreams_page: token(),
            keys_page: token(),
            rulings_page: token(),
            calls_page: token(),
        }
    }

    /// Of the tenant that `key` belongs to, with two of everything, so that each list has a second page.
    pub(crate) async fn of(ring: &Ring, key: &Key, client_id: &str) -> Self {
        let tools = [definition("a", "d"), definition("b", "d")];
        let upstream = ring.upstream(key, "srv", &[&tools[0], &tools[1]]).await.id;
        ring.upstream(key, "more", &[&tools[0]]).await;
        ring.lists(key, "srv", &[&definition("a", "another"), &tools[1]]).await;
        for tool in ring.tools(key).await {
            ring.approve(key, &tool).await.unwrap();
        }
        ring.key(client_id, &ALL).await;
        let agent = ring.agent(key, "support", &["srv"]).await;
        ring.agent(key, "sales", &[]).await;
        let agents = pb::ListAgentsRequest { page_size: 1, ..Default::default() };
        let agents = said(ring.catalog.list_agents(key.asks(agents))).await.unwrap();
        let tools = pb::ListToolsRequest { page_size: 1, ..Default::default() };
        let tools = ring.list(key, tools).await.unwrap();
        let definitions = pb::ListObservedDefinitionsRequest {
            tool_id: tools.tools[0].id.clone(),
            page_size: 1,
            ..Default::default()
        };
        let definitions = said(ring.catalog.list_observed_definitions(key.asks(definitions))).await.unwrap();
        let oxp = pb::ListToolDefinitionsRequest { page_size: 1, ..Default::default() };
        let oxp = said(ring.catalog.list_tool_definitions(key.asks(oxp))).await.unwrap();
        let units = pb::ListToolUnitsRequest { page_size: 1, ..Default::default() };
        let units = said(ring.catalog.list_tool_units(key.asks(units))).await.unwrap();
        let commands = pb::GetToolUnitRequest { unit: "MCP_SRV".into(), page_size: 1, ..Default::default() };
        let commands = said(ring.catalog.get_tool_unit(key.asks(commands))).await.unwrap();
        let upstreams = pb::ListUpstreamsRequest { page_size: 1, ..Default::default() };
        let upstreams = said(ring.catalog.list_upstreams(key.asks(upstreams))).await.unwrap();
        let keys = pb::ListApiKeysRequest { page_size: 1, ..Default::default() };
        let keys = said(ring.governance.list_api_keys(key.asks(keys))).await.unwrap();
        let rulings = pb::ListRulingsRequest { page_size: 1, ..Default::default() };
        let rulings = said(ring.governance.list_rulings(key.asks(rulings))).await.unwrap();
        for name in ["srv__a", "srv__b"] {
            let tool = Some(pb::call_tool_request::Tool::NamespacedName(name.into()));
            called(ring, key, pb::CallToolRequest { tool, ..Default::default() }).await.unwrap();
        }
        let calls = pb::ListCallsRequest { page_size: 1, ..Default::default() };
        let calls = said(ring.governance.list_calls(key.asks(calls))).await.unwrap();
        let pages = [
            &tools.next_page_token,
            &definitions.next_page_token,
            &oxp.next_page_token,
            &units.next_page_token,
            &commands.next_page_token,
            &upstreams.next_page_token,
            &keys.next_page_token,
            &rulings.next_page_token,
            &calls.next_page_token,
            &agents.next_page_token,
        ];
        assert!(pages.iter().all(|token| !token.is_empty()), "each list has a second page");
        Self {
            client_id: client_id.to_owned(),
            client_name: "client-2".into(),
            tool: tools.tools[0].id.clone(),
            upstream,
            api_key: keys.api_keys[0].id.clone(),
            attachment: agent.attachments[0].id.clone(),
            agent: agent.id,
            agent_etag: agent.etag,
            agents_page: agents.next_page_token,
            revision: tools.revision,
            answer_etag: tools.etag,
            tool_etag: tools.tools[0].etag.clone(),
            upstream_etag: upstreams.upstreams[0].etag.clone(),
            tools_page: tools.next_page_token,
            definitions_page: definitions.next_page_token,
            oxp_etag: oxp.etag,
            oxp_page: oxp.next_page_token,
            unit_etag: commands.etag,
            unit_page: commands.next_page_token,
            units_etag: units.etag,
            units_page: units.next_page_token,
            upstreams_page: upstreams.next_page_token,
            keys_page: keys.next_page_token,
            rulings_page: rulings.next_page_token,
            calls_page: calls.next_page_token,
        }
    }
}

/// All that a caller sees of an answer.
fn seen<A: std::fmt::Debug>(answer: Result<Response<A>, Status>) -> String {
    match answer {
        Ok(answer) => format!("OK {:?}", answer.into_inner()),
        Err(status) => format!("{:?} {:?} {:?}", status.code(), status.message(), status.details()),
    }
}

/// Calls each method of a service with each request.
macro_rules! call {
    ($seen:ident, $key:ident, $service:expr, $($rpc:ident = $method:ident: $($request:expr),+;)+) => {
        $($($seen.push((stringify!($rpc), seen($service.$method($key.asks($request)).await)));)+)+
    };
}

/// The same request with these fields.
macro_rules! ask {
    ($request:ident { $($field:ident: $value:expr),* }) => {
        pb::$request { $($field: $value.clone().into(),)* ..Default::default() }
    };
}

/// An update that would give an upstream another name for people.
fn renamed(id: &str, etag: &str) -> pb::UpdateUpstreamRequest {
    let update_mask = Some(FieldMask { paths: vec!["display_name".into()] });
    let upstream = pb::Upstream { id: id.into(), display_name: "x".into(), ..Default::default() };
    let (upstream, etag) = (Some(upstream), etag.into());
    pb::UpdateUpstreamRequest { upstream, update_mask, etag, validate_only: true, ..Default::default() }
}

/// What `key` is told when it asks for `things`. `own_tool` is its own.
async fn walk(ring: &Ring, key: &Key, own_tool: &str, things: &Things) -> Vec<(&'static str, String)> {
    let Things { client_id, tool, upstream, api_key, agent, revision, tool_etag, .. } = things;
    let (own_agent, upstream_etag, agent_etag) =
        ("support".to_owned(), &things.upstream_etag, &things.agent_etag);
    let (own, own_unit) = (own_tool.to_owned(), "MCP_SRV".to_owned());
    let mut all = Vec::new();
    call!(all, key, ring.catalog,
        ListTools = list_tools:
            ask!(ListToolsRequest { client_id: client_id }),
            ask!(ListToolsRequest { upstream_id: upstream }),
            ask!(ListToolsRequest { page_token: things.tools_page }),
            ask!(ListToolsRequest { min_revision: revision }),
            ask!(ListToolsRequest { if_none_match: things.answer_etag });
        GetTool = get_tool:
            ask!(GetToolRequest { id: tool }),
            ask!(GetToolRequest { id: own, client_id: client_id }),
            ask!(GetToolRequest { id: own, min_revision: revision });
        ListObservedDefinitions = list_observed_definitions:
            ask!(ListObservedDefinitionsRequest { tool_id: tool }),
            ask!(ListObservedDefinitionsRequest { tool_id: own, client_id: client_id }),
            ask!(ListObservedDefinitionsRequest { tool_id: own, min_revision: revision }),
            ask!(ListObservedDefinitionsRequest { tool_id: own, page_token: things.definitions_page });
        ListToolDefinitions = list_tool_definitions:
            ask!(ListToolDefinitionsRequest { client_id: client_id }),
            ask!(ListToolDefinitionsRequest { page_token: things.oxp_page }),
            ask!(ListToolDefinitionsRequest { min_revision: revision }),
            ask!(ListToolDefinitionsRequest { if_none_match: things.oxp_etag });
        ListServerTools = list_server_tools:
            ask!(ListServerToolsRequest { agent_id: agent, attachment_id: "srv".to_owned() }),
            ask!(ListServerToolsRequest { agent_id: own_agent, attachment_id: things.attachment }),
            ask!(ListServerToolsRequest {
                agent_id: own_agent, attachment_id: "srv".to_owned(), client_id: client_id
            }),
            ask!(ListServerToolsRequest {
                agent_id: own_agent, attachment_id: "srv".to_owned(), min_revision: revision
            });
        ListToolUnits = list_tool_units:
            ask!(ListToolUnitsRequest { client_id: client_id }),
            ask!(ListToolUnitsRequest { page_token: things.units_page }),
            ask!(ListToolUnitsRequest { min_revision: revision }),
            ask!(ListToolUnitsRequest { if_none_match: things.units_etag });
        GetToolUnit = get_tool_unit:
            ask!(GetToolUnitRequest { unit: own_unit, client_id: client_id }),
            ask!(GetToolUnitRequest { unit: own_unit, page_token: things.unit_page }),
            ask!(GetToolUnitRequest { unit: own_unit, min_revision: revision }),
            ask!(GetToolUnitRequest { unit: own_unit, if_none_match: things.unit_etag });
        ListUpstreams = list_upstreams:
            ask!(ListUpstreamsRequest { client_id: client_id }),
            ask!(ListUpstreamsRequest { page_token: things.upstreams_page }),
            ask!(ListUpstreamsRequest { min_revision: revision });
        GetUpstream = get_upstream:
            ask!(GetUpstreamRequest { id: upstream }),
            ask!(GetUpstreamRequest { id: upstream, client_id: client_id }),
            ask!(GetUpstreamRequest { id: "srv".to_owned(), min_revision: revision });
        ListAgents = list_agents:
            ask!(ListAgentsRequest { client_id: client_id }),
            ask!(ListAgentsRequest { page_token: things.agents_page }),
            ask!(ListAgentsRequest { min_revision: revision });
        GetAgent = get_agent:
            ask!(GetAgentRequest { id: agent }),
            ask!(GetAgentRequest { id: agent, client_id: client_id }),
            ask!(GetAgentRequest { id: own_agent, min_revision: revision });
    );
    for request in [
        ask!(WatchToolsRequest { client_id: client_id }),
        ask!(WatchToolsRequest { resume_revision: revision }),
    ] {
        let answer = ring.catalog.watch_tools(key.asks(request)).await;
        all.push(("WatchTools", seen(answer.map(|_| Response::new("a stream")))));
    }
    for (tool, client_id, min_revision) in [
        (Tool::ToolId(tool.clone()), "", ""),
        (Tool::ToolId(own.clone()), client_id, ""),
        (Tool::NamespacedName("srv__a".into()), client_id, ""),
        (Tool::ToolId(own.clone()), "", revision),
    ] {
        let (client_id, min_revision) = (client_id.into(), min_revision.into());
        let call = pb::CallToolRequest { tool: Some(tool), client_id, min_revision, ..Default::default() };
        let last = called(ring, key, call).await.map(|(_, result)| Response::new(result));
        all.push(("CallTool", seen(last)));
    }
    call!(all, key, ring.governance,
        CreateUpstream = create_upstream:
            pb::CreateUpstreamRequest { client_id: client_id.clone(), ..http("new", &[]) };
        UpdateUpstream = update_upstream:
            renamed(upstream, ""),
            pb::UpdateUpstreamRequest { client_id: client_id.clone(), ..renamed(upstream, "") },
            renamed("srv", upstream_etag);
        DeleteUpstream = delete_upstream:
            ask!(DeleteUpstreamRequest { id: upstream, validate_only: true }),
            ask!(DeleteUpstreamRequest { id: upstream, client_id: client_id, validate_only: true }),
            ask!(DeleteUpstreamRequest { id: "srv".to_owned(), etag: upstream_etag, validate_only: true });
        SyncUpstream = sync_upstream:
            ask!(SyncUpstreamRequest { id: upstream }),
            ask!(SyncUpstreamRequest { id: upstream, client_id: client_id });
        ApproveTool = approve_tool:
            ask!(ApproveToolRequest { id: tool, definition_hash: HASH.to_owned() }),
            ask!(ApproveToolRequest { id: tool, client_id: client_id, definition_hash: HASH.to_owned() }),
            ask!(ApproveToolRequest { id: own, etag: tool_etag, definition_hash: HASH.to_owned() });
        RevokeToolApproval = revoke_tool_approval:
            ask!(RevokeToolApprovalRequest { id: tool }),
            ask!(RevokeToolApprovalRequest { id: tool, client_id: client_id }),
            ask!(RevokeToolApprovalRequest { id: own, etag: tool_etag });
        DisableTool = disable_tool:
            ask!(DisableToolRequest { id: tool }),
            ask!(DisableToolRequest { id: tool, client_id: client_id }),
            ask!(DisableToolRequest { id: own, etag: tool_etag });
        EnableTool = enable_tool:
            ask!(EnableToolRequest { id: tool }),
            ask!(EnableToolRequest { id: tool, client_id: client_id }),
            ask!(EnableToolRequest { id: own, etag: tool_etag });
        SetToolEffect = set_tool_effect:
            ask!(SetToolEffectRequest { id: tool, effect: pb::Effect::Reads }),
            ask!(SetToolEffectRequest { id: tool, client_id: client_id }),
            ask!(SetToolEffectRequest { id: own, etag: tool_etag });
        SetToolDescription = set_tool_description:
            ask!(SetToolDescriptionRequest { id: tool, description: "d".to_owned() }),
            ask!(SetToolDescriptionRequest { id: tool, client_id: client_id }),
            ask!(SetToolDescriptionRequest { id: own, etag: tool_etag });
        RenameTool = rename_tool:
            ask!(RenameToolRequest { id: tool, served_name: "srv__new".to_owned() }),
            ask!(RenameToolRequest { id: tool, client_id: client_id }),
            ask!(RenameToolRequest { id: own, etag: tool_etag });
        UpdateToolLocks = update_tool_locks:
            ask!(UpdateToolLocksRequest { id: tool }),
            ask!(UpdateToolLocksRequest { id: tool, client_id: client_id }),
            ask!(UpdateToolLocksRequest { id: own, etag: tool_etag });
        CreateAgent = create_agent:
            ask!(CreateAgentRequest { client_id: client_id, name: "new".to_owned() });
        AttachAgentTool = attach_agent_tool:
            pb::AttachAgentToolRequest { agent_id: agent.clone(), ..mcp("more".into()) },
            pb::AttachAgentToolRequest { agent_id: own_agent.clone(), ..mcp(upstream.clone()) },
            pb::AttachAgentToolRequest {
                agent_id: own_agent.clone(), client_id: client_id.clone(), ..mcp("more".into())
            },
            pb::AttachAgentToolRequest {
                agent_id: own_agent.clone(), etag: agent_etag.clone(), validate_only: true, ..mcp("more".into())
            };
        DetachAgentTool = detach_agent_tool:
            ask!(DetachAgentToolRequest { agent_id: own_agent, attachment_id: things.attachment, validate_only: true }),
            ask!(DetachAgentToolRequest { agent_id: agent, attachment_id: things.attachment, validate_only: true }),
            ask!(DetachAgentToolRequest {
                agent_id: own_agent, attachment_id: "srv".to_owned(), etag: agent_etag, validate_only: true
            });
        DeleteAgent = delete_agent:
            ask!(DeleteAgentRequest { id: agent, validate_only: true }),
            ask!(DeleteAgentRequest { id: agent, client_id: client_id, validate_only: true }),
            ask!(DeleteAgentRequest { id: own_agent, etag: agent_etag, validate_only: true });
        CreateApiKey = create_api_key:
            ask!(CreateApiKeyRequest { agent_id: agent, scopes: vec!["mcp:call".to_owned()], validate_only: true }),
            ask!(CreateApiKeyRequest { client_id: client_id, scopes: vec!["mcp:read".to_owned()] });
        ListApiKeys = list_api_keys:
            ask!(ListApiKeysRequest { client_id: client_id }),
            ask!(ListApiKeysRequest { page_token: things.keys_page });
        RevokeApiKey = revoke_api_key:
            ask!(RevokeApiKeyRequest { id: api_key }),
            ask!(RevokeApiKeyRequest { id: api_key, client_id: client_id });
        ListRulings = list_rulings:
            ask!(ListRulingsRequest { client_id: client_id }),
            ask!(ListRulingsRequest { tool_id: tool }),
            ask!(ListRulingsRequest { upstream_id: upstream }),
            ask!(ListRulingsRequest { page_token: things.rulings_page });
        ListCalls = list_calls:
            ask!(ListCallsRequest { client_id: client_id }),
            ask!(ListCallsRequest { tool_id: tool }),
            ask!(ListCallsRequest { agent_id: agent }),
            ask!(ListCallsRequest { page_token: things.calls_page });
        DeleteClient = delete_client:
            pb::DeleteClientRequest { id: client_id.clone(), ..Default::default() };
        CreateClient = create_client:
            ask!(CreateClientRequest { name: things.client_name });
        ListClients = list_clients:
            ask!(ListClientsRequest { page_token: things.keys_page });
        VerifyRulings = verify_rulings:
            pb::VerifyRulingsRequest { client_id: client_id.clone() };
    );
    all
}

fn mcp(upstream_id: String) -> pb::AttachAgentToolRequest {
    let kind = pb::AgentAttachmentType::Mcp.into();
    pb::AttachAgentToolRequest { r#type: kind, upstream_id, ..Default::default() }
}

/// A fingerprint of nothing.
const HASH: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

#[tokio::test]
async fn law_10_every_call_answers_for_what_is_anothers_as_for_what_does_not_exist() {
    let ring = Ring::new().await;
    let (our_client, their_client) = (ring.client(1).await, ring.client(2).await);
    let (ours, theirs) = (ring.key(&our_client, &ALL).await, ring.key(&their_client, &ALL).await);
    let own = Things::of(&ring, &ours, &our_client).await;
    let foreign = Things::of(&ring, &theirs, &their_client).await;

    let told_of_foreign = walk(&ring, &ours, &own.tool, &foreign).await;
    let told_of_nothing = walk(&ring, &ours, &own.tool, &Things::nowhere()).await;
    assert_eq!(told_of_foreign.len(), told_of_nothing.len());
    for (foreign, nothing) in told_of_foreign.iter().zip(&told_of_nothing) {
        assert_eq!(foreign, nothing);
    }

    let walked: BTreeSet<_> = told_of_foreign.iter().map(|(rpc, _)| *rpc).collect();
    let declared: BTreeSet<_> = RULES.iter().map(|rule| rule.method).collect();
    assert_eq!(walked, declared, "each call has its case here");
}

#[tokio::test]
async fn each_of_these_calls_finds_what_is_the_callers_own() {
    let ring = Ring::new().await;
    let client = ring.client(1).await;
    let key = ring.key(&client, &ALL).await;
    let own = Things::of(&ring, &key, &client).await;
    for (rpc, answer) in walk(&ring, &key, &own.tool, &own).await {
        let is_unknown = ["NotFound", "is not a token", "is not a revision", "is not an etag"];
        assert!(!is_unknown.iter().any(|text| answer.contains(text)), "{rpc}: {answer}");
    }
}

#[tokio::test]
async fn law_10_every_call_answers_for_a_deleted_client_as_for_one_that_never_was() {
    let ring = Ring::new().await;
    let (kept, deleted) = (ring.client(1).await, ring.client(2).await);
    let (own, theirs) = (ring.key(&kept, &ALL).await, ring.key(&deleted, &ALL).await);
    let own = Things::of(&ring, &own, &kept).await;
    let gone = Things::of(&ring, &theirs, &deleted).await;
    let deletion = pb::DeleteClientRequest { id: deleted.clone(), ..Default::default() };
    let told = said(ring.governance.delete_client(ring.operator.asks(deletion))).await.unwrap();
    assert_eq!((told.upstream_count, told.tool_count, told.api_key_count), (2, 3, 2));

    let of_gone = walk(&ring, &ring.operator, &own.tool, &gone).await;
    let of_nothing = walk(&ring, &ring.operator, &own.tool, &Things::nowhere()).await;
    for ((rpc, gone), (_, nothing)) in of_gone.iter().zip(&of_nothing) {
        match *rpc {
            "ListRulings" | "VerifyRulings" | "ListCalls" if gone.starts_with("OK") => {}
            // Its name is as free as one that nobody ever had.
            "CreateClient" => assert!(gone.starts_with("OK") && nothing.starts_with("OK"), "{gone}"),
            _ => assert_eq!(gone, nothing, "{rpc}"),
        }
    }
    let log = pb::ListRulingsRequest { client_id: deleted.clone(), ..Default::default() };
    let log = said(ring.governance.list_rulings(ring.operator.asks(log))).await.unwrap().rulings;
    let last = log.last().unwrap();
    assert_eq!((last.act(), log.len()), (pb::RulingAct::DeleteClient, 7));
    assert_eq!((last.upstream_id.as_str(), last.tool_id.as_str(), last.tool_name.as_str()), ("", "", ""));
    for (rpc, answer) in walk(&ring, &theirs, &gone.tool, &gone).await {
        assert!(answer.starts_with("Unauthenticated"), "{rpc}: {answer}");
    }
}

#[tokio::test]
async fn open_watches_end_with_the_client() {
    let ring = Ring::new().await;
    let client_id = ring.client(2).await;
    let key = ring.key(&client_id, &ALL).await;
    let open = async |key: &Key| {
        let ask = pb::WatchToolsRequest { client_id: client_id.clone(), ..Default::default() };
        let mut watch = ring.catalog.watch_tools(key.asks(ask)).await.unwrap().into_inner();
        watch.next().await.unwrap().unwrap();
        watch
    };
    let (mut of_operator, mut own) = (open(&ring.operator).await, open(&key).await);
    let deletion = pb::DeleteClientRequest { id: client_id.clone(), ..Default::default() };
    said(ring.governance.delete_client(ring.operator.asks(deletion))).await.unwrap();
    assert_eq!(of_operator.next().await.unwrap().unwrap_err().code(), Code::NotFound);
    // Whichever it hears of first.
    let ended = own.next().await.unwrap().unwrap_err().code();
    assert!(matches!(ended, Code::NotFound | Code::Unauthenticated), "{ended:?}");
}
