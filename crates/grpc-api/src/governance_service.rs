mod agents;

use std::{num::NonZeroUsize, sync::Arc};

use tonic::{Request, Response, Status};
use toolgate_api_proto::v1::{self as pb, tool_governance_server::ToolGovernance};
use toolgate_call_log::{CallFilter, CallLog, ListCalls};
use toolgate_catalog::{Revision, View, agents::AgentRef, sync::Summary, upstreams::get_upstream};
use toolgate_domain::{Caller, ClientId, Fault, ToolId, UpstreamId, limits, upstream::CallPolicy};
use toolgate_governance::{
    Client, ClientDeletion, CreateApiKey, CreateUpstream, DeleteUpstream, Governance, ListApiKeys,
    ListRulings, RevokeApiKey, Rule, RulingFilter, UpdateUpstream, Wish,
};

use crate::{
    Gate,
    catalog_service::upstream_ref,
    convert::{
        api_key, call,
        fields::{self, count},
        ruling, tool, upstream,
        upstream_change::{change_from_proto, within_request},
    },
    rpc::Rpc,
    tokens::digest,
};

/// `ToolGovernance` over the use cases of governance.
#[derive(Debug, Clone)]
pub struct GovernanceService {
    governance: Governance,
    calls: Arc<CallLog>,
    gate: Gate,
}

/// A ruling as the four requests have it in common.
struct Asked {
    client_id: String,
    id: String,
    etag: String,
    validate_only: bool,
}

impl GovernanceService {
    /// Rules through `governance`; the log of calls is read from `calls`.
    pub fn new(governance: Governance, calls: Arc<CallLog>, gate: Gate) -> Self {
        Self { governance, calls, gate }
    }

