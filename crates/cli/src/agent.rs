//! `toolgate agent …`

use std::fs;
use std::path::Path;

use toolgate_api_proto::v1::{
    Agent, AgentAttachmentType, AttachAgentToolRequest, CreateAgentRequest, DeleteAgentRequest,
    DetachAgentToolRequest, GetAgentRequest, ListAgentsRequest,
};

use crate::args::{AgentCommand, Attach};
use crate::connection::{Connection, call};
use crate::console::Console;
use crate::error::CommandError;
use crate::limits::AGENTS_PER_PAGE;
use crate::render::{json, text};

pub(crate) async fn run(
    command: AgentCommand,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let client_id = connection.client_id.clone();
    match command {
        AgentCommand::Create { name, display_name, dry_run } => {
            let request = CreateAgentRequest { client_id, name, display_name, validate_only: dry_run };
            create(request, json, connection, console).await
        }
        AgentCommand::List => list(json, connection, console).await,
        AgentCommand::Show { name } => show(name, json, connection, console).await,
        AgentCommand::Attach(args) => attach(args, json, connection, console).await,
        AgentCommand::Detach { agent, attachment, dry_run } => {
            let (agent_id, etag) = (agent, String::new());
            let request = DetachAgentToolRequest {
                agent_id,
                client_id,
                etag,
                validate_only: dry_run,
                attachment_id: attachment,
            };
            detach(request, json, connection, console).await
        }
        AgentCommand::Delete { name, yes, dry_run } => {
            let request =
                DeleteAgentRequest { id: name, client_id, etag: String::new(), validate_only: dry_run };
            delete(request, yes, json, connection, console).await
        }
    }
}

async fn create(
    request: CreateAgentRequest,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let dry_run = request.validate_only;
    let response = connection.governance().await?.create_agent(call(request)).await?.into_inner();
    let agent = present(response.agent)?;
    if json {
        return json::print(console, &json::AgentAnswer::new(&agent, &response.revision));
    }
    if dry_run {
        return console.say(&format!("{} can be made (dry run: nothing was written)", agent.name));
    }
    console.say(&format!("made {}  {}", agent.name, agent.id))?;
    console.note(&format!(
        "next: toolgate agent attach {0} UPSTREAM, toolgate key create --agent {0} --scope mcp:call",
        agent.name
    ))
}

async fn list(
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let agents = all(connection).await?;
    if json {
        let mut list = json::List::new("agents");
        agents.iter().try_for_each(|agent| list.push(console, &json::Agent::from(agent)))?;
        return list.end(console);
    }
    let mut table = text::agents();
    agents.iter().for_each(|agent| table.push(text::agent_row(agent)));
    table.lines().try_for_each(|line| console.say(&line))
}

async fn all(connection: &mut Connection) -> Result<Vec<Agent>, CommandError> {
    let client_id = connection.client_id.clone();
    let mut request = ListAgentsRequest { client_id, page_size: AGENTS_PER_PAGE, ..Default::default() };
    let mut agents = Vec::new();
    loop {
        let page = connection.catalog().await?.list_agents(call(request.clone())).await?.into_inner();
        agents.extend(page.agents);
        if page.next_page_token.is_empty() {
            return Ok(agents);
        }
        request.page_token = page.next_page_token;
    }
}

async fn show(
    name: String,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let (agent, revision) = get(name, connection).await?;
    if json {
        return json::print(console, &json::AgentAnswer::new(&agent, &revision));
    }
    text::agent(&agent).iter().try_for_each(|line| console.say(line))?;
    let mut table = text::attachments();
    agent.attachments.iter().for_each(|attachment| table.push(text::attachment_row(attachment)));
    table.lines().try_for_each(|line| console.say(&line))
}

/// An agent by its name or id, and the revision that it was read at.
pub(crate) async fn get(name: String, connection: &mut Connection) -> Result<(Agent, String), CommandError> {
    let request =
        GetAgentRequest { id: name, client_id: connection.client_id.clone(), min_revision: String::new() };
    let response = connection.catalog().await?.get_agent(call(request)).await?.into_inner();
    Ok((present(response.agent)?, response.revision))
}

