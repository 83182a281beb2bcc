//! Settings as an operator meets them: precedence, refusals and the sample file.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use toolgate_config::{
    ConfigErrors, FIELDS, Field, LogFormat, Origin, PrivateAddresses, Settings, Sources, StoreEngine,
};

const KEY: &str = "a bootstrap key of 32 characters";

fn environment(pairs: &[(&str, &str)]) -> Sources {
    let environment =
        pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    Sources { environment, ..Sources::default() }
}

fn from_environment(pairs: &[(&str, &str)]) -> Result<Settings, ConfigErrors> {
    Settings::load(&environment(pairs))
}

fn file(text: &str) -> (tempfile::TempDir, Sources) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("toolgate.toml");
    std::fs::write(&path, text).expect("a writable folder");
    (folder, Sources { config_flag: Some(path), ..Sources::default() })
}

fn from_file(text: &str) -> Result<Settings, ConfigErrors> {
    let (_folder, sources) = file(text);
    Settings::load(&sources)
}

fn field(key: &str) -> &'static Field {
    FIELDS.iter().find(|field| field.key == key).expect("a known key")
}

#[test]
fn nothing_set_gives_the_documented_defaults() {
    let settings = Settings::load(&Sources::default()).unwrap();
    assert_eq!(settings, Settings::default());
    assert_eq!(settings.http.addr.to_string(), "127.0.0.1:8080");
    assert_eq!(settings.grpc.addr.to_string(), "127.0.0.1:50051");
    assert_eq!(settings.admin.addr.to_string(), "127.0.0.1:9090");
    assert_eq!(settings.store.engine, StoreEngine::Sled);
    assert_eq!(settings.store.data_dir, Path::new("./toolgate-data"));
    assert_eq!(settings.master_key_path(), Path::new("./toolgate-data/master.key"));
    assert!(settings.outbound.stdio_allow.is_empty());
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let text = "[http]\naddr = '127.0.0.1:1'\n[grpc]\naddr = '127.0.0.1:2'\n[admin]\naddr = '127.0.0.1:3'\n";
    let (_folder, mut sources) = file(text);
    sources.environment =
        environment(&[("TOOLGATE_GRPC_ADDR", "127.0.0.1:22"), ("TOOLGATE_ADMIN_ADDR", "127.0.0.1:33")])
            .environment;
    sources.flags = vec![(field("admin.addr"), String::from("127.0.0.1:333"))];
    let settings = Settings::load(&sources).unwrap();
    assert_eq!(settings.http.addr.port(), 1);
    assert_eq!(settings.grpc.addr.port(), 22);
    assert_eq!(settings.admin.addr.port(), 333);
}

#[test]
fn the_config_flag_wins_over_its_variable() {
    let (_folder, mut sources) = file("[log]\nformat = 'json'\n");
    sources.environment = environment(&[("TOOLGATE_CONFIG", "/nowhere/at/all.toml")]).environment;
    assert_eq!(Settings::load(&sources).unwrap().log.format, LogFormat::Json);
    let path = sources.config_flag.take().unwrap();
    sources.environment = environment(&[("TOOLGATE_CONFIG", path.to_str().unwrap())]).environment;
    assert_eq!(Settings::load(&sources).unwrap().log.format, LogFormat::Json);
}

