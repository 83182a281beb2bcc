//! The commands against a scripted server: what is printed, what is sent, what the process ends with.

mod agents;
mod approving;
mod auditing;
mod clients;
mod double;
mod failing;
mod history;
mod keys;
mod listing;
mod units;
mod upstreams;
mod watching;

use std::io::Write;
use std::path::PathBuf;

use clap::Parser;
use toolgate_api_proto::v1::{
    Effect, ObservedDefinition, Tool, ToolState, ToolStatus, Upstream, UpstreamHealth,
};
use toolgate_cli::{Command, Console, Exit, Globals};

pub(crate) use double::Double;

#[derive(Debug, Parser)]
struct CommandLine {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Who runs the command, and where.
#[derive(Clone, Copy)]
pub(crate) enum Seat<'a> {
    /// A script.
    Script,
    /// A person at a terminal, who gives this answer when asked.
    Person(&'a str),
}

/// Runs `toolgate <words>` against an endpoint.
pub(crate) async fn toolgate_at(endpoint: &str, seat: Seat<'_>, words: &[&str]) -> Ended {
    let words = [&["toolgate", "--endpoint", endpoint], words].concat();
    let CommandLine { globals, command } =
        CommandLine::try_parse_from(words).expect("the words are a command");
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (interactive, answer) = match seat {
        Seat::Script => (false, ""),
        Seat::Person(answer) => (true, answer),
    };
    let mut console = Console {
        out: &mut out,
        err: &mut err,
        input: &mut answer.as_bytes(),
        interactive,
        shows_progress: false,
        endpoint: None,
        key: Some("tg_test_key".to_owned()),
    };
    let exit = toolgate_cli::run(command, &globals, &mut console).await;
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Ended { exit, out: text(out), err: text(err) }
}

/// The words as the command line takes them, or clap's complaint.
fn parse(words: &str) -> Result<Command, clap::Error> {
    let words = std::iter::once("toolgate").chain(words.split_whitespace());
    CommandLine::try_parse_from(words).map(|line| line.command)
}

/// Ids of 36 characters, as the server gives them.
pub(crate) fn id(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

pub(crate) fn hash(seed: &str) -> String {
    let digits: String = seed.bytes().cycle().take(32).map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

pub(crate) fn upstream(number: usize, slug: &str) -> Upstream {
    Upstream {
        id: id(number),
        client_id: id(0),
        slug: slug.to_owned(),
        health: UpstreamHealth::Ok.into(),
        create_time: Some(Default::default()),
        etag: "e4".to_owned(),
        ..Default::default()
    }
}

/// A definition that is neither current nor approved, at the second `listed_at`.
pub(crate) fn seen(seed: &str, text: Option<&str>, listed_at: i64) -> ObservedDefinition {
    ObservedDefinition {
        definition_hash: hash(seed),
        definition_json: text.map(str::to_owned),
        create_time: Some(toolgate_api_proto::Timestamp { seconds: listed_at, nanos: 0 }),
        ..Default::default()
    }
}

/// An unapproved tool of the upstream `gh`, number 1.
pub(crate) fn tool(number: usize, name: &str) -> Tool {
    Tool {
        id: id(number),
        client_id: id(0),
        upstream_id: id(1),
        name: name.to_owned(),
        namespaced_name: format!("gh__{name}"),
        definition_json: format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#),
        definition_hash: hash(name),
        status: ToolStatus::Active.into(),
        state: ToolState::Unapproved.into(),
        remedy: "approve it".to_owned(),
        effect: Effect::Changes.into(),
        create_time: Some(Default::default()),
        etag: "e1".to_owned(),
        ..Default::default()
    }
}

pub(crate) fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("file");
    let mut file = std::fs::File::create(&path).expect("a file can be made");
    file.write_all(text.as_bytes()).expect("a file can be written");
    (folder, path)
}

#[test]
fn words_that_contradict_each_other_are_refused() {
    let refused = [
        "upstream add gh",
        "upstream add gh --url http://x --stdio -- /bin/server",
        "upstream add gh --stdio",
        "upstream add gh --url http://x -- /bin/server",
        "upstream add gh --stdio --header-file f -- /bin/server",
        "upstream add gh --url http://x --env-file f",
        "upstream update gh",
        "upstream update gh --keep-approvals",
        "upstream update gh --url http://x --no-env",
        "upstream update gh --header-file f --no-headers",
        "upstream update gh --allow-private -- /bin/server",
        "upstream remove",
        "upstream remove gh --yes --dry-run",
        "tool approve",
        "tool approve --all",
        "tool approve gh__a --all --upstream gh",
        "tool approve --all --upstream gh --hash sha256:0",
        "tool approve gh__a --upstream gh",
        "tool approve gh__a --yes",
        "tool history",
        "tool diff --from sha256:0",
        "tool list --state lost",
        "tool list --view both",
        "key create",
        "key revoke",
        "key create --scope mcp:everything",
        "key create --scope mcp:read --expires-in soon",
        "key create --scope mcp:read --key tg_1_2",
    ];
    for words in refused {
        let error = parse(words).expect_err(words);
        assert_eq!(error.exit_code(), i32::from(Exit::Usage.code()), "{words}");
    }
}

#[test]
fn a_usage_error_shows_only_what_is_missing() {
    let error = parse("client create").expect_err("a name is missing").to_string();
    assert!(error.contains("client create <NAME>") && !error.contains("--endpoint"), "{error}");
}

#[test]
fn each_help_page_lists_the_exit_codes() {
    for words in ["upstream sync --help", "tool --help", "tool approve --help", "key create --help"] {
        let help = parse(words).expect_err("help is given as an error").to_string();
        assert!(help.contains(toolgate_cli::EXIT_CODES_HELP), "{words}: {help}");
    }
}
