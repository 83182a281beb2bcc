//! The walls between the crates, and rules of the repository that no compiler checks.
//!
//! Start reading at the table in `edges`.

mod edges;
mod files;

use cargo_metadata::{Metadata, MetadataCommand};

/// The workspace's own packages, without a look at anything they use.
fn metadata() -> Metadata {
    MetadataCommand::new().no_deps().exec().expect("cargo reads the workspace that it has just built")
}
