//! API keys as they are kept.

use crate::{AgentId, ClientId, KeyId, Moment, Scopes};

/// An API key. The secret itself is not kept, only its keyed digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Identity, the middle part of the key's text form.
    pub id: KeyId,
    /// The tenant that it acts for.
    pub client: ClientId,
    /// Free text for people.
    pub display_name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// Whether it may name another tenant, and make and delete tenants.
    pub operator: bool,
    /// The agent that it is bound to; `None` for one that sees its whole client.
    pub agent: Option<AgentId>,
    /// Keyed digest of the secret.
    pub digest: [u8; 32],
    /// When it was made.
    pub created_at: Moment,
    /// From when on it is not accepted; `None` when it never expires.
    pub expires_at: Option<Moment>,
    /// When it was revoked; `None` while it is not.
    pub revoked_at: Option<Moment>,
}

impl ApiKey {
    /// Whether it is accepted at `now`.
    pub fn is_in_force(&self, now: Moment) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| now < at)
    }

    /// Who acts with this key, as written into rulings and logs.
    pub fn subject(&self) -> String {
        format!("key:{}", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_in_force_until_the_moment_of_its_end() {
        let at = Moment::from_unix_ms;
        let key = ApiKey {
            id: KeyId::from_bytes([1; 16]),
            client: ClientId::from_bytes([2; 16]),
            display_name: String::new(),
            scopes: Scopes::all(),
            operator: false,
            agent: None,
            digest: [0; 32],
            created_at: at(1),
            expires_at: Some(at(10)),
            revoked_at: None,
        };
        assert!(key.is_in_force(at(9)) && !key.is_in_force(at(10)));
        let revoked = ApiKey { expires_at: None, revoked_at: Some(at(5)), ..key };
        assert!(!revoked.is_in_force(at(4)), "a clock that was set back revives no key");
    }
}
