//! Results in the shapes of protobuf JSON: the response message of the call, field names in lowerCamelCase, enum values
//! by name, times as RFC 3339, in the order of the fields. Fields with presence are left out when absent, all others
//! always stand. A definition is a string that holds its exact text. `list` gives all pages as one message.
//!
//! Characters that a reader would not see are written as `\uXXXX`.

mod agent;
mod api_key;
mod call;
mod client;
mod ruling;
mod server_tool;
mod tool;
mod unit;
mod upstream;

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::console::Console;
use crate::error::CommandError;
use crate::hidden::is_hidden;

pub(crate) use agent::{Agent, AgentAnswer, AgentDeletion, AttachAnswer};
pub(crate) use api_key::{ApiKey, KeyAnswer, NewKey};
pub(crate) use call::LoggedCall;
pub(crate) use client::{Client, ClientAnswer, DeletedClient};
pub(crate) use ruling::{Proof, Ruling};
pub(crate) use server_tool::ServerTools;
pub(crate) use tool::{Changes, Diff, ObservedDefinition, Tool, ToolAnswer};
pub(crate) use unit::{ToolUnit, UnitAnswer};
pub(crate) use upstream::{DeletedUpstream, Upstream, UpstreamAnswer};

/// Prints a message on a line of its own.
pub(crate) fn print(console: &mut Console<'_>, message: &impl Serialize) -> Result<(), CommandError> {
    let mut line = to_bytes(message)?;
    line.push(b'\n');
    Ok(console.out.write_all(&line)?)
}

/// Prints `{"<field>":[…]}` piece by piece, an element a line.
pub(crate) struct List<'f> {
    field: &'f str,
    is_open: bool,
}

impl<'f> List<'f> {
    pub(crate) fn new(field: &'f str) -> Self {
        Self { field, is_open: false }
    }

    pub(crate) fn push(
        &mut self,
        console: &mut Console<'_>,
        element: &impl Serialize,
    ) -> Result<(), CommandError> {
        self.separate(console)?;
        Ok(console.out.write_all(&to_bytes(element)?)?)
    }

    pub(crate) fn end(self, console: &mut Console<'_>) -> Result<(), CommandError> {
        match self.is_open {
            true => Ok(console.out.write_all(b"\n]}\n")?),
            false => Ok(writeln!(console.out, "{{\"{}\":[]}}", self.field)?),
        }
    }

    fn separate(&mut self, console: &mut Console<'_>) -> io::Result<()> {
        match std::mem::replace(&mut self.is_open, true) {
            true => console.out.write_all(b",\n"),
            false => writeln!(console.out, "{{\"{}\":[", self.field),
        }
    }
}

fn to_bytes(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    message.serialize(&mut Serializer::with_formatter(&mut bytes, Plain))?;
    Ok(bytes)
}

/// Compact, with hidden characters escaped.
struct Plain;

impl Formatter for Plain {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, hidden)) = rest.char_indices().find(|(_, character)| is_hidden(*character)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            for unit in hidden.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + hidden.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// An enum value: its name, or its number when this version does not know it.
#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Known(&'static str),
    Unknown(i32),
}

impl Value {
    fn of<E: TryFrom<i32>>(number: i32, name: fn(&E) -> &'static str) -> Self {
        E::try_from(number).map_or(Self::Unknown(number), |value| Self::Known(name(&value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_read_back_as_they_were() {
        let text = "a\u{1b}[2J\u{9b}\u{202e}\u{e0049}\u{7f} \"ü\u{200b}\n";
        let json = String::from_utf8(to_bytes(&text).unwrap()).unwrap();
        assert_eq!(json, r#""a\u001b[2J\u009b\u202e\udb40\udc49\u007f \"ü\u200b\n""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
