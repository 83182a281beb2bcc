//! The settings, a section for each component, and their defaults.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use url::Url;

use crate::commands::AllowedCommand;

/// Everything that can be set. `Settings::default()` is what runs when nothing is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// HTTP/JSON.
    pub http: Http,
    /// gRPC.
    pub grpc: Grpc,
    /// Liveness and readiness.
    pub admin: Admin,
    /// Where data is kept.
    pub store: Store,
    /// The keys that the process starts with.
    pub keys: Keys,
    /// What the process may reach.
    pub outbound: Outbound,
    /// How upstreams are synced.
    pub sync: Sync,
    /// How tool servers are asked outside of syncs.
    pub server_tools: ServerTools,
    /// The log of calls.
    pub audit: Audit,
    /// How the process ends.
    pub stop: Stop,
    /// Logs.
    pub log: Log,
    /// Traces.
    pub trace: Trace,
}

/// The listener for HTTP/JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http {
    /// Where to listen. Port 0 takes a free one.
    pub addr: SocketAddr,
    /// Host names, lower case and without a port, that a request may name besides the loopback ones.
    pub allowed_hosts: Vec<String>,
    /// Scheme, host and port under which callers reach this listener. Its host is allowed too.
    pub public_url: Option<Url>,
    /// Where in the operator's program tools are made and rights to them granted: a window and a tab in it, parted by ` -> `.
    pub melbis_grant: String,
}

/// The listener for gRPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grpc {
    /// Where to listen. Port 0 takes a free one.
    pub addr: SocketAddr,
}

/// The listener for `/livez`, `/readyz` and `/metrics`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admin {
    /// Where to listen. Port 0 takes a free one.
    pub addr: SocketAddr,
}

/// Where data is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Which engine.
    pub engine: StoreEngine,
    /// The folder of everything that this process keeps.
    pub data_dir: PathBuf,
    /// Upper bound of sled's page cache, in MiB.
    pub sled_cache_mib: u32,
}

/// A store engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreEngine {
    /// Embedded and durable: one process, one folder.
    Sled,
    /// Forgets everything at the end of the process.
    Memory,
}

/// The keys that the process starts with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Keys {
    /// The master key's file; [`Settings::master_key_path`] gives the place when unset.
    pub master_key_file: Option<PathBuf>,
    /// The first operator key: 32 to 256 printable ASCII characters.
    pub bootstrap_key: Option<Secret>,
}

/// What the process may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outbound {
    /// Whether upstreams may stand at loopback and private addresses.
    pub private: PrivateAddresses,
    /// Programs that may be started as upstreams. Empty allows none.
    pub stdio_allow: Vec<AllowedCommand>,
}

/// Whether upstreams may stand at loopback and private addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivateAddresses {
    /// Those upstreams that an administrator declared so.
    Declared,
    /// None.
    Never,
}

/// How upstreams are synced. A shorter wish of an upstream's own is honoured within these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sync {
    /// Time from one sync of an upstream to its next.
    pub interval_seconds: u32,
    /// Time to connect to an upstream, or to start it.
    pub connect_timeout_ms: u32,
    /// Time for one answer of an upstream, to its last byte.
    pub answer_timeout_ms: u32,
    /// Time for a whole listing, all its pages.
    pub listing_timeout_ms: u32,
}

/// How tool servers are asked for what they list at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTools {
    /// How long a list is told on that its server says nothing about. Zero tells none on.
    pub keep_seconds: u32,
}

/// The log of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// What is kept of the arguments of calls.
    pub arguments: LoggedArguments,
    /// When a call is on disk.
    pub calls: LoggedCalls,
    /// Upper bound of the log of calls, in MiB. The oldest part goes.
    pub calls_mib: u32,
}

/// When a call is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoggedCalls {
    /// Soon after it ended.
    Grouped,
    /// One of effect `changes` before it is sent, too.
    Durable,
}

/// What is kept of the arguments of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoggedArguments {
    /// A hash that only equal arguments of the same client share.
    Hash,
    /// Their exact text.
    Full,
    /// Their size alone.
    None,
}

/// How the process ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Time for work in progress to finish after the first signal.
    pub grace_seconds: u32,
}

/// Logs, written to standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// How a line is written.
    pub format: LogFormat,
    /// Which lines are written: a level, or directives such as `info,toolgate_store_sled=debug`.
    pub level: String,
}

/// How a log line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Traces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// Where spans are sent by OTLP over gRPC. Unset sends none.
    pub otlp_endpoint: Option<Url>,
}

/// A value that no output of this process shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    #[must_use]
    pub fn new(value: String) -> Self {
        Self(value)
    }

    /// The value, for the one place that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl Settings {
    /// Where the master key is: the file that is set, or `master.key` in the data folder.
    #[must_use]
    pub fn master_key_path(&self) -> PathBuf {
        self.keys.master_key_file.clone().unwrap_or_else(|| self.store.data_dir.join("master.key"))
    }
}

const fn loopback(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)
}

impl Default for Http {
    fn default() -> Self {
        let melbis_grant = String::from("Development -> AI Components");
        Self { addr: loopback(8080), allowed_hosts: Vec::new(), public_url: None, melbis_grant }
    }
}

impl Default for Grpc {
    fn default() -> Self {
        Self { addr: loopback(50051) }
    }
}

impl Default for Admin {
    fn default() -> Self {
        Self { addr: loopback(9090) }
    }
}

impl Default for Store {
    fn default() -> Self {
        Self { engine: StoreEngine::Sled, data_dir: PathBuf::from("./toolgate-data"), sled_cache_mib: 32 }
    }
}

impl Default for Outbound {
    fn default() -> Self {
        Self { private: PrivateAddresses::Declared, stdio_allow: Vec::new() }
    }
}

impl Default for Sync {
    fn default() -> Self {
        Self {
            interval_seconds: 300,
            connect_timeout_ms: 10_000,
            answer_timeout_ms: 30_000,
            listing_timeout_ms: 120_000,
        }
    }
}

impl Default for ServerTools {
    fn default() -> Self {
        Self { keep_seconds: 60 }
    }
}

impl Default for Audit {
    fn default() -> Self {
        Self { arguments: LoggedArguments::Hash, calls: LoggedCalls::Grouped, calls_mib: 1024 }
    }
}

impl Default for Stop {
    /// Below the 30 seconds after which orchestrators usually kill.
    fn default() -> Self {
        Self { grace_seconds: 20 }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { format: LogFormat::Text, level: String::from("info") }
    }
}
