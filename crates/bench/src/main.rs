//! The real server beside a yardstick, as ratios: `cargo xtask bench list|call|idle`.
//!
//! Three processes of this one binary, so that all are built alike: the server (`serve` and `tool` are the product's own), a yardstick
//! that sends the very bytes that the server sent first, ready made, under the same settings, and the load. Rounds
//! alternate between the two, so that whatever else the machine does falls on both; a ratio belongs to one round, and what
//! is printed is the median with the smallest and the largest.
//!
//! Nothing here is part of the product, and nothing leaves loopback.
//!
//! Start reading at `list`, `call` and `idle`.

mod call;
mod cpu;
mod echo;
mod idle;
mod list;
mod load;
mod raw;
mod rounds;
mod yardstick;

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;

/// The server beside a yardstick.
#[derive(Debug, Parser)]
#[command(name = "toolgate-bench")]
enum Bench {
    /// Lists of tools of 2 KiB, over HTTP, over gRPC and over MCP.
    List {
        /// How many tools there are. Over gRPC and MCP a page is asked for, of at most 1,000.
        #[arg(long, default_value_t = 1000)]
        tools: usize,
        /// Rounds of each measurement.
        #[arg(long, default_value_t = 7)]
        rounds: usize,
        /// Milliseconds that each side has in a round.
        #[arg(long, default_value_t = 800)]
        slice_ms: u64,
    },
    /// Calls of a tool, straight to its upstream and through the gateway.
    Call {
        /// Rounds of each measurement.
        #[arg(long, default_value_t = 7)]
        rounds: usize,
        /// Milliseconds that each side has in a round.
        #[arg(long, default_value_t = 800)]
        slice_ms: u64,
    },
    /// Memory of connections and agents that do nothing.
    Idle {
        /// Connections that stay open after a request.
        #[arg(long, default_value_t = 10_000)]
        connections: usize,
        /// Agents that wait to hear of changes.
        #[arg(long, default_value_t = 1000)]
        agents: usize,
    },
    /// Is an upstream with one tool, until it is ended.
    #[command(hide = true)]
    Echo,
    /// Sends the content of three files, one over each face, until it is ended.
    #[command(hide = true)]
    Yardstick {
        /// The body of the HTTP answer.
        roar: PathBuf,
        /// The encoded message of the gRPC answer.
        page: PathBuf,
        /// The body of the MCP answer.
        mcp: PathBuf,
    },
}

fn main() -> ExitCode {
    let is_the_products = |command: String| matches!(command.as_str(), "serve" | "tool");
    if std::env::args().nth(1).is_some_and(is_the_products) {
        return toolgate_server::run();
    }
    let bench = Bench::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("the system gives threads").block_on(async {
        match bench {
            Bench::List { tools, rounds, slice_ms } => list::run(tools, rounds, slice_ms).await,
            Bench::Call { rounds, slice_ms } => call::run(rounds, slice_ms).await,
            Bench::Idle { connections, agents } => idle::run(connections, agents).await,
            Bench::Echo => echo::serve().await,
            Bench::Yardstick { roar, page, mcp } => yardstick::serve(&roar, &page, &mcp).await,
        }
    });
    ExitCode::SUCCESS
}
