//! Rules of `buf.yaml` for `proto/`.
//!
//! There is no comparison with an earlier contract yet: the baseline is cut when the first version of it is closed.

use std::process::Command;

use crate::{checkout::Checkout, command, error::TaskError};

pub(crate) fn lint(checkout: &Checkout) -> Result<(), TaskError> {
    buf(checkout, &["lint"])
}

pub(crate) fn format(checkout: &Checkout) -> Result<(), TaskError> {
    buf(checkout, &["format", "--diff", "--exit-code"])
}

fn buf(checkout: &Checkout, args: &[&str]) -> Result<(), TaskError> {
    let buf = checkout.node_modules().join(".bin/buf");
    command::run(Command::new(buf).args(args).current_dir(checkout.root()))
}
