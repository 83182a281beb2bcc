//! The command line. The flags of `serve` come from the table of settings, so that there is one list of them.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, Parser};
use toolgate_config::{FIELDS, Field, Settings, Sources, process_environment};

use crate::failure::Failure;

/// The control plane for the tools AI agents use.
#[derive(Debug, Parser)]
#[command(name = "toolgate", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) globals: toolgate_cli::Globals,
    #[command(subcommand)]
    pub(crate) command: Subcommand,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Subcommand {
    /// Run the server.
    Serve(ServerFlags),
    /// Show the product: a server on loopback with a sample tool server and a tool in each state.
    Demo(ServerFlags),
    /// The tool server that `demo` registers: MCP over standard input and output.
    #[command(hide = true)]
    SampleServer {
        /// Holds the number of the edition to list.
        #[arg(long)]
        edition_file: PathBuf,
    },
    #[command(flatten)]
    Operator(toolgate_cli::Command),
}

/// Settings that were given as flags.
#[derive(Debug, Default)]
pub(crate) struct ServerFlags {
    config: Option<PathBuf>,
    flags: Vec<(&'static Field, String)>,
}

impl ServerFlags {
    /// The settings of this process: the file, then the environment, then the flags.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        let sources = Sources {
            config_flag: self.config.clone(),
            environment: process_environment(),
            flags: self.flags.clone(),
        };
        Settings::load(&sources).map_err(Failure::Configuration)
    }
}

impl Args for ServerFlags {
    fn augment_args(command: Command) -> Command {
        let config = clap::Arg::new("config").long("config").value_name("FILE");
        let config = config.value_parser(clap::value_parser!(PathBuf)).help("Configuration file (TOML)");
        let flagged = FIELDS.iter().filter_map(|field| field.flag.map(|flag| (field, flag)));
        flagged.fold(command.arg(config), |command, (field, flag)| {
            let help = format!("{} [env: {}]", field.help, field.env);
            command
                .arg(clap::Arg::new(flag).long(flag).value_name("VALUE").help(help).help_heading("Settings"))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ServerFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.config = matches.get_one("config").cloned();
        let given =
            FIELDS.iter().filter_map(|field| Some((field, matches.get_one::<String>(field.flag?)?.clone())));
        self.flags = given.collect();
        Ok(())
    }
}