async fn attach(
    args: Attach,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let dry_run = args.dry_run;
    let request = attach_request(args, connection.client_id.clone())?;
    let response = connection.governance().await?.attach_agent_tool(call(request)).await?.into_inner();
    let agent = present(response.agent)?;
    let attachment = response.attachment.ok_or(CommandError::Incomplete { field: "attachment" })?;
    if json {
        let answer = json::AttachAnswer::new(&agent, &attachment, &response.revision);
        return json::print(console, &answer);
    }
    match dry_run {
        true => console.say(&format!(
            "{} can be attached to {} (dry run: nothing was written)",
            attachment.name, agent.name
        )),
        false => console.say(&format!("attached {} to {}  {}", attachment.name, agent.name, attachment.id)),
    }
}

fn attach_request(args: Attach, client_id: String) -> Result<AttachAgentToolRequest, CommandError> {
    let mut request = AttachAgentToolRequest {
        agent_id: args.agent,
        client_id,
        validate_only: args.dry_run,
        display_name: args.display_name,
        description: args.description,
        ..Default::default()
    };
    match (args.upstream, args.function, args.file_search) {
        (Some(upstream), ..) => {
            request.upstream_id = upstream;
            request.set_type(AgentAttachmentType::Mcp);
        }
        (None, Some(name), _) => {
            request.name = name;
            request.parameters_json = args.parameters_file.as_deref().map_or(Ok(String::new()), read_text)?;
            request.set_type(AgentAttachmentType::Function);
        }
        (None, None, Some(name)) => {
            request.name = name;
            request.vector_store_id = args.vector_store.unwrap_or_default();
            request.set_type(AgentAttachmentType::FileSearch);
        }
        (None, None, None) => {
            return Err(CommandError::Usage {
                problem: "what to attach is missing".to_owned(),
                hint: "an upstream, --function NAME, or --file-search NAME".to_owned(),
            });
        }
    }
    Ok(request)
}

fn read_text(path: &Path) -> Result<String, CommandError> {
    fs::read_to_string(path).map_err(|source| CommandError::Unreadable { path: path.to_owned(), source })
}

async fn detach(
    request: DetachAgentToolRequest,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let (attachment, dry_run) = (request.attachment_id.clone(), request.validate_only);
    let response = connection.governance().await?.detach_agent_tool(call(request)).await?.into_inner();
    let agent = present(response.agent)?;
    match (json, dry_run) {
        (true, _) => json::print(console, &json::AgentAnswer::new(&agent, &response.revision)),
        (false, true) => console
            .say(&format!("{attachment} can be detached from {} (dry run: nothing was written)", agent.name)),
        (false, false) => console.say(&format!("detached {attachment} from {}", agent.name)),
    }
}

/// Tells a person what goes, and asks; what was told is what goes, or nothing does.
async fn delete(
    request: DeleteAgentRequest,
    yes: bool,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let dry_run = request.validate_only;
    let mut request = request;
    if !yes && !dry_run {
        if !console.interactive {
            return Err(CommandError::Usage {
                problem: "without a terminal nobody can be asked".to_owned(),
                hint: "look at what --dry-run prints, then pass --yes".to_owned(),
            });
        }
        let dry = DeleteAgentRequest { validate_only: true, ..request.clone() };
        let would = connection.governance().await?.delete_agent(call(dry)).await?.into_inner();
        let agent = present(would.agent)?;
        let (attached, keys) = (agent.attachments.len(), would.api_key_count);
        console.note(&format!("{} has {attached} attachments, and {keys} keys end with it", agent.name))?;
        console.confirm("Delete it?")?;
        request.etag = agent.etag;
    }
    let response = connection.governance().await?.delete_agent(call(request)).await?.into_inner();
    let agent = present(response.agent)?;
    let keys = response.api_key_count;
    match (json, dry_run) {
        (true, _) => json::print(console, &json::AgentDeletion::new(&agent, &response.revision, keys)),
        (false, true) => console.say(&format!(
            "{} can be deleted, which ends {keys} keys (dry run: nothing was written)",
            agent.name
        )),
        (false, false) => console.say(&format!("deleted {}; {keys} keys ended with it", agent.name)),
    }
}

fn present(agent: Option<Agent>) -> Result<Agent, CommandError> {
    agent.ok_or(CommandError::Incomplete { field: "agent" })
}
