use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{checkout::Checkout, command, error::TaskError};

/// A git worktree with the files as they are now, committed or not; removed when dropped.
///
/// Its cargo target folder stays, so that later runs compile only the workspace.
pub(super) struct Copy {
    root: PathBuf,
    tree: PathBuf,
    target: PathBuf,
}

impl Copy {
    pub(super) fn of(checkout: &Checkout) -> Result<Self, TaskError> {
        let folder = checkout.laws();
        fs::create_dir_all(&folder).map_err(TaskError::file(&folder))?;
        let copy = Self {
            root: checkout.root().to_owned(),
            tree: folder.join("tree"),
            target: folder.join("target"),
        };
        copy.remove();
        let files = copy.write_files_to_git(&folder.join("index"))?;
        copy.git(
            &copy.root,
            &["worktree", "add", "--quiet", "--detach", "--no-checkout"],
            &[&copy.tree, "HEAD".as_ref()],
        )?;
        copy.git(&copy.tree, &["read-tree", "--reset", "-u", &files], &[])?;
        Ok(copy)
    }

    pub(super) fn tree(&self) -> &Path {
        &self.tree
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// An error when the patch no longer fits the code.
    pub(super) fn apply(&self, patch: &Path) -> Result<(), TaskError> {
        command::run(Command::new("git").args(["apply", "--index"]).arg(patch).current_dir(&self.tree))
            .map_err(|_| TaskError::Law("its patch no longer applies; see above".to_owned()))
    }

    pub(super) fn revert(&self, patch: &Path) -> Result<(), TaskError> {
        self.git(&self.tree, &["apply", "--index", "--reverse"], &[patch]).map(drop)
    }

    /// Answers the id of a tree object with every file that git does not ignore. The checkout's own index is not touched.
    fn write_files_to_git(&self, index: &Path) -> Result<String, TaskError> {
        let git = |args: &[&str]| {
            command::output(
                Command::new("git").args(args).current_dir(&self.root).env("GIT_INDEX_FILE", index),
            )
        };
        git(&["read-tree", "HEAD"])?;
        git(&["add", "--all"])?;
        git(&["write-tree"])
    }

    fn git(&self, folder: &Path, args: &[&str], paths: &[&Path]) -> Result<String, TaskError> {
        command::output(Command::new("git").args(args).args(paths).current_dir(folder))
    }

    /// Also of what a run that was killed left behind; there is nothing to do about a failure.
    fn remove(&self) {
        if self.tree.exists() {
            _ = self.git(&self.root, &["worktree", "remove", "--force"], &[&self.tree]);
            _ = fs::remove_dir_all(&self.tree);
        }
        _ = self.git(&self.root, &["worktree", "prune"], &[]);
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        self.remove();
    }
}
