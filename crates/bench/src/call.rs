//! The same echo call straight to an upstream and through the gateway, governance on: rates, latencies, processor time.

use std::{
    net::SocketAddr,
    process::Stdio,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpStream,
    process::{Child, Command},
    task::JoinSet,
};
use toolgate_api_proto::v1::{
    CreateUpstreamRequest, HttpTransport, SyncUpstreamRequest, create_upstream_request::Transport,
};
use toolgate_test_support::server::{OPERATOR_KEY, Server};

use crate::{cpu, echo, rounds::Spread};

const PAYLOADS_BYTES: [usize; 2] = [16, 32 * 1024];
const CONNECTIONS: [usize; 2] = [1, 32];

/// One side: where it is, what it calls the tool, and its process.
#[derive(Debug, Clone)]
struct Target {
    address: SocketAddr,
    tool: &'static str,
    pid: u32,
}

/// What came of a slice.
struct Slice {
    per_second: f64,
    /// Of each call, ascending.
    latencies: Vec<Duration>,
    cpu_per_call: Option<Duration>,
}

impl Slice {
    fn quantile_us(&self, quantile: f64) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        let at = (last as f64 * quantile).round() as usize;
        self.latencies.get(at).map_or(0.0, |latency| latency.as_secs_f64() * 1e6)
    }
}

/// Measures and prints.
#[expect(clippy::print_stdout, reason = "what the command answers")]
pub(crate) async fn run(rounds: usize, slice_ms: u64) {
    let (_upstream, upstream_pid, upstream) = start_upstream().await;
    let server = Server::builder().start().await;
    fill(&server, upstream).await;
    let direct = Target { address: upstream, tool: echo::TOOL, pid: upstream_pid };
    let through = Target { address: server.addresses().http, tool: "bench__echo", pid: server.pid() };
    println!("an echo call of revision 2026-07-28, straight to the upstream and through the gateway");
    println!("{rounds} rounds, {slice_ms} ms for each side in each; medians (spread of the ratio)\n");
    println!(
        "payload  connections   direct     through    ratio                  p50 direct, through, added     p99 through / direct   CPU of the gateway"
    );
    for payload in PAYLOADS_BYTES {
        for connections in CONNECTIONS {
            let mut pairs = Vec::with_capacity(rounds);
            for round in 0..rounds {
                let measure = async |target: &Target| {
                    slice(target, payload, connections, Duration::from_millis(slice_ms)).await
                };
                pairs.push(if round % 2 == 0 {
                    let direct = measure(&direct).await;
                    (direct, measure(&through).await)
                } else {
                    let through = measure(&through).await;
                    (measure(&direct).await, through)
                });
            }
            println!("{:>7}  {connections:>11} {}", size(payload), line(&pairs));
        }
    }
    println!(
        "\ngateway: {} resident",
        cpu::resident_mib(server.pid()).map_or("-".into(), |mib| format!("{mib} MiB"))
    );
}

fn size(bytes: usize) -> String {
    if bytes < 1024 { format!("{bytes} B") } else { format!("{} KiB", bytes / 1024) }
}

fn line(pairs: &[(Slice, Slice)]) -> String {
    let median = |pick: &dyn Fn(&(Slice, Slice)) -> f64| Spread::of(pairs.iter().map(pick)).median;
    let ratio = Spread::of(pairs.iter().map(|(direct, through)| through.per_second / direct.per_second));
    let cpu: Option<Duration> = pairs.iter().map(|(_, through)| through.cpu_per_call).sum();
    let cpu = cpu.map(|all| all.as_secs_f64() * 1000.0 / pairs.len() as f64);
    format!(
        "{:>7.0}/s {:>9.0}/s   {:.2} ({:.2} to {:.2})   {:>8.0} us {:>6.0} us {:>6.0} us   {:>12.1}   {:>16}",
        median(&|pair| pair.0.per_second),
        median(&|pair| pair.1.per_second),
        ratio.median,
        ratio.least,
        ratio.most,
        median(&|pair| pair.0.quantile_us(0.5)),
        median(&|pair| pair.1.quantile_us(0.5)),
        median(&|pair| pair.1.quantile_us(0.5) - pair.0.quantile_us(0.5)),
        median(&|pair| pair.1.quantile_us(0.99) / pair.0.quantile_us(0.99)),
        cpu.map_or("-".into(), |ms| format!("{ms:.3} ms a call")),
    )
}

