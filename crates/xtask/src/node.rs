//! MCP servers and buf, from `tests/node/package-lock.json`.

use std::{fs, process::Command};

use crate::{checkout::Checkout, command, error::TaskError, stamp::Stamp};

pub(crate) fn install(checkout: &Checkout) -> Result<(), TaskError> {
    let lock = checkout.node().join("package-lock.json");
    let stamp = Stamp::new(checkout, "node", fs::read_to_string(&lock).map_err(TaskError::file(&lock))?);
    if stamp.is_current() && checkout.node_modules().is_dir() {
        println!("node_modules is what package-lock.json asks for");
        return Ok(());
    }
    command::run(Command::new("npm").arg("ci").current_dir(checkout.node()))?;
    stamp.write()
}
