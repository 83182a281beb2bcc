use std::{
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
};

use tempfile::TempDir;
use tokio::process::Command;

use super::{
    OPERATOR_KEY, Server,
    process::{Exited, Process},
};

/// Lines of the log that are printed when a test fails.
const TAIL_LINES: usize = 60;

/// Settings of a server that is not started yet.
#[derive(Debug, Clone)]
pub struct ServerBuilder {
    folder: Arc<TempDir>,
    data_dir: PathBuf,
    operator_key: Option<String>,
    stdio_allow: Vec<String>,
    env: Vec<(String, String)>,
    args: Vec<String>,
}

impl Default for ServerBuilder {
    fn default() -> Self {
        let made = tempfile::Builder::new().prefix("toolgate-test-").tempdir();
        let folder = made.expect("the temporary folder can be written");
        Self {
            data_dir: folder.path().join("data"),
            folder: Arc::new(folder),
            operator_key: Some(OPERATOR_KEY.into()),
            stdio_allow: Vec::new(),
            env: Vec::new(),
            args: Vec::new(),
        }
    }
}

impl ServerBuilder {
    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Adds arguments after `serve`.
    #[must_use]
    pub fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|arg| (*arg).into()));
        self
    }

    /// Allows a program with its leading arguments as an upstream; adds to those allowed before.
    #[must_use]
    pub fn allow_stdio(mut self, words: &[&str]) -> Self {
        self.stdio_allow.push(words.join(" "));
        self
    }

    /// Lets it make its own operator key.
    #[must_use]
    pub fn without_operator_key(mut self) -> Self {
        self.operator_key = None;
        self
    }

    /// Keeps its data here instead of in a folder of its own.
    #[must_use]
    pub fn on(mut self, data_dir: &Path) -> Self {
        self.data_dir = data_dir.into();
        self
    }

    /// Starts it, and waits until it takes work.
    ///
    /// # Panics
    /// When it does not become ready.
    pub async fn start(self) -> Server {
        self.try_start().await.unwrap_or_else(|exited| panic!("{exited}"))
    }

    /// Starts it, and waits until it takes work or ends.
    ///
    /// # Errors
    /// How it ended instead.
    pub async fn try_start(self) -> Result<Server, Exited> {
        let process = self.spawn().await?;
        Ok(Server { operator: self.operator_key.clone(), running: Some(process), builder: self })
    }

    /// Starts it, and answers how it ended instead of becoming ready.
    ///
    /// # Panics
    /// When it becomes ready after all.
    pub async fn refused(&self) -> Exited {
        match self.spawn().await {
            Err(exited) => exited,
            Ok(_) => panic!("the server became ready"),
        }
    }

    pub(super) async fn spawn(&self) -> Result<Process, Exited> {
        let logged_before = self.log().len();
        let log = OpenOptions::new().create(true).append(true).open(self.log_path());
        let mut command = toolgate(&self.args_of_serve());
        command
            .envs(self.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log.expect("the temporary folder can be written"));
        Process::start(command)
            .await
            .map_err(|code| Exited { code, log: self.log().split_off(logged_before) })
    }

    fn args_of_serve(&self) -> Vec<&str> {
        ["serve"].into_iter().chain(self.args.iter().map(String::as_str)).collect()
    }

    /// The settings of the tests, then those of the one test.
    fn environment(&self) -> Vec<(String, String)> {
        let ports = ["HTTP", "GRPC", "ADMIN"].map(|of| (format!("TOOLGATE_{of}_ADDR"), "127.0.0.1:0".into()));
        let mut environment = Vec::from(ports);
        environment.push(("TOOLGATE_DATA_DIR".into(), self.data_dir.display().to_string()));
        environment.push(("TOOLGATE_STDIO_ALLOW".into(), self.stdio_allow.join(";")));
        environment
            .extend(self.operator_key.iter().map(|key| ("TOOLGATE_BOOTSTRAP_KEY".into(), key.clone())));
        environment.extend(self.env.iter().cloned());
        environment
    }

    pub(super) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    pub(super) fn log(&self) -> String {
        let bytes = fs::read(self.log_path()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("server.log")
    }

    #[expect(clippy::print_stderr, reason = "a test failed, and this says why")]
    pub(super) fn print_tail_of_log(&self) {
        let log = self.log();
        let lines: Vec<_> = log.lines().collect();
        eprintln!("--- log of the server, its last lines ---");
        lines[lines.len().saturating_sub(TAIL_LINES)..].iter().for_each(|line| eprintln!("{line}"));
        eprintln!("--- end of the log ---");
    }
}

/// The binary with these arguments and nothing in its environment but `PATH`; killed when dropped.
///
/// # Panics
/// When there is no binary.
pub fn toolgate(args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(args).env_clear().kill_on_drop(true);
    if let Some(path) = variable("PATH") {
        command.env("PATH", path);
    }
    command
}

/// The binary under test: the one that was named, or the one that cargo put beside the tests.
fn binary() -> PathBuf {
    if let Some(named) = variable("TOOLGATE_TEST_BINARY") {
        return named.into();
    }
    let test = std::env::current_exe().expect("a running test has a path");
    let built = test.ancestors().nth(2).map(|profile| profile.join("toolgate")).filter(|path| path.exists());
    built.unwrap_or_else(|| {
        panic!("no binary to test beside {}: run `cargo build --bin toolgate` first", test.display())
    })
}

#[expect(clippy::disallowed_methods, reason = "what the surroundings say to the tests")]
fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