    async fn create_upstream(
        &self,
        caller: Caller,
        ask: pb::CreateUpstreamRequest,
    ) -> Result<pb::CreateUpstreamResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let wanted = CreateUpstream {
            client,
            slug: ask.slug,
            display_name: ask.display_name,
            description: ask.description,
            path: ask.path,
            transport: upstream::transport_from_proto(ask.transport)?,
            name_policy: upstream::name_policy_from_proto(ask.name_policy)?,
            auth: upstream::auth_from_proto(ask.auth)?,
            protocol: upstream::protocol_from_proto(ask.protocol)?,
            calls: CallPolicy {
                freshness: upstream::freshness_from_proto(ask.freshness)?,
                isolation: upstream::isolation_from_proto(ask.isolation)?,
            },
            validate_only: ask.validate_only,
        };
        let created = self.governance.create_upstream(&caller, wanted).await?;
        Ok(pb::CreateUpstreamResponse {
            upstream: Some(upstream::to_proto(&created.detail, &tokens)),
            revision: tokens.revision(created.snapshot.revision()),
        })
    }

    async fn update_upstream(
        &self,
        caller: Caller,
        ask: pb::UpdateUpstreamRequest,
    ) -> Result<pb::UpdateUpstreamResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let given = ask.upstream.ok_or_else(|| Fault::invalid("upstream", "is required"))?;
        let name = if given.id.is_empty() { &given.slug } else { &given.id };
        let etag = if ask.etag.is_empty() { &given.etag } else { &ask.etag };
        let (upstream, based_on) = self.declared(client, name, etag).await.map_err(within_request)?;
        let wanted = UpdateUpstream {
            client,
            upstream,
            change: change_from_proto(given, ask.update_mask)?,
            keep_approvals: ask.keep_approvals,
            based_on,
            validate_only: ask.validate_only,
        };
        let updated = self.governance.update_upstream(&caller, wanted).await.map_err(within_request);
        let updated = self.or_current_etag(client, upstream, updated).await?;
        Ok(pb::UpdateUpstreamResponse {
            upstream: Some(upstream::to_proto(&updated.detail, &tokens)),
            revision: tokens.revision(updated.snapshot.revision()),
        })
    }

    async fn delete_upstream(
        &self,
        caller: Caller,
        ask: pb::DeleteUpstreamRequest,
    ) -> Result<pb::DeleteUpstreamResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let (upstream, based_on) = self.declared(client, &ask.id, &ask.etag).await?;
        let wanted = DeleteUpstream { client, upstream, based_on, validate_only: ask.validate_only };
        let deleted = self.governance.delete_upstream(&caller, wanted).await;
        let deleted = self.or_current_etag(client, upstream, deleted).await?;
        Ok(pb::DeleteUpstreamResponse {
            upstream: Some(upstream::to_proto(&deleted.detail, &tokens)),
            revision: tokens.revision(deleted.snapshot.revision()),
            tool_count: count(deleted.tool_count),
            approved_count: count(deleted.approved_count),
        })
    }

    /// The upstream that a request names, and the declaration that it is based on.
    async fn declared(
        &self,
        client: ClientId,
        id: &str,
        etag: &str,
    ) -> Result<(UpstreamId, Option<Revision>), Fault> {
        let (detail, _) = get_upstream(self.governance.catalog(), client, &upstream_ref(id)?, None).await?;
        let id = detail.entry.upstream.id;
        Ok((id, self.gate.tokens(client).open_upstream(id, etag)?))
    }

    /// A refused etag is answered with the one that would be taken.
    async fn or_current_etag<A>(
        &self,
        client: ClientId,
        id: UpstreamId,
        answer: Result<A, Fault>,
    ) -> Result<A, Fault> {
        if !matches!(answer, Err(Fault::EtagMismatch { .. })) {
            return answer;
        }
        let snapshot = self.governance.catalog().snapshot(client, None).await?;
        let entry = snapshot.upstream(id).ok_or(Fault::UpstreamNotFound)?;
        Err(Fault::EtagMismatch { current: self.gate.tokens(client).upstream(entry) })
    }

    async fn sync_upstream(
        &self,
        caller: Caller,
        ask: pb::SyncUpstreamRequest,
    ) -> Result<pb::SyncUpstreamResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let name = upstream_ref(&ask.id)?;
        let catalog = self.governance.catalog();
        let (mut detail, mut snapshot) = get_upstream(catalog, client, &name, None).await?;
        let id = detail.entry.upstream.id;
        let mut summary = Summary::default();
        if ask.wait {
            let report = self.governance.syncs().sync(client, id).await?;
            summary = report.summary;
            (detail, snapshot) = get_upstream(catalog, client, &name, report.revision).await?;
        } else {
            self.governance.syncs().request(client, id)?;
        }
        Ok(pb::SyncUpstreamResponse {
            upstream: Some(upstream::to_proto(&detail, &tokens)),
            revision: tokens.revision(snapshot.revision()),
            added: count(summary.added),
            changed: count(summary.changed),
            removed: count(summary.removed),
            unchanged: count(summary.unchanged),
        })
    }

    /// The tool after a ruling, and the revision that holds it.
    async fn rule(
        &self,
        caller: Caller,
        asked: Asked,
        wish: Wish,
    ) -> Result<(Option<pb::Tool>, String), Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &asked.client_id)?;
        let id: ToolId = fields::required(&asked.id, "id")?;
        let rule = Rule {
            client,
            tool: id,
            subject: caller.subject,
            wish,
            based_on: tokens.open_tool(id, &asked.etag)?,
            validate_only: asked.validate_only,
        };
        match self.governance.rule(rule).await {
            Ok(ruled) => {
                let tool = tool::to_proto(&ruled.entry, View::Raw, &tokens);
                Ok((Some(tool), tokens.revision(ruled.snapshot.revision())))
            }
            Err(Fault::EtagMismatch { .. }) => Err(self.etag_mismatch(client, id).await?),
            Err(fault) => Err(fault),
        }
    }

    async fn etag_mismatch(&self, client: ClientId, id: ToolId) -> Result<Fault, Fault> {
        let snapshot = self.governance.catalog().snapshot(client, None).await?;
        let entry = snapshot.tool(id).ok_or(Fault::ToolNotFound)?;
        Ok(Fault::EtagMismatch { current: self.gate.tokens(client).tool(entry) })
    }

    async fn create_api_key(
        &self,
        caller: Caller,
        ask: pb::CreateApiKeyRequest,
    ) -> Result<pb::CreateApiKeyResponse, Fault> {
        let (client, _) = self.gate.tenant(&caller, &ask.client_id)?;
        let wanted = CreateApiKey {
            client,
            display_name: ask.display_name,
            scopes: api_key::scopes_from_proto(&ask.scopes)?,
            ttl_ms: ask.ttl.map(api_key::ttl_ms_from_proto),
            operator: ask.operator,
            agent: Some(ask.agent_id).filter(|id| !id.is_empty()).map(|id| AgentRef::parse(&id)),
            validate_only: ask.validate_only,
        };
        let created = self.governance.create_api_key(&caller, wanted).await?;
        let api_key = api_key::to_proto(&created.key);
        let secret = created.secret.map(|secret| secret.to_string()).unwrap_or_default();
        Ok(pb::CreateApiKeyResponse { api_key: Some(api_key), secret })
    }

    async fn list_api_keys(
        &self,
        caller: Caller,
        ask: pb::ListApiKeysRequest,
    ) -> Result<pb::ListApiKeysResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let of = digest([&b"api_keys"[..]]);
        let size =
            fields::page_size(ask.page_size, limits::API_KEYS_PAGE_SIZE, limits::MAX_API_KEYS_PAGE_SIZE)?;
        let list = ListApiKeys {
            client,
            after: tokens.open_key_page(of, &ask.page_token)?,
            size: NonZeroUsize::new(size).unwrap_or(NonZeroUsize::MIN),
        };
        let page = self.governance.list_api_keys(list).await?;
        Ok(pb::ListApiKeysResponse {
            api_keys: page.keys.iter().map(api_key::to_proto).collect(),
            next_page_token: page.more_after.map(|id| tokens.key_page(of, id)).unwrap_or_default(),
        })
    }

    async fn revoke_api_key(
        &self,
        caller: Caller,
        ask: pb::RevokeApiKeyRequest,
    ) -> Result<pb::RevokeApiKeyResponse, Fault> {
        let (client, _) = self.gate.tenant(&caller, &ask.client_id)?;
        let key = fields::required(&ask.id, "id")?;
        let wanted = RevokeApiKey { client, key, validate_only: ask.validate_only };
        let revoked = self.governance.revoke_api_key(&caller, wanted).await?;
        Ok(pb::RevokeApiKeyResponse { api_key: Some(api_key::to_proto(&revoked)) })
    }

    async fn list_rulings(
        &self,
        caller: Caller,
        ask: pb::ListRulingsRequest,
    ) -> Result<pb::ListRulingsResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        let filter = RulingFilter {
            tool: fields::optional(&ask.tool_id, "tool_id")?,
            upstream: fields::optional(&ask.upstream_id, "upstream_id")?,
            start: fields::moment(ask.start_time),
            end: fields::moment(ask.end_time),
        };
        let of = digest([&b"rulings"[..], format!("{filter:?}").as_bytes()]);
        let size =
            fields::page_size(ask.page_size, limits::RULINGS_PAGE_SIZE, limits::MAX_RULINGS_PAGE_SIZE)?;
        let size = NonZeroUsize::new(size).unwrap_or(NonZeroUsize::MIN);
        let after = tokens.open_ruling_page(of, &ask.page_token)?;
        let page = self.governance.list_rulings(&ListRulings { client, after, size, filter }).await?;
        Ok(pb::ListRulingsResponse {
            rulings: page.rulings.into_iter().map(ruling::to_proto).collect(),
            next_page_token: page.more_after.map(|last| tokens.ruling_page(of, last)).unwrap_or_default(),
        })
    }

    async fn verify_rulings(
        &self,
        caller: Caller,
        ask: pb::VerifyRulingsRequest,
    ) -> Result<pb::VerifyRulingsResponse, Fault> {
        let (client, _) = self.gate.tenant(&caller, &ask.client_id)?;
        let proof = self.governance.verify_rulings(client).await?;
        Ok(pb::VerifyRulingsResponse {
            count: i64::try_from(proof.count).unwrap_or(i64::MAX),
            head_hash: proof.head.to_vec(),
            problem: proof.problem.unwrap_or_default(),
        })
    }

    async fn list_calls(
        &self,
        caller: Caller,
        ask: pb::ListCallsRequest,
    ) -> Result<pb::ListCallsResponse, Fault> {
        let (client, tokens) = self.gate.tenant(&caller, &ask.client_id)?;
        self.governance.has_log(client).await?;
        let filter = CallFilter {
            tool: fields::optional(&ask.tool_id, "tool_id")?,
            agent: fields::optional(&ask.agent_id, "agent_id")?,
            start: fields::moment(ask.start_time),
            end: fields::moment(ask.end_time),
        };
        let of = digest([&b"calls"[..], format!("{filter:?}").as_bytes()]);
        let size = fields::page_size(ask.page_size, limits::CALLS_PAGE_SIZE, limits::MAX_CALLS_PAGE_SIZE)?;
        let size = NonZeroUsize::new(size).unwrap_or(NonZeroUsize::MIN);
        let from = tokens.open_call_page(of, &ask.page_token)?;
        let page = self.calls.list(ListCalls { client, from, size, filter }).await?;
        Ok(pb::ListCallsResponse {
            calls: page.entries.into_iter().map(call::to_proto).collect(),
            next_page_token: page.more_from.map(|from| tokens.call_page(of, from)).unwrap_or_default(),
        })
    }

    async fn create_client(
        &self,
        caller: Caller,
        ask: pb::CreateClientRequest,
    ) -> Result<pb::CreateClientResponse, Fault> {
        let client = self.governance.create_client(&caller, &ask.name, ask.validate_only).await?;
        Ok(pb::CreateClientResponse { client: Some(client_to_proto(client)) })
    }

    async fn list_clients(
        &self,
        caller: Caller,
        ask: pb::ListClientsRequest,
    ) -> Result<pb::ListClientsResponse, Fault> {
        let (_, tokens) = self.gate.tenant(&caller, "")?;
        let of = digest([&b"clients"[..]]);
        let size =
            fields::page_size(ask.page_size, limits::CLIENTS_PAGE_SIZE, limits::MAX_CLIENTS_PAGE_SIZE)?;
        let size = NonZeroUsize::new(size).unwrap_or(NonZeroUsize::MIN);
        let last = tokens.open_client_page(of, &ask.page_token)?;
        let page = self.governance.list_clients(&caller, last, size).await?;
        Ok(pb::ListClientsResponse {
            clients: page.clients.into_iter().map(client_to_proto).collect(),
            next_page_token: page.more_after.map(|name| tokens.client_page(of, &name)).unwrap_or_default(),
        })
    }

    async fn delete_client(
        &self,
        caller: Caller,
        ask: pb::DeleteClientRequest,
    ) -> Result<pb::DeleteClientResponse, Fault> {
        let client = fields::required(&ask.id, "id")?;
        let deletion = self.governance.delete_client(&caller, client, ask.validate_only).await?;
        Ok(deletion_to_proto(deletion))
    }
}