/// Callers that call again as soon as they are answered, each on a connection of its own.
async fn slice(target: &Target, payload: usize, connections: usize, slice: Duration) -> Slice {
    let mut callers = Vec::with_capacity(connections);
    for _ in 0..connections {
        let mut caller = Caller::connect(target, payload).await;
        caller.call().await;
        callers.push(caller);
    }
    let before = cpu::used(target.pid);
    let begun = Instant::now();
    let mut calling = JoinSet::new();
    for mut caller in callers {
        calling.spawn(async move {
            let mut latencies = Vec::new();
            while begun.elapsed() < slice {
                let started = Instant::now();
                caller.call().await;
                latencies.push(started.elapsed());
            }
            latencies
        });
    }
    let mut latencies = calling.join_all().await.concat();
    let per_second = latencies.len() as f64 / begun.elapsed().as_secs_f64();
    let used = before.zip(cpu::used(target.pid)).map(|(before, after)| after.saturating_sub(before));
    let calls = u32::try_from(latencies.len()).unwrap_or(u32::MAX).max(1);
    latencies.sort_unstable();
    Slice { per_second, latencies, cpu_per_call: used.map(|used| used / calls) }
}

struct Caller {
    sender: SendRequest<Full<Bytes>>,
    call: Request<Full<Bytes>>,
    payload: usize,
}

impl Caller {
    async fn connect(target: &Target, payload: usize) -> Self {
        let stream = TcpStream::connect(target.address).await.expect("the side listens");
        stream.set_nodelay(true).expect("the socket is open");
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .expect("a fresh connection takes requests");
        tokio::spawn(connection);
        Self { sender, call: call(target, payload), payload }
    }

    async fn call(&mut self) {
        self.sender.ready().await.expect("the connection stands");
        let answer = self.sender.send_request(self.call.clone()).await.expect("the side answers");
        assert_eq!(answer.status(), 200);
        let body = answer.into_body().collect().await.expect("the answer is whole").to_bytes();
        assert!(body.len() > self.payload, "the echo is whole: {body:?}");
    }
}

fn call(target: &Target, payload: usize) -> Request<Full<Bytes>> {
    let text = "x".repeat(payload);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}","arguments":{{"text":"{text}"}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#,
        target.tool
    );
    Request::post("/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", target.tool)
        .header("host", target.address.to_string())
        .header("authorization", format!("Bearer {OPERATOR_KEY}"))
        .body(Full::new(Bytes::from(body)))
        .expect("the parts are well formed")
}

/// The upstream as a process of its own, ended when its handle is dropped.
async fn start_upstream() -> (Child, u32, SocketAddr) {
    let own = std::env::current_exe().expect("a running program has a path");
    let mut child = Command::new(own)
        .arg("echo")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("this binary can be started");
    let stdout = child.stdout.take().expect("standard output is piped");
    let line = BufReader::new(stdout).lines().next_line().await.expect("the upstream speaks");
    let address = line.expect("it says where it listens").parse().expect("an address");
    let pid = child.id().expect("it runs");
    (child, pid, address)
}

async fn fill(server: &Server, upstream: SocketAddr) {
    let url = format!("http://{upstream}/mcp");
    let transport = HttpTransport { url, allow_private: true, ..HttpTransport::default() };
    let create = CreateUpstreamRequest {
        slug: "bench".into(),
        transport: Some(Transport::Http(transport)),
        ..CreateUpstreamRequest::default()
    };
    server.governance().create_upstream(create).await.expect("the upstream is registered");
    let sync = SyncUpstreamRequest { id: "bench".into(), wait: true, ..SyncUpstreamRequest::default() };
    server.governance().sync_upstream(sync).await.expect("the upstream is listed");
    server.cli(&["tool", "approve", "--all", "--upstream", "bench", "--yes"]).await.succeeded();
}
