//! Use case: the API keys of a client.

use std::num::NonZeroUsize;

use toolgate_catalog::{from_row_error, from_store_error};
use toolgate_domain::{ClientId, Fault, KeyId, credential::ApiKey};
use toolgate_records::{Key, Record};
use toolgate_store::scan_all;

use crate::{Governance, rows::after};

/// Which keys.
#[derive(Debug, Clone, Copy)]
pub struct ListApiKeys {
    /// The tenant that they act for.
    pub client: ClientId,
    /// Only those made after this one.
    pub after: Option<KeyId>,
    /// At most so many.
    pub size: NonZeroUsize,
}

/// A page of keys.
#[derive(Debug, Clone)]
pub struct ApiKeyPage {
    /// In order of creation.
    pub keys: Vec<ApiKey>,
    /// The last of the page, where more follow.
    pub more_after: Option<KeyId>,
}

impl Governance {
    /// Lists keys, revoked and expired ones too.
    ///
    /// # Errors
    /// [`Fault::ClientNotFound`]; failures of the store.
    pub async fn list_api_keys(&self, ask: ListApiKeys) -> Result<ApiKeyPage, Fault> {
        self.catalog.snapshot(ask.client, None).await?;
        let all = Key::api_keys_of(ask.client);
        let range = ask.after.map_or(all.clone(), |last| after(all, &Key::ApiKey(ask.client, last)));
        let page = self.store().scan(&range, ask.size).await.map_err(|error| from_store_error(&error))?;
        let mut keys = Vec::with_capacity(page.rows.len());
        for row in &page.rows {
            match Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))? {
                Record::ApiKey(key) => keys.push(key),
                other => return Err(Fault::Internal { cause: format!("{:?} among the keys", other.key()) }),
            }
        }
        let more_after = page.next.and_then(|_| keys.last().map(|key| key.id));
        Ok(ApiKeyPage { keys, more_after })
    }

    /// How many keys of a client are in force.
    pub(crate) async fn count_api_keys(&self, client: ClientId) -> Result<usize, Fault> {
        let range = Key::api_keys_of(client);
        let (rows, _) = scan_all(self.store(), &range).await.map_err(|error| from_store_error(&error))?;
        let now = self.clock.now();
        let mut in_force = 0;
        for row in &rows {
            let record = Record::decode(&row.key, &row.value).map_err(|error| from_row_error(&error))?;
            in_force += usize::from(matches!(record, Record::ApiKey(key) if key.is_in_force(now)));
        }
        Ok(in_force)
    }
}