fn deletion_to_proto(deletion: ClientDeletion) -> pb::DeleteClientResponse {
    pb::DeleteClientResponse {
        client: Some(client_to_proto(deletion.client)),
        upstream_count: count(deletion.upstream_count),
        tool_count: count(deletion.tool_count),
        api_key_count: count(deletion.api_key_count),
    }
}

fn client_to_proto(client: Client) -> pb::Client {
    let create_time = Some(fields::timestamp(client.created_at));
    pb::Client { id: client.id.to_string(), name: client.name, create_time }
}

macro_rules! asked {
    ($request:ident) => {
        Asked {
            client_id: $request.client_id,
            id: $request.id,
            etag: $request.etag,
            validate_only: $request.validate_only,
        }
    };
}

#[tonic::async_trait]
impl ToolGovernance for GovernanceService {
    async fn create_upstream(
        &self,
        request: Request<pb::CreateUpstreamRequest>,
    ) -> Result<Response<pb::CreateUpstreamResponse>, Status> {
        let call = |caller, request: Request<_>| self.create_upstream(caller, request.into_inner());
        self.gate.run(Rpc::CreateUpstream, request, call).await
    }

    async fn update_upstream(
        &self,
        request: Request<pb::UpdateUpstreamRequest>,
    ) -> Result<Response<pb::UpdateUpstreamResponse>, Status> {
        let call = |caller, request: Request<_>| self.update_upstream(caller, request.into_inner());
        self.gate.run(Rpc::UpdateUpstream, request, call).await
    }

