//! Spans to a collector.

use opentelemetry::KeyValue;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;

use crate::TelemetryError;

/// `service.name` of every span, and the name of its scope.
pub(crate) const SERVICE_NAME: &str = "toolgate";

/// Batches spans on a thread of its own and sends them to `endpoint`; connects when there is something to
/// send.
pub(crate) fn provider(endpoint: &str) -> Result<SdkTracerProvider, TelemetryError> {
    let exporter = SpanExporter::builder().with_tonic().with_endpoint(endpoint).build();
    let exporter = exporter.map_err(|error| TelemetryError::Exporter(error.to_string()))?;
    let resource = Resource::builder()
        .with_service_name(SERVICE_NAME)
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build())
}
