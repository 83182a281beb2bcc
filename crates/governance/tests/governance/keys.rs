//! Keys: made, listed, ended.

use std::{num::NonZeroUsize, sync::Arc};

use toolgate_domain::{Caller, ClientId, Fault, KeyId, Scopes, credential::ApiKey};
use toolgate_governance::{CreateApiKey, ListApiKeys, RevokeApiKey};

use crate::workbench::Workbench;

fn wanted(client: ClientId) -> CreateApiKey {
    CreateApiKey {
        client,
        display_name: String::new(),
        scopes: Scopes::all(),
        ttl_ms: None,
        operator: false,
        agent: None,
        validate_only: false,
    }
}

impl Workbench {
    async fn key(&self, wanted: CreateApiKey) -> ApiKey {
        self.governance.create_api_key(&self.caller(), wanted).await.unwrap().key
    }

    async fn revoke(&self, caller: &Caller, key: KeyId) -> Result<ApiKey, Fault> {
        let wanted = RevokeApiKey { client: self.client, key, validate_only: false };
        self.governance.revoke_api_key(caller, wanted).await
    }

    async fn keys(&self) -> Vec<ApiKey> {
        let ask = ListApiKeys { client: self.client, after: None, size: NonZeroUsize::new(100).unwrap() };
        self.governance.list_api_keys(ask).await.unwrap().keys
    }
}

#[tokio::test]
async fn data_knows_the_first_master_key_that_it_was_begun_with() {
    let bench = Workbench::new().await;
    assert_eq!(bench.governance.is_under_this_master_key().await, Ok(true));
    assert_eq!(bench.restarted().await.governance.is_under_this_master_key().await, Ok(true));
    let other = Workbench::over(Arc::clone(&bench.store)).await;
    assert_eq!(other.governance.is_under_this_master_key().await, Ok(false));
}

#[tokio::test]
async fn keys_are_listed_page_by_page_in_order_of_creation() {
    let bench = Workbench::new().await;
    let mut made = vec![bench.keys().await[0].id];
    for _ in 0..4 {
        bench.clock.advance_ms(1);
        made.push(bench.key(wanted(bench.client)).await.id);
    }
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let ask = ListApiKeys { client: bench.client, after, size: NonZeroUsize::new(2).unwrap() };
        let page = bench.governance.list_api_keys(ask).await.unwrap();
        assert!(page.keys.len() <= 2);
        seen.extend(page.keys.iter().map(|key| key.id));
        after = page.more_after;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, made);
}

#[tokio::test]
async fn a_revoked_key_stays_listed_and_is_revoked_once() {
    let bench = Workbench::new().await;
    let key = bench.key(wanted(bench.client)).await;
    let dry = RevokeApiKey { client: bench.client, key: key.id, validate_only: true };
    let would = bench.governance.revoke_api_key(&bench.caller(), dry).await.unwrap();
    assert!(would.revoked_at.is_some() && bench.keys().await.iter().all(|key| key.revoked_at.is_none()));
    let revoked = bench.revoke(&bench.caller(), key.id).await.unwrap();
    bench.clock.advance_ms(10);
    assert_eq!(bench.revoke(&bench.caller(), key.id).await, Ok(revoked.clone()), "the first end stays");
    assert!(bench.keys().await.contains(&revoked));
    let unknown = bench.revoke(&bench.caller(), KeyId::from_bytes([9; 16])).await;
    assert_eq!(unknown, Err(Fault::ApiKeyNotFound));
}

#[tokio::test]
async fn a_key_expires_when_it_was_said_to() {
    let bench = Workbench::new().await;
    let key = bench.key(CreateApiKey { ttl_ms: Some(5_000), ..wanted(bench.client) }).await;
    assert_eq!(key.expires_at.unwrap().ms_since(key.created_at), 5_000);
    for ttl in [999, 0, -1, i64::MIN] {
        let short = CreateApiKey { ttl_ms: Some(ttl), ..wanted(bench.client) };
        let refused = bench.governance.create_api_key(&bench.caller(), short).await.unwrap_err();
        assert_eq!(refused, Fault::invalid("ttl", "is shorter than one second"));
    }
}

#[tokio::test]
async fn only_an_operator_makes_and_ends_operator_keys() {
    let bench = Workbench::new().await;
    let operator = CreateApiKey { operator: true, ..wanted(bench.client) };
    let plain = Caller { operator: false, ..bench.caller() };
    let refused = bench.governance.create_api_key(&plain, operator.clone()).await.unwrap_err();
    assert_eq!(refused, Fault::OperatorRequired);
    let key = bench.key(operator).await;
    assert_eq!(bench.revoke(&plain, key.id).await, Err(Fault::OperatorRequired));
    assert!(bench.revoke(&bench.caller(), key.id).await.is_ok());
}

#[tokio::test]
async fn the_last_operator_key_cannot_be_revoked_even_by_two_at_once() {
    let bench = Workbench::new().await;
    let first = bench.keys().await[0].id;
    assert_eq!(bench.revoke(&bench.caller(), first).await, Err(Fault::LastOperatorKey));
    let operator = CreateApiKey { operator: true, ..wanted(bench.client) };
    bench.key(CreateApiKey { ttl_ms: Some(60_000), ..operator.clone() }).await;
    assert_eq!(
        bench.revoke(&bench.caller(), first).await,
        Err(Fault::LastOperatorKey),
        "the other will expire"
    );
    let second = bench.key(operator).await.id;
    let caller = bench.caller();
    let (one, other) = tokio::join!(bench.revoke(&caller, first), bench.revoke(&caller, second));
    let ended = [one, other].into_iter().filter(|ended| ended.is_ok()).count();
    assert_eq!(ended, 1);
}

#[tokio::test]
async fn a_store_whose_first_operator_key_was_revoked_starts_again_without_it() {
    let bench = Workbench::new().await;
    let first = bench.keys().await[0].id;
    bench.key(CreateApiKey { operator: true, ..wanted(bench.client) }).await;
    bench.revoke(&bench.caller(), first).await.unwrap();
    let again = bench.governance.bootstrap("a key of at least thirty-two characters").await.unwrap();
    assert_eq!((again.client, again.given_is_ignored), (bench.client, true));
}