    async fn delete_upstream(
        &self,
        request: Request<pb::DeleteUpstreamRequest>,
    ) -> Result<Response<pb::DeleteUpstreamResponse>, Status> {
        let call = |caller, request: Request<_>| self.delete_upstream(caller, request.into_inner());
        self.gate.run(Rpc::DeleteUpstream, request, call).await
    }

    async fn sync_upstream(
        &self,
        request: Request<pb::SyncUpstreamRequest>,
    ) -> Result<Response<pb::SyncUpstreamResponse>, Status> {
        let call = |caller, request: Request<_>| self.sync_upstream(caller, request.into_inner());
        self.gate.run(Rpc::SyncUpstream, request, call).await
    }

    async fn approve_tool(
        &self,
        request: Request<pb::ApproveToolRequest>,
    ) -> Result<Response<pb::ApproveToolResponse>, Status> {
        let call = async |caller, request: Request<pb::ApproveToolRequest>| {
            let ask = request.into_inner();
            let reviewed = fields::required(&ask.definition_hash, "definition_hash")?;
            let (tool, revision) = self.rule(caller, asked!(ask), Wish::Approve(reviewed)).await?;
            Ok(pb::ApproveToolResponse { tool, revision })
        };
        self.gate.run(Rpc::ApproveTool, request, call).await
    }

