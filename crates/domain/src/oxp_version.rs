//! The OXP version of a tool: given with an approval, to a fingerprint, for good.

use std::fmt;

use toolgate_definition::Fingerprint;

use crate::limits::MAX_OXP_VERSIONS_PER_TOOL;

/// The version of one approved definition, `x.0.0`: definitions have no version of their own, and how much one differs
/// from another is not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OxpVersion {
    /// Counted from 1.
    pub major: u64,
}

impl OxpVersion {
    /// Of the first definition that is approved.
    pub const FIRST: Self = Self { major: 1 };
}

impl fmt::Display for OxpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.0.0", self.major)
    }
}

/// The versions that one tool's definitions were given, oldest first.
///
/// No version is ever given to two definitions. Past [`MAX_OXP_VERSIONS_PER_TOOL`] the oldest is let go: its definition, if
/// it is approved again, gets a new version. Which one it had follows from the rulings, which all stay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OxpVersions(Vec<(Fingerprint, OxpVersion)>);

impl OxpVersions {
    /// Of a tool that has had this approval alone.
    pub fn first(approved: Fingerprint) -> Self {
        Self(vec![(approved, OxpVersion::FIRST)])
    }

    /// Those that were given, oldest first.
    pub fn from_given(given: Vec<(Fingerprint, OxpVersion)>) -> Self {
        Self(given)
    }

    /// Each that was given, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (Fingerprint, OxpVersion)> {
        self.0.iter().copied()
    }

    /// The version that a definition was given.
    pub fn of(&self, fingerprint: Fingerprint) -> Option<OxpVersion> {
        self.iter().find(|(given, _)| *given == fingerprint).map(|(_, version)| version)
    }

    /// Gives a definition the next version, unless it has one.
    pub fn give(&mut self, fingerprint: Fingerprint) {
        if self.of(fingerprint).is_some() {
            return;
        }
        let last = self.0.last().map_or(0, |(_, version)| version.major);
        if self.0.len() >= MAX_OXP_VERSIONS_PER_TOOL {
            self.0.remove(0);
        }
        self.0.push((fingerprint, OxpVersion { major: last.saturating_add(1) }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(n: u16) -> Fingerprint {
        let mut bytes = [0; 32];
        bytes[..2].copy_from_slice(&n.to_be_bytes());
        Fingerprint::from_bytes(bytes)
    }

    fn text(versions: &OxpVersions, n: u16) -> Option<String> {
        versions.of(print(n)).map(|version| version.to_string())
    }

    #[test]
    fn a_definition_that_is_approved_again_has_its_old_version_and_a_new_one_the_next() {
        let mut versions = OxpVersions::default();
        for n in [7, 8, 7, 9, 8] {
            versions.give(print(n));
        }
        assert_eq!(text(&versions, 7).as_deref(), Some("1.0.0"));
        assert_eq!(text(&versions, 8).as_deref(), Some("2.0.0"));
        assert_eq!(text(&versions, 9).as_deref(), Some("3.0.0"));
        assert_eq!(text(&versions, 1), None);
    }

    #[test]
    fn past_the_bound_the_oldest_is_let_go_and_no_version_is_given_twice() {
        let most = u16::try_from(MAX_OXP_VERSIONS_PER_TOOL).unwrap();
        let mut versions = OxpVersions::default();
        (0..=most).for_each(|n| versions.give(print(n)));
        assert_eq!((versions.iter().count(), text(&versions, 0)), (MAX_OXP_VERSIONS_PER_TOOL, None));
        assert_eq!(text(&versions, 1).as_deref(), Some("2.0.0"));
        versions.give(print(0));
        assert_eq!(text(&versions, 0), Some(format!("{}.0.0", most + 2)));
    }
}
