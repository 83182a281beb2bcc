//! What agents call the tools of a server's list by.

use std::collections::{BTreeMap, BTreeSet};

use toolgate_definition::names::{canonical_name, canonical_names_beside, is_valid_served_name};
use toolgate_domain::{Tool, Upstream, tool::NameClaim};

use super::reading::Parts;
use crate::Snapshot;

/// By the server's own name. A tool that the catalogue has keeps the name that it has there, if agents can be given it;
/// the others get a canonical name that no tool has.
pub(super) fn canonical_names_of<'n>(
    snapshot: &Snapshot,
    upstream: &Upstream,
    listed: &'n [Parts],
) -> BTreeMap<&'n str, String> {
    let known: BTreeMap<&str, String> = snapshot
        .tools_of(upstream.id)
        .filter_map(|entry| Some((entry.tool.name(), usable_name(&entry.tool)?)))
        .collect();
    let listed = || listed.iter().map(|parts| parts.name.as_str());
    let new = || listed().filter(|name| !known.contains_key(name));
    let slug = upstream.slug.as_str();
    let theirs = new().map(|name| canonical_name(slug, name)).filter(|name| snapshot.is_a_tools_name(name));
    let taken: BTreeSet<String> = theirs.chain(known.values().cloned()).collect();
    let mut names = canonical_names_beside(slug, new(), &taken);
    names.extend(listed().filter_map(|name| Some((name, known.get(name)?.clone()))));
    names
}

fn usable_name(tool: &Tool) -> Option<String> {
    let name = tool.namespaced_name();
    (tool.claim == NameClaim::Held && is_valid_served_name(&name)).then_some(name)
}