    async fn revoke_tool_approval(
        &self,
        request: Request<pb::RevokeToolApprovalRequest>,
    ) -> Result<Response<pb::RevokeToolApprovalResponse>, Status> {
        let call = async |caller, request: Request<pb::RevokeToolApprovalRequest>| {
            let ask = request.into_inner();
            let (tool, revision) = self.rule(caller, asked!(ask), Wish::Revoke).await?;
            Ok(pb::RevokeToolApprovalResponse { tool, revision })
        };
        self.gate.run(Rpc::RevokeToolApproval, request, call).await
    }

    async fn disable_tool(
        &self,
        request: Request<pb::DisableToolRequest>,
    ) -> Result<Response<pb::DisableToolResponse>, Status> {
        let call = async |caller, request: Request<pb::DisableToolRequest>| {
            let ask = request.into_inner();
            let (tool, revision) = self.rule(caller, asked!(ask), Wish::Disable).await?;
            Ok(pb::DisableToolResponse { tool, revision })
        };
        self.gate.run(Rpc::DisableTool, request, call).await
    }

    async fn enable_tool(
        &self,
        request: Request<pb::EnableToolRequest>,
    ) -> Result<Response<pb::EnableToolResponse>, Status> {
        let call = async |caller, request: Request<pb::EnableToolRequest>| {
            let ask = request.into_inner();
            let (tool, revision) = self.rule(caller, asked!(ask), Wish::Enable).await?;
            Ok(pb::EnableToolResponse { tool, revision })
        };
        self.gate.run(Rpc::EnableTool, request, call).await
    }

    async fn set_tool_effect(
        &self,
        request: Request<pb::SetToolEffectRequest>,
    ) -> Result<Response<pb::SetToolEffectResponse>, Status> {
        let call = async |caller, request: Request<pb::SetToolEffectRequest>| {
            let ask = request.into_inner();
            let wish = Wish::SetEffect(tool::effect_from_proto(ask.effect)?);
            let (tool, revision) = self.rule(caller, asked!(ask), wish).await?;
            Ok(pb::SetToolEffectResponse { tool, revision })
        };
        self.gate.run(Rpc::SetToolEffect, request, call).await
    }

    async fn set_tool_description(
        &self,
        request: Request<pb::SetToolDescriptionRequest>,
    ) -> Result<Response<pb::SetToolDescriptionResponse>, Status> {
        let call = async |caller, request: Request<pb::SetToolDescriptionRequest>| {
            let ask = request.into_inner();
            let wish = Wish::SetDescription(ask.description.clone());
            let (tool, revision) = self.rule(caller, asked!(ask), wish).await?;
            Ok(pb::SetToolDescriptionResponse { tool, revision })
        };
        self.gate.run(Rpc::SetToolDescription, request, call).await
    }

    async fn rename_tool(
        &self,
        request: Request<pb::RenameToolRequest>,
    ) -> Result<Response<pb::RenameToolResponse>, Status> {
        let call = async |caller, request: Request<pb::RenameToolRequest>| {
            let ask = request.into_inner();
            let wish = Wish::Rename(ask.served_name.clone());
            let (tool, revision) = self.rule(caller, asked!(ask), wish).await?;
            Ok(pb::RenameToolResponse { tool, revision })
        };
        self.gate.run(Rpc::RenameTool, request, call).await
    }

    async fn update_tool_locks(
        &self,
        request: Request<pb::UpdateToolLocksRequest>,
    ) -> Result<Response<pb::UpdateToolLocksResponse>, Status> {
        let call = async |caller, request: Request<pb::UpdateToolLocksRequest>| {
            let ask = request.into_inner();
            let set = tool::locks_from_proto(&ask.set_json)?;
            let wish = Wish::UpdateLocks { set, remove: ask.remove.clone() };
            let (tool, revision) = self.rule(caller, asked!(ask), wish).await?;
            Ok(pb::UpdateToolLocksResponse { tool, revision })
        };
        self.gate.run(Rpc::UpdateToolLocks, request, call).await
    }

