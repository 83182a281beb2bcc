//! Rust code and the descriptor set of `proto/`, without protoc.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use prost::Message;
use protox::Compiler;

use crate::{checkout::Checkout, command, error::TaskError};

const PACKAGE: &str = "toolgate.v1";

/// Content by file name.
type Files = BTreeMap<String, Vec<u8>>;

/// Replaces what is committed.
pub(crate) fn write(checkout: &Checkout) -> Result<(), TaskError> {
    let folder = checkout.generated();
    let files = generate(checkout)?;
    fs::create_dir_all(&folder).map_err(TaskError::file(&folder))?;
    for name in read_folder(&folder)?.keys().filter(|name| !files.contains_key(*name)) {
        fs::remove_file(folder.join(name)).map_err(TaskError::file(folder.join(name)))?;
    }
    for (name, content) in &files {
        fs::write(folder.join(name), content).map_err(TaskError::file(folder.join(name)))?;
        println!("wrote {}", folder.join(name).display());
    }
    Ok(())
}

/// Compares what is committed with what `proto/` gives; changes nothing.
pub(crate) fn check(checkout: &Checkout) -> Result<(), TaskError> {
    let differing = differing(&read_folder(&checkout.generated())?, &generate(checkout)?);
    if differing.is_empty() { Ok(()) } else { Err(TaskError::Stale(differing)) }
}

fn differing(committed: &Files, generated: &Files) -> Vec<String> {
    let names: std::collections::BTreeSet<_> = committed.keys().chain(generated.keys()).collect();
    let reason = |name: &String| match (committed.get(name), generated.get(name)) {
        (None, _) => Some(format!("{name} is missing")),
        (_, None) => Some(format!("{name} is left over")),
        (Some(old), Some(new)) => (old != new).then(|| format!("{name} differs")),
    };
    names.into_iter().filter_map(reason).collect()
}

fn generate(checkout: &Checkout) -> Result<Files, TaskError> {
    let scratch = tempfile::tempdir().map_err(TaskError::file(std::env::temp_dir()))?;
    let mut compiler = Compiler::new([checkout.proto()])?;
    compiler.include_source_info(true).include_imports(true).open_files(proto_files(checkout)?)?;
    let mut descriptors = compiler.file_descriptor_set();

    tonic_prost_build::configure()
        .out_dir(scratch.path())
        .compile_fds(descriptors.clone())
        .map_err(TaskError::file(scratch.path()))?;
    let code = scratch.path().join(format!("{PACKAGE}.rs"));
    command::output(Command::new("rustfmt").arg("--config-path").arg(checkout.root()).arg(&code))?;

    // Comments and positions are two thirds of the set, and reflection does not need them.
    descriptors.file.iter_mut().for_each(|file| file.source_code_info = None);
    let code = fs::read(&code).map_err(TaskError::file(&code))?;
    Ok(Files::from([
        (format!("{PACKAGE}.rs"), code),
        (format!("{PACKAGE}.descriptor.bin"), descriptors.encode_to_vec()),
    ]))
}

/// The protos of the package in the order of their names, so that the output does not depend on the file system.
pub(crate) fn proto_files(checkout: &Checkout) -> Result<Vec<PathBuf>, TaskError> {
    let folder = checkout.proto().join(PACKAGE.replace('.', "/"));
    let names = read_folder(&folder)?.into_keys();
    Ok(names.filter(|name| name.ends_with(".proto")).map(|name| folder.join(name)).collect())
}

/// The files of a folder; none when it does not exist.
fn read_folder(folder: &Path) -> Result<Files, TaskError> {
    let mut files = Files::new();
    if !folder.is_dir() {
        return Ok(files);
    }
    for entry in fs::read_dir(folder).map_err(TaskError::file(folder))? {
        let path = entry.map_err(TaskError::file(folder))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        files.insert(name, fs::read(&path).map_err(TaskError::file(&path))?);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(entries: &[(&str, &str)]) -> Files {
        entries.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn each_changed_missing_and_surplus_file_is_named() {
        let committed = files(&[("a.rs", "old"), ("b.rs", "same"), ("c.rs", "")]);
        let generated = files(&[("a.rs", "new"), ("b.rs", "same"), ("d.rs", "")]);
        assert_eq!(
            differing(&committed, &generated),
            ["a.rs differs", "c.rs is left over", "d.rs is missing"]
        );
    }
}