#[test]
fn every_setting_is_taken_from_its_variable() {
    let settings = from_environment(&[
        ("TOOLGATE_HTTP_ADDR", "0.0.0.0:80"),
        ("TOOLGATE_ALLOWED_HOSTS", "Tools.Example.com, [::1],10.0.0.1"),
        ("TOOLGATE_PUBLIC_URL", "https://tools.example.com:8443"),
        ("TOOLGATE_GRPC_ADDR", "[::]:81"),
        ("TOOLGATE_ADMIN_ADDR", "0.0.0.0:82"),
        ("TOOLGATE_STORE", "memory"),
        ("TOOLGATE_DATA_DIR", "/data"),
        ("TOOLGATE_SLED_CACHE_MIB", "64"),
        ("TOOLGATE_MASTER_KEY_FILE", "/keys/master"),
        ("TOOLGATE_BOOTSTRAP_KEY", KEY),
        ("TOOLGATE_OUTBOUND_PRIVATE", "never"),
        ("TOOLGATE_STDIO_ALLOW", "/bin/one"),
        ("TOOLGATE_SYNC_INTERVAL_SECONDS", "5"),
        ("TOOLGATE_SYNC_CONNECT_TIMEOUT_MS", "6"),
        ("TOOLGATE_SYNC_ANSWER_TIMEOUT_MS", "7"),
        ("TOOLGATE_SYNC_LISTING_TIMEOUT_MS", "8"),
        ("TOOLGATE_SERVER_TOOLS_KEEP_SECONDS", "9"),
        ("TOOLGATE_GRACE_SECONDS", "0"),
        ("TOOLGATE_LOG_FORMAT", "json"),
        ("TOOLGATE_LOG_LEVEL", "debug"),
        ("TOOLGATE_OTLP_ENDPOINT", "http://collector:4317"),
    ])
    .unwrap();
    assert_eq!(settings.http.allowed_hosts, ["tools.example.com", "[::1]", "10.0.0.1"]);
    assert_eq!(settings.http.public_url.as_ref().unwrap().as_str(), "https://tools.example.com:8443/");
    assert_eq!(settings.grpc.addr.to_string(), "[::]:81");
    assert_eq!(settings.store.engine, StoreEngine::Memory);
    assert_eq!(settings.store.sled_cache_mib, 64);
    assert_eq!(settings.master_key_path(), PathBuf::from("/keys/master"));
    assert_eq!(settings.keys.bootstrap_key.unwrap().expose(), KEY);
    assert_eq!(settings.outbound.private, PrivateAddresses::Never);
    assert_eq!(settings.outbound.stdio_allow[0].program, "/bin/one");
    assert_eq!(settings.sync.interval_seconds, 5);
    assert_eq!(settings.sync.connect_timeout_ms, 6);
    assert_eq!(settings.sync.answer_timeout_ms, 7);
    assert_eq!(settings.sync.listing_timeout_ms, 8);
    assert_eq!(settings.server_tools.keep_seconds, 9);
    assert_eq!(settings.stop.grace_seconds, 0);
    assert_eq!(settings.log.level, "debug");
    assert_eq!(settings.trace.otlp_endpoint.unwrap().as_str(), "http://collector:4317/");
}

/// Each pair is a variable and a value that it refuses.
const REFUSED: &[(&str, &str, &str)] = &[
    ("TOOLGATE_HTTP_ADDR", "localhost:8080", "write an IP address and a port"),
    ("TOOLGATE_GRPC_ADDR", "127.0.0.1", "write an IP address and a port"),
    ("TOOLGATE_ADMIN_ADDR", "", "write an IP address and a port"),
    ("TOOLGATE_PUBLIC_URL", "tools.example.com", "write scheme, host and port"),
    ("TOOLGATE_PUBLIC_URL", "ftp://tools.example.com", "write scheme, host and port"),
    ("TOOLGATE_PUBLIC_URL", "https://tools.example.com/mcp", "write scheme, host and port"),
    ("TOOLGATE_PUBLIC_URL", "https://me:pw@tools.example.com", "user name or password"),
    ("TOOLGATE_ALLOWED_HOSTS", "https://example.com", "write the name alone"),
    ("TOOLGATE_ALLOWED_HOSTS", "example.com:8080", "write the name alone"),
    ("TOOLGATE_ALLOWED_HOSTS", "*.example.com", "write the name alone"),
    ("TOOLGATE_STORE", "etcd", "write one of sled, memory"),
    ("TOOLGATE_DATA_DIR", "", "write a path"),
    ("TOOLGATE_SLED_CACHE_MIB", "0", "write a whole number from 8 to 65536"),
    ("TOOLGATE_SLED_CACHE_MIB", "32MiB", "write a whole number from 8 to 65536"),
    ("TOOLGATE_MASTER_KEY_FILE", "", "write a path"),
    ("TOOLGATE_OUTBOUND_PRIVATE", "always", "write one of declared, never"),
    ("TOOLGATE_STDIO_ALLOW", "node server.js", "is not a plain absolute path"),
    ("TOOLGATE_STDIO_ALLOW", "/usr/bin/../bin/node", "is not a plain absolute path"),
    ("TOOLGATE_STDIO_ALLOW", "/usr/bin/", "is not a plain absolute path"),
    ("TOOLGATE_STDIO_ALLOW", "/bin/sh -c 'echo hi'", "quotes mean nothing here"),
    ("TOOLGATE_SYNC_INTERVAL_SECONDS", "0", "from 1 to 86400"),
    ("TOOLGATE_SYNC_ANSWER_TIMEOUT_MS", "-1", "from 1 to 600000"),
    ("TOOLGATE_SERVER_TOOLS_KEEP_SECONDS", "601", "from 0 to 600"),
    ("TOOLGATE_GRACE_SECONDS", "99999999999", "from 0 to 3600"),
    ("TOOLGATE_LOG_FORMAT", "JSON", "write one of text, json"),
    ("TOOLGATE_LOG_LEVEL", " ", "write a value"),
    ("TOOLGATE_OTLP_ENDPOINT", "collector:4317", "for example http://127.0.0.1:4317"),
    ("TOOLGATE_OTLP_ENDPOINT", "https://collector:4317", "TLS to a collector is not supported"),
    ("TOOLGATE_OTLP_ENDPOINT", "http://collector:4317/v1/traces", "more than scheme, host and port"),
];

