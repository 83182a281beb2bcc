use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};
use tracing::subscriber::with_default;

use super::*;

fn settings(format: LogFormat, filter: &str) -> TelemetrySettings {
    TelemetrySettings { format, filter: filter.to_owned(), otlp_endpoint: None }
}

/// What `act` logs under the settings.
fn logged(settings: &TelemetrySettings, act: impl FnOnce()) -> String {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let writer = Arc::clone(&lines);
    let writer = move || Lines(Arc::clone(&writer));
    with_default(subscriber::build(settings, None, writer, false).unwrap(), act);
    let lines = lines.lock().unwrap();
    String::from_utf8(lines.clone()).unwrap()
}

struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_json_line_has_its_fields_at_the_top_and_its_span_beside_them() {
    let lines = logged(&settings(LogFormat::Json, "info"), || {
        let _span = tracing::info_span!("sync", upstream = "u-1").entered();
        tracing::info!(pages = 3, took_ms = 12, "listed");
    });
    let line: serde_json::Value = serde_json::from_str(lines.trim_end()).unwrap();
    assert_eq!(line["message"], "listed");
    assert_eq!(line["level"], "INFO");
    assert_eq!(line["pages"], 3);
    assert_eq!(line["took_ms"], 12);
    assert_eq!(line["span"]["upstream"], "u-1");
}

#[test]
fn a_text_line_holds_no_colour_codes_off_a_terminal() {
    let line = logged(&settings(LogFormat::Text, "info"), || tracing::warn!(pages = 3, "listed"));
    assert!(line.contains("WARN") && line.contains("listed pages=3"), "{line}");
    assert!(!line.contains('\u{1b}'), "{line}");
}

#[test]
fn the_filter_decides_which_lines_are_written() {
    let act = || {
        tracing::debug!("quiet");
        tracing::debug!(target: "toolgate_store_sled", "loud");
    };
    let lines = logged(&settings(LogFormat::Text, "info,toolgate_store_sled=debug"), act);
    assert!(lines.contains("loud") && !lines.contains("quiet"), "{lines}");
}

#[test]
fn a_filter_that_cannot_be_read_is_refused_with_the_remedy() {
    for filter in ["inof", "info,toolgate=chatty", "info,debug x"] {
        let refused = subscriber::build(&settings(LogFormat::Text, filter), None, io::sink, false);
        let text = refused.err().unwrap().to_string();
        assert!(
            text.starts_with(&format!("log filter `{filter}`: ")) && text.contains("write a level"),
            "{text}"
        );
    }
}

#[test]
fn an_endpoint_that_is_no_address_is_refused() {
    let text = export::provider("no address").unwrap_err().to_string();
    assert!(text.starts_with("otlp endpoint: "), "{text}");
}

#[test]
fn a_panic_becomes_a_log_line_with_its_place() {
    let before = std::panic::take_hook();
    let lines = logged(&settings(LogFormat::Json, "info"), || {
        panics::log_panics();
        std::panic::catch_unwind(|| panic!("the invariant broke")).unwrap_err();
    });
    std::panic::set_hook(before);
    let line: serde_json::Value = serde_json::from_str(lines.trim_end()).unwrap();
    assert_eq!(line["level"], "ERROR");
    assert!(line["place"].as_str().unwrap().contains("tests.rs:"), "{line}");
    assert!(line["message"].as_str().unwrap().ends_with(": the invariant broke"), "{line}");
}

/// A collector that hands every request on.
struct Collector(mpsc::UnboundedSender<ExportTraceServiceRequest>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.send(request.into_inner()).map_err(|_| Status::unavailable("the test is over"))?;
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

async fn collector() -> (SocketAddr, mpsc::UnboundedReceiver<ExportTraceServiceRequest>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, receiver) = mpsc::unbounded_channel();
    let service = TraceServiceServer::new(Collector(sender));
    let server = tonic::transport::Server::builder().add_service(service);
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    (address, receiver)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_span_reaches_the_collector_when_the_guard_is_dropped() {
    let (address, mut requests) = collector().await;
    let settings = settings(LogFormat::Text, "error");
    let provider = export::provider(&format!("http://{address}")).unwrap();
    let subscriber = subscriber::build(&settings, Some(&provider), io::sink, false).unwrap();
    with_default(subscriber, || {
        tracing::info_span!(target: "toolgate_catalog", "sync", upstream = "u-1").in_scope(|| ());
        tracing::info_span!(target: "h2", "frame").in_scope(|| ());
    });
    drop(Guard(Some(provider)));

    let request = requests.recv().await.unwrap();
    let resource = request.resource_spans[0].resource.as_ref().unwrap();
    let attribute = |key: &str| {
        let found = resource.attributes.iter().find(|attribute| attribute.key == key);
        format!("{:?}", found.and_then(|attribute| attribute.value.clone()))
    };
    assert!(attribute("service.name").contains("\"toolgate\""));
    assert!(attribute("service.version").contains(env!("CARGO_PKG_VERSION")));
    let spans =
        request.resource_spans.iter().flat_map(|spans| &spans.scope_spans).flat_map(|scope| &scope.spans);
    let names: Vec<&str> = spans.map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["sync"], "spans of other crates are not exported");
}

/// The trace and the parent of the one span that `headers` lead to.
async fn traced(headers: http::HeaderMap) -> (Vec<u8>, Vec<u8>) {
    let (address, mut requests) = collector().await;
    let settings = settings(LogFormat::Text, "error");
    let provider = export::provider(&format!("http://{address}")).unwrap();
    let subscriber = subscriber::build(&settings, Some(&provider), io::sink, false).unwrap();
    let work = CallersTrace::of(&headers).run(async {
        drop(tracing::info_span!(target: "toolgate_server", "request"));
    });
    {
        let _default = tracing::subscriber::set_default(subscriber);
        work.await;
    }
    drop(Guard(Some(provider)));
    let mut request = requests.recv().await.unwrap();
    let span = request.resource_spans.remove(0).scope_spans.remove(0).spans.remove(0);
    (span.trace_id, span.parent_span_id)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_span_joins_the_trace_that_the_caller_names_well() {
    let named = |value: &'static str| {
        http::HeaderMap::from_iter([(
            http::HeaderName::from_static("traceparent"),
            http::HeaderValue::from_static(value),
        )])
    };
    let joined = traced(named("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")).await;
    assert_eq!(joined.0, 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c_u128.to_be_bytes());
    assert_eq!(joined.1, 0xb7ad_6b71_6920_3331_u64.to_be_bytes());
    for malformed in ["", "00-0af7", "00-00000000000000000000000000000000-b7ad6b7169203331-01"] {
        let alone = traced(named(malformed)).await;
        assert!(alone.0 != joined.0 && alone.1.is_empty(), "{malformed}");
    }
}
