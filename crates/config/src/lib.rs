//! Text to typed settings: the file, then the environment, then the flags, each over the one before.
//!
//! [`FIELDS`] is the whole list: one entry names a setting's key in the file, its variable and its flag,
//! parses it and prints it. A name outside the list is an error that suggests the nearest one, and every
//! error says which setting, where it came from and what to write instead. A bad configuration ends the
//! process with [`BAD_CONFIGURATION`].
//!
//! The crate reads the file and, in [`process_environment`] alone, the process's environment. It must never
//! know what a setting is used for, and never prints a secret.
//!
//! Start reading at [`Settings`], then [`FIELDS`], then [`Settings::load`].

mod commands;
mod describe;
mod error;
mod fields;
mod load;
mod parse;
mod settings;

pub use commands::AllowedCommand;
pub use error::{ConfigError, ConfigErrors, Origin};
pub use fields::{FIELDS, Field};
pub use load::{Sources, process_environment};
pub use settings::{
    Admin, Grpc, Http, Keys, Log, LogFormat, LoggedArguments, LoggedCalls, Outbound, PrivateAddresses,
    Secret, Settings, Stop, Store, StoreEngine, Sync, Trace,
};

/// Exit code of a process whose configuration is bad: `EX_USAGE` of `sysexits.h`.
pub const BAD_CONFIGURATION: u8 = 64;
