//! Clients.

use serde::Serialize;
use toolgate_api_proto::v1;

use crate::error::CommandError;

/// `CreateClientResponse`.
#[derive(Serialize)]
pub(crate) struct ClientAnswer<'a> {
    client: Client<'a>,
}

impl<'a> ClientAnswer<'a> {
    pub(crate) fn new(client: &'a v1::Client) -> Self {
        Self { client: client.into() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Client<'a> {
    id: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<String>,
}

impl<'a> From<&'a v1::Client> for Client<'a> {
    fn from(client: &'a v1::Client) -> Self {
        let create_time = client.create_time.as_ref().map(ToString::to_string);
        Self { id: &client.id, name: &client.name, create_time }
    }
}

/// `DeleteClientResponse`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeletedClient<'a> {
    client: Client<'a>,
    upstream_count: i32,
    tool_count: i32,
    api_key_count: i32,
}

impl<'a> DeletedClient<'a> {
    pub(crate) fn new(gone: &'a v1::DeleteClientResponse) -> Result<Self, CommandError> {
        let client = gone.client.as_ref().ok_or(CommandError::Incomplete { field: "client" })?;
        let v1::DeleteClientResponse { upstream_count, tool_count, api_key_count, .. } = *gone;
        Ok(Self { client: client.into(), upstream_count, tool_count, api_key_count })
    }
}
