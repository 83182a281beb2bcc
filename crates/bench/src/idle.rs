//! What clients cost that do nothing: open connections, and agents that wait to hear of changes.

use std::net::SocketAddr;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, client::conn::http1::SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use toolgate_test_support::server::{OPERATOR_KEY, Server};

use crate::cpu;

/// How many open at the same moment.
const AT_ONCE: usize = 100;

/// Opens them, and prints what the server's memory grew by.
#[expect(clippy::print_stdout, reason = "what the command answers")]
pub(crate) async fn run(connections: usize, agents: usize) {
    let server = Server::builder().start().await;
    let (pid, address) = (server.pid(), server.addresses().http);
    let resident = || cpu::resident_mib(pid).unwrap_or_default();
    // What the first requests of their kind need is not counted.
    drop((opened(address, AT_ONCE, connection).await, opened(address, AT_ONCE, agent).await));
    let before = resident();
    println!("resident without clients: {before} MiB");
    let open = opened(address, connections, connection).await;
    let with_connections = resident();
    print(open.len(), "open connections after a request each", before, with_connections);
    let waiting = opened(address, agents, agent).await;
    print(waiting.len(), "idle agents that follow `tools/list` (2026-07-28)", with_connections, resident());
}

#[expect(clippy::print_stdout, reason = "what the command answers")]
fn print(count: usize, what: &str, before_mib: u64, after_mib: u64) {
    let grown = after_mib.saturating_sub(before_mib);
    let each_kib = grown as f64 * 1024.0 / count.max(1) as f64;
    println!("{count:>7} {what}: {after_mib} MiB, {grown} more, {each_kib:.1} KiB each");
}

async fn opened<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    address: SocketAddr,
    count: usize,
    open: fn(SocketAddr) -> F,
) -> Vec<T> {
    let mut all = Vec::with_capacity(count);
    while all.len() < count {
        let batch = AT_ONCE.min(count - all.len());
        all.extend(futures::future::join_all((0..batch).map(|_| open(address))).await);
    }
    all
}

type Sender = SendRequest<Full<Bytes>>;

async fn connect(address: SocketAddr) -> Sender {
    let stream = TcpStream::connect(address).await.expect("the server listens");
    let connected = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = connected.expect("a fresh connection takes requests");
    tokio::spawn(connection);
    sender
}

async fn connection(address: SocketAddr) -> Sender {
    let mut sender = connect(address).await;
    let request = Request::get("/health").header("host", address.to_string()).body(Full::default());
    let answer = sender.send_request(request.expect("the parts are well formed")).await;
    let answer = answer.expect("the server answers");
    assert_eq!(answer.status(), 200);
    answer.into_body().collect().await.expect("the answer is whole");
    sender
}

/// The stream of an agent, read up to its acknowledgement.
async fn agent(address: SocketAddr) -> (Sender, Incoming) {
    let mut sender = connect(address).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let request = Request::post("/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "subscriptions/listen")
        .header("host", address.to_string())
        .header("authorization", format!("Bearer {OPERATOR_KEY}"))
        .body(Full::new(Bytes::from(body)))
        .expect("the parts are well formed");
    let mut stream = sender.send_request(request).await.expect("the server answers").into_body();
    let first = stream.frame().await.expect("it is acknowledged").expect("the connection stands");
    assert!(first.is_data());
    (sender, stream)
}
