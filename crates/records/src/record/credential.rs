//! Rows of API keys.

use toolgate_domain::{AgentId, ClientId, KeyId, Scope, Scopes, credential::ApiKey};

use super::read::{Reader, moment};
use crate::{RowError, stored};

pub(super) fn api_key_row(key: &ApiKey) -> stored::ApiKey {
    stored::ApiKey {
        display_name: key.display_name.clone(),
        scopes: key.scopes.iter().map(|scope| scope.as_str().into()).collect(),
        operator: key.operator,
        agent: key.agent.map(|agent| agent.bytes().to_vec()).unwrap_or_default(),
        digest: key.digest.to_vec(),
        created_at_ms: key.created_at.unix_ms(),
        expires_at_ms: key.expires_at.map(|at| at.unix_ms()),
        revoked_at_ms: key.revoked_at.map(|at| at.unix_ms()),
    }
}

/// A scope that this version does not know makes the key weaker, not unreadable: it is left out.
pub(super) fn read_api_key(row: &Reader<'_>, client: ClientId, id: KeyId) -> Result<ApiKey, RowError> {
    let payload: stored::ApiKey = row.payload()?;
    let scopes: Scopes = payload.scopes.iter().filter_map(|text| text.parse::<Scope>().ok()).collect();
    let agent = match payload.agent.as_slice() {
        [] => None,
        id => Some(AgentId::from_bytes(row.fixed("agent", id)?)),
    };
    Ok(ApiKey {
        id,
        client,
        display_name: payload.display_name,
        scopes,
        operator: payload.operator,
        agent,
        digest: row.fixed("digest", &payload.digest)?,
        created_at: moment(payload.created_at_ms),
        expires_at: payload.expires_at_ms.map(moment),
        revoked_at: payload.revoked_at_ms.map(moment),
    })
}
