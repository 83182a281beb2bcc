use std::{
    borrow::Cow,
    fs,
    path::{Path, PathBuf},
};

use crate::{checkout::Checkout, error::TaskError};

/// Opens the line above the diff that names the packages whose tests are run.
const PACKAGES: &str = "# packages:";

/// A file `tests/laws/law_NN.patch`, or `law_NN_what.patch` where a law has several wirings.
pub(super) struct Patch {
    number: u8,
    file: PathBuf,
    packages: Vec<String>,
}

impl Patch {
    /// The file's name without its ending: the law, and which of its wirings.
    pub(super) fn name(&self) -> Cow<'_, str> {
        self.file.file_stem().unwrap_or_default().to_string_lossy()
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn packages(&self) -> &Vec<String> {
        &self.packages
    }

    /// What the names of the law's tests begin with.
    pub(super) fn test_prefix(&self) -> String {
        format!("law_{:02}_", self.number)
    }

    fn read(file: PathBuf, number: u8) -> Result<Self, TaskError> {
        let text = fs::read_to_string(&file).map_err(TaskError::file(&file))?;
        let packages = packages(&text);
        if packages.is_empty() {
            return Err(TaskError::Law(format!(
                "{}: no line `{PACKAGES} NAME…` above the diff",
                file.display()
            )));
        }
        Ok(Self { number, file, packages })
    }
}

/// The patches of these laws, or of all laws that have one, in the order of the laws.
pub(super) fn find(checkout: &Checkout, numbers: &[u8]) -> Result<Vec<Patch>, TaskError> {
    let folder = checkout.root().join("tests/laws");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(TaskError::file(&folder))? {
        let entry = entry.map_err(TaskError::file(&folder))?;
        if let Some(number) = number(&entry.file_name().to_string_lossy()) {
            found.push((number, entry.path()));
        }
    }
    found.sort();
    if let Some(number) = numbers.iter().find(|number| !found.iter().any(|(known, _)| known == *number)) {
        return Err(TaskError::Law(format!("law {number:02} has no patch in tests/laws")));
    }
    let is_wanted = |number: &u8| numbers.is_empty() || numbers.contains(number);
    found
        .into_iter()
        .filter(|(number, _)| is_wanted(number))
        .map(|(number, file)| Patch::read(file, number))
        .collect()
}

fn number(file_name: &str) -> Option<u8> {
    let name = file_name.strip_prefix("law_")?.strip_suffix(".patch")?;
    name.split_once('_').map_or(name, |(number, _)| number).parse().ok()
}

fn packages(text: &str) -> Vec<String> {
    let above = text.lines().take_while(|line| !line.starts_with("diff ") && !line.starts_with("--- "));
    above
        .filter_map(|line| line.strip_prefix(PACKAGES))
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_above_the_diff_alone() {
        let text = "# Law 9\n# packages: toolgate-a toolgate-b\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n# packages: toolgate-c\n";
        assert_eq!(packages(text), ["toolgate-a", "toolgate-b"]);
    }

    #[test]
    fn only_files_of_laws_are_patches() {
        assert_eq!(number("law_09.patch"), Some(9));
        assert_eq!(number("law_14.patch"), Some(14));
        assert_eq!(number("law_03_condition.patch"), Some(3));
        assert_eq!(number("README.md"), None);
        assert_eq!(number("law_9a.patch"), None);
        assert_eq!(number("law_.patch"), None);
    }
}
