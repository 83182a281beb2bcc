use std::io;
use std::path::PathBuf;

use thiserror::Error;
use tonic::{Code, Status};

use crate::exit::{Exit, is_not_grpc};
use crate::pairs_file::LineForm;
use crate::refusal;

/// Why a command ended without having done all it was asked.
#[derive(Debug, Error)]
pub(crate) enum CommandError {
    #[error("{problem}")]
    Usage { problem: String, hint: String },
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}, line {line}: {problem}", path.display())]
    BadLine { path: PathBuf, line: usize, problem: &'static str, form: LineForm },
    #[error("cannot connect to {endpoint}: {cause}")]
    Unreachable { endpoint: String, cause: String },
    #[error("what answers there is not a gRPC endpoint")]
    NotGrpc,
    #[error("{}", refusal::message(.0))]
    Refused(Box<Status>),
    #[error("no client has the name or id {name}")]
    NoSuchClient { name: String },
    #[error("no tool is named {name}")]
    NoSuchTool { name: String },
    #[error("{tool} was never listed with the definition {hash}")]
    NoSuchDefinition { tool: String, hash: String },
    #[error("the text of {hash} was not kept, for want of room")]
    TextNotKept { hash: String },
    #[error("the text of {hash} cannot be read: {problem}")]
    UnreadableText { hash: String, problem: String },
    #[error("{} tools are named {name}: {}", ids.len(), ids.join(", "))]
    Ambiguous { name: String, ids: Vec<String> },
    #[error("the definition of {tool} is not the reviewed one; its fingerprint is now {current_hash}")]
    Stale { tool: String, id: String, current_hash: String },
    #[error("not confirmed; nothing was changed")]
    NotConfirmed,
    #[error("{failed} of {asked} approvals failed, {untried} were not tried")]
    SomeFailed { failed: usize, untried: usize, asked: usize, exit: Exit },
    #[error("upstream {slug} could not be listed: {cause}")]
    NotListed { slug: String, cause: String },
    #[error("the tool failed")]
    ToolFailed,
    #[error("the log of rulings does not hold: {0}")]
    BrokenLog(String),
    #[error("the server's answer lacks `{field}`")]
    Incomplete { field: &'static str },
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

impl From<Status> for CommandError {
    fn from(status: Status) -> Self {
        if is_not_grpc(&status) { Self::NotGrpc } else { Self::Refused(Box::new(status)) }
    }
}

impl CommandError {
    /// The process's exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. } | Self::Unreadable { .. } | Self::BadLine { .. } | Self::NotGrpc => {
                Exit::Usage
            }
            Self::Unreachable { .. } | Self::NotListed { .. } => Exit::Unavailable,
            Self::Refused(status) => Exit::of(status),
            Self::NoSuchTool { .. } | Self::NoSuchClient { .. } | Self::NoSuchDefinition { .. } => {
                Exit::NotFound
            }
            Self::Stale { .. } => Exit::Conflict,
            Self::SomeFailed { exit, .. } => *exit,
            Self::Ambiguous { .. }
            | Self::NotConfirmed
            | Self::TextNotKept { .. }
            | Self::UnreadableText { .. }
            | Self::BrokenLog(_)
            | Self::ToolFailed
            | Self::Incomplete { .. }
            | Self::Output(_) => Exit::Failure,
        }
    }

    /// What to do about it, where that is not plain.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Usage { hint, .. } => Some(hint.clone()),
            Self::BadLine { form, .. } => {
                Some(format!("each line is `{}`; a line that begins with # is a comment", form.pattern()))
            }
            Self::Unreachable { .. } => Some(
                "is `toolgate serve` running there? --endpoint or TOOLGATE_ENDPOINT names another".into(),
            ),
            Self::NotGrpc => Some(
                "--endpoint and TOOLGATE_ENDPOINT name the server's TOOLGATE_GRPC_ADDR, usually port 50051"
                    .into(),
            ),
            Self::Refused(status) => refusal::hint(status),
            Self::NoSuchClient { .. } => Some("`toolgate client list` shows what there is".into()),
            Self::NoSuchTool { .. } => {
                Some("a name is SLUG__TOOL; `toolgate tool list` shows them all".into())
            }
            Self::NoSuchDefinition { .. } => Some("`toolgate tool history` lists what there was".into()),
            Self::TextNotKept { .. } => {
                Some("nothing but its fingerprint and its times is left; compare with another one".into())
            }
            Self::Ambiguous { .. } => Some("give the id in place of the name".into()),
            Self::Stale { tool, id, .. } => {
                // An upstream chose the name, and a hint is pasted into a shell.
                let word = if is_plain(tool) { tool } else { id };
                Some(format!("review it: toolgate tool show {word}"))
            }
            Self::NotListed { slug, .. } => {
                Some(format!("its tools stay as they were; toolgate upstream show {slug}"))
            }
            Self::BrokenLog(_) => {
                Some("rulings were changed or lost behind the server's back; compare with a backup".into())
            }
            Self::Incomplete { .. } => Some("the server may be of another version".into()),
            Self::Unreadable { .. }
            | Self::UnreadableText { .. }
            | Self::NotConfirmed
            | Self::SomeFailed { .. }
            | Self::ToolFailed
            | Self::Output(_) => None,
        }
    }

    /// Whether the key lacks the right.
    pub(crate) fn is_denied(&self) -> bool {
        matches!(self, Self::Refused(status) if status.code() == Code::PermissionDenied)
    }

    /// Whether the reader of standard output has had enough and closed it.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Whether no shell reads anything into the name.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}