    async fn create_agent(
        &self,
        request: Request<pb::CreateAgentRequest>,
    ) -> Result<Response<pb::CreateAgentResponse>, Status> {
        let call = |caller, request: Request<_>| self.create_agent(caller, request.into_inner());
        self.gate.run(Rpc::CreateAgent, request, call).await
    }

    async fn delete_agent(
        &self,
        request: Request<pb::DeleteAgentRequest>,
    ) -> Result<Response<pb::DeleteAgentResponse>, Status> {
        let call = |caller, request: Request<_>| self.delete_agent(caller, request.into_inner());
        self.gate.run(Rpc::DeleteAgent, request, call).await
    }

    async fn attach_agent_tool(
        &self,
        request: Request<pb::AttachAgentToolRequest>,
    ) -> Result<Response<pb::AttachAgentToolResponse>, Status> {
        let call = |caller, request: Request<_>| self.attach_agent_tool(caller, request.into_inner());
        self.gate.run(Rpc::AttachAgentTool, request, call).await
    }

    async fn detach_agent_tool(
        &self,
        request: Request<pb::DetachAgentToolRequest>,
    ) -> Result<Response<pb::DetachAgentToolResponse>, Status> {
        let call = |caller, request: Request<_>| self.detach_agent_tool(caller, request.into_inner());
        self.gate.run(Rpc::DetachAgentTool, request, call).await
    }

    async fn create_api_key(
        &self,
        request: Request<pb::CreateApiKeyRequest>,
    ) -> Result<Response<pb::CreateApiKeyResponse>, Status> {
        let call = |caller, request: Request<_>| self.create_api_key(caller, request.into_inner());
        self.gate.run(Rpc::CreateApiKey, request, call).await
    }

    async fn list_api_keys(
        &self,
        request: Request<pb::ListApiKeysRequest>,
    ) -> Result<Response<pb::ListApiKeysResponse>, Status> {
        let call = |caller, request: Request<_>| self.list_api_keys(caller, request.into_inner());
        self.gate.run(Rpc::ListApiKeys, request, call).await
    }

    async fn revoke_api_key(
        &self,
        request: Request<pb::RevokeApiKeyRequest>,
    ) -> Result<Response<pb::RevokeApiKeyResponse>, Status> {
        let call = |caller, request: Request<_>| self.revoke_api_key(caller, request.into_inner());
        self.gate.run(Rpc::RevokeApiKey, request, call).await
    }

    async fn list_rulings(
        &self,
        request: Request<pb::ListRulingsRequest>,
    ) -> Result<Response<pb::ListRulingsResponse>, Status> {
        let call = |caller, request: Request<_>| self.list_rulings(caller, request.into_inner());
        self.gate.run(Rpc::ListRulings, request, call).await
    }

    async fn verify_rulings(
        &self,
        request: Request<pb::VerifyRulingsRequest>,
    ) -> Result<Response<pb::VerifyRulingsResponse>, Status> {
        let call = |caller, request: Request<_>| self.verify_rulings(caller, request.into_inner());
        self.gate.run(Rpc::VerifyRulings, request, call).await
    }

    async fn list_calls(
        &self,
        request: Request<pb::ListCallsRequest>,
    ) -> Result<Response<pb::ListCallsResponse>, Status> {
        let call = |caller, request: Request<_>| self.list_calls(caller, request.into_inner());
        self.gate.run(Rpc::ListCalls, request, call).await
    }

    async fn create_client(
        &self,
        request: Request<pb::CreateClientRequest>,
    ) -> Result<Response<pb::CreateClientResponse>, Status> {
        let call = |caller, request: Request<_>| self.create_client(caller, request.into_inner());
        self.gate.run(Rpc::CreateClient, request, call).await
    }

    async fn list_clients(
        &self,
        request: Request<pb::ListClientsRequest>,
    ) -> Result<Response<pb::ListClientsResponse>, Status> {
        let call = |caller, request: Request<_>| self.list_clients(caller, request.into_inner());
        self.gate.run(Rpc::ListClients, request, call).await
    }

    async fn delete_client(
        &self,
        request: Request<pb::DeleteClientRequest>,
    ) -> Result<Response<pb::DeleteClientResponse>, Status> {
        let call = |caller, request: Request<_>| self.delete_client(caller, request.into_inner());
        self.gate.run(Rpc::DeleteClient, request, call).await
    }
}
