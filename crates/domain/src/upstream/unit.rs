//! An upstream as a unit of the tree that people and agents read: its place there, and what is said of it.

use super::Upstream;
use crate::{
    Violation,
    free_text::{description_violation, is_plain},
    limits,
};

/// What stands between the names of a place in the tree.
pub const PATH_SEPARATOR: &str = " -> ";

/// What a name in the tree neither begins nor ends with.
const TRIMMED: [char; 3] = [' ', '\t', '-'];

impl Upstream {
    /// Its folders, then its display name, else its slug, joined by [`PATH_SEPARATOR`].
    pub fn place(&self) -> String {
        let name = self.display_name.trim_matches(TRIMMED);
        let name = if name.is_empty() { self.slug.as_str() } else { name };
        let names = self.path.iter().map(String::as_str).chain([name]);
        names.collect::<Vec<_>>().join(PATH_SEPARATOR)
    }
}

/// What is wrong with the folders of an upstream.
pub fn path_violations(path: &[String]) -> Vec<Violation> {
    let mut found = Vec::new();
    if path.len() > limits::MAX_PATH_FOLDERS {
        found.push(Violation::new("path", format!("has more than {} folders", limits::MAX_PATH_FOLDERS)));
    }
    for (index, folder) in path.iter().enumerate() {
        if let Some(problem) = folder_problem(folder) {
            found.push(Violation::new(format!("path[{index}]"), problem));
        }
    }
    found
}

fn folder_problem(folder: &str) -> Option<String> {
    let most = limits::MAX_FOLDER_BYTES;
    if folder.is_empty() || folder.len() > most {
        return Some(format!("must have 1 to {most} bytes"));
    }
    if !is_plain(folder) || folder.contains(['\n', '\t']) {
        return Some("holds a control character or a bidirectional override; remove it".to_owned());
    }
    if folder.contains(PATH_SEPARATOR.trim()) || folder.trim_matches(TRIMMED) != folder {
        return Some("must hold no `->`, and neither begin nor end with a space or a `-`".to_owned());
    }
    None
}

/// What is wrong with the description of an upstream, which may be empty.
pub fn unit_description_violation(text: &str) -> Option<Violation> {
    if text.is_empty() { None } else { description_violation(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ClientId, Moment, UpstreamId,
        upstream::{NamePolicy, Transport},
    };

    fn upstream(path: &[&str], display_name: &str) -> Upstream {
        Upstream {
            id: UpstreamId::from_bytes([1; 16]),
            client: ClientId::from_bytes([2; 16]),
            slug: "my-srv".parse().unwrap(),
            display_name: display_name.into(),
            description: String::new(),
            path: path.iter().map(|folder| (*folder).to_owned()).collect(),
            transport: Transport::Stdio { command: "/bin/x".into(), args: Vec::new(), env: Vec::new() },
            name_policy: NamePolicy::Strict,
            is_per_user: false,
            protocol: Default::default(),
            calls: Default::default(),
            binding_epoch: 1,
            created_at: Moment::default(),
        }
    }

    #[test]
    fn a_place_ends_with_the_display_name_or_else_the_slug() {
        assert_eq!(upstream(&["Business"], "Scheduler").place(), "Business -> Scheduler");
        assert_eq!(upstream(&["Products", "Goods"], " - List\t").place(), "Products -> Goods -> List");
        for nameless in ["", " -\t"] {
            assert_eq!(upstream(&[], nameless).place(), "my-srv");
            assert_eq!(upstream(&["Business"], nameless).place(), "Business -> my-srv");
        }
    }

    #[test]
    fn a_folder_that_would_read_as_another_place_is_refused_by_its_position() {
        for wrong in
            ["", " a", "a ", "-a", "a-", "a->b", "a -> b", "a\nb", "a\tb", "a\u{202e}b", &"x".repeat(129)]
        {
            let found = path_violations(&["fine".to_owned(), wrong.to_owned()]);
            assert_eq!(found.iter().map(|found| &*found.field).collect::<Vec<_>>(), ["path[1]"], "{wrong:?}");
        }
        for fine in ["Business", "Ein- und Verkauf", "a > b", "日本", &"x".repeat(128)] {
            assert_eq!(path_violations(&[fine.to_owned()]), [], "{fine:?}");
        }
        let deep = |folders| path_violations(&vec!["a".to_owned(); folders]).len();
        assert_eq!((deep(limits::MAX_PATH_FOLDERS), deep(limits::MAX_PATH_FOLDERS + 1)), (0, 1));
    }

    #[test]
    fn a_description_may_be_empty_and_no_more_blank_than_that() {
        assert_eq!(unit_description_violation(""), None);
        assert_eq!(unit_description_violation("Files.\n\tAll of them."), None);
        for wrong in [" ", "a\u{202e}", &"x".repeat(limits::MAX_DESCRIPTION_CHARS + 1)] {
            assert!(unit_description_violation(wrong).is_some_and(|found| found.field == "description"));
        }
    }
}
