//! Why the process could not do what it was started for, and how it then ends.

use std::{io, net::SocketAddr, path::PathBuf, process::ExitCode};

use thiserror::Error;
use toolgate_config::{BAD_CONFIGURATION, ConfigErrors};
use toolgate_domain::Fault;

/// Not to be confused with a fault of a request: this ends the process.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Configuration(ConfigErrors),
    #[error("{0}")]
    Telemetry(#[from] toolgate_telemetry::TelemetryError),
    #[error("{0}")]
    MasterKey(#[from] toolgate_sealing::KeyFileError),
    #[error(
        "master key file {0}: is of other data: restore the file that belongs to this data directory, or point \
         master_key_file at it"
    )]
    ForeignMasterKey(PathBuf),
    #[error("the stdio allow-list is wrong: {0}")]
    StdioAllow(#[from] toolgate_upstream_mcp::StdioAllowError),
    #[error("the clients for outgoing connections cannot be made: {0}")]
    Outbound(#[from] toolgate_outbound::SetupError),
    #[error("{0}")]
    Store(#[from] toolgate_store_sled::OpenError),
    #[error(
        "the store {folder} is missing, though there was one: restore the folder from a backup; to begin an empty store on \
         purpose, remove {begun} too"
    )]
    StoreLost { folder: PathBuf, begun: PathBuf },
    #[error("cannot listen on {address} for {what}: {source}; choose another address")]
    Listen { what: &'static str, address: SocketAddr, source: io::Error },
    #[error("cannot write {path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("the store cannot be prepared: {0:?}")]
    Prepare(Fault),
    #[error("reflection cannot be set up: {0}")]
    Reflection(String),
    #[error("cannot listen for signals: {0}")]
    Signals(io::Error),
    #[error("the runtime cannot start: {0}")]
    Runtime(io::Error),
    #[error("the demo failed: {0}")]
    Demo(String),
    #[error("the sample server ended: {0}")]
    SampleServer(io::Error),
}

impl Failure {
    /// 64 for what the configuration has to mend, 1 for the rest.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Configuration(_)
            | Self::Telemetry(_)
            | Self::StdioAllow(_)
            | Self::MasterKey(_)
            | Self::ForeignMasterKey(_) => ExitCode::from(BAD_CONFIGURATION),
            Self::Outbound(_)
            | Self::Store(_)
            | Self::StoreLost { .. }
            | Self::Listen { .. }
            | Self::File { .. }
            | Self::Prepare(_)
            | Self::Reflection(_)
            | Self::Signals(_)
            | Self::Runtime(_)
            | Self::Demo(_)
            | Self::SampleServer(_) => ExitCode::FAILURE,
        }
    }
}
