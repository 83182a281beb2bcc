use std::{fs, process::Command};

use cargo_metadata::TargetKind;

use crate::metadata;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["common", "helper", "helpers", "manager", "types", "util", "utils"];

// Split, so that this file does not name them either.
const HOME_FOLDERS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!("/wo", "rk/")];
const REGISTRY_HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("deb.debian", ".org"),
    concat!("npmjs", ".com"),
    concat!("npmjs", ".org"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
];

/// Cargo writes the registry of each package into it.
const LOCK_FILE: &str = "Cargo.lock";

#[test]
fn each_crate_opens_with_a_page_about_itself() {
    let is_root = |kind: &TargetKind| matches!(kind, TargetKind::Lib | TargetKind::Bin);
    for target in metadata().packages.iter().flat_map(|package| &package.targets) {
        if target.kind.iter().any(is_root) {
            let text = fs::read_to_string(&target.src_path).expect("cargo names files that exist");
            assert!(text.starts_with("//! "), "{} does not open with what it is for", target.src_path);
        }
    }
}

#[test]
fn each_crate_bears_the_licence_of_the_repository() {
    for package in metadata().packages {
        assert_eq!(package.license.as_deref(), Some("Apache-2.0"), "{}", package.name);
    }
}

#[test]
fn crates_and_modules_are_named_after_what_they_hold() {
    for (file, _) in texts().iter().filter(|(file, _)| file.ends_with(".rs")) {
        let empty = file.split('/').find(|part| EMPTY_NAMES.contains(&part.trim_end_matches(".rs")));
        assert_eq!(empty, None, "{file}");
    }
}

#[test]
fn no_test_is_switched_off() {
    for (file, text) in texts().iter().filter(|(file, _)| file.ends_with(".rs")) {
        assert!(!text.contains(concat!("#[", "ignore")), "{file} has a test that does not run");
    }
}

#[test]
fn no_text_names_a_folder_of_one_machine() {
    for (place, line) in lines(&texts()) {
        assert!(!HOME_FOLDERS.iter().any(|folder| has_path_below(line, folder)), "{place}: {line}");
    }
}

#[test]
fn no_text_names_the_host_of_a_registry() {
    let texts: Vec<_> = texts().into_iter().filter(|(file, _)| file != LOCK_FILE).collect();
    for (place, line) in lines(&texts) {
        assert!(!REGISTRY_HOSTS.iter().any(|host| line.contains(host)), "{place}: {line}");
    }
}

/// Whether an absolute path below this folder stands in the line; a longer path or an address may contain the same letters.
fn has_path_below(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || "._-*}>".contains(before))
    })
}

/// Path and text of each file that git does not ignore, committed yet or not. Files that hold no text are left out.
pub(crate) fn texts() -> Vec<(String, String)> {
    let root = metadata().workspace_root;
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(&root)
        .output()
        .expect("git is a prerequisite");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let files = String::from_utf8(listed.stdout).expect("file names are UTF-8");
    let texts = files
        .split_terminator('\0')
        .filter_map(|file| Some((file.to_owned(), fs::read_to_string(root.join(file)).ok()?)));
    texts.collect()
}

fn lines(texts: &[(String, String)]) -> impl Iterator<Item = (String, &str)> {
    texts.iter().flat_map(|(file, text)| {
        text.lines().enumerate().map(move |(index, line)| (format!("{file}:{}", index + 1), line))
    })
}
