//! One value of one setting, from text or from TOML. Reasons read on after the setting's name and end in a
//! remedy.

use std::fmt::Display;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use toml::Value;
use url::Url;

use crate::settings::Secret;

const BOOTSTRAP_KEY_CHARS: RangeInclusive<usize> = 32..=256;

/// A value as it was written.
pub(crate) enum Raw<'a> {
    /// In a variable or a flag.
    Text(&'a str),
    /// In the file.
    Toml(&'a Value),
}

/// What a TOML value is, with its article.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "an integer",
        Value::Float(_) => "a float",
        Value::Boolean(_) => "a boolean",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "an array",
        Value::Table(_) => "a table",
    }
}

impl<'a> Raw<'a> {
    fn text(&self) -> Result<&'a str, String> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Toml(Value::String(text)) => Ok(text),
            Self::Toml(other) => Err(format!("is {}: write a string in quotes", kind_of(other))),
        }
    }
}

pub(crate) fn address(raw: &Raw<'_>) -> Result<SocketAddr, String> {
    let text = raw.text()?;
    let hint = "write an IP address and a port, for example 127.0.0.1:8080 or [::]:8080";
    text.parse().map_err(|_| format!("`{text}` is no address: {hint}"))
}

pub(crate) fn path(raw: &Raw<'_>) -> Result<PathBuf, String> {
    match raw.text()? {
        "" => Err(String::from("is empty: write a path, or leave the setting out")),
        text if text.contains('\0') => Err(String::from("holds a NUL character: write a path")),
        text => Ok(PathBuf::from(text)),
    }
}

pub(crate) fn number<T>(raw: &Raw<'_>, range: RangeInclusive<T>) -> Result<T, String>
where
    T: Copy + Display + PartialOrd + FromStr + TryFrom<i64>,
{
    let hint = format!("write a whole number from {} to {}", range.start(), range.end());
    let (shown, parsed) = match raw {
        Raw::Text(text) => (format!("`{text}`"), text.parse().ok()),
        Raw::Toml(Value::Integer(number)) => (number.to_string(), T::try_from(*number).ok()),
        Raw::Toml(other) => return Err(format!("is {}: {hint}", kind_of(other))),
    };
    parsed.filter(|number| range.contains(number)).ok_or_else(|| format!("{shown} does not fit: {hint}"))
}

pub(crate) fn choice<T: Copy>(raw: &Raw<'_>, choices: &[(&str, T)]) -> Result<T, String> {
    let text = raw.text()?;
    let found = choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        format!("`{text}` is not known: write one of {}", names.join(", "))
    })
}

pub(crate) fn non_empty(raw: &Raw<'_>) -> Result<String, String> {
    match raw.text()?.trim() {
        "" => Err(String::from("is empty: write a value, or leave the setting out")),
        text => Ok(text.to_owned()),
    }
}

/// In the file an array of strings, in a variable or a flag a list parted by commas.
pub(crate) fn hosts(raw: &Raw<'_>) -> Result<Vec<String>, String> {
    match raw {
        Raw::Text(text) => text.split(',').map(str::trim).filter(|host| !host.is_empty()).map(host).collect(),
        Raw::Toml(Value::Array(hosts)) => hosts.iter().map(|value| host(Raw::Toml(value).text()?)).collect(),
        Raw::Toml(other) => Err(format!("is {}: write an array of host names", kind_of(other))),
    }
}

fn host(text: &str) -> Result<String, String> {
    let parsed = url::Host::parse(text).map(|host| host.to_string());
    let is_plain = |host: &String| {
        let name = host.trim_start_matches('[').trim_end_matches(']');
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    parsed.ok().filter(is_plain).ok_or_else(|| {
        format!("`{text}` is no host name: write the name alone, without scheme, port, path or pattern")
    })
}

/// Reasons never hold the value.
pub(crate) fn bootstrap_key(raw: &Raw<'_>) -> Result<Secret, String> {
    let text = raw.text()?;
    let (min, max) = BOOTSTRAP_KEY_CHARS.into_inner();
    let hint = format!("write {min} to {max} printable ASCII characters");
    if !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(format!("holds a character that is not printable ASCII, perhaps a line end: {hint}"));
    }
    if text.trim() != text {
        return Err(format!("begins or ends with a blank, which no request header can carry: {hint}"));
    }
    if !BOOTSTRAP_KEY_CHARS.contains(&text.len()) {
        return Err(format!("has {} characters: {hint}", text.len()));
    }
    Ok(Secret::new(text.to_owned()))
}

/// Reasons never hold the value, which could hold a password.
pub(crate) fn public_url(raw: &Raw<'_>) -> Result<Url, String> {
    let hint = "write scheme, host and port, for example https://tools.example.com";
    let url = Url::parse(raw.text()?).map_err(|error| format!("is no URL ({error}): {hint}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("is not an http or https URL: {hint}"));
    }
    only_an_origin(&url, hint)?;
    Ok(url)
}

/// Reasons never hold the value, which could hold a password.
pub(crate) fn otlp_endpoint(raw: &Raw<'_>) -> Result<Url, String> {
    let hint = "write the collector's gRPC address, for example http://127.0.0.1:4317";
    let url = Url::parse(raw.text()?).map_err(|error| format!("is no URL ({error}): {hint}"))?;
    if url.scheme() != "http" {
        return Err(format!("is not an http URL; TLS to a collector is not supported: {hint}"));
    }
    only_an_origin(&url, hint)?;
    Ok(url)
}

fn only_an_origin(url: &Url, hint: &str) -> Result<(), String> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(format!("holds a user name or password: {hint}"));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(format!("holds more than scheme, host and port: {hint}"));
    }
    Ok(())
}
