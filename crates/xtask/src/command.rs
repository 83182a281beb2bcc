use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    iter,
    process::{Command, Stdio},
};

use crate::{counts::Counts, error::TaskError};

/// Prints the command and runs it; its output is the user's to read.
pub(crate) fn run(command: &mut Command) -> Result<(), TaskError> {
    print(command);
    let status = command.status().map_err(|source| start_error(command, source))?;
    if status.success() { Ok(()) } else { Err(TaskError::Failed { program: program(command), status }) }
}

/// Runs the command without a word and gives back its standard output, trimmed.
pub(crate) fn output(command: &mut Command) -> Result<String, TaskError> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|source| start_error(command, source))?;
    if !output.status.success() {
        return Err(TaskError::Failed { program: program(command), status: output.status });
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What a `cargo test` came to.
pub(crate) struct TestRun {
    /// The sum of what its test binaries reported.
    pub(crate) reported: Counts,
    succeeded: bool,
}

impl TestRun {
    /// A run that failed without a failed test (it did not compile, a test binary was killed) counts as one failure.
    pub(crate) fn counts(&self) -> Counts {
        let unreported = !self.succeeded && self.reported.failed == 0;
        Counts { failed: self.reported.failed + u32::from(unreported), ..self.reported }
    }
}

/// Prints the command and runs it, a `cargo test`, passing its output on.
pub(crate) fn run_tests(command: &mut Command) -> Result<TestRun, TaskError> {
    print(command);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|source| start_error(command, source))?;
    let mut stdout = BufReader::new(child.stdout.take().expect("standard output was piped above"));
    let mut reported = Counts::NONE;
    let mut line = Vec::new();
    while stdout.read_until(b'\n', &mut line).map_err(|source| start_error(command, source))? > 0 {
        io::stdout().write_all(&line).map_err(TaskError::file("standard output"))?;
        reported += Counts::of_line(&String::from_utf8_lossy(&line));
        line.clear();
    }
    let status = child.wait().map_err(|source| start_error(command, source))?;
    Ok(TestRun { reported, succeeded: status.success() })
}

/// As [`run_tests`], but gives the output back instead of passing it on.
pub(crate) fn capture_tests(command: &mut Command) -> Result<(TestRun, String), TaskError> {
    print(command);
    let output = command.output().map_err(|source| start_error(command, source))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let mut reported = Counts::NONE;
    stdout.lines().for_each(|line| reported += Counts::of_line(line));
    let run = TestRun { reported, succeeded: output.status.success() };
    Ok((run, format!("{stdout}{}", String::from_utf8_lossy(&output.stderr))))
}

/// In a form that can be pasted into a shell, so long as no word has a space.
fn print(command: &Command) {
    let folder =
        command.get_current_dir().filter(|folder| env::current_dir().is_ok_and(|here| here != *folder));
    let folder = folder.map(|folder| format!("cd {} &&", folder.display()));
    let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let variables = variables.map(|(name, value)| format!("{}={}", name.display(), value.display()));
    let words =
        iter::once(command.get_program()).chain(command.get_args()).map(|word| word.display().to_string());
    println!("$ {}", folder.into_iter().chain(variables).chain(words).collect::<Vec<_>>().join(" "));
}

fn program(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn start_error(command: &Command, source: io::Error) -> TaskError {
    TaskError::Start { program: program(command), source }
}
