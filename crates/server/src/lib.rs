//! Composes everything: settings in, a running server out.
//!
//! The binary `toolgate` is [`run`]. Its operator commands are in `toolgate-cli`; `serve` and `demo` are here. This is the
//! one crate that knows every other; only the benchmark, which runs it, depends on it.
//!
//! Start reading at `serve`, then `compose`.

/// A call allocates a few hundred times, on whichever thread it is at; this allocator is made for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod admin;
mod ambient;
mod arguments;
mod bootstrap;
mod compose;
mod connections;
mod data;
mod demo;
mod failure;
mod listeners;
mod metrics;
mod observed_calls;
mod opening;
mod request_spans;
mod sample_server;
mod serve;
mod upstreams;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Subcommand};
use failure::Failure;

/// Runs the command line of this process to its end.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return finish(Err(Failure::Runtime(error))),
    };
    let code = finish(runtime.block_on(dispatch(arguments)));
    runtime.shutdown_background();
    code
}

async fn dispatch(arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        Subcommand::Serve(flags) => serve::serve(&flags).await,
        Subcommand::Demo(flags) => demo::demo(&flags).await,
        Subcommand::SampleServer { edition_file } => {
            let ended =
                sample_server::answer(std::io::stdin().lock(), std::io::stdout().lock(), &edition_file);
            ended.map(|()| ExitCode::SUCCESS).map_err(Failure::SampleServer)
        }
        Subcommand::Operator(command) => {
            Ok(toolgate_cli::run_in_process(command, &arguments.globals).await.into())
        }
    }
}

/// The one place where a failure of the process itself is printed.
#[expect(clippy::print_stderr, reason = "telemetry may not have begun, or may be what failed")]
fn finish(result: Result<ExitCode, Failure>) -> ExitCode {
    result.unwrap_or_else(|failure| {
        eprintln!("toolgate: {failure}");
        failure.exit_code()
    })
}
