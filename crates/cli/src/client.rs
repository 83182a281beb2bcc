//! `toolgate client …`

use toolgate_api_proto::v1::{Client, CreateClientRequest, ListClientsRequest};

use crate::args::ClientCommand;
use crate::connection::{Connection, call};
use crate::console::Console;
use crate::error::CommandError;
use crate::limits::CLIENTS_PER_PAGE;
use crate::render::{json, text};

pub(crate) async fn run(
    command: ClientCommand,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    match command {
        ClientCommand::Create { name, dry_run } => create(name, dry_run, json, connection, console).await,
        ClientCommand::List => list(json, connection, console).await,
    }
}

async fn create(
    name: String,
    dry_run: bool,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let request = CreateClientRequest { name, validate_only: dry_run };
    let response = connection.governance().await?.create_client(call(request)).await?.into_inner();
    let client = response.client.ok_or(CommandError::Incomplete { field: "client" })?;
    if json {
        return json::print(console, &json::ClientAnswer::new(&client));
    }
    if dry_run {
        return console.say(&format!("{} can be made (dry run: nothing was written)", client.name));
    }
    console.say(&format!("made {}  {}", client.name, client.id))?;
    console.note(&format!("its first key: toolgate key create --client {} --scope mcp:admin", client.id))
}

async fn list(
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let clients = all(connection).await?;
    if json {
        let mut list = json::List::new("clients");
        clients.iter().try_for_each(|client| list.push(console, &json::Client::from(client)))?;
        return list.end(console);
    }
    let mut table = text::clients();
    clients.iter().for_each(|client| table.push(text::client_row(client)));
    table.lines().try_for_each(|line| console.say(&line))
}

async fn all(connection: &mut Connection) -> Result<Vec<Client>, CommandError> {
    let mut request = ListClientsRequest { page_size: CLIENTS_PER_PAGE, ..Default::default() };
    let mut clients = Vec::new();
    loop {
        let page = connection.governance().await?.list_clients(call(request.clone())).await?.into_inner();
        clients.extend(page.clients);
        if page.next_page_token.is_empty() {
            return Ok(clients);
        }
        request.page_token = page.next_page_token;
    }
}
