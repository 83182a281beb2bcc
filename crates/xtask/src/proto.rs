//! Rules of `buf.yaml` for `proto/`.
//!
//! [`BASELINE`] is the contract as it was closed: from then on an element may be added, and none may change or go.

use std::process::Command;

use crate::{checkout::Checkout, command, error::TaskError};

/// An image of the closed contract. It is replaced only with a new version of the package.
const BASELINE: &str = "proto/baseline.binpb";

pub(crate) fn lint(checkout: &Checkout) -> Result<(), TaskError> {
    buf(checkout, &["lint"])
}

pub(crate) fn format(checkout: &Checkout) -> Result<(), TaskError> {
    buf(checkout, &["format", "--diff", "--exit-code"])
}

pub(crate) fn breaking(checkout: &Checkout) -> Result<(), TaskError> {
    buf(checkout, &["breaking", "--against", BASELINE])
}

fn buf(checkout: &Checkout, args: &[&str]) -> Result<(), TaskError> {
    let buf = checkout.node_modules().join(".bin/buf");
    command::run(Command::new(buf).args(args).current_dir(checkout.root()))
}
