//! The programs that may be started as upstreams.

use toml::Value;

use crate::parse::{Raw, kind_of};

/// A program and the arguments it must be started with first: allowing an interpreter alone would allow
/// everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedCommand {
    /// Absolute path, without `.` and `..`.
    pub program: String,
    /// The arguments that must come first, each exactly as written.
    pub leading_args: Vec<String>,
}

impl AllowedCommand {
    /// The program and its arguments as one list.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.program.as_str()).chain(self.leading_args.iter().map(String::as_str))
    }
}

/// In the file: an array of commands, each an array of words. In a variable or a flag: commands parted by `;`
/// or line ends, words by blanks, with no way to quote.
pub(crate) fn parse_commands(raw: &Raw<'_>) -> Result<Vec<AllowedCommand>, String> {
    match raw {
        Raw::Text(text) => text
            .split([';', '\n'])
            .map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .filter(|words| !words.is_empty())
            .map(unquoted)
            .collect(),
        Raw::Toml(Value::Array(commands)) => {
            commands.iter().map(|command| command_of(words_of(command)?)).collect()
        }
        Raw::Toml(other) => Err(format!("is {}: {SHAPE}", kind_of(other))),
    }
}

const SHAPE: &str = "write an array of commands, each an array of words, \
    for example [[\"/usr/bin/node\", \"/opt/server.js\"]]";

fn words_of(command: &Value) -> Result<Vec<String>, String> {
    let words = command.as_array().ok_or_else(|| format!("holds {}: {SHAPE}", kind_of(command)))?;
    let word = |word: &Value| word.as_str().map(str::to_owned);
    words
        .iter()
        .map(word)
        .collect::<Option<_>>()
        .ok_or_else(|| format!("a command holds what is no string: {SHAPE}"))
}

fn unquoted(words: Vec<String>) -> Result<AllowedCommand, String> {
    match words.iter().find(|word| word.contains(['"', '\'', '\\'])) {
        Some(word) => Err(format!(
            "`{word}` looks quoted, and quotes mean nothing here: set outbound.stdio_allow in the configuration file, \
             where a word may hold anything"
        )),
        None => command_of(words),
    }
}

fn command_of(words: Vec<String>) -> Result<AllowedCommand, String> {
    let mut words = words.into_iter();
    let program = words.next().ok_or_else(|| format!("a command is empty: {SHAPE}"))?;
    if is_plain_absolute(&program) {
        return Ok(AllowedCommand { program, leading_args: words.collect() });
    }
    Err(format!(
        "`{program}` is not a plain absolute path: name the program's file without `.` and `..`, like /usr/bin/node"
    ))
}

fn is_plain_absolute(program: &str) -> bool {
    let parts = program.strip_prefix('/');
    parts.is_some_and(|parts| parts.split('/').all(|part| !matches!(part, "" | "." | "..")))
}
