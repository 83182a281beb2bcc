//! MCP servers, buf and the MCP conformance suites, each folder from its `package-lock.json`.

use std::{fs, path::PathBuf, process::Command};

use crate::{checkout::Checkout, command, error::TaskError, stamp::Stamp};

pub(crate) fn install(checkout: &Checkout) -> Result<(), TaskError> {
    install_in(checkout, "node", checkout.node())?;
    install_in(checkout, "conformance", checkout.conformance())
}

fn install_in(checkout: &Checkout, name: &str, folder: PathBuf) -> Result<(), TaskError> {
    let lock = folder.join("package-lock.json");
    let stamp = Stamp::new(checkout, name, fs::read_to_string(&lock).map_err(TaskError::file(&lock))?);
    if stamp.is_current() && folder.join("node_modules").is_dir() {
        println!("{} is installed", lock.display());
        return Ok(());
    }
    command::run(Command::new("npm").arg("ci").current_dir(folder))?;
    stamp.write()
}
