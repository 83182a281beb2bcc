use std::{process::Stdio, time::Duration};

use tokio::{process::Command, time::timeout};

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A command that ended.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Finished {
    /// Standard output, of a command that has to succeed.
    ///
    /// # Panics
    /// When it did not.
    pub fn succeeded(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self.stdout
    }
}

/// Runs a command to its end, without input.
///
/// # Panics
/// When it does not end.
pub async fn run(mut command: Command) -> Finished {
    let output = timeout(PATIENCE, command.stdin(Stdio::null()).output()).await;
    let output = output.expect("the command ends in time").expect("the binary can be started");
    Finished {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
