use std::path::Path;

use thiserror::Error;
use toolgate_upstream::ListingError;

/// The commands that may be started, each with the arguments it must begin with. Empty allows nothing.
///
/// An entry of an interpreter alone allows every program it can run: `/usr/bin/node` lets anybody who may register a
/// stdio upstream run anything, `/usr/bin/node /srv/server.js` does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StdioAllow {
    entries: Vec<Vec<String>>,
}

/// An entry that is no command.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("entry {position} of the stdio allow-list must begin with an absolute path")]
pub struct StdioAllowError {
    /// Counted from 1.
    pub position: usize,
}

impl StdioAllow {
    /// Each entry is an absolute path and leading arguments.
    pub fn new(entries: Vec<Vec<String>>) -> Result<Self, StdioAllowError> {
        let is_command =
            |entry: &Vec<String>| entry.first().is_some_and(|path| Path::new(path).is_absolute());
        match entries.iter().position(|entry| !is_command(entry)) {
            Some(index) => Err(StdioAllowError { position: index + 1 }),
            None => Ok(Self { entries }),
        }
    }

    /// Whether the command with its arguments begins with the words of an entry. Words are compared as they are: no
    /// path is normalised, no link followed.
    pub fn allows(&self, command: &Path, args: &[String]) -> bool {
        self.entries.iter().any(|entry| match entry.split_first() {
            Some((path, leading)) => {
                Path::new(path).as_os_str() == command.as_os_str() && args.starts_with(leading)
            }
            None => false,
        })
    }

    pub(crate) fn admit(&self, command: &Path, args: &[String]) -> Result<(), ListingError> {
        if !self.allows(command, args) {
            let text = "the command with these arguments is not in the stdio allow-list";
            return Err(ListingError::Refused(text.into()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn allows(entries: &[&str], command: &str) -> bool {
        let allow = StdioAllow::new(entries.iter().map(|entry| words(entry)).collect()).unwrap();
        let command = words(command);
        allow.allows(Path::new(&command[0]), &command[1..])
    }

    #[test]
    fn an_empty_list_allows_nothing() {
        assert!(!allows(&[], "/usr/bin/node"));
    }

    #[test]
    fn a_command_is_allowed_when_it_begins_with_the_words_of_an_entry() {
        let list = ["/usr/bin/node /srv/a.js", "/opt/server --stdio"];
        assert!(allows(&list, "/usr/bin/node /srv/a.js"));
        assert!(allows(&list, "/usr/bin/node /srv/a.js --verbose"));
        assert!(allows(&list, "/opt/server --stdio"));
        for refused in [
            "/usr/bin/node",
            "/usr/bin/node -e",
            "/usr/bin/node /srv/a.jsx",
            "/usr/bin/node --require=/tmp/x /srv/a.js",
            "/usr/bin/../bin/node /srv/a.js",
            "/usr/bin//node /srv/a.js",
            "/opt/server",
            "node /srv/a.js",
        ] {
            assert!(!allows(&list, refused), "{refused}");
        }
    }

    #[test]
    fn an_entry_without_an_absolute_path_is_refused_by_its_position() {
        for bad in [vec![], words("node"), words("./node")] {
            let error = StdioAllow::new(vec![words("/bin/a"), bad]).unwrap_err();
            assert_eq!(error, StdioAllowError { position: 2 });
        }
    }
}
