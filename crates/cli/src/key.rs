//! `toolgate key …`

use toolgate_api_proto::Duration;
use toolgate_api_proto::v1::{ApiKey, CreateApiKeyRequest, ListApiKeysRequest, RevokeApiKeyRequest};

use crate::args::KeyCommand;
use crate::connection::{Connection, call};
use crate::console::Console;
use crate::error::CommandError;
use crate::limits::KEYS_PER_PAGE;
use crate::render::{json, text};

pub(crate) async fn run(
    command: KeyCommand,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let client_id = connection.client_id.clone();
    match command {
        KeyCommand::Create { scopes, display_name, expires_in, operator, agent } => {
            let ttl = expires_in.map(|seconds| Duration { seconds, nanos: 0 });
            let validate_only = false;
            let agent_id = agent.unwrap_or_default();
            let request = CreateApiKeyRequest {
                client_id,
                display_name,
                scopes,
                validate_only,
                ttl,
                operator,
                agent_id,
            };
            create(request, json, connection, console).await
        }
        KeyCommand::List => list(json, connection, console).await,
        KeyCommand::Revoke { id, dry_run } => {
            let request = RevokeApiKeyRequest { id, client_id, validate_only: dry_run };
            revoke(request, json, connection, console).await
        }
    }
}

async fn create(
    request: CreateApiKeyRequest,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let response = connection.governance().await?.create_api_key(call(request)).await?.into_inner();
    let key = present(response.api_key)?;
    match json {
        true => json::print(console, &json::NewKey::new(&key, &response.secret))?,
        false => console.say(&response.secret)?,
    }
    let until = key.expire_time.as_ref().map(|at| format!(" until {at}")).unwrap_or_default();
    let agent = key.agent_id.as_str();
    let agent = if agent.is_empty() { String::new() } else { format!(" for agent {agent}") };
    console.note(&format!(
        "key {} of client {}{agent} with {}{until}; it cannot be shown again",
        key.id,
        key.client_id,
        key.scopes.join(", ")
    ))
}

async fn list(
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let keys = all(connection).await?;
    if json {
        let mut list = json::List::new("apiKeys");
        keys.iter().try_for_each(|key| list.push(console, &json::ApiKey::from(key)))?;
        return list.end(console);
    }
    let mut table = text::keys();
    keys.iter().for_each(|key| table.push(text::key_row(key)));
    table.lines().try_for_each(|line| console.say(&line))
}

async fn all(connection: &mut Connection) -> Result<Vec<ApiKey>, CommandError> {
    let client_id = connection.client_id.clone();
    let mut request = ListApiKeysRequest { client_id, page_size: KEYS_PER_PAGE, ..Default::default() };
    let mut keys = Vec::new();
    loop {
        let page = connection.governance().await?.list_api_keys(call(request.clone())).await?.into_inner();
        keys.extend(page.api_keys);
        if page.next_page_token.is_empty() {
            return Ok(keys);
        }
        request.page_token = page.next_page_token;
    }
}

async fn revoke(
    request: RevokeApiKeyRequest,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let dry_run = request.validate_only;
    let response = connection.governance().await?.revoke_api_key(call(request)).await?.into_inner();
    let key = present(response.api_key)?;
    match (json, dry_run) {
        (true, _) => json::print(console, &json::KeyAnswer::new(&key)),
        (false, true) => console.say(&format!("{} can be revoked (dry run: nothing was written)", key.id)),
        (false, false) => console.say(&format!("revoked {}", key.id)),
    }
}

/// Reads a time such as `90d`.
pub(crate) fn seconds(text: &str) -> Result<i64, String> {
    let wrong = || "is no time: give a number with s, m, h or d, such as 90d".to_owned();
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let each: i64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let count: u32 = text.strip_suffix(unit).unwrap_or_default().parse().map_err(|_| wrong())?;
    Ok(i64::from(count) * each)
}

fn present(key: Option<ApiKey>) -> Result<ApiKey, CommandError> {
    key.ok_or(CommandError::Incomplete { field: "api_key" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_with_its_unit() {
        for (text, expected) in [("45s", 45), ("90m", 5_400), ("12h", 43_200), ("90d", 7_776_000)] {
            assert_eq!(seconds(text), Ok(expected));
        }
        for wrong in ["", "d", "90", "1.5h", "-1d", "9é", "99999999999d"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
