//! Operator commands over the gRPC client: `toolgate upstream …`, `tool …`, `unit …`, `agent …`, `key …`, `client …`
//! and `audit …`.
//!
//! The binary puts [`Command`] among its own subcommands and [`Globals`] into its root, and ends with what
//! [`run_in_process`] answers. Results go to standard output, everything else to standard error. Scripts have `--json`
//! and the exit codes of [`Exit`]:
//!
//! | Code | Meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | failed in a way that none of the others name |
//! | 2 | the command line, a file it names, or a field of the request is wrong |
//! | 3 | not found |
//! | 4 | conflict: a stale fingerprint, a name that is taken, the wrong state for the act |
//! | 5 | no credential, a bad one, or one without the right |
//! | 6 | unavailable: the server cannot be reached or did not answer in time, or the upstream cannot be listed |
//!
//! Two promises hold for every command. An approval names the fingerprint of what was printed, never of what is there
//! by then. And no character that a reader would not see reaches a terminal as it is; an upstream may have chosen it.
//!
//! This crate must know the contract (`toolgate.v1`) and what a definition is, to compare two of them, and nothing else: no
//! domain, no store, nothing of how the server works.
//!
//! Start reading at [`Command`], then [`run`], then `approve`.

mod args;
mod console;
mod error;
mod exit;
mod limits;

mod connection;
mod refusal;

mod hidden;
mod marks;
mod render;

mod agent;
mod approve;
mod audit;
mod calling;
mod client;
mod comparison;
mod history;
mod key;
mod live;
mod pairs_file;
mod ruling;
mod tool;
mod unit;
mod update;
mod upstream;
mod watch;

use std::io::{self, BufReader, IsTerminal};

pub use args::{
    AddUpstream, AgentCommand, Approve, Attach, AuditCommand, AuthWord, ClientCommand, Command, EffectWord,
    FreshnessWord, Globals, IsolationWord, KeyCommand, NamePolicyWord, ProtocolWord, Rule, State,
    ToolCommand, UnitCommand, UpdateUpstream, UpstreamCommand, View,
};
pub use audit::Known;
pub use console::Console;
pub use exit::{EXIT_CODES_HELP, Exit};

use connection::Connection;
use error::CommandError;
use exit::is_broken_connection;

/// Runs a command on the standard streams of this process, with what the variables `TOOLGATE_ENDPOINT` and `TOOLGATE_KEY`
/// say.
pub async fn run_in_process(command: Command, globals: &Globals) -> Exit {
    let shows_progress = io::stderr().is_terminal();
    #[expect(clippy::disallowed_methods, reason = "the one place of this crate that reads the environment")]
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mut console = Console {
        out: &mut io::stdout(),
        err: &mut io::stderr(),
        input: &mut BufReader::new(io::stdin()),
        interactive: shows_progress && io::stdin().is_terminal(),
        shows_progress,
        endpoint: variable("TOOLGATE_ENDPOINT"),
        key: variable("TOOLGATE_KEY"),
    };
    run(command, globals, &mut console).await
}

/// Runs a command to its end. What went wrong is on `console.err` by then.
pub async fn run(command: Command, globals: &Globals, console: &mut Console<'_>) -> Exit {
    let result = dispatch(command, globals, console).await.and_then(|()| Ok(console.out.flush()?));
    match result {
        Ok(()) => Exit::Ok,
        Err(error) => {
            // Nobody is left to tell when this fails too; the exit code still does.
            if !error.is_closed_pipe() {
                let _ = console.report(&error);
            }
            error.exit()
        }
    }
}

async fn dispatch(
    command: Command,
    globals: &Globals,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    let mut connection = Connection::new(globals, console)?;
    match run_over(command, globals.json, &mut connection, console).await {
        Err(CommandError::Refused(status))
            if is_broken_connection(&status) && connection.meets_another_protocol().await =>
        {
            Err(CommandError::NotGrpc)
        }
        result => result,
    }
}

async fn run_over(
    command: Command,
    json: bool,
    connection: &mut Connection,
    console: &mut Console<'_>,
) -> Result<(), CommandError> {
    match command {
        Command::Upstream(command) => upstream::run(command, json, connection, console).await,
        Command::Tool(command) => tool::run(command, json, connection, console).await,
        Command::Unit(command) => unit::run(command, json, connection, console).await,
        Command::Agent(command) => agent::run(command, json, connection, console).await,
        Command::Key(command) => key::run(command, json, connection, console).await,
        Command::Client(command) => client::run(command, json, connection, console).await,
        Command::Audit(command) => audit::run(command, json, connection, console).await,
        Command::Call(args) => calling::run(args, json, connection, console).await,
    }
}
