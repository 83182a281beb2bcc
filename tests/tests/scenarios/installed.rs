//! Where the tools of other people are that these tests run: real servers, Python and its packages.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// Everything that `cargo xtask test` installs.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) node: PathBuf,
    pub(crate) node_modules: PathBuf,
    pub(crate) python: PathBuf,
    pub(crate) python_stubs: PathBuf,
}

impl Installed {
    /// What is installed; `None`, and a line that says so, where something is missing outside CI.
    ///
    /// # Panics
    /// When something is missing in CI.
    pub(crate) fn find(scenario: &str) -> Option<Self> {
        match Self::look() {
            Ok(installed) => Some(installed),
            Err(missing) => {
                assert!(variable("CI").is_none(), "{missing} is missing: run `cargo xtask test`");
                crate::report(&format!(
                    "not run: {scenario}: {missing} is missing; `cargo xtask test` installs it"
                ));
                None
            }
        }
    }

    fn look() -> Result<Self, String> {
        Ok(Self {
            node: on_path("node")?,
            node_modules: place("TOOLGATE_TEST_NODE_MODULES", "tests/node/node_modules")?,
            python: place("TOOLGATE_TEST_PYTHON", ".tools/python/bin/python")?,
            python_stubs: place("TOOLGATE_TEST_PYTHON_STUBS", ".tools/python-stubs")?,
        })
    }

    /// The file that starts a server from npm.
    pub(crate) fn npm_server(&self, package: &str) -> String {
        let file = format!("@modelcontextprotocol/{package}/dist/index.js");
        self.node_modules.join(file).display().to_string()
    }
}

/// A file of this package.
pub(crate) fn own_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The search path of programs.
pub(crate) fn search_path() -> String {
    variable("PATH").and_then(|path| path.into_string().ok()).unwrap_or_default()
}

fn place(name: &str, in_checkout: &str) -> Result<PathBuf, String> {
    // Without `..`, which the allow-list of commands refuses.
    let checkout =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are a folder of the checkout");
    let place = variable(name).map_or_else(|| checkout.join(in_checkout), PathBuf::from);
    if !place.exists() {
        return Err(place.display().to_string());
    }
    // Not resolved: a virtual environment is known by the place of its `python`, a link.
    Ok(std::path::absolute(place).expect("the working folder exists"))
}

fn on_path(program: &str) -> Result<PathBuf, String> {
    let found =
        std::env::split_paths(&search_path()).map(|folder| folder.join(program)).find(|path| path.is_file());
    found.ok_or_else(|| program.to_owned())
}

#[expect(clippy::disallowed_methods, reason = "what the surroundings say to the tests")]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
