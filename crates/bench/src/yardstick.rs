//! What nothing of ours can beat: axum routes and a tonic method that send bytes which are ready.

use std::{convert::Infallible, fs, path::Path, task::Poll, time::Duration};

use axum::{
    Router,
    http::header::CONTENT_TYPE,
    routing::{get, post},
};
use bytes::Bytes;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{
    Request, Response, Status,
    body::Body,
    codegen::{BoxFuture, Context, Service},
    server::{Grpc, NamedService, UnaryService},
};

use crate::{
    load::{MCP_ROUTE, ROUTE},
    raw::Raw,
};

/// As in the server.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(30);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until the process is ended, and says where.
#[expect(clippy::print_stdout, reason = "the load reads where to go")]
pub(crate) async fn serve(roar: &Path, page: &Path, mcp: &Path) {
    let read = |path: &Path| Bytes::from(fs::read(path).expect("the load wrote the file"));
    let (body, page, mcp) = (read(roar), read(page), read(mcp));
    let bind = async || TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
    let (http, grpc) = (bind().await, bind().await);
    let address = |listener: &TcpListener| listener.local_addr().expect("a bound socket has an address");
    println!("{} {}", address(&http), address(&grpc));
    let ready = |body: Bytes| async move || ([(CONTENT_TYPE, "application/json")], body.clone());
    let routes = Router::new().route(ROUTE, get(ready(body))).route(MCP_ROUTE, post(ready(mcp)));
    let serving = axum::serve(http, routes).into_future();
    let method = tonic::transport::Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE_EVERY))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
        .add_service(ReadyPage(page))
        .serve_with_incoming(TcpListenerStream::new(grpc));
    let (http, grpc) = tokio::join!(serving, method);
    http.expect("accepting never fails");
    grpc.expect("accepting never fails");
}

/// `ToolCatalog` with one method and one answer.
#[derive(Debug, Clone)]
struct ReadyPage(Bytes);

impl NamedService for ReadyPage {
    const NAME: &'static str = "toolgate.v1.ToolCatalog";
}

impl UnaryService<Bytes> for ReadyPage {
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        let page = self.0.clone();
        Box::pin(async { Ok(Response::new(page)) })
    }
}

impl Service<axum::http::Request<Body>> for ReadyPage {
    type Response = axum::http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: axum::http::Request<Body>) -> Self::Future {
        let method = self.clone();
        Box::pin(async move { Ok(Grpc::new(Raw).unary(method, request).await) })
    }
}
