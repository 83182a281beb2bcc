//! Callers that ask again as soon as they are answered, each on a connection of its own.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use prost::Message;
use tokio::{net::TcpStream, task::JoinSet};
use tonic::{client::Grpc, transport::Channel, transport::Endpoint};
use toolgate_api_proto::v1::ListToolsRequest;

use crate::raw::Raw;

/// Larger than an answer, so that flow control does not set the pace.
const WINDOW_BYTES: u32 = 8 * 1024 * 1024;
pub(crate) const ROUTE: &str = "/client/mcp/tools";
pub(crate) const MCP_ROUTE: &str = "/mcp";
/// The first page of the list, as a client of the stateless revision asks for it.
const MCP_ASK: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const METHOD: &str = "/toolgate.v1.ToolCatalog/ListTools";

/// Which face is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    Http,
    Grpc,
    Mcp,
}

/// One side of a comparison.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    pub(crate) http: SocketAddr,
    pub(crate) grpc: SocketAddr,
    pub(crate) authorization: String,
    pub(crate) pid: u32,
}

/// A connection to one face of one side.
pub(crate) enum Caller {
    Http { sender: SendRequest<Full<Bytes>>, ask: Request<Full<Bytes>> },
    Grpc { client: Grpc<Channel>, authorization: String },
}

impl Caller {
    pub(crate) async fn connect(side: &Side, face: Face) -> Self {
        let authorization = side.authorization.clone();
        match face {
            Face::Http | Face::Mcp => {
                let stream = TcpStream::connect(side.http).await.expect("the side listens");
                stream.set_nodelay(true).expect("the socket is open");
                let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
                    .await
                    .expect("a fresh connection takes requests");
                tokio::spawn(connection);
                Self::Http { sender, ask: ask(side, face) }
            }
            Face::Grpc => {
                let endpoint = Endpoint::from_shared(format!("http://{}", side.grpc));
                let endpoint = endpoint
                    .expect("an address makes a URL")
                    .initial_stream_window_size(WINDOW_BYTES)
                    .initial_connection_window_size(WINDOW_BYTES);
                let channel = endpoint.connect().await.expect("the side listens");
                Self::Grpc { client: Grpc::new(channel), authorization }
            }
        }
    }

    /// Asks once, and answers the list as it came.
    pub(crate) async fn ask(&mut self) -> Bytes {
        match self {
            Self::Http { sender, ask } => {
                sender.ready().await.expect("the connection stands");
                let answer = sender.send_request(ask.clone()).await.expect("the side answers");
                assert_eq!(answer.status(), 200);
                answer.into_body().collect().await.expect("the answer is whole").to_bytes()
            }
            Self::Grpc { client, authorization } => {
                let ask = ListToolsRequest { page_size: 1000, ..ListToolsRequest::default() };
                let mut request = tonic::Request::new(Bytes::from(ask.encode_to_vec()));
                let value = authorization.parse().expect("a key is printable");
                request.metadata_mut().insert("authorization", value);
                client.ready().await.expect("the connection stands");
                let path = http::uri::PathAndQuery::from_static(METHOD);
                client.unary(request, path, Raw).await.expect("the side answers").into_inner()
            }
        }
    }
}

fn ask(side: &Side, face: Face) -> Request<Full<Bytes>> {
    let (request, body) = match face {
        Face::Http | Face::Grpc => (Request::get(ROUTE), Bytes::new()),
        Face::Mcp => {
            let request = Request::post(MCP_ROUTE)
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream")
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", "tools/list");
            (request, Bytes::from_static(MCP_ASK))
        }
    };
    let request = request.header("host", side.http.to_string()).header("authorization", &side.authorization);
    request.body(Full::new(body)).expect("the parts are well formed")
}

/// Answers a second that `connections` callers together get in `slice`; every answer must have `bytes`.
pub(crate) async fn rate(side: &Side, face: Face, connections: usize, slice: Duration, bytes: usize) -> Rate {
    let mut callers = Vec::with_capacity(connections);
    for _ in 0..connections {
        let mut caller = Caller::connect(side, face).await;
        assert_eq!(caller.ask().await.len(), bytes, "both sides send the same");
        callers.push(caller);
    }
    let cpu_before = crate::cpu::used(side.pid);
    let begun = Instant::now();
    let mut asking = JoinSet::new();
    for mut caller in callers {
        asking.spawn(async move {
            let mut answers = 0_u32;
            while begun.elapsed() < slice {
                assert_eq!(caller.ask().await.len(), bytes, "every answer is the same");
                answers += 1;
            }
            answers
        });
    }
    let answers: u32 = asking.join_all().await.into_iter().sum();
    let per_second = f64::from(answers) / begun.elapsed().as_secs_f64();
    let cpu = cpu_before.zip(crate::cpu::used(side.pid)).map(|(before, after)| after.saturating_sub(before));
    Rate { per_second, answers, cpu }
}

/// What came of a slice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) per_second: f64,
    pub(crate) answers: u32,
    /// Processor time that the side took; `None` where the system does not tell.
    pub(crate) cpu: Option<Duration>,
}
