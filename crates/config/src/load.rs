//! From the three sources to settings.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::error::{ConfigError, ConfigErrors, Origin};
use crate::fields::{FIELDS, Field};
use crate::parse::Raw;
use crate::settings::Settings;

const PREFIX: &str = "TOOLGATE_";
const CONFIG_VARIABLE: &str = "TOOLGATE_CONFIG";
const CONFIG_FLAG: &str = "config";
/// Read by the command line client, not by the server.
const CLIENT_VARIABLES: [&str; 2] = ["TOOLGATE_ENDPOINT", "TOOLGATE_KEY"];
/// Left to test suites.
const TEST_PREFIX: &str = "TOOLGATE_TEST_";
/// Below this likeness (0 to 1) a name is no suggestion.
const MIN_LIKENESS: f64 = 0.6;

/// What settings are read from.
#[derive(Debug, Default)]
pub struct Sources {
    /// The file that `--config` names; without it `TOOLGATE_CONFIG` may name one.
    pub config_flag: Option<PathBuf>,
    /// Variables and their values; those that do not begin with `TOOLGATE_` are passed over.
    pub environment: Vec<(OsString, OsString)>,
    /// Flags that were given.
    pub flags: Vec<(&'static Field, String)>,
}

/// The process's environment, for [`Sources::environment`]. Nothing else in the server reads it.
#[must_use]
pub fn process_environment() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

impl Settings {
    /// The defaults, with the file's values over them, the environment's over those, and the flags' over all.
    ///
    /// # Errors
    /// Everything that is wrong in any of the sources, not only the first thing.
    pub fn load(sources: &Sources) -> Result<Self, ConfigErrors> {
        let mut loader = Loader { settings: Self::default(), errors: Vec::new() };
        if let Some((path, named_by)) = config_file(sources) {
            loader.read_file(&path, named_by);
        }
        loader.read_environment(&sources.environment);
        for (field, value) in &sources.flags {
            loader.set(field, &Raw::Text(value), Origin::Flag(field.flag.unwrap_or(field.key)));
        }
        loader.finish()
    }
}

fn config_file(sources: &Sources) -> Option<(PathBuf, Origin)> {
    if let Some(path) = &sources.config_flag {
        return Some((path.clone(), Origin::Flag(CONFIG_FLAG)));
    }
    let variable = sources.environment.iter().find(|(name, _)| name == CONFIG_VARIABLE);
    variable.map(|(_, path)| (PathBuf::from(path), Origin::Environment(CONFIG_VARIABLE)))
}

struct Loader {
    settings: Settings,
    errors: Vec<ConfigError>,
}

impl Loader {
    fn set(&mut self, field: &Field, raw: &Raw<'_>, origin: Origin) {
        if let Err(reason) = (field.set)(&mut self.settings, raw) {
            self.errors.push(ConfigError::Value { key: field.key, origin, reason });
        }
    }

    fn read_file(&mut self, path: &Path, named_by: Origin) {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(source) => {
                return self.errors.push(ConfigError::Unreadable { path: path.to_owned(), named_by, source });
            }
        };
        match text.parse::<Table>() {
            Ok(table) => self.read_table(path, &table),
            Err(error) => self.errors.push(not_toml(path, &text, &error)),
        }
    }

    fn read_table(&mut self, path: &Path, table: &Table) {
        for (section, value) in table {
            match value {
                Value::Table(entries) if !entries.is_empty() || is_section(section) => {
                    for (name, value) in entries {
                        self.read_entry(path, format!("{section}.{name}"), value);
                    }
                }
                _ => self.errors.push(unknown_key(path, section.clone())),
            }
        }
    }

    fn read_entry(&mut self, path: &Path, key: String, value: &Value) {
        match FIELDS.iter().find(|field| field.key == key) {
            Some(field) => self.set(field, &Raw::Toml(value), Origin::File(path.to_owned())),
            None => self.errors.push(unknown_key(path, key)),
        }
    }

