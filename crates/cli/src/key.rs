//! `toolgate key …`

use toolgate_api_proto::v1::CreateApiKeyRequest;

use crate::args::KeyCommand;
use crate::connection::{Connection, call};
use crate::console::Console;
use crate::error::CommandError;
use crate::render::json;

pub(crate) async fn run(
    command: KeyCommand,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let KeyCommand::Create { scopes, display_name } = command;
    let client_id = connection.client_id.clone();
    let request = CreateApiKeyRequest { client_id, display_name, scopes, validate_only: false };
    let response = connection.governance().await?.create_api_key(call(request)).await?.into_inner();
    let key = response.api_key.ok_or(CommandError::Incomplete { field: "api_key" })?;
    match json {
        true => json::print(console, &json::NewKey::new(&key, &response.secret))?,
        false => console.say(&response.secret)?,
    }
    console.note(&format!(
        "key {} of client {} with {}; it cannot be shown again",
        key.id,
        key.client_id,
        key.scopes.join(", ")
    ))
}
