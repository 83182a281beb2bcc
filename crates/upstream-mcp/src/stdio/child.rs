//! A child process that gets nothing but what it is given.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Once;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::BufReader;
use tokio::process::{self, ChildStdin, ChildStdout, Command};
use toolgate_upstream::{ListingError, Secret};

use super::confine;

/// What is read from a child at once; as much as a pipe holds.
const PIPE_BYTES: usize = 64 * 1024;

/// The first descriptor after standard input, output and error.
const FIRST_DESCRIPTOR: i32 = 3;

static INHERITED_CLOSED: Once = Once::new();

/// A running child, alone in a process group that is killed as a whole when this is dropped.
///
/// It is not waited for before that: while it is unreaped, its number (the group's too) cannot pass to another process.
/// The runtime reaps it afterwards.
#[derive(Debug)]
pub(super) struct Child {
    process: process::Child,
    /// `None` once closed.
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: BufReader<ChildStdout>,
}

impl Child {
    /// Starts a program with exactly this environment. Its standard error goes nowhere: it may hold secrets.
    pub(super) fn start(
        command: &Path,
        args: &[String],
        env: &[(String, Secret)],
    ) -> Result<Self, ListingError> {
        if !command.is_absolute() {
            return Err(ListingError::Refused("the command is not an absolute path".into()));
        }
        // Rust closes what it opens itself when a program starts; this is for what this process was started with.
        INHERITED_CLOSED.call_once(|| close_fds::set_fds_cloexec_threadsafe(FIRST_DESCRIPTOR, &[]));
        let mut process = Command::new(command)
            .args(args)
            .env_clear()
            .envs(env.iter().map(|(name, value)| (name, value.expose())))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| ListingError::Connect(start_reason(&error).into()))?;
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
        let stdout =
            BufReader::with_capacity(PIPE_BYTES, stdout.expect("standard output was asked to be a pipe"));
        let child = Self { process, stdin, stdout };
        child
            .pid()
            .ok_or(io::Error::from(io::ErrorKind::NotFound))
            .and_then(confine::limit)
            .map_err(|_| ListingError::Connect("the limits of the process cannot be set".into()))?;
        Ok(child)
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.process.id()?).ok()?)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Some(group) = self.pid() {
            // It fails only when the group is gone already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Names no path: the operator knows the command, others need not.
fn start_reason(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "the program or its interpreter does not exist",
        io::ErrorKind::PermissionDenied => "the program may not be executed",
        io::ErrorKind::InvalidInput => "an argument or environment entry holds a NUL character",
        _ => "the process cannot be started",
    }
}