#[test]
fn a_refused_value_names_its_setting_its_source_and_the_remedy() {
    for (name, value, remedy) in REFUSED {
        let errors = from_environment(&[(name, value)]).unwrap_err();
        let setting = FIELDS.iter().find(|field| field.env == *name).unwrap().key;
        let text = errors.to_string();
        assert_eq!(errors.as_slice().len(), 1, "{text}");
        assert!(text.starts_with(&format!("{setting} (variable {name}): ")), "{text}");
        assert!(text.contains(remedy), "{name}={value}: {text}");
    }
}

#[test]
fn a_wrong_type_in_the_file_says_what_it_is() {
    for (text, reason) in [
        ("[http]\naddr = 8080", "http.addr (in "),
        ("[http]\naddr = 8080", "is an integer: write a string in quotes"),
        ("[http]\nallowed_hosts = 'a,b'", "is a string: write an array of host names"),
        ("[stop]\ngrace_seconds = '20'", "is a string: write a whole number"),
        ("[stop]\ngrace_seconds = 1.5", "is a float: write a whole number"),
        ("[outbound]\nstdio_allow = '/bin/one'", "is a string: write an array of commands"),
        ("[outbound]\nstdio_allow = ['/bin/one']", "holds a string: write an array of commands"),
        ("[outbound]\nstdio_allow = [[]]", "a command is empty"),
        ("[outbound]\nstdio_allow = [['/bin/one', 1]]", "what is no string"),
    ] {
        let error = from_file(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn allowed_commands_are_written_as_words() {
    let value = "/usr/bin/node  /opt/server.js --root;\n/bin/time-server\n;";
    let from_variable = from_environment(&[("TOOLGATE_STDIO_ALLOW", value)]).unwrap().outbound.stdio_allow;
    let words: Vec<Vec<&str>> = from_variable.iter().map(|command| command.words().collect()).collect();
    assert_eq!(words, [vec!["/usr/bin/node", "/opt/server.js", "--root"], vec!["/bin/time-server"]]);
    let text = "[outbound]\nstdio_allow = [['/usr/bin/node', '/opt/my \"server\".js'], ['/bin/time-server']]";
    let from_text = from_file(text).unwrap().outbound.stdio_allow;
    assert_eq!(from_text[0].leading_args, ["/opt/my \"server\".js"]);
    assert_eq!(from_text[1], from_variable[1]);
    assert!(from_environment(&[("TOOLGATE_STDIO_ALLOW", "")]).unwrap().outbound.stdio_allow.is_empty());
}

#[test]
fn the_bootstrap_key_is_checked_and_never_shown() {
    let long = "k".repeat(257);
    let accent = format!("{KEY}é");
    let line_end = format!("{KEY}\n");
    let blank = format!(" {KEY}");
    for bad in ["short-secret", &long, &accent, &line_end, &blank] {
        let errors = from_environment(&[("TOOLGATE_BOOTSTRAP_KEY", bad)]).unwrap_err();
        let text = format!("{errors} {errors:?}");
        assert!(text.contains("write 32 to 256 printable ASCII characters"), "{text}");
        assert!(!text.contains(bad.trim()), "{text}");
    }
    let settings = from_environment(&[("TOOLGATE_BOOTSTRAP_KEY", KEY)]).unwrap();
    assert!(!format!("{settings:?}").contains(KEY));
    assert!(!settings.describe().contains(KEY));
    assert!(settings.describe().contains("# bootstrap_key is set and not shown"));
    assert!(field("keys.bootstrap_key").flag.is_none());
}

#[test]
fn a_line_that_is_not_toml_is_named_but_not_quoted() {
    let text = format!("[keys]\n\nbootstrap_key = \"{KEY}\n");
    let errors = from_file(&text).unwrap_err();
    let text = format!("{errors} {errors:?}");
    assert!(text.contains("toolgate.toml, line 3: "), "{text}");
    assert!(!text.contains(KEY), "{text}");
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    for (text, suggestion) in [
        ("[http]\nadress = 'x'", "http.adress (in "),
        ("[http]\nadress = 'x'", "did you mean http.addr?"),
        ("[http]\ndata_dir = 'x'", "did you mean store.data_dir?"),
        ("data_dir = 'x'", "did you mean store.data_dir?"),
        ("[htttp]\nallowed_hosts = []", "did you mean http.allowed_hosts?"),
        (
            "[zebra]",
            "the sections are http, grpc, admin, store, keys, outbound, sync, server_tools, audit, stop, log, trace",
        ),
    ] {
        let error = from_file(text).unwrap_err().to_string();
        assert!(error.contains(suggestion), "{text}: {error}");
    }
    for (name, suggestion) in [
        ("TOOLGATE_HTTP_ADDRESS", "did you mean TOOLGATE_HTTP_ADDR?"),
        ("TOOLGATE_MASTERKEY_FILE", "did you mean TOOLGATE_MASTER_KEY_FILE?"),
        ("TOOLGATE_CONFG", "did you mean TOOLGATE_CONFIG?"),
        ("TOOLGATE_ZEBRA", "the variables are TOOLGATE_HTTP_ADDR, "),
    ] {
        let error = from_environment(&[(name, "x")]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{name} (in the environment): no such variable")), "{error}");
        assert!(error.contains(suggestion), "{error}");
    }
}

#[test]
fn variables_of_others_are_passed_over() {
    let settings = from_environment(&[
        ("PATH", "/bin"),
        ("TOOLGATE_ENDPOINT", "http://127.0.0.1:50051"),
        ("TOOLGATE_KEY", "tg_x_y"),
        ("TOOLGATE_TEST_PYTHON", "/usr/bin/python3"),
        ("TOOLGATE_SERVICE_HOST", "10.0.0.7"),
        ("TOOLGATE_SERVICE_PORT", "8080"),
        ("TOOLGATE_SERVICE_PORT_HTTP", "8080"),
        ("TOOLGATE_PORT", "tcp://10.0.0.7:8080"),
        ("TOOLGATE_PORT_8080_TCP", "tcp://10.0.0.7:8080"),
        ("TOOLGATE_PORT_8080_TCP_ADDR", "10.0.0.7"),
        ("TOOLGATE_GRPC_PORT_50051_TCP_PROTO", "tcp"),
    ]);
    assert_eq!(settings.unwrap(), Settings::default());
}

#[test]
fn everything_wrong_is_reported_at_once() {
    let (_folder, mut sources) = file("[http]\naddr = 1\nzebra = 2\n");
    sources.environment = environment(&[("TOOLGATE_STORE", "etcd")]).environment;
    sources.flags = vec![(field("log.format"), String::from("xml"))];
    let errors = Settings::load(&sources).unwrap_err();
    assert_eq!(errors.as_slice().len(), 4, "{errors}");
    assert!(
        errors
            .to_string()
            .ends_with("log.format (flag --log-format): `xml` is not known: write one of text, json")
    );
}

#[test]
fn two_listeners_at_one_address_are_refused() {
    let error = from_environment(&[("TOOLGATE_GRPC_ADDR", "127.0.0.1:8080")]).unwrap_err().to_string();
    assert!(error.starts_with("http.addr and grpc.addr: both listen on 127.0.0.1:8080"), "{error}");
    let free = [("TOOLGATE_GRPC_ADDR", "127.0.0.1:0"), ("TOOLGATE_HTTP_ADDR", "127.0.0.1:0")];
    assert!(from_environment(&free).is_ok(), "port 0 is another port each time");
}

#[test]
fn a_file_that_cannot_be_read_names_what_named_it() {
    let sources = environment(&[("TOOLGATE_CONFIG", "/nowhere/at/all.toml")]);
    let error = Settings::load(&sources).unwrap_err().to_string();
    assert!(error.contains("/nowhere/at/all.toml (variable TOOLGATE_CONFIG): cannot be read"), "{error}");
}

#[test]
fn a_value_that_is_not_unicode_is_refused() {
    let environment = vec![(OsString::from("TOOLGATE_LOG_LEVEL"), OsString::from_vec(vec![0xff]))];
    let error = Settings::load(&Sources { environment, ..Sources::default() }).unwrap_err().to_string();
    assert!(error.starts_with("log.level (variable TOOLGATE_LOG_LEVEL): is not UTF-8"), "{error}");
}

#[test]
fn the_sample_file_gives_the_defaults_and_names_every_setting() {
    let sample = include_str!("../../../deploy/toolgate.sample.toml");
    assert_eq!(from_file(sample).unwrap(), Settings::default());
    let names_entry = |name: &str, line: &str| {
        line.trim_start_matches("# ").strip_prefix(name).is_some_and(|rest| rest.starts_with(" = "))
    };
    for field in FIELDS {
        let (section, name) = field.key.split_once('.').unwrap();
        let entries = sample.split(&format!("[{section}]\n")).nth(1).unwrap().split("\n[").next().unwrap();
        assert!(entries.lines().any(|line| names_entry(name, line)), "{} is not in the sample", field.key);
        assert!(entries.contains(field.env), "{} is not in the sample", field.env);
    }
}

#[test]
fn the_description_is_a_file_that_gives_the_same_settings() {
    let mut settings = from_environment(&[
        ("TOOLGATE_ALLOWED_HOSTS", "a.example,b.example"),
        ("TOOLGATE_STDIO_ALLOW", "/bin/one x; /bin/two"),
        ("TOOLGATE_OTLP_ENDPOINT", "http://collector:4317"),
        ("TOOLGATE_DATA_DIR", "/with \"quotes\""),
        ("TOOLGATE_MASTER_KEY_FILE", "/keys/master"),
    ])
    .unwrap();
    assert_eq!(from_file(&settings.describe()).unwrap(), settings);
    settings.outbound.stdio_allow.clear();
    assert_eq!(from_file(&settings.describe()).unwrap(), settings);
}

#[test]
fn names_are_given_once() {
    let count = |names: Vec<&str>| names.into_iter().collect::<std::collections::HashSet<_>>().len();
    assert_eq!(count(FIELDS.iter().map(|field| field.key).collect()), FIELDS.len());
    assert_eq!(count(FIELDS.iter().map(|field| field.env).collect()), FIELDS.len());
    assert_eq!(count(FIELDS.iter().filter_map(|field| field.flag).collect()), FIELDS.len() - 1);
}

#[test]
fn an_error_tells_code_where_the_value_was_written() {
    let errors = from_environment(&[("TOOLGATE_STORE", "x")]).unwrap_err();
    let toolgate_config::ConfigError::Value { origin, .. } = &errors.as_slice()[0] else {
        panic!("{errors}")
    };
    assert_eq!(*origin, Origin::Environment("TOOLGATE_STORE"));
}
