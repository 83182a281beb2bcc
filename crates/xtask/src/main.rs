//! Upkeep of the repository, as `cargo xtask TASK`.
//!
//! * `codegen` writes the generated part of `toolgate-api-proto` from `proto/`; with `--check` it only compares.
//! * `test` sets up what the tests need, runs all of them and ends with a count. CI runs nothing else.
//! * `bench` measures the server against a yardstick, and prints ratios.
//! * `laws` shows that each law's tests notice when the law's wiring is removed.
//!
//! Every command is printed before it runs. Everything that is installed goes to `.tools/` and `tests/node/node_modules/`
//! in the checkout, but for Debian packages and cargo-deny.
//!
//! This crate must never know the product: it only calls other programs and judges what they answer.
//!
//! Start reading at [`test::STEPS`].

mod bench;
mod checkout;
mod codegen;
mod command;
mod counts;
mod error;
mod laws;
mod node;
mod policy;
mod prerequisites;
mod proto;
mod python;
mod rust;
mod stamp;
mod test;

use std::process::ExitCode;

use clap::Parser;

use crate::{checkout::Checkout, error::TaskError};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Upkeep: code generation, tests, measurements, laws."
)]
enum Task {
    /// Generate the messages, stubs and descriptor set of `toolgate-api-proto` from `proto/`.
    Codegen {
        /// Change nothing; fail and name the files that would change.
        #[arg(long)]
        check: bool,
    },
    /// Set up what the tests need and run all of them.
    Test {
        /// Run only these parts.
        #[arg(long, value_enum, value_delimiter = ',')]
        only: Vec<test::Part>,
    },
    /// Measure the server beside a yardstick that sends the same bytes.
    Bench(bench::Options),
    /// Remove the wiring of each law in a copy of the checkout and require that its tests fail.
    Laws {
        /// Numbers of the laws; all that have a patch when none is given.
        numbers: Vec<u8>,
    },
}

fn main() -> ExitCode {
    let done = Checkout::find().and_then(|checkout| match Task::parse() {
        Task::Codegen { check: true } => codegen::check(&checkout),
        Task::Codegen { check: false } => codegen::write(&checkout),
        Task::Test { only } => return_code(test::run(&checkout, &only)),
        Task::Bench(options) => bench::run(&checkout, &options),
        Task::Laws { numbers } => return_code(laws::run_alone(&checkout, &numbers)),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(TaskError::AlreadyReported) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// `test` and `laws` end with a closing line after which nothing may be printed.
fn return_code(passed: bool) -> Result<(), TaskError> {
    if passed { Ok(()) } else { Err(TaskError::AlreadyReported) }
}
