//! Connections of the HTTP listeners, each from its first byte to its end.
//!
//! A connection that opens and says nothing, or never ends the head of a request, costs a socket for as long as it is let:
//! the server that comes with `axum` lets it for ever.

use std::{convert::Infallible, pin::pin, time::Duration};

use axum::{Router, body::Body, serve::Listener};
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::opening::Opening;

/// How long a connection may take to send the head of its first request, or of the next one. Longer than the minute after
/// which load balancers end what is idle, so that none of them meets a connection that just closed.
pub(crate) const HEAD_DEADLINE: Duration = Duration::from_secs(75);
/// After this long without a word an HTTP/2 peer is asked whether it is still there, and given up after the second.
pub(crate) const KEEPALIVE_EVERY: Duration = Duration::from_secs(30);
pub(crate) const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until `stop`, then lets the requests in progress end. Dropping the future ends every connection.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    stop: CancellationToken,
) -> Result<(), Infallible> {
    serve_within(HEAD_DEADLINE, listener, router, stop).await;
    Ok(())
}

async fn serve_within(head: Duration, mut listener: TcpListener, router: Router, stop: CancellationToken) {
    let protocols = protocols(head);
    let mut connections = JoinSet::new();
    while let Some((stream, _)) = stop.run_until_cancelled(Listener::accept(&mut listener)).await {
        while connections.try_join_next().is_some() {}
        connections.spawn(connection(protocols.clone(), head, stream, router.clone(), stop.clone()));
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

fn protocols(head: Duration) -> Builder<TokioExecutor> {
    let mut protocols = Builder::new(TokioExecutor::new());
    protocols.http1().timer(TokioTimer::new()).header_read_timeout(head);
    let mut http2 = protocols.http2();
    http2.timer(TokioTimer::new()).keep_alive_interval(KEEPALIVE_EVERY).keep_alive_timeout(KEEPALIVE_TIMEOUT);
    protocols
}

async fn connection(
    protocols: Builder<TokioExecutor>,
    head: Duration,
    stream: TcpStream,
    router: Router,
    stop: CancellationToken,
) {
    // Without it the notices of a stream may wait for each other's acknowledgement; a socket that refuses still serves.
    let _ = stream.set_nodelay(true);
    let stream = TokioIo::new(Opening::new(stream, head));
    let service = router.map_request(|request: Request<Incoming>| request.map(Body::new));
    let mut connection = pin!(protocols.serve_connection(stream, TowerToHyperService::new(service)));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error, "a connection broke");
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Arc;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::Notify;
    use tokio::task::JoinHandle;

    use super::*;

    const SHORT: Duration = Duration::from_millis(200);
    const LONG: Duration = Duration::from_secs(60);

    struct Started {
        address: SocketAddr,
        stop: CancellationToken,
        serving: JoinHandle<()>,
        /// Told when the slow route was asked.
        asked: Arc<Notify>,
    }

    /// A server with one route, slower than a head may be.
    async fn started(head: Duration) -> Started {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, asked) = (CancellationToken::new(), Arc::new(Notify::new()));
        let telling = Arc::clone(&asked);
        let slow = get(|| async move {
            telling.notify_one();
            tokio::time::sleep(2 * SHORT).await;
            "done"
        });
        let router = Router::new().route("/", slow);
        let serving = tokio::spawn(serve_within(head, listener, router, stop.clone()));
        Started { address, stop, serving, asked }
    }

    async fn answer_to(address: SocketAddr, sent: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(sent).await.unwrap();
        let mut answer = String::new();
        tokio::time::timeout(LONG, stream.read_to_string(&mut answer)).await.expect("it ends").unwrap();
        answer
    }

    #[tokio::test]
    async fn a_connection_that_never_asks_is_ended() {
        let Started { address, .. } = started(SHORT).await;
        for unfinished in ["", "P", "PRI * HTTP/2", "GET / HTTP/1.1\r\nHost: a"] {
            let answer = answer_to(address, unfinished.as_bytes()).await;
            assert!(!answer.contains("200"), "{unfinished:?}: {answer}");
        }
    }

    #[tokio::test]
    async fn an_answer_may_take_longer_than_a_head() {
        let Started { address, .. } = started(SHORT).await;
        let answer = answer_to(address, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("done"), "{answer}");
    }

    #[tokio::test]
    async fn a_stop_ends_idle_connections_and_lets_a_request_finish() {
        let Started { address, stop, serving, asked } = started(LONG).await;
        let _idle = TcpStream::connect(address).await.unwrap();
        let mut asking = TcpStream::connect(address).await.unwrap();
        asking.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        asked.notified().await;
        stop.cancel();
        let mut answer = String::new();
        asking.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("done"), "{answer}");
        tokio::time::timeout(LONG, serving).await.expect("nothing is waited for").unwrap();
        assert!(TcpStream::connect(address).await.is_err());
    }
}
