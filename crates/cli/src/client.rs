//! `toolgate client …`

use toolgate_api_proto::v1::{
    Client, CreateClientRequest, DeleteClientRequest, DeleteClientResponse, ListClientsRequest,
};

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
        ClientCommand::Delete { client, yes, dry_run } => {
            Deletion { client, yes, dry_run, json }.run(connection, console).await
        }
    }
}

struct Deletion {
    client: String,
    yes: bool,
    dry_run: bool,
    json: bool,
}

impl Deletion {
    async fn run(self, connection: &mut Connection, console: &mut Console<'_>) -> Result<(), CommandError> {
        let asks = !self.yes && !self.dry_run;
        if asks && !console.interactive {
            return Err(CommandError::Usage {
                problem: "without a terminal nobody can be asked".to_owned(),
                hint: "look at what --dry-run prints, then pass --yes".to_owned(),
            });
        }
        let id = id(self.client, connection).await?;
        if asks {
            let would_go = delete(&id, true, connection).await?;
            console.note(&text::client_deletion("goes for good", &would_go))?;
            console.confirm("Delete it?")?;
        }
        let gone = delete(&id, self.dry_run, connection).await?;
        match (self.json, self.dry_run) {
            (true, _) => json::print(console, &json::DeletedClient::new(&gone)?),
            (false, true) => {
                console.say(&text::client_deletion("would go (dry run: nothing was deleted)", &gone))
            }
            (false, false) => {
                console.say(&text::client_deletion("deleted", &gone))?;
                console.note(&format!("its log of rulings: toolgate audit list --client {id}"))
            }
        }
    }
}

/// The id of a client that is named or is one already.
async fn id(client: String, connection: &mut Connection) -> Result<String, CommandError> {
    let clients = all(connection).await?;
    let by_id = clients.iter().find(|known| known.id.eq_ignore_ascii_case(&client));
    let known = by_id.or_else(|| clients.iter().find(|known| known.name == client));
    known.map(|known| known.id.clone()).ok_or(CommandError::NoSuchClient { name: client })
}

async fn delete(
    id: &str,
    validate_only: bool,
    connection: &mut Connection,
) -> Result<DeleteClientResponse, CommandError> {
    let request = DeleteClientRequest { id: id.to_owned(), validate_only };
    Ok(connection.governance().await?.delete_client(call(request)).await?.into_inner())
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
    // Nobody grants a scope they lack, so its administrator gets them all.
    let scopes = "mcp:read,mcp:write,mcp:call,mcp:admin";
    console.note(&format!("its first key: toolgate key create --client {} --scope {scopes}", client.id))
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
