//! The process itself: how it starts, what it refuses, how it ends.

use toolgate_test_support::server::Server;

#[tokio::test]
async fn a_started_server_is_alive_and_ready() {
    let server = Server::start().await;
    assert_eq!(server.admin("/livez").await.status, 200);
    let ready = server.admin("/readyz").await;
    assert_eq!((ready.status, ready.text()), (200, r#"{"degraded":{},"phase":"ready"}"#));
}
