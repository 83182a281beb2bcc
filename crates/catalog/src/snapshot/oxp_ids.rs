//! Tools by their OXP ids: the one mapping that lists and calls go by.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use toolgate_definition::names::oxp_ids;
use toolgate_domain::{Tool, UpstreamId};

use super::{Snapshot, ToolEntry, ToolKey};

/// The ids of one upstream's tools. Made when they are first asked for, and shared by every later snapshot that has the
/// same tools.
#[derive(Debug, Default)]
pub(super) struct OxpIds(OnceLock<Ids>);

#[derive(Debug)]
struct Ids {
    /// By the tool's own name.
    of: HashMap<Arc<str>, Arc<str>>,
    /// The tool's own name.
    tool: HashMap<Arc<str>, Arc<str>>,
}

impl Snapshot {
    /// The tool's OXP id without its version. It stays with the tool, whatever its state.
    pub fn oxp_id(&self, tool: &Tool) -> Option<&str> {
        self.oxp_ids_of(tool.upstream)?.of.get(tool.name()).map(|id| &**id)
    }

    /// The tool with this OXP id, which comes without a version.
    pub fn tool_by_oxp_id(&self, id: &str) -> Option<&Arc<ToolEntry>> {
        let may_hold = |slug: &str| id.strip_prefix(slug).is_some_and(|rest| rest.starts_with('.'));
        let upstreams = self.slugs.iter().filter(|(slug, _)| may_hold(slug)).map(|(_, upstream)| *upstream);
        upstreams.into_iter().find_map(|upstream| {
            let name = Arc::clone(self.oxp_ids_of(upstream)?.tool.get(id)?);
            self.tools.get(&ToolKey { upstream, name })
        })
    }

    /// To be called when an upstream's tools are others, or were first seen at another time.
    pub(super) fn renew_oxp_ids(&mut self, upstream: UpstreamId) {
        self.oxp_ids.insert(upstream, Arc::default());
    }

    fn oxp_ids_of(&self, upstream: UpstreamId) -> Option<&Ids> {
        let ids = self.oxp_ids.get(&upstream)?;
        Some(ids.0.get_or_init(|| self.make_oxp_ids(upstream)))
    }

    /// Of all tools that the upstream ever listed: what came later takes no id away from what was there.
    fn make_oxp_ids(&self, upstream: UpstreamId) -> Ids {
        let tools = || self.tools_of(upstream).map(|entry| &entry.tool);
        let seen = tools().map(|tool| (tool.observed.first_seen_at, tool.name()));
        let ids = tools().next().map(|tool| oxp_ids(&tool.slug, seen)).unwrap_or_default();
        let ids = ids.into_iter().map(|(name, id)| (Arc::from(name), Arc::from(id)));
        let of: HashMap<Arc<str>, Arc<str>> = ids.collect();
        let tool = of.iter().map(|(name, id)| (Arc::clone(id), Arc::clone(name))).collect();
        Ids { of, tool }
    }
}
