use std::{io, path::PathBuf, process::ExitStatus};

/// Why a task or one of its steps failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    #[error("cannot read the workspace: {0}")]
    Metadata(#[source] cargo_metadata::Error),
    #[error("cannot start `{program}`: {source}")]
    Start { program: String, source: io::Error },
    #[error("`{program}` failed: {status}")]
    Failed { program: String, status: ExitStatus },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("proto/ does not compile: {0}")]
    Proto(#[from] protox::Error),
    #[error("generated code is not what proto/ says: {}; run `cargo xtask codegen`", .0.join(", "))]
    Stale(Vec<String>),
    #[error("missing: {}", .0.join("; "))]
    Missing(Vec<String>),
    #[error("{0}")]
    Law(String),
    #[error("the failures stand above")]
    AlreadyReported,
}

impl TaskError {
    /// For `map_err` on file system calls, which do not name the file themselves.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}
