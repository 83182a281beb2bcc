//! Proof that the tests of the laws are wired to the product: see `tests/laws/README.md`.

mod copy;
mod patch;

use std::{collections::BTreeSet, process::Command};

use crate::{
    checkout::Checkout,
    command::{self, TestRun},
    counts::Counts,
    error::TaskError,
    rust,
};
use copy::Copy;
use patch::Patch;

/// The task `laws`: ends with the count. Answers whether nothing failed.
pub(crate) fn run_alone(checkout: &Checkout, numbers: &[u8]) -> bool {
    let total = run(checkout, numbers).unwrap_or_else(|error| {
        println!("FAILED: {error}");
        Counts::FAILED
    });
    println!("\n{total}");
    total.failed == 0
}

/// Counts one for each patch of the laws of these numbers, of all laws when there are none.
pub(crate) fn run(checkout: &Checkout, numbers: &[u8]) -> Result<Counts, TaskError> {
    let patches = patch::find(checkout, numbers)?;
    if patches.is_empty() {
        println!("no law has a patch");
        return Ok(Counts::NONE);
    }
    let copy = Copy::of(checkout)?;
    require_passing(checkout, &copy, &patches)?;
    let mut total = Counts::NONE;
    for patch in &patches {
        match judge(checkout, &copy, patch) {
            Ok(line) => {
                println!("{}: {line}", patch.name());
                total += Counts::PASSED;
            }
            Err(TaskError::Law(line)) => {
                println!("FAILED: {}: {line}", patch.name());
                total += Counts::FAILED;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

/// A test that fails for another reason proves nothing, so all of them pass before the first wiring is removed.
fn require_passing(checkout: &Checkout, copy: &Copy, patches: &[Patch]) -> Result<(), TaskError> {
    let packages: BTreeSet<_> = patches.iter().flat_map(Patch::packages).map(String::as_str).collect();
    let packages: Vec<_> = packages.into_iter().collect();
    build(copy, &packages)?;
    let filters: Vec<_> = patches.iter().map(Patch::test_prefix).collect();
    let run = command::run_tests(&mut test(checkout, copy, &packages, &filters))?;
    if run.counts().failed == 0 {
        return Ok(());
    }
    Err(TaskError::Law("tests of laws fail with all wiring in place".to_owned()))
}

/// Answers the line to print of a law whose tests noticed; [`TaskError::Law`] when they did not.
fn judge(checkout: &Checkout, copy: &Copy, patch: &Patch) -> Result<String, TaskError> {
    copy.apply(patch.file())?;
    let run = run_patched(checkout, copy, patch);
    copy.revert(patch.file())?;
    let (run, output) = run?;
    let Counts { passed, failed } = run.reported;
    if failed > 0 {
        return Ok(format!("wiring removed, {failed} of {} tests failed as they must", passed + failed));
    }
    println!("{output}");
    let prefix = patch.test_prefix();
    Err(TaskError::Law(match passed {
        0 => format!("no test that is named {prefix}… gave a result"),
        passed => format!("wiring removed, and all tests that are named {prefix}… still pass ({passed})"),
    }))
}

/// What fails here fails on purpose, so the output is kept back.
fn run_patched(checkout: &Checkout, copy: &Copy, patch: &Patch) -> Result<(TestRun, String), TaskError> {
    let packages: Vec<_> = patch.packages().iter().map(String::as_str).collect();
    build(copy, &packages).map_err(|error| match error {
        TaskError::Failed { .. } => TaskError::Law("does not compile with its wiring removed".to_owned()),
        other => other,
    })?;
    command::capture_tests(&mut test(checkout, copy, &packages, &[patch.test_prefix()]))
}

/// Compiles alone, so that code that does not compile is told from a test that fails.
fn build(copy: &Copy, packages: &[&str]) -> Result<(), TaskError> {
    if packages.contains(&"toolgate-tests") {
        command::run(&mut cargo(copy, &["build", "--workspace", "--bin", "toolgate"]))?;
    }
    command::run(cargo(copy, &["test", "--tests", "--no-run"]).args(of_packages(packages)))
}

fn test(checkout: &Checkout, copy: &Copy, packages: &[&str], filters: &[String]) -> Command {
    let mut command = cargo(copy, &["test", "--tests", "--no-fail-fast"]);
    command.args(of_packages(packages)).arg("--").args(filters);
    command.envs(rust::test_environment(checkout, copy.target().join("debug/toolgate")));
    command
}

fn cargo(copy: &Copy, args: &[&str]) -> Command {
    let mut command = rust::cargo(copy.tree(), args);
    command.args(["--quiet", "--locked"]).env("CARGO_TARGET_DIR", copy.target());
    command
}

fn of_packages<'a>(packages: &[&'a str]) -> Vec<&'a str> {
    packages.iter().flat_map(|package| ["--package", *package]).collect()
}
