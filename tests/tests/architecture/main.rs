//! The walls between the crates, and rules of the repository that no compiler checks.
//!
//! Start reading at the table in `edges`.

mod cases;
mod edges;
mod files;

use cargo_metadata::{Metadata, MetadataCommand};

/// The workspace's own packages, seen from its root, without a look at anything they use.
fn metadata() -> Metadata {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let mut command = MetadataCommand::new();
    command
        .no_deps()
        .manifest_path(manifest)
        .exec()
        .expect("cargo reads the workspace that it has just built")
}
