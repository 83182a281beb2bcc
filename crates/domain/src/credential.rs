//! API keys as they are kept.

use crate::{ClientId, KeyId, Moment, Scopes};

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
    /// Whether it may name another tenant. Only the bootstrap key may.
    pub operator: bool,
    /// Keyed digest of the secret.
    pub digest: [u8; 32],
    /// When it was made.
    pub created_at: Moment,
}

impl ApiKey {
    /// Who acts with this key, as written into rulings and logs.
    pub fn subject(&self) -> String {
        format!("key:{}", self.id)
    }
}
