//! Measurements: builds the benchmark, which holds the server too, and runs it.

use std::process::Command;

use crate::{checkout::Checkout, command, error::TaskError, rust::cargo};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// What to measure.
    what: What,
    /// Cargo profile to measure under; `release` is built sooner, `dist` is what is published.
    #[arg(long, default_value = "dist")]
    profile: String,
    /// Given to the benchmark as they are, for example `--rounds 3`.
    #[arg(last = true)]
    rest: Vec<String>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum What {
    /// Tools of 2 KiB, over HTTP, over gRPC and over MCP.
    List,
    /// Calls of a tool, straight to its upstream and through the gateway.
    Call,
    /// Memory of connections and agents that do nothing.
    Idle,
}

pub(crate) fn run(checkout: &Checkout, options: &Options) -> Result<(), TaskError> {
    let build = ["build", "--locked", "--profile", &options.profile, "--package", "toolgate-bench"];
    command::run(&mut cargo(checkout.root(), &build))?;
    let binary = checkout.built(&options.profile, "toolgate-bench");
    let what = match options.what {
        What::List => "list",
        What::Call => "call",
        What::Idle => "idle",
    };
    // The harness starts the server from the binary that is named so.
    command::run(Command::new(&binary).arg(what).args(&options.rest).env("TOOLGATE_TEST_BINARY", &binary))
}
