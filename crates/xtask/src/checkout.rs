use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;

use crate::error::TaskError;

/// The working copy that the task was started in, and the places in it that tasks write to.
pub(crate) struct Checkout {
    root: PathBuf,
    target: PathBuf,
}

impl Checkout {
    /// Asks cargo, so that it works from any folder of the working copy.
    pub(crate) fn find() -> Result<Self, TaskError> {
        let metadata = MetadataCommand::new().no_deps().exec().map_err(TaskError::Metadata)?;
        Ok(Self { root: metadata.workspace_root.into(), target: metadata.target_directory.into() })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// `proto/`, the root of all imports.
    pub(crate) fn proto(&self) -> PathBuf {
        self.root.join("proto")
    }

    /// The generated part of `toolgate-api-proto`.
    pub(crate) fn generated(&self) -> PathBuf {
        self.root.join("crates/api-proto/src/gen")
    }

    /// Folder with `package.json` and its lock file.
    pub(crate) fn node(&self) -> PathBuf {
        self.root.join("tests/node")
    }

    /// The same for the MCP conformance suites.
    pub(crate) fn conformance(&self) -> PathBuf {
        self.node().join("conformance")
    }

    pub(crate) fn node_modules(&self) -> PathBuf {
        self.node().join("node_modules")
    }

    /// Installed things that are no Node package; ignored by git.
    pub(crate) fn tools(&self) -> PathBuf {
        self.root.join(".tools")
    }

    /// The Python interpreter of the tests' own virtual environment.
    pub(crate) fn python(&self) -> PathBuf {
        self.tools().join("python/bin/python")
    }

    /// Python messages and stubs of `proto/`.
    pub(crate) fn python_stubs(&self) -> PathBuf {
        self.tools().join("python-stubs")
    }

    /// The `toolgate` binary of the dev profile.
    pub(crate) fn binary(&self) -> PathBuf {
        self.target.join("debug/toolgate")
    }

    /// A binary of another profile.
    pub(crate) fn built(&self, profile: &str, binary: &str) -> PathBuf {
        self.target.join(profile).join(binary)
    }

    /// One folder per checkout, also where several checkouts share one cargo target folder.
    pub(crate) fn laws(&self) -> PathBuf {
        self.root.join("target/laws")
    }
}
