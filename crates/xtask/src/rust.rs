//! The workspace itself: format, lints, build, tests.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{checkout::Checkout, command, counts::Counts, error::TaskError};

pub(crate) fn format(checkout: &Checkout) -> Result<(), TaskError> {
    command::run(&mut cargo(checkout.root(), &["fmt", "--all", "--check"]))
}

pub(crate) fn clippy(checkout: &Checkout) -> Result<(), TaskError> {
    let args = [
        "clippy",
        "--quiet",
        "--locked",
        "--keep-going",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ];
    command::run(&mut cargo(checkout.root(), &args))
}

/// The scenarios start the binary; cargo does not build it for them, since they are another package.
pub(crate) fn build(checkout: &Checkout) -> Result<(), TaskError> {
    command::run(&mut cargo(checkout.root(), &["build", "--locked", "--workspace", "--bin", "toolgate"]))
}

pub(crate) fn test(checkout: &Checkout) -> Result<Counts, TaskError> {
    let mut command = cargo(checkout.root(), &["test", "--locked", "--workspace", "--no-fail-fast"]);
    let run = command::run_tests(command.envs(test_environment(checkout, checkout.binary())))?;
    Ok(run.counts())
}

pub(crate) fn cargo(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(args).current_dir(folder);
    command
}

/// Where the tests find what was installed and built for them.
pub(crate) fn test_environment(checkout: &Checkout, binary: PathBuf) -> [(&'static str, PathBuf); 4] {
    [
        ("TOOLGATE_TEST_BINARY", binary),
        ("TOOLGATE_TEST_NODE_MODULES", checkout.node_modules()),
        ("TOOLGATE_TEST_PYTHON", checkout.python()),
        ("TOOLGATE_TEST_PYTHON_STUBS", checkout.python_stubs()),
    ]
}
