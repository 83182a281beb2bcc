//! Keys: their end is the end of everything that was opened with them.

use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt;
use toolgate_api_proto::v1::{
    CreateApiKeyRequest, ListToolsRequest, RevokeApiKeyRequest, WatchToolsRequest, WatchToolsResponse,
};
use toolgate_test_support::server::Server;

/// An id and a secret.
async fn key(server: &Server, scopes: &[&str], ttl_s: Option<i64>) -> (String, String) {
    let ttl = ttl_s.map(|seconds| toolgate_api_proto::Duration { seconds, nanos: 0 });
    let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    let request = CreateApiKeyRequest { scopes, ttl, ..Default::default() };
    let made = server.governance().create_api_key(request).await.unwrap().into_inner();
    (made.api_key.unwrap().id, made.secret)
}

async fn watch(server: &Server, secret: &str) -> tonic::Streaming<WatchToolsResponse> {
    let mut catalog = server.as_key(secret).catalog();
    let mut stream = catalog.watch_tools(WatchToolsRequest::default()).await.unwrap().into_inner();
    stream.message().await.unwrap().expect("a watch begins with what is there");
    stream
}

/// How a stream that is quiet ends.
async fn ended(mut stream: tonic::Streaming<WatchToolsResponse>, within: Duration) -> Status {
    let message = tokio::time::timeout(within, stream.message()).await.expect("the stream ends in time");
    message.expect_err("the stream ends with a reason")
}

fn is_invalid_credential(status: &Status) -> bool {
    let reason = status.get_details_error_info().map(|info| info.reason);
    status.code() == Code::Unauthenticated && reason.as_deref() == Some("CREDENTIAL_INVALID")
}

#[tokio::test]
async fn a_revoked_key_is_refused_at_once_and_its_stream_ends_within_a_second() {
    let server = Server::start().await;
    let (id, secret) = key(&server, &["mcp:read"], None).await;
    let (_, other) = key(&server, &["mcp:read"], None).await;
    let stream = watch(&server, &secret).await;
    let mut kept = watch(&server, &other).await;

    server.governance().revoke_api_key(RevokeApiKeyRequest { id, ..Default::default() }).await.unwrap();
    let mut catalog = server.as_key(&secret).catalog();
    let refused = catalog.list_tools(ListToolsRequest::default()).await.unwrap_err();
    assert!(is_invalid_credential(&refused), "{refused:?}");
    let end = ended(stream, Duration::from_secs(1)).await;
    assert!(is_invalid_credential(&end), "{end:?}");
    let quiet = tokio::time::timeout(Duration::from_millis(200), kept.message()).await;
    assert!(quiet.is_err(), "the stream of another key goes on: {quiet:?}");
}

#[tokio::test]
async fn an_expired_key_is_refused_and_its_stream_ends() {
    let server = Server::start().await;
    let (_, secret) = key(&server, &["mcp:read"], Some(1)).await;
    let stream = watch(&server, &secret).await;
    let end = ended(stream, Duration::from_secs(3)).await;
    assert!(is_invalid_credential(&end), "{end:?}");
    let mut catalog = server.as_key(&secret).catalog();
    let refused = catalog.list_tools(ListToolsRequest::default()).await.unwrap_err();
    assert!(is_invalid_credential(&refused), "{refused:?}");
}

#[tokio::test]
async fn the_operators_own_key_cannot_be_revoked_while_it_is_the_only_one() {
    let server = Server::start().await;
    let listed = server.cli(&["key", "list", "--json"]).await;
    let listed: serde_json::Value = serde_json::from_str(&listed.succeeded()).unwrap();
    let id = listed["apiKeys"][0]["id"].as_str().unwrap().to_owned();
    let refused = server.cli(&["key", "revoke", &id]).await;
    assert_eq!(refused.code, Some(4), "{}", refused.stderr);
    assert!(refused.stderr.contains("key create --operator"), "{}", refused.stderr);
}
