//! A test that runs itself again as a process that can be traced and killed.

use std::{
    env,
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
};

/// Names the folder of the store to the child.
const FOLDER: &str = "TOOLGATE_TEST_STORE_FOLDER";

/// Where this process is the child, its store's folder.
pub(crate) fn folder() -> Option<PathBuf> {
    variable(FOLDER).map(PathBuf::from)
}

/// Whether a missing tool is a failure.
pub(crate) fn in_ci() -> bool {
    variable("CI").is_some()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test binary is told by its environment that it is the child"
)]
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name)
}

/// The words of a command that runs `test` of this binary as the child.
pub(crate) fn command(test: &str, folder: &Path) -> [OsString; 6] {
    let set = [FOLDER.as_ref(), folder.as_os_str()].join("=".as_ref());
    [
        "env".into(),
        set,
        env::current_exe().unwrap().into(),
        "--exact".into(),
        test.into(),
        "--nocapture".into(),
    ]
}

/// Tells the parent, in one system call.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).unwrap();
}
