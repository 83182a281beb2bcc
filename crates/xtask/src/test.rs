//! The one command of the README: everything that is checked, in order.

use std::time::{Duration, Instant};

use Part::{Laws, Policy, Proto, Rust};
use Work::{Check, Count, Prepare};

use crate::{
    checkout::Checkout, codegen, counts::Counts, error::TaskError, laws, node, policy, prerequisites, proto,
    python, rust,
};

/// What can be asked for alone, with `--only`.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// Format, clippy, build and all tests of the workspace.
    Rust,
    /// Generated code, lint and format of the protos, and what they may not change.
    Proto,
    /// Licences, sources and versions of the dependencies.
    Policy,
    /// Each law's tests fail when its wiring is removed.
    Laws,
}

/// A step of [`STEPS`].
pub(crate) struct Step {
    name: &'static str,
    parts: &'static [Part],
    work: Work,
}

enum Work {
    /// Brings what later steps stand on; counts nothing, and its failure ends the run.
    Prepare(fn(&Checkout) -> Result<(), TaskError>),
    /// Counts one.
    Check(fn(&Checkout) -> Result<(), TaskError>),
    /// Counts what it counted itself.
    Count(fn(&Checkout) -> Result<Counts, TaskError>),
}

/// All steps, the quick ones first.
pub(crate) const STEPS: &[Step] = &[
    step("prerequisites", &[Rust, Proto, Policy, Laws], Prepare(|_| prerequisites::require())),
    step("format", &[Rust], Check(rust::format)),
    step("generated code", &[Proto], Check(codegen::check)),
    step("node packages", &[Rust, Proto, Laws], Prepare(node::install)),
    step("proto lint", &[Proto], Check(proto::lint)),
    step("proto format", &[Proto], Check(proto::format)),
    step("proto compatibility", &[Proto], Check(proto::breaking)),
    step("policy tool", &[Policy], Prepare(policy::install)),
    step("policy", &[Policy], Check(policy::check)),
    step("advisories", &[Policy], Count(policy::check_advisories)),
    step("clippy", &[Rust], Check(rust::clippy)),
    step("python packages", &[Rust, Laws], Prepare(python::install)),
    step("python stubs", &[Rust, Laws], Prepare(python::generate_stubs)),
    step("build", &[Rust], Prepare(rust::build)),
    step("tests", &[Rust], Count(rust::test)),
    step("laws", &[Laws], Count(|checkout| laws::run(checkout, &[]))),
];

const fn step(name: &'static str, parts: &'static [Part], work: Work) -> Step {
    Step { name, parts, work }
}

/// Runs the steps of these parts, all steps when no part is given, and prints the count as the last line.
///
/// Answers whether nothing failed.
pub(crate) fn run(checkout: &Checkout, only: &[Part]) -> bool {
    let is_wanted = |step: &&Step| only.is_empty() || step.parts.iter().any(|part| only.contains(part));
    let mut total = Counts::NONE;
    let mut times = Vec::new();
    for step in STEPS.iter().filter(is_wanted) {
        println!("\n== {} ==", step.name);
        let start = Instant::now();
        let done = step.work.run(checkout);
        times.push((step.name, start.elapsed()));
        total += done.as_ref().copied().unwrap_or_else(|error| {
            println!("FAILED: {}: {error}", step.name);
            Counts::FAILED
        });
        if done.is_err() && matches!(step.work, Prepare(_)) {
            println!("the steps after it were not run");
            break;
        }
    }
    print_times(&times);
    println!("\n{total}");
    total.failed == 0
}

impl Work {
    fn run(&self, checkout: &Checkout) -> Result<Counts, TaskError> {
        match self {
            Prepare(prepare) => prepare(checkout).map(|()| Counts::NONE),
            Check(check) => check(checkout).map(|()| Counts::PASSED),
            Count(count) => count(checkout),
        }
    }
}

fn print_times(times: &[(&str, Duration)]) {
    println!("\n== time ==");
    for (name, time) in times {
        println!("{:>8.1} s  {name}", time.as_secs_f64());
    }
}
