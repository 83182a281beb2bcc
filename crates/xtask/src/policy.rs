//! Licences, sources and duplicate versions of the dependencies, as `deny.toml` allows them.

use std::process::Command;

use crate::{checkout::Checkout, command, counts::Counts, error::TaskError};

/// Installed when no cargo-deny is there; any one of the same minor version will do.
const VERSION: &str = "0.20.2";

/// Brings cargo-deny and the text of every dependency, so that the checks themselves need no network.
pub(crate) fn install(checkout: &Checkout) -> Result<(), TaskError> {
    if !is_installed() {
        let package = format!("cargo-deny@{VERSION}");
        command::run(Command::new("cargo").args(["install", "--quiet", "--locked", &package]))?;
    }
    command::run(&mut cargo(checkout, &["fetch", "--quiet", "--locked"]))
}

pub(crate) fn check(checkout: &Checkout) -> Result<(), TaskError> {
    command::run(&mut cargo(checkout, &["deny", "--offline", "check", "bans", "licenses", "sources"]))
}

/// Known weaknesses, where a copy of the advisory database lies in `.tools/advisory-dbs`: it is never fetched here.
pub(crate) fn check_advisories(checkout: &Checkout) -> Result<Counts, TaskError> {
    if !checkout.tools().join("advisory-dbs").is_dir() {
        println!("advisories: not checked");
        return Ok(Counts::NONE);
    }
    command::run(&mut cargo(checkout, &["deny", "--offline", "check", "advisories"]))?;
    Ok(Counts::PASSED)
}

fn is_installed() -> bool {
    let (minor, _) = VERSION.rsplit_once('.').expect("the version has three parts");
    let found = Command::new("cargo").args(["deny", "--version"]).output();
    found.is_ok_and(|found| {
        String::from_utf8_lossy(&found.stdout).starts_with(&format!("cargo-deny {minor}."))
    })
}

fn cargo(checkout: &Checkout, args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(args).current_dir(checkout.root());
    command
}
