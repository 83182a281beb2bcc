//! Picking a page of tools out of a snapshot.

use std::{collections::BTreeSet, ops::Bound, sync::Arc};

use toolgate_domain::{ToolState, UpstreamId, decision::Reach, limits};

use super::{Sight, Snapshot, ToolEntry, ToolKey, first_key};

/// Which tools a list is about. Empty members do not restrict.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Only this upstream's.
    pub upstream: Option<UpstreamId>,
    /// Only in one of these states.
    pub states: Vec<ToolState>,
    /// Only with exactly this namespaced name.
    pub namespaced_name: Option<String>,
}

/// Where a page ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSize {
    /// After so many tools, or before [`limits::PAGE_DEFINITION_BYTES`].
    AtMost(usize),
    /// At the end of the list.
    Whole,
}

/// A page of tools.
#[derive(Debug, Clone)]
pub struct ToolPage {
    /// In catalogue order.
    pub tools: Vec<Arc<ToolEntry>>,
    /// The last tool of the page, where more follow.
    pub more_after: Option<ToolKey>,
}

impl Filter {
    fn admits(&self, entry: &ToolEntry) -> bool {
        let tool = &entry.tool;
        self.upstream.is_none_or(|upstream| upstream == tool.upstream)
            && (self.states.is_empty() || self.states.contains(&tool.state()))
    }
}

impl Snapshot {
    /// The tools after `after` that `filter` admits and `sight` holds, as many as fit a page.
    pub fn page(&self, sight: &Sight, filter: &Filter, after: Option<&ToolKey>, size: PageSize) -> ToolPage {
        match (&filter.namespaced_name, &sight.reach) {
            (Some(name), _) => {
                let named = self.named(name).filter_map(|key| self.tools.get_key_value(key));
                fill(named, sight, filter, after, size)
            }
            (None, Reach::Everything) => {
                let from = start(filter, after);
                fill(self.tools.range((from, Bound::Unbounded)), sight, filter, after, size)
            }
            (None, Reach::Attached(upstreams)) => {
                fill(self.reached(upstreams, filter, after), sight, filter, after, size)
            }
        }
    }

    /// The tools of these upstreams, from that of `after` on: no other is looked at.
    fn reached<'a>(
        &'a self,
        upstreams: &'a BTreeSet<UpstreamId>,
        filter: &'a Filter,
        after: Option<&ToolKey>,
    ) -> impl Iterator<Item = (&'a ToolKey, &'a Arc<ToolEntry>)> {
        let first = after.map_or(first_key().upstream, |key| key.upstream);
        let wanted = |id: &&UpstreamId| filter.upstream.is_none_or(|upstream| upstream == **id);
        upstreams.range(first..).filter(wanted).flat_map(|id| self.keyed_tools_of(*id))
    }
}

fn start(filter: &Filter, after: Option<&ToolKey>) -> Bound<ToolKey> {
    match (after, filter.upstream) {
        (Some(key), _) => Bound::Excluded(key.clone()),
        (None, Some(upstream)) => Bound::Included(ToolKey { upstream, name: Arc::from("") }),
        (None, None) => Bound::Unbounded,
    }
}

fn fill<'a>(
    candidates: impl Iterator<Item = (&'a ToolKey, &'a Arc<ToolEntry>)>,
    sight: &Sight,
    filter: &Filter,
    after: Option<&ToolKey>,
    size: PageSize,
) -> ToolPage {
    let mut page = ToolPage { tools: Vec::new(), more_after: None };
    let (mut bytes, mut last) = (0, None);
    for (key, entry) in candidates {
        if after.is_some_and(|after| key <= after) || !filter.admits(entry) || !sight.holds(&entry.tool) {
            if past(filter, key) {
                break;
            }
            continue;
        }
        bytes += entry.weight_bytes();
        if let PageSize::AtMost(most) = size
            && !page.tools.is_empty()
            && (page.tools.len() >= most || bytes > limits::PAGE_DEFINITION_BYTES)
        {
            page.more_after = last;
            break;
        }
        last = Some(key.clone());
        page.tools.push(Arc::clone(entry));
    }
    page
}

/// Whether no later tool can be of the asked upstream.
fn past(filter: &Filter, key: &ToolKey) -> bool {
    filter.upstream.is_some_and(|upstream| key.upstream > upstream)
}