    fn read_environment(&mut self, environment: &[(OsString, OsString)]) {
        let ours = environment.iter().filter_map(|(name, value)| Some((name.to_str()?, value)));
        for (name, value) in ours.filter(|(name, _)| name.starts_with(PREFIX)) {
            match FIELDS.iter().find(|field| field.env == name) {
                Some(field) => match value.to_str() {
                    Some(text) => self.set(field, &Raw::Text(text), Origin::Environment(field.env)),
                    None => self.errors.push(ConfigError::NotUnicode { key: field.key, name: field.env }),
                },
                None if is_foreign(name) => {}
                None => self.errors.push(unknown_variable(name)),
            }
        }
    }

    fn finish(mut self) -> Result<Settings, ConfigErrors> {
        if self.errors.is_empty() {
            self.errors.extend(same_addresses(&self.settings));
        }
        if self.errors.is_empty() { Ok(self.settings) } else { Err(ConfigErrors(self.errors)) }
    }
}

fn is_section(name: &str) -> bool {
    FIELDS.iter().any(|field| field.key.split_once('.').is_some_and(|(section, _)| section == name))
}

/// Whether a variable that begins like ours is somebody else's business.
fn is_foreign(name: &str) -> bool {
    name == CONFIG_VARIABLE
        || CLIENT_VARIABLES.contains(&name)
        || name.starts_with(TEST_PREFIX)
        || is_service_link(name)
}

/// Whether an orchestrator made the variable for a service whose name begins with `toolgate`: Kubernetes sets
/// `<SERVICE>_SERVICE_HOST`, `<SERVICE>_SERVICE_PORT[_<NAME>]`, `<SERVICE>_PORT` and
/// `<SERVICE>_PORT_<N>_TCP[_…]`.
fn is_service_link(name: &str) -> bool {
    let numbered = |(_, rest): (&str, &str)| rest.starts_with(|first: char| first.is_ascii_digit());
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_")
        || name.ends_with("_PORT")
        || name.split_once("_PORT_").is_some_and(numbered)
}

fn same_addresses(settings: &Settings) -> impl Iterator<Item = ConfigError> {
    let (http, grpc, admin) = (settings.http.addr, settings.grpc.addr, settings.admin.addr);
    let listeners = [("http.addr", http), ("grpc.addr", grpc), ("admin.addr", admin)];
    [(0, 1), (0, 2), (1, 2)].into_iter().filter_map(move |(first, second)| {
        let ((first, address), (second, other)) = (listeners[first], listeners[second]);
        (address == other && address.port() != 0).then_some(ConfigError::SameAddress {
            first,
            second,
            address,
        })
    })
}

fn not_toml(path: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let offset = error.span().map_or(0, |span| span.start);
    let line = 1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count();
    ConfigError::NotToml { path: path.to_owned(), line, reason: error.message().to_owned() }
}

fn unknown_key(path: &Path, key: String) -> ConfigError {
    let leaf = key.rsplit('.').next().unwrap_or(&key);
    let moved = FIELDS.iter().map(|field| field.key).find(|known| known.ends_with(&format!(".{leaf}")));
    let nearest = moved.or_else(|| nearest(&key, FIELDS.iter().map(|field| field.key)));
    let remedy = remedy(nearest, || {
        let sections = FIELDS.iter().filter_map(|field| field.key.split('.').next());
        format!("the sections are {}", listed(sections))
    });
    ConfigError::UnknownKey { key, path: path.to_owned(), remedy }
}

fn unknown_variable(name: &str) -> ConfigError {
    let known = || FIELDS.iter().map(|field| field.env).chain([CONFIG_VARIABLE]).chain(CLIENT_VARIABLES);
    let remedy = remedy(nearest(name, known()), || format!("the variables are {}", listed(known())));
    ConfigError::UnknownVariable { name: name.to_owned(), remedy }
}

fn remedy(nearest: Option<&str>, list: impl FnOnce() -> String) -> String {
    nearest.map_or_else(list, |name| format!("did you mean {name}?"))
}

fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Without the prefix, which would make every variable look alike.
    let bare = |name: &'a str| name.strip_prefix(PREFIX).unwrap_or(name);
    let wanted = name.strip_prefix(PREFIX).unwrap_or(name);
    known
        .map(|candidate| (candidate, strsim::normalized_damerau_levenshtein(wanted, bare(candidate))))
        .filter(|(_, likeness)| *likeness >= MIN_LIKENESS)
        .max_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(candidate, _)| candidate)
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(*name)).collect::<Vec<_>>().join(", ")
}
