//! The list of all settings.

use toml::Value;

use crate::commands::parse_commands;
use crate::parse::{
    Raw, address, bootstrap_key, choice, hosts, non_empty, number, otlp_endpoint, path, public_url,
};
use crate::settings::{LogFormat, LoggedArguments, LoggedCalls, PrivateAddresses, Settings, StoreEngine};

const ENGINES: &[(&str, StoreEngine)] = &[("sled", StoreEngine::Sled), ("memory", StoreEngine::Memory)];
const PRIVATE: &[(&str, PrivateAddresses)] =
    &[("declared", PrivateAddresses::Declared), ("never", PrivateAddresses::Never)];
const FORMATS: &[(&str, LogFormat)] = &[("text", LogFormat::Text), ("json", LogFormat::Json)];

const ARGUMENTS: &[(&str, LoggedArguments)] =
    &[("hash", LoggedArguments::Hash), ("full", LoggedArguments::Full), ("none", LoggedArguments::None)];

const CALLS: &[(&str, LoggedCalls)] = &[("grouped", LoggedCalls::Grouped), ("durable", LoggedCalls::Durable)];

/// One setting.
pub struct Field {
    /// Its section and name in the file, for example `http.addr`.
    pub key: &'static str,
    /// Its variable.
    pub env: &'static str,
    /// Its long flag, without dashes. A secret has none: other users see the arguments of a process.
    pub flag: Option<&'static str>,
    /// One line for a flag's help.
    pub help: &'static str,
    pub(crate) set: fn(&mut Settings, &Raw<'_>) -> Result<(), String>,
    pub(crate) show: fn(&Settings) -> Shown,
}

/// An effective value, as far as it may be shown.
pub(crate) enum Shown {
    Value(Value),
    Unset,
    Hidden,
}

impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Field").field(&self.key).finish()
    }
}

