//! What a platform engineer sees of requests: spans in a collector and lines in the log.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::{
    collector::trace::v1::{
        ExportTraceServiceRequest, ExportTraceServiceResponse,
        trace_service_server::{TraceService, TraceServiceServer},
    },
    common::v1::any_value::Value,
    trace::v1::{Span, span::SpanKind},
};
use tokio::{net::TcpListener, sync::mpsc};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Code, Request, Response, Status};
use toolgate_api_proto::v1::{
    CallToolRequest, CreateUpstreamRequest, GetToolRequest, HttpTransport, ListToolsRequest,
    SyncUpstreamRequest, call_tool_request, create_upstream_request::Transport,
};
use toolgate_test_support::{
    eventually::eventually,
    mcp_server::ScriptedServer,
    server::{OPERATOR_KEY, Server, ServerBuilder},
};

use crate::steps::{approve_all, entry, register, sync};

const GRPC_TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const HTTP_TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLERS_SPAN: &str = "b7ad6b7169203331";
/// The value of a header that an upstream is sent.
const UPSTREAM_SECRET: &str = "upstream-secret-7c1f0a52";
const ROAR: &str = "/client/mcp/tools";

/// Hands every span on.
struct Collector(mpsc::UnboundedSender<Span>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let resources = request.into_inner().resource_spans.into_iter();
        for span in resources.flat_map(|spans| spans.scope_spans).flat_map(|scope| scope.spans) {
            self.0.send(span).map_err(|_| Status::unavailable("the test is over"))?;
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

/// Its endpoint, and what it was sent.
async fn collector() -> (String, mpsc::UnboundedReceiver<Span>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, receiver) = mpsc::unbounded_channel();
    let service = TraceServiceServer::new(Collector(sender));
    let server = tonic::transport::Server::builder().add_service(service);
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    (format!("http://{address}"), receiver)
}

/// A server that logs each request as JSON and sends its spans to `endpoint`.
async fn observed(endpoint: &str) -> Server {
    let server = Server::builder().env("TOOLGATE_OTLP_ENDPOINT", endpoint);
    server.env("TOOLGATE_LOG_FORMAT", "json").env("TOOLGATE_LOG_LEVEL", "debug").start().await
}

/// What the server sent up to its end.
async fn spans_of(mut server: Server, mut sent: mpsc::UnboundedReceiver<Span>) -> Vec<Span> {
    assert!(server.stop().await.success());
    let mut spans = Vec::new();
    while let Ok(span) = sent.try_recv() {
        spans.push(span);
    }
    spans
}

fn called<T>(message: T, metadata: &[(&'static str, &str)]) -> Request<T> {
    let mut request = Request::new(message);
    for (name, value) in metadata {
        request.metadata_mut().insert(*name, value.parse().unwrap());
    }
    request
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn traceparent(trace: &str) -> String {
    format!("00-{trace}-{CALLERS_SPAN}-01")
}

/// The attributes of the one span of a trace, by name.
fn attributes<'a>(spans: &'a [Span], trace: &str) -> (&'a Span, BTreeMap<&'a str, String>) {
    let of_trace: Vec<_> = spans.iter().filter(|span| hex(&span.trace_id) == trace).collect();
    let [span] = of_trace[..] else { panic!("{} spans of {trace}: {of_trace:#?}", of_trace.len()) };
    let text = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    let attribute = span.attributes.iter();
    let all = attribute.map(|one| {
        let value = one.value.as_ref().and_then(|value| value.value.as_ref());
        (one.key.as_str(), value.map(text).unwrap_or_default())
    });
    (span, all.collect())
}

#[tokio::test]
async fn requests_of_both_faces_are_spans_of_the_callers_trace() {
    let (endpoint, sent) = collector().await;
    let server = observed(&endpoint).await;
    let parent = traceparent(GRPC_TRACE);
    let metadata = [("traceparent", parent.as_str()), ("x-correlation-id", "call-1")];
    let answer = server.catalog().list_tools(called(ListToolsRequest::default(), &metadata)).await.unwrap();
    assert_eq!(answer.metadata().get("x-correlation-id").unwrap(), "call-1");
    drop(answer);
    let headers = [("traceparent", &*traceparent(HTTP_TRACE)), ("x-correlation-id", "request-1")];
    assert_eq!(server.get(&format!("{ROAR}?unread=1"), &headers).await.status, 200);

    let spans = spans_of(server, sent).await;
    let (call, of_call) = attributes(&spans, GRPC_TRACE);
    assert_eq!(call.name, "toolgate.v1.ToolCatalog/ListTools");
    assert_eq!((hex(&call.parent_span_id).as_str(), call.kind()), (CALLERS_SPAN, SpanKind::Server));
    for (name, value) in [
        ("rpc.system", "grpc"),
        ("rpc.service", "toolgate.v1.ToolCatalog"),
        ("rpc.method", "ListTools"),
        ("rpc.grpc.status_code", "0"),
        ("correlation_id", "call-1"),
    ] {
        assert_eq!(of_call.get(name).map(String::as_str), Some(value), "{name} of {of_call:?}");
    }
    let (request, of_request) = attributes(&spans, HTTP_TRACE);
    assert_eq!(request.name, format!("GET {ROAR}"));
    assert_eq!((hex(&request.parent_span_id).as_str(), request.kind()), (CALLERS_SPAN, SpanKind::Server));
    for (name, value) in [
        ("http.request.method", "GET"),
        ("http.route", ROAR),
        ("http.response.status_code", "200"),
        ("correlation_id", "request-1"),
    ] {
        assert_eq!(of_request.get(name).map(String::as_str), Some(value), "{name} of {of_request:?}");
    }
}

#[tokio::test]
async fn a_refusal_is_no_fault_of_the_server_and_an_unknown_method_is_not_named() {
    let (endpoint, sent) = collector().await;
    let server = observed(&endpoint).await;
    let parent = traceparent(GRPC_TRACE);
    let ask = called(GetToolRequest::default(), &[("traceparent", parent.as_str())]);
    let refused = server.as_nobody().catalog().get_tool(ask).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
    assert!(!refused.metadata().get("x-correlation-id").unwrap().is_empty());
    let mut client = tonic::client::Grpc::new(server.channel());
    client.ready().await.unwrap();
    let ask = called(GetToolRequest::default(), &[("traceparent", &*traceparent(HTTP_TRACE))]);
    let codec = tonic_prost::ProstCodec::<GetToolRequest, GetToolRequest>::default();
    let path = "/toolgate.v1.ToolCatalog/Guess-42".parse().unwrap();
    assert_eq!(client.unary(ask, path, codec).await.unwrap_err().code(), Code::Unimplemented);

    let spans = spans_of(server, sent).await;
    let (call, of_call) = attributes(&spans, GRPC_TRACE);
    assert_eq!(of_call["rpc.grpc.status_code"], (Code::Unauthenticated as i32).to_string());
    assert!(call.status.as_ref().is_none_or(|status| status.code == 0), "{call:?}");
    let (unknown, of_unknown) = attributes(&spans, HTTP_TRACE);
    assert_eq!(of_unknown["rpc.grpc.status_code"], (Code::Unimplemented as i32).to_string());
    assert!(!format!("{unknown:?}").contains("Guess-42"), "{unknown:?}");
}

#[tokio::test]
async fn law_12_no_secret_of_caller_or_upstream_is_in_a_span_or_in_the_log() {
    let (endpoint, sent) = collector().await;
    let upstream = ScriptedServer::start().await;
    upstream.list(&[r#"{"name":"read","inputSchema":{"type":"object"}}"#]);
    let server = observed(&endpoint).await;
    let headers = [("authorization".into(), format!("Bearer {UPSTREAM_SECRET}"))].into();
    let transport =
        HttpTransport { url: upstream.url(), headers, allow_private: true, ..HttpTransport::default() };
    let mut governance = server.governance();
    let created = governance.create_upstream(CreateUpstreamRequest {
        slug: "secretive".into(),
        transport: Some(Transport::Http(transport)),
        ..CreateUpstreamRequest::default()
    });
    let id = created.await.unwrap().into_inner().upstream.unwrap().id;
    let sync = SyncUpstreamRequest { id, wait: true, ..SyncUpstreamRequest::default() };
    governance.sync_upstream(sync).await.unwrap();
    upstream.fail(500, UPSTREAM_SECRET);
    assert_eq!(server.get(ROAR, &[("x-secret", "header-secret-1b")]).await.status, 200);
    assert_eq!(server.as_key("a-wrong-key-0123456789abcdef").get(ROAR, &[]).await.status, 401);
    assert!(upstream.received().iter().any(|request| {
        request.headers["authorization"].to_str().is_ok_and(|value| value.ends_with(UPSTREAM_SECRET))
    }));

    let log = server.log();
    let text = format!("{log}{:?}", spans_of(server, sent).await);
    assert!(text.contains("synced") && text.contains("SyncUpstream"), "the acts themselves were noted");
    for secret in [OPERATOR_KEY, UPSTREAM_SECRET, "a-wrong-key-0123456789abcdef", "header-secret-1b"] {
        assert!(!text.contains(secret), "{secret} got out");
    }
}

#[tokio::test]
async fn the_log_is_one_json_object_a_line_and_tells_which_request_it_is_about() {
    let server =
        Server::builder().env("TOOLGATE_LOG_FORMAT", "json").env("TOOLGATE_LOG_LEVEL", "debug").start().await;
    let metadata = [("x-correlation-id", "call-7")];
    server.catalog().list_tools(called(ListToolsRequest::default(), &metadata)).await.unwrap();
    server.get(ROAR, &[("x-correlation-id", "request-7")]).await;
    for id in ["call-7", "request-7"] {
        let line = eventually("the request is in the log", async || {
            let log = server.log();
            log.lines().find(|line| line.contains(id)).map(str::to_owned)
        });
        let line: serde_json::Value = serde_json::from_str(&line.await).unwrap();
        assert_eq!(line["span"]["correlation_id"], id, "{line}");
    }
    let log = server.log();
    for line in log.lines() {
        let line: serde_json::Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let has = |member| line.get(member).is_some_and(serde_json::Value::is_string);
        assert!(["timestamp", "level", "target"].into_iter().all(has), "{line}");
    }
}

/// A server of one served tool, and the upstream behind it.
async fn serving(builder: ServerBuilder) -> (Server, ScriptedServer) {
    let upstream = ScriptedServer::start().await;
    upstream.speak_statelessly(&["2026-07-28"]);
    upstream.list(&[entry("a", "d")]);
    let server = builder.start().await;
    register(&server, "srv", &upstream.url()).await;
    sync(&server, "srv").await;
    approve_all(&server, &["srv__a"]).await;
    (server, upstream)
}

async fn call_in(server: &Server, trace: &str) {
    let call = CallToolRequest {
        tool: Some(call_tool_request::Tool::NamespacedName("srv__a".into())),
        ..Default::default()
    };
    let call = called(call, &[("traceparent", &*traceparent(trace))]);
    let mut events = server.operator().gateway().call_tool(call).await.unwrap().into_inner();
    while events.message().await.unwrap().is_some() {}
}

#[tokio::test]
async fn a_call_is_a_span_of_its_own_that_the_tools_server_is_told_of() {
    let (endpoint, sent) = collector().await;
    let (server, upstream) = serving(Server::builder().env("TOOLGATE_OTLP_ENDPOINT", &endpoint)).await;
    call_in(&server, GRPC_TRACE).await;
    let spans = spans_of(server, sent).await;
    let of_trace: Vec<_> = spans.into_iter().filter(|span| hex(&span.trace_id) == GRPC_TRACE).collect();
    let (client, server): (Vec<_>, Vec<_>) =
        of_trace.into_iter().partition(|span| span.kind() == SpanKind::Client);
    let ([client], [server]) = (&client[..], &server[..]) else { panic!("{client:#?} {server:#?}") };
    assert_eq!((client.name.as_str(), &client.parent_span_id), ("tools/call a", &server.span_id));
    let of_client = BTreeMap::from_iter(attributes(std::slice::from_ref(client), GRPC_TRACE).1);
    for (name, value) in [
        ("mcp.method.name", "tools/call"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "a"),
        ("network.transport", "tcp"),
    ] {
        assert_eq!(of_client.get(name).map(String::as_str), Some(value), "{name} of {of_client:?}");
    }
    let received = upstream.received_for("tools/call").remove(0);
    let told = format!("00-{GRPC_TRACE}-{}-01", hex(&client.span_id));
    assert_eq!(received.headers["traceparent"], told);
    assert!(received.body.contains(&format!(r#""traceparent":"{told}""#)), "{}", received.body);
}

#[tokio::test]
async fn a_trace_goes_on_where_no_spans_are_recorded_and_durations_are_counted_by_how_calls_ended() {
    let (server, upstream) = serving(Server::builder()).await;
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "srv__a"),
        ("traceparent", &*traceparent(HTTP_TRACE)),
    ];
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"srv__a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    assert_eq!(server.operator().send("POST", "/mcp", &headers, body).await.status, 200);
    assert_eq!(upstream.received_for("tools/call")[0].headers["traceparent"], traceparent(HTTP_TRACE));
    server.cli(&["call", "srv__none"]).await;
    let metrics = server.admin("/metrics").await.text().to_owned();
    for line in [
        r#"mcp_server_operation_duration_seconds_count{error_type="",mcp_method_name="tools/call"} 1"#,
        r#"mcp_server_operation_duration_seconds_count{error_type="tool_not_found",mcp_method_name="tools/call"} 1"#,
        r#"mcp_client_operation_duration_seconds_count{error_type="",mcp_method_name="tools/call"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
}
