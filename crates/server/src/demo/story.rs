//! What happens in the demo: a server is registered, a reviewer rules, the server changes.

use std::{
    collections::HashMap,
    error::Error,
    path::{Path, PathBuf},
};

use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::{Channel, Endpoint},
};
use toolgate_api_proto::v1::{
    Agent, AgentAttachmentType, ApproveToolRequest, AttachAgentToolRequest, CreateAgentRequest,
    CreateUpstreamRequest, DisableToolRequest, ListToolsRequest, StdioTransport, SyncUpstreamRequest, Tool,
    UpdateToolLocksRequest, create_upstream_request::Transport, tool_catalog_client::ToolCatalogClient,
    tool_governance_client::ToolGovernanceClient,
};

use super::write;
use crate::{failure::Failure, listeners::Addresses};

/// First part of the sample tools' names.
pub(super) const SLUG: &str = "sample";
/// The agent that the sample tools are attached to.
pub(super) const AGENT: &str = "helper";
/// Its lock stops fitting.
const LOCKED: &str = "report_print";

/// The sample server, and the key that everything is done with.
pub(super) struct Story {
    key: String,
    key_file: PathBuf,
    edition_file: PathBuf,
    command: [String; 2],
}

/// How everything stands at the end.
pub(super) struct Ending {
    pub(super) tools: Vec<Tool>,
    /// With the sample server attached to it.
    pub(super) agent: Agent,
}

/// Puts the key on every call.
#[derive(Clone)]
struct Bearer(MetadataValue<Ascii>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

type Service = InterceptedService<Channel, Bearer>;

impl Story {
    /// Puts the key and the number of the edition into files.
    pub(super) fn prepare(folder: &Path, key: String) -> Result<Self, Failure> {
        let this = std::env::current_exe().map_err(Failure::Runtime)?;
        let story = Self {
            key_file: folder.join("operator.key"),
            edition_file: folder.join("edition"),
            command: [this.display().to_string(), "sample-server".to_owned()],
            key,
        };
        write(&story.key_file, &story.key)?;
        write(&story.edition_file, "1")?;
        Ok(story)
    }

    pub(super) fn command(&self) -> &[String; 2] {
        &self.command
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn key_file(&self) -> &Path {
        &self.key_file
    }

    /// Tells it through the gRPC API, and answers how everything stands at the end.
    pub(super) async fn tell(&self, at: Addresses) -> Result<Ending, Box<dyn Error>> {
        let channel = Endpoint::from_shared(format!("http://{}", at.grpc))?.connect().await?;
        let bearer = Bearer(format!("Bearer {}", self.key).parse()?);
        let mut catalog = ToolCatalogClient::with_interceptor(channel.clone(), bearer.clone());
        let mut governance = ToolGovernanceClient::with_interceptor(channel, bearer);
        self.register(&mut governance).await?;
        for tool in tools(&mut catalog).await? {
            rule(&mut governance, tool).await?;
        }
        write(&self.edition_file, "2")?;
        sync(&mut governance).await?;
        for tool in tools(&mut catalog).await?.into_iter().filter(|tool| tool.name == LOCKED) {
            approve(&mut governance, tool).await?;
        }
        let agent = agent(&mut governance).await?;
        Ok(Ending { tools: tools(&mut catalog).await?, agent })
    }

    async fn register(&self, governance: &mut ToolGovernanceClient<Service>) -> Result<(), Status> {
        let [command, arg] = self.command.clone();
        let edition = self.edition_file.display().to_string();
        let args = vec![arg, "--edition-file".into(), edition];
        let stdio =
            StdioTransport { command, args, env: HashMap::new(), env_names: Vec::new(), arg_count: 0 };
        let request = CreateUpstreamRequest {
            slug: SLUG.into(),
            display_name: "Sample tool server".into(),
            transport: Some(Transport::Stdio(stdio)),
            ..Default::default()
        };
        governance.create_upstream(request).await?;
        sync(governance).await
    }
}

/// Some are approved, one is switched off, one is left alone.
async fn rule(governance: &mut ToolGovernanceClient<Service>, tool: Tool) -> Result<(), Status> {
    match tool.name.as_str() {
        "notes_list" => {}
        "notes_erase" => {
            governance.disable_tool(DisableToolRequest { id: tool.id, ..Default::default() }).await?;
        }
        LOCKED => {
            let set_json = r#"{"printer":"cellar"}"#.to_owned();
            let lock = UpdateToolLocksRequest { id: tool.id.clone(), set_json, ..Default::default() };
            governance.update_tool_locks(lock).await?;
            approve(governance, tool).await?;
        }
        _ => approve(governance, tool).await?,
    }
    Ok(())
}

async fn approve(governance: &mut ToolGovernanceClient<Service>, tool: Tool) -> Result<(), Status> {
    let Tool { id, definition_hash, .. } = tool;
    let approve = ApproveToolRequest { id, definition_hash, ..Default::default() };
    governance.approve_tool(approve).await.map(drop)
}

/// An agent that the sample server is attached to.
async fn agent(governance: &mut ToolGovernanceClient<Service>) -> Result<Agent, Status> {
    let create = CreateAgentRequest { name: AGENT.into(), ..Default::default() };
    governance.create_agent(create).await?;
    let attach = AttachAgentToolRequest {
        agent_id: AGENT.into(),
        r#type: AgentAttachmentType::Mcp.into(),
        upstream_id: SLUG.into(),
        ..Default::default()
    };
    let attached = governance.attach_agent_tool(attach).await?.into_inner();
    Ok(attached.agent.unwrap_or_default())
}

async fn sync(governance: &mut ToolGovernanceClient<Service>) -> Result<(), Status> {
    let request = SyncUpstreamRequest { id: SLUG.into(), wait: true, ..Default::default() };
    let upstream = governance.sync_upstream(request).await?.into_inner().upstream.unwrap_or_default();
    if upstream.last_error.is_empty() { Ok(()) } else { Err(Status::unavailable(upstream.last_error)) }
}

async fn tools(catalog: &mut ToolCatalogClient<Service>) -> Result<Vec<Tool>, Status> {
    Ok(catalog.list_tools(ListToolsRequest::default()).await?.into_inner().tools)
}
