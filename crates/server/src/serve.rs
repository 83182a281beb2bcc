//! `toolgate serve`.

use std::{process::ExitCode, time::Duration};

use toolgate_config::{LogFormat, Settings};
use toolgate_lifecycle::Signals;
use toolgate_telemetry::{Guard, TelemetrySettings};

use crate::{arguments::ServerFlags, compose::Running, failure::Failure};

/// Runs the server until it is told to stop.
pub(crate) async fn serve(flags: &ServerFlags) -> Result<ExitCode, Failure> {
    let settings = flags.settings()?;
    let _telemetry = telemetry(&settings)?;
    let mut signals = Signals::listen().map_err(Failure::Signals)?;
    let running = Running::start(&settings).await?;
    announce(&running);
    Ok(until_stopped(running, &mut signals, &settings).await)
}

/// Begins to log. The guard flushes what is left at the end.
pub(crate) fn telemetry(settings: &Settings) -> Result<Guard, Failure> {
    let format = match settings.log.format {
        LogFormat::Text => toolgate_telemetry::LogFormat::Text,
        LogFormat::Json => toolgate_telemetry::LogFormat::Json,
    };
    let otlp_endpoint = settings.trace.otlp_endpoint.as_ref().map(ToString::to_string);
    let wanted = TelemetrySettings { format, filter: settings.log.level.clone(), otlp_endpoint };
    Ok(toolgate_telemetry::init(&wanted)?)
}

/// Waits for the end of the process, lets work finish, and closes the store.
pub(crate) async fn until_stopped(running: Running, signals: &mut Signals, settings: &Settings) -> ExitCode {
    let grace = Duration::from_secs(settings.stop.grace_seconds.into());
    let outcome = running.shutdown.clone().run(async || signals.next().await, grace).await;
    running.close().await;
    outcome.into()
}

/// Says where it listens: these lines are for people, and for scripts that chose port 0.
#[expect(clippy::print_stdout, reason = "what the command answers")]
fn announce(running: &Running) {
    let at = running.addresses;
    println!(
        "toolgate is ready\n  http   http://{}\n  grpc   http://{}\n  admin  http://{}",
        at.http, at.grpc, at.admin
    );
    if let Some(path) = &running.operator.key_file {
        println!("  operator key written to {}", path.display());
    }
    if running.operator.given_is_ignored {
        println!("  the given bootstrap key is not in force: this store was made with another one");
    }
}
