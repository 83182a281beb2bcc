//! What becomes of an event and of a span.

use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::level_filters::LevelFilter;
use tracing::{Level, Subscriber};
use tracing_subscriber::filter::{EnvFilter, Targets};
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

use crate::export::SERVICE_NAME;
use crate::{COLLECTORS_TARGET, LogFormat, TelemetryError, TelemetrySettings};

/// Spans of these crates alone are exported, so that sending spans makes none.
const TRACED_TARGETS: &str = "toolgate";

pub(crate) fn build<W>(
    settings: &TelemetrySettings,
    provider: Option<&SdkTracerProvider>,
    writer: W,
    colour: bool,
) -> Result<impl Subscriber + Send + Sync, TelemetryError>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let filter = filter(&settings.filter)?;
    let spans = provider.map(|provider| {
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer(SERVICE_NAME));
        let traced = Targets::new().with_target(TRACED_TARGETS, Level::INFO);
        layer.with_filter(traced.with_target(COLLECTORS_TARGET, Level::TRACE))
    });
    Ok(Registry::default().with(lines(settings.format, writer, colour).with_filter(filter)).with(spans))
}

/// The environment plays no part.
fn filter(directives: &str) -> Result<EnvFilter, TelemetryError> {
    let refused = |reason| TelemetryError::Filter { filter: directives.to_owned(), reason };
    if let Some(word) = misspelt_level(directives) {
        return Err(refused(format!("`{word}` is no level")));
    }
    let builder = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into());
    builder.parse(directives).map_err(|error| refused(error.to_string()))
}

/// A directive of one word that is no level would be taken for a target, and so silence all others.
fn misspelt_level(directives: &str) -> Option<&str> {
    let words = directives.split(',').map(str::trim).filter(|word| !word.is_empty());
    let mut bare = words.filter(|word| !word.contains(['=', '[', ']', '{', '}']));
    bare.find(|word| word.parse::<LevelFilter>().is_err())
}

fn lines<S, W>(format: LogFormat, writer: W, colour: bool) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let layer = fmt::layer().with_writer(writer).with_ansi(colour);
    match format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().flatten_event(true).with_span_list(false).boxed(),
    }
}
