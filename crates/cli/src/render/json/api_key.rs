//! API keys.

use serde::Serialize;
use toolgate_api_proto::v1;

/// `CreateApiKeyResponse`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewKey<'a> {
    api_key: ApiKey<'a>,
    secret: &'a str,
}

/// `RevokeApiKeyResponse`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyAnswer<'a> {
    api_key: ApiKey<'a>,
}

impl<'a> KeyAnswer<'a> {
    pub(crate) fn new(key: &'a v1::ApiKey) -> Self {
        Self { api_key: key.into() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiKey<'a> {
    id: &'a str,
    client_id: &'a str,
    display_name: &'a str,
    scopes: &'a [String],
    operator: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expire_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoke_time: Option<String>,
    agent_id: &'a str,
}

impl<'a> NewKey<'a> {
    pub(crate) fn new(key: &'a v1::ApiKey, secret: &'a str) -> Self {
        Self { api_key: key.into(), secret }
    }
}

impl<'a> From<&'a v1::ApiKey> for ApiKey<'a> {
    fn from(key: &'a v1::ApiKey) -> Self {
        Self {
            id: &key.id,
            client_id: &key.client_id,
            display_name: &key.display_name,
            scopes: &key.scopes,
            operator: key.operator,
            create_time: key.create_time.as_ref().map(ToString::to_string),
            expire_time: key.expire_time.as_ref().map(ToString::to_string),
            revoke_time: key.revoke_time.as_ref().map(ToString::to_string),
            agent_id: &key.agent_id,
        }
    }
}
