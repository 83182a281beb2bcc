//! The whole list over HTTP, and a page over gRPC and over MCP, beside a yardstick that sends the same bytes.

use std::{fs, path::Path, process::Stdio, time::Duration};

use bytes::Bytes;
use prost::Message;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};
use toolgate_api_proto::v1::{
    CreateUpstreamRequest, HttpTransport, ListToolsResponse, SyncUpstreamRequest,
    create_upstream_request::Transport,
};
use toolgate_test_support::{
    mcp_server::ScriptedServer,
    server::{OPERATOR_KEY, Server},
};

use crate::{
    load::{Caller, Face, Side},
    rounds::{Ask, Sides, compare},
};

const DEFINITION_BYTES: usize = 2048;
const CONNECTIONS: [usize; 3] = [1, 8, 32];

/// Measures and prints.
#[expect(clippy::print_stdout, reason = "what the command answers")]
pub(crate) async fn run(tools: usize, rounds: usize, slice_ms: u64) {
    let upstream = ScriptedServer::start().await;
    upstream.list(&(0..tools).map(definition).collect::<Vec<_>>());
    let server = Server::builder().env("TOOLGATE_STORE", "memory").start().await;
    fill(&server, &upstream).await;

    let real = Side {
        http: server.addresses().http,
        grpc: server.addresses().grpc,
        authorization: format!("Bearer {OPERATOR_KEY}"),
        pid: server.pid(),
    };
    let body = Caller::connect(&real, Face::Http).await.ask().await;
    let page = Caller::connect(&real, Face::Grpc).await.ask().await;
    let in_page = ListToolsResponse::decode(page.clone()).expect("the server sends messages").tools.len();
    let mcp = Caller::connect(&real, Face::Mcp).await.ask().await;
    println!(
        "{tools} tools of {DEFINITION_BYTES} bytes: {} bytes over HTTP; the first page has {in_page} of them, {} bytes over gRPC and {} over MCP",
        body.len(),
        page.len(),
        mcp.len()
    );
    let folder = tempfile::tempdir().expect("the temporary folder can be written");
    let answers = [("roar", &body), ("page", &page), ("mcp", &mcp)];
    let (_child, yardstick) = yardstick(folder.path(), answers, &real.authorization).await;
    let sides = Sides { server: real, yardstick };

    let slice = Duration::from_millis(slice_ms);
    println!("{rounds} rounds, {slice_ms} ms for each side in each\n");
    println!(
        "face  connections     server  yardstick   ratio: median (spread)   CPU an answer: server, yardstick"
    );
    for (face, name, bytes) in
        [(Face::Http, "HTTP", body.len()), (Face::Grpc, "gRPC", page.len()), (Face::Mcp, "MCP ", mcp.len())]
    {
        for connections in CONNECTIONS {
            let ask = Ask { face, connections, rounds, slice, bytes };
            println!("{name}  {connections:>11} {}", compare(&sides, ask).await.line());
        }
    }
}

/// A definition of exactly [`DEFINITION_BYTES`].
fn definition(number: usize) -> String {
    let around = format!(
        r#"{{"name":"tool_{number:04}","description":"","inputSchema":{{"type":"object","properties":{{"path":{{"type":"string"}}}}}}}}"#
    );
    let words = "Reads one thing and says what it is. ".repeat(DEFINITION_BYTES / 37 + 1);
    let text = &words[..DEFINITION_BYTES - around.len()];
    around.replacen(r#""description":"""#, &format!(r#""description":"{text}""#), 1)
}

/// Registers the upstream, waits until its tools are listed, and approves all of them.
async fn fill(server: &Server, upstream: &ScriptedServer) {
    let transport = HttpTransport { url: upstream.url(), allow_private: true, ..HttpTransport::default() };
    let create = CreateUpstreamRequest {
        slug: "bench".into(),
        transport: Some(Transport::Http(transport)),
        ..CreateUpstreamRequest::default()
    };
    server.governance().create_upstream(create).await.expect("the upstream is registered");
    let sync = SyncUpstreamRequest { id: "bench".into(), wait: true, ..SyncUpstreamRequest::default() };
    server.governance().sync_upstream(sync).await.expect("the upstream is listed");
    let approve = ["tool", "approve", "--all", "--upstream", "bench", "--yes"];
    server.cli(&approve).await.succeeded();
}

/// The yardstick as a process of its own, ended when its handle is dropped.
async fn yardstick(folder: &Path, answers: [(&str, &Bytes); 3], authorization: &str) -> (Child, Side) {
    let files = answers.map(|(name, bytes)| {
        let path = folder.join(name);
        fs::write(&path, bytes).expect("the temporary folder can be written");
        path
    });
    let own = std::env::current_exe().expect("a running program has a path");
    let mut child = Command::new(own)
        .arg("yardstick")
        .args(files)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("this binary can be started");
    let stdout = child.stdout.take().expect("standard output is piped");
    let line = BufReader::new(stdout).lines().next_line().await.expect("the yardstick speaks");
    let line = line.expect("the yardstick says where it listens");
    let (http, grpc) = line.split_once(' ').expect("two addresses");
    let parse = |address: &str| address.parse().expect("an address");
    let side = Side {
        http: parse(http),
        grpc: parse(grpc),
        authorization: authorization.into(),
        pid: child.id().expect("it runs"),
    };
    (child, side)
}
