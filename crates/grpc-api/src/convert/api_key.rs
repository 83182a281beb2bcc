//! API keys to the wire; scopes and times to live from it.

use prost_types::Duration;
use toolgate_api_proto::v1 as pb;
use toolgate_domain::{Fault, Scope, Scopes, credential::ApiKey, limits};

use super::fields::{self, timestamp};

/// The message of a key, without its secret.
pub(crate) fn to_proto(key: &ApiKey) -> pb::ApiKey {
    pb::ApiKey {
        id: key.id.to_string(),
        client_id: key.client.to_string(),
        display_name: key.display_name.clone(),
        scopes: key.scopes.iter().map(|scope| scope.to_string()).collect(),
        operator: key.operator,
        create_time: Some(timestamp(key.created_at)),
        expire_time: key.expires_at.map(timestamp),
        revoke_time: key.revoked_at.map(timestamp),
        agent_id: key.agent.map(|agent| agent.to_string()).unwrap_or_default(),
    }
}

/// The scopes of a request.
pub(crate) fn scopes_from_proto(scopes: &[String]) -> Result<Scopes, Fault> {
    if scopes.len() > limits::MAX_SCOPES {
        return Err(Fault::invalid("scopes", format!("has more than {} entries", limits::MAX_SCOPES)));
    }
    let scope =
        |(index, text): (usize, &String)| fields::required::<Scope>(text, &format!("scopes[{index}]"));
    scopes.iter().enumerate().map(scope).collect()
}

/// A time to live in whole milliseconds; what is less than one is dropped.
pub(crate) fn ttl_ms_from_proto(ttl: Duration) -> i64 {
    ttl.seconds.saturating_mul(1000).saturating_add(i64::from(ttl.nanos) / 1_000_000)
}
