//! Logs and traces: one call at the start, one guard that flushes at the end.
//!
//! The product's crates speak `tracing` and nothing else. Here its events become log lines on standard error,
//! its spans go to an OpenTelemetry collector if one is configured, and a panic becomes a log line like any
//! other failure. What a log line may hold is said in `LOGGING.md` beside this crate's manifest.
//!
//! The crate must never know what is logged, nor where settings come from.
//!
//! Start reading at [`init`]; [`CallersTrace`] joins a request to the trace of whoever sent it, [`outgoing_trace`]
//! names it to whoever is asked next.

mod export;
mod outgoing;
mod panics;
mod remote_parent;
mod subscriber;

use std::io::{self, IsTerminal};

use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::subscriber::set_global_default;

pub use outgoing::{OutgoingTrace, outgoing_trace};
pub use remote_parent::CallersTrace;

/// Target of spans that are for a collector alone: at level TRACE they cost nothing where none is configured.
pub const COLLECTORS_TARGET: &str = "toolgate_collector";

/// What [`init`] sets up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// How a log line is written.
    pub format: LogFormat,
    /// Which lines are written: a level, or directives such as `info,toolgate_store_sled=debug`.
    pub filter: String,
    /// Where spans are sent by OTLP over gRPC, for example `http://127.0.0.1:4317`. `None` records no spans.
    pub otlp_endpoint: Option<String>,
}

/// How a log line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people; in colour when standard error is a terminal.
    Text,
    /// One JSON object a line, its fields beside `timestamp`, `level`, `target` and `message`.
    Json,
}

/// Why there is no telemetry.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter cannot be read.
    #[error(
        "log filter `{filter}`: {reason}: write a level (error, warn, info, debug, trace) \
         or directives like info,toolgate_store_sled=debug"
    )]
    Filter {
        /// As it was written.
        filter: String,
        /// What the parser says.
        reason: String,
    },
    /// The exporter cannot be built. An unreachable collector is no error here: spans are tried again, then
    /// dropped.
    #[error("otlp endpoint: {0}: write the collector's gRPC address, like http://127.0.0.1:4317")]
    Exporter(String),
    /// Something in this process logs already.
    #[error("telemetry: set up already in this process: call it once, at the start")]
    AlreadySetUp,
}

/// Sends what is left when dropped, for at most five seconds. Keep it until the process has nothing more to
/// say, and drop it where blocking is allowed: not on the only thread of a runtime.
#[derive(Debug)]
#[must_use = "dropping the guard ends the export of spans"]
pub struct Guard(Option<SdkTracerProvider>);

/// Sets up logs, traces and the panic hook for this process. With an OTLP endpoint it is called in a tokio
/// runtime, which then carries the connection to the collector.
///
/// The standard variables of the OpenTelemetry SDK (`OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, …) are
/// honoured.
///
/// # Errors
/// [`TelemetryError`]; nothing is set up then.
///
/// # Panics
/// With an OTLP endpoint and outside a tokio runtime.
pub fn init(settings: &TelemetrySettings) -> Result<Guard, TelemetryError> {
    let provider = settings.otlp_endpoint.as_deref().map(export::provider).transpose()?;
    let colour = io::stderr().is_terminal();
    let subscriber = subscriber::build(settings, provider.as_ref(), io::stderr, colour)?;
    set_global_default(subscriber).map_err(|_| TelemetryError::AlreadySetUp)?;
    panics::log_panics();
    Ok(Guard(provider))
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(error) = self.0.take().and_then(|provider| provider.shutdown().err()) {
            tracing::warn!(%error, "the last spans were not sent: {error}");
        }
    }
}

#[cfg(test)]
mod tests;