/// Every setting, in the order of the sample file.
pub static FIELDS: &[Field] = &[
    Field {
        key: "http.addr",
        env: "TOOLGATE_HTTP_ADDR",
        flag: Some("http-addr"),
        help: "Address for HTTP/JSON",
        set: |settings, raw| address(raw).map(|addr| settings.http.addr = addr),
        show: |settings| text(settings.http.addr),
    },
    Field {
        key: "http.allowed_hosts",
        env: "TOOLGATE_ALLOWED_HOSTS",
        flag: Some("allowed-hosts"),
        help: "Host names that requests may name besides the loopback ones, parted by commas",
        set: |settings, raw| hosts(raw).map(|hosts| settings.http.allowed_hosts = hosts),
        show: |settings| Shown::Value(settings.http.allowed_hosts.clone().into()),
    },
    Field {
        key: "http.public_url",
        env: "TOOLGATE_PUBLIC_URL",
        flag: Some("public-url"),
        help: "Where callers reach the HTTP address, for example https://tools.example.com",
        set: |settings, raw| public_url(raw).map(|url| settings.http.public_url = Some(url)),
        show: |settings| settings.http.public_url.as_ref().map_or(Shown::Unset, text),
    },
    Field {
        key: "http.melbis_grant",
        env: "TOOLGATE_MELBIS_GRANT",
        flag: Some("melbis-grant"),
        help: "Where rights to tools are granted, as the Melbis shape tells it: `window -> tab`",
        set: |settings, raw| non_empty(raw).map(|grant| settings.http.melbis_grant = grant),
        show: |settings| text(&settings.http.melbis_grant),
    },
    Field {
        key: "grpc.addr",
        env: "TOOLGATE_GRPC_ADDR",
        flag: Some("grpc-addr"),
        help: "Address for gRPC",
        set: |settings, raw| address(raw).map(|addr| settings.grpc.addr = addr),
        show: |settings| text(settings.grpc.addr),
    },
    Field {
        key: "admin.addr",
        env: "TOOLGATE_ADMIN_ADDR",
        flag: Some("admin-addr"),
        help: "Address for liveness and readiness",
        set: |settings, raw| address(raw).map(|addr| settings.admin.addr = addr),
        show: |settings| text(settings.admin.addr),
    },
    Field {
        key: "store.engine",
        env: "TOOLGATE_STORE",
        flag: Some("store"),
        help: "Store engine: sled or memory",
        set: |settings, raw| choice(raw, ENGINES).map(|engine| settings.store.engine = engine),
        show: |settings| text(name_of(settings.store.engine, ENGINES)),
    },
    Field {
        key: "store.data_dir",
        env: "TOOLGATE_DATA_DIR",
        flag: Some("data-dir"),
        help: "Folder of everything that is kept",
        set: |settings, raw| path(raw).map(|path| settings.store.data_dir = path),
        show: |settings| text(settings.store.data_dir.display()),
    },
    Field {
        key: "store.sled_cache_mib",
        env: "TOOLGATE_SLED_CACHE_MIB",
        flag: Some("sled-cache-mib"),
        help: "Upper bound of sled's page cache, in MiB",
        set: |settings, raw| number(raw, 8..=65_536).map(|mib| settings.store.sled_cache_mib = mib),
        show: |settings| integer(settings.store.sled_cache_mib),
    },
    Field {
        key: "keys.master_key_file",
        env: "TOOLGATE_MASTER_KEY_FILE",
        flag: Some("master-key-file"),
        help: "File of the master key (default: master.key in the data folder)",
        set: |settings, raw| path(raw).map(|path| settings.keys.master_key_file = Some(path)),
        show: |settings| {
            settings.keys.master_key_file.as_ref().map_or(Shown::Unset, |path| text(path.display()))
        },
    },
    Field {
        key: "keys.bootstrap_key",
        env: "TOOLGATE_BOOTSTRAP_KEY",
        flag: None,
        help: "The first operator key, 32 to 256 printable ASCII characters",
        set: |settings, raw| bootstrap_key(raw).map(|key| settings.keys.bootstrap_key = Some(key)),
        show: |settings| settings.keys.bootstrap_key.as_ref().map_or(Shown::Unset, |_| Shown::Hidden),
    },
    Field {
        key: "outbound.private",
        env: "TOOLGATE_OUTBOUND_PRIVATE",
        flag: Some("outbound-private"),
        help: "Upstreams at loopback and private addresses: declared or never",
        set: |settings, raw| choice(raw, PRIVATE).map(|private| settings.outbound.private = private),
        show: |settings| text(name_of(settings.outbound.private, PRIVATE)),
    },
    Field {
        key: "outbound.stdio_allow",
        env: "TOOLGATE_STDIO_ALLOW",
        flag: Some("stdio-allow"),
        help: "Commands that may be started as upstreams: `/program leading args; /another`",
        set: |settings, raw| parse_commands(raw).map(|commands| settings.outbound.stdio_allow = commands),
        show: |settings| Shown::Value(commands_value(settings)),
    },
    Field {
        key: "sync.interval_seconds",
        env: "TOOLGATE_SYNC_INTERVAL_SECONDS",
        flag: Some("sync-interval-seconds"),
        help: "Seconds from one sync of an upstream to its next",
        set: |settings, raw| number(raw, 1..=86_400).map(|seconds| settings.sync.interval_seconds = seconds),
        show: |settings| integer(settings.sync.interval_seconds),
    },
    Field {
        key: "sync.connect_timeout_ms",
        env: "TOOLGATE_SYNC_CONNECT_TIMEOUT_MS",
        flag: Some("sync-connect-timeout-ms"),
        help: "Milliseconds to connect to an upstream, or to start it",
        set: |settings, raw| number(raw, 1..=600_000).map(|ms| settings.sync.connect_timeout_ms = ms),
        show: |settings| integer(settings.sync.connect_timeout_ms),
    },
    Field {
        key: "sync.answer_timeout_ms",
        env: "TOOLGATE_SYNC_ANSWER_TIMEOUT_MS",
        flag: Some("sync-answer-timeout-ms"),
        help: "Milliseconds for one answer of an upstream",
        set: |settings, raw| number(raw, 1..=600_000).map(|ms| settings.sync.answer_timeout_ms = ms),
        show: |settings| integer(settings.sync.answer_timeout_ms),
    },
    Field {
        key: "sync.listing_timeout_ms",
        env: "TOOLGATE_SYNC_LISTING_TIMEOUT_MS",
        flag: Some("sync-listing-timeout-ms"),
        help: "Milliseconds for a whole listing of an upstream",
        set: |settings, raw| number(raw, 1..=3_600_000).map(|ms| settings.sync.listing_timeout_ms = ms),
        show: |settings| integer(settings.sync.listing_timeout_ms),
    },
    Field {
        key: "server_tools.keep_seconds",
        env: "TOOLGATE_SERVER_TOOLS_KEEP_SECONDS",
        flag: Some("server-tools-keep-seconds"),
        help: "Seconds that a server's list is told on, where the server does not say; 0 asks it each time",
        set: |settings, raw| number(raw, 0..=600).map(|seconds| settings.server_tools.keep_seconds = seconds),
        show: |settings| integer(settings.server_tools.keep_seconds),
    },
    Field {
        key: "audit.arguments",
        env: "TOOLGATE_AUDIT_ARGUMENTS",
        flag: Some("audit-arguments"),
        help: "What the log of calls keeps of arguments: hash, full or none",
        set: |settings, raw| choice(raw, ARGUMENTS).map(|kept| settings.audit.arguments = kept),
        show: |settings| text(name_of(settings.audit.arguments, ARGUMENTS)),
    },
    Field {
        key: "audit.calls",
        env: "TOOLGATE_AUDIT_CALLS",
        flag: Some("audit-calls"),
        help: "When a call is on disk: grouped soon after, durable those of effect changes before they are sent",
        set: |settings, raw| choice(raw, CALLS).map(|calls| settings.audit.calls = calls),
        show: |settings| text(name_of(settings.audit.calls, CALLS)),
    },
    Field {
        key: "audit.calls_mib",
        env: "TOOLGATE_AUDIT_CALLS_MIB",
        flag: Some("audit-calls-mib"),
        help: "Upper bound of the log of calls, in MiB; the oldest part goes",
        set: |settings, raw| number(raw, 1..=1_048_576).map(|mib| settings.audit.calls_mib = mib),
        show: |settings| integer(settings.audit.calls_mib),
    },
    Field {
        key: "stop.grace_seconds",
        env: "TOOLGATE_GRACE_SECONDS",
        flag: Some("grace-seconds"),
        help: "Seconds for work in progress to finish when the process is told to stop",
        set: |settings, raw| number(raw, 0..=3_600).map(|seconds| settings.stop.grace_seconds = seconds),
        show: |settings| integer(settings.stop.grace_seconds),
    },
    Field {
        key: "log.format",
        env: "TOOLGATE_LOG_FORMAT",
        flag: Some("log-format"),
        help: "How log lines are written: text or json",
        set: |settings, raw| choice(raw, FORMATS).map(|format| settings.log.format = format),
        show: |settings| text(name_of(settings.log.format, FORMATS)),
    },
    Field {
        key: "log.level",
        env: "TOOLGATE_LOG_LEVEL",
        flag: Some("log-level"),
        help: "Which log lines are written: a level, or directives such as info,toolgate_store_sled=debug",
        set: |settings, raw| non_empty(raw).map(|level| settings.log.level = level),
        show: |settings| text(&settings.log.level),
    },
    Field {
        key: "trace.otlp_endpoint",
        env: "TOOLGATE_OTLP_ENDPOINT",
        flag: Some("otlp-endpoint"),
        help: "Where spans are sent by OTLP over gRPC, for example http://127.0.0.1:4317",
        set: |settings, raw| otlp_endpoint(raw).map(|url| settings.trace.otlp_endpoint = Some(url)),
        show: |settings| settings.trace.otlp_endpoint.as_ref().map_or(Shown::Unset, text),
    },
];

fn text(value: impl ToString) -> Shown {
    Shown::Value(Value::String(value.to_string()))
}

fn integer(value: u32) -> Shown {
    Shown::Value(Value::Integer(i64::from(value)))
}

fn name_of<T: PartialEq>(value: T, names: &[(&'static str, T)]) -> &'static str {
    let entry = names.iter().find(|(_, named)| *named == value);
    entry.map(|(name, _)| *name).expect("every value of a choice has a name")
}

fn commands_value(settings: &Settings) -> Value {
    let commands = settings.outbound.stdio_allow.iter();
    commands
        .map(|command| Value::from(command.words().map(str::to_owned).collect::<Vec<_>>()))
        .collect::<Vec<_>>()
        .into()
}
