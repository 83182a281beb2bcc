//! What is no longer there, remembered for those who still know it.

use imbl::OrdMap;
use toolgate_domain::{ToolId, limits::MAX_WITHDRAWN_TOOLS};
use toolgate_store::Revision;

use super::{ToolKey, View};

/// A tool that left the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithdrawnTool {
    /// Where it stood.
    pub key: ToolKey,
    /// Whether anything was ever ruled about it. What nobody ruled about was never served.
    pub was_ruled: bool,
}

impl WithdrawnTool {
    /// Its id.
    pub fn id(&self) -> ToolId {
        ToolId::of(self.key.upstream, &self.key.name)
    }

    pub(crate) fn may_have_been_in(&self, view: View) -> bool {
        match view {
            View::Raw => true,
            View::Served => self.was_ruled,
        }
    }
}

/// The tools that left last, up to [`MAX_WITHDRAWN_TOOLS`], and since when none of them is missing.
#[derive(Debug, Clone, Default)]
pub(super) struct Withdrawn {
    /// With whether anything was ruled about the tool.
    tools: OrdMap<(Revision, ToolKey), bool>,
    oldest: Revision,
}

impl Withdrawn {
    pub(super) fn add(&mut self, key: ToolKey, at: Revision, was_ruled: bool) {
        self.tools.insert((at, key), was_ruled);
        self.cut(MAX_WITHDRAWN_TOOLS);
    }

    /// Tools may have left up to `at` that are not remembered.
    pub(super) fn forget_up_to(&mut self, at: Revision) {
        self.oldest = self.oldest.max(at);
    }

    /// Keeps what a former snapshot remembers too, and knows no less far back.
    pub(super) fn inherit(&mut self, former: &Self) {
        self.tools.extend(former.tools.clone());
        self.oldest = former.oldest;
        self.cut(MAX_WITHDRAWN_TOOLS);
    }

    pub(super) fn oldest(&self) -> Revision {
        self.oldest
    }

    pub(super) fn since(&self, revision: Revision) -> impl Iterator<Item = WithdrawnTool> {
        let start = (Revision(revision.0.saturating_add(1)), super::first_key());
        let tools = self.tools.range(start..);
        tools.map(|((_, key), was_ruled)| WithdrawnTool { key: key.clone(), was_ruled: *was_ruled })
    }

    /// Forgets the oldest: who was told of its revision misses nothing, who was told less does.
    fn cut(&mut self, most: usize) {
        while self.tools.len() > most
            && let (Some(((at, _), _)), rest) = self.tools.without_min_with_key()
        {
            self.forget_up_to(at);
            self.tools = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use toolgate_domain::UpstreamId;

    use super::*;

    fn key(name: &str) -> ToolKey {
        ToolKey { upstream: UpstreamId::from_bytes([1; 16]), name: Arc::from(name) }
    }

    #[test]
    fn the_oldest_are_forgotten_first_and_the_oldest_point_to_resume_from_moves() {
        let mut withdrawn = Withdrawn::default();
        for (revision, name) in [(3, "a"), (3, "b"), (5, "c"), (9, "d")] {
            withdrawn.add(key(name), Revision(revision), true);
        }
        assert_eq!(withdrawn.oldest(), Revision::ZERO);
        withdrawn.cut(3);
        assert_eq!(withdrawn.oldest(), Revision(3), "of those that left at 3 not all are known");
        let left = |revision| withdrawn.since(Revision(revision)).map(|tool| tool.key).collect::<Vec<_>>();
        assert_eq!(left(3), [key("c"), key("d")]);
        assert_eq!(left(9), []);
    }

    #[test]
    fn what_a_former_snapshot_remembers_is_kept_with_how_far_back_it_goes() {
        let (mut former, mut fresh) = (Withdrawn::default(), Withdrawn::default());
        former.add(key("a"), Revision(4), false);
        fresh.forget_up_to(Revision(7));
        fresh.inherit(&former);
        assert_eq!((fresh.oldest(), fresh.since(Revision::ZERO).count()), (Revision::ZERO, 1));
    }
}
