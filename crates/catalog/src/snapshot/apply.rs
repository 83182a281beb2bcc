//! The next snapshot from this one and what a commit wrote: O(changed), never a rebuild.

use std::{collections::BTreeSet, sync::Arc};

use toolgate_definition::{Definition, Fingerprint, locks};
use toolgate_domain::{Tool, ToolId, Upstream, UpstreamId, tool::served_name, upstream::Tombstone};
use toolgate_records::{Key, Record};
use toolgate_store::Revision;

use super::{Grave, Parts, Snapshot, ToolEntry, ToolKey, UpstreamEntry, View};

/// A row with the revision that wrote it.
pub(crate) struct Loaded {
    pub(crate) record: Record,
    pub(crate) version: Revision,
}

/// What to bring a snapshot up to, with every definition that it takes.
#[derive(Default)]
pub(crate) struct Update {
    /// In the order of their keys or of their commit.
    pub(crate) rows: Vec<Loaded>,
    /// Rows that are gone. Whoever deletes leaves a tombstone of the upstream first, for those who load later.
    pub(crate) deleted: Vec<Key>,
    /// Parsed definitions of the observed rows in `rows` that the snapshot does not have yet.
    pub(crate) definitions: Vec<(ToolKey, Arc<Definition>)>,
}

impl Snapshot {
    /// The definition that is held for `key`, if it has this fingerprint.
    pub(crate) fn held(&self, key: &ToolKey, fingerprint: Fingerprint) -> Option<&Arc<Definition>> {
        let definition = &self.tools.get(key)?.tool.definition;
        (definition.fingerprint() == fingerprint).then_some(definition)
    }

    /// The snapshot after `update`, which is everything up to `revision`.
    pub(crate) fn advanced(&self, update: Update, revision: Revision) -> Self {
        let mut next = self.clone();
        let mut touched = BTreeSet::new();
        for Loaded { record, version } in update.rows {
            next.take(record, version, &mut touched);
        }
        let mut bereft = BTreeSet::new();
        for key in update.deleted {
            next.drop_row(key, &mut bereft);
        }
        let mut definitions: std::collections::BTreeMap<_, _> = update.definitions.into_iter().collect();
        next.revision = next.revision.max(revision);
        for key in touched.union(&bereft) {
            let definition = definitions.remove(key);
            // A row that is gone has no version that would tell of the change.
            let at_least = if bereft.contains(key) { revision } else { Revision::ZERO };
            next.rebuild(key, definition, at_least);
        }
        next
    }

    /// This snapshot in place of `former`: whoever follows hears of what left between them.
    pub(crate) fn succeeding(mut self, former: &Self) -> Self {
        self.withdrawn.inherit(&former.withdrawn);
        for (key, entry) in former.tools.iter().filter(|(key, _)| !self.tools.contains_key(*key)) {
            self.withdrawn.add(key.clone(), self.revision, View::Served.may_have_held(&entry.tool));
        }
        self
    }

    /// Tools may have left with an upstream before this snapshot was made; it remembers none of those.
    pub(crate) fn forgetting_who_left(mut self) -> Self {
        let last = self.graves.values().map(|grave| grave.deleted).max();
        self.withdrawn.forget_up_to(last.unwrap_or_default());
        self
    }

    fn drop_row(&mut self, key: Key, touched: &mut BTreeSet<ToolKey>) {
        match key {
            Key::Upstream(_, upstream) => self.drop_upstream(upstream, touched),
            Key::SlugClaim(_, slug) => {
                self.slugs.remove(&slug);
            }
            Key::NameClaim(_, name) => {
                self.touch_named(&name, touched);
                self.claims.remove(&name);
            }
            Key::Listing(_, upstream) => {
                if let Some(entry) = self.upstreams.get_mut(&upstream) {
                    Arc::make_mut(entry).listing = None;
                }
            }
            Key::Observed(_, upstream, name) => {
                let key = ToolKey { upstream, name: Arc::from(name) };
                if let Some(parts) = self.parts.get_mut(&key) {
                    parts.observed = None;
                }
                touched.insert(key);
            }
            Key::Agent(_, id) => self.drop_agent(id),
            // How a tool stood is swept after the tool, and a text is wanted only with its observed row.
            _ => {}
        }
    }

    fn drop_upstream(&mut self, id: UpstreamId, touched: &mut BTreeSet<ToolKey>) {
        self.upstreams.remove(&id);
        self.touch_all_of(id, touched);
    }

    fn take(&mut self, record: Record, version: Revision, touched: &mut BTreeSet<ToolKey>) {
        let key = |upstream, name: &str| ToolKey { upstream, name: Arc::from(name) };
        match record {
            Record::Upstream(upstream) => self.take_upstream(upstream, version, touched),
            Record::SlugClaim(_, slug, upstream) => {
                self.slugs.insert(slug, upstream);
            }
            Record::NameClaim(_, name, holder) => {
                self.touch_named(&name, touched);
                touched.extend(holder.iter().map(|holder| key(holder.upstream, &holder.tool_name)));
                self.claims.insert(name, (holder, version));
            }
            Record::UpstreamTombstone(_, upstream, tombstone) => {
                self.bury(upstream, tombstone, version, touched);
            }
            Record::UpstreamSweep(_, upstream, done) => {
                if let Some(grave) = self.graves.get_mut(&upstream) {
                    grave.is_swept = done;
                }
            }
            Record::Listing(_, upstream, listing) => {
                if let Some(entry) = self.upstreams.get_mut(&upstream) {
                    Arc::make_mut(entry).listing = Some(listing);
                }
            }
            // Not swept yet.
            Record::Observed(_, upstream, ..) | Record::Ruled(_, upstream, ..)
                if self.graves.contains_key(&upstream) => {}
            Record::Observed(_, upstream, name, observed) => {
                let key = key(upstream, &name);
                self.parts.entry(key.clone()).or_default().observed = Some((observed, version));
                touched.insert(key);
            }
            Record::Ruled(_, upstream, name, ruled) => {
                let key = key(upstream, &name);
                self.parts.entry(key.clone()).or_default().ruled = Some((ruled, version));
                touched.insert(key);
            }
            Record::Agent(agent) => self.take_agent(agent, version),
            // Texts come through `Update::definitions`; the others lie outside the catalogue or change no tool.
            Record::Definition(..)
            | Record::Client(..)
            | Record::AgentName(..)
            | Record::AgentDeletions(..)
            | Record::Ruling(..)
            | Record::ChainHead(..)
            | Record::ApiKey(..)
            | Record::Status(..)
            | Record::ApiKeyOwner(..)
            | Record::ClientName(..)
            | Record::Bootstrap(..)
            | Record::DeletedClient(..)
            | Record::KeyCheck(..) => {}
        }
    }

    fn take_upstream(&mut self, upstream: Upstream, version: Revision, touched: &mut BTreeSet<ToolKey>) {
        let id = upstream.id;
        let listing = self.upstreams.get(&id).and_then(|entry| entry.listing.clone());
        self.upstreams.insert(id, Arc::new(UpstreamEntry { upstream, declared: version, listing }));
        self.touch_all_of(id, touched);
    }

    /// The upstream's own rows go in the same commit. Whoever was refused a name that it held has that name now.
    fn bury(
        &mut self,
        id: UpstreamId,
        tombstone: Tombstone,
        deleted: Revision,
        touched: &mut BTreeSet<ToolKey>,
    ) {
        self.graves.insert(id, Grave { tombstone, deleted, is_swept: false });
        // A walk over all names, which a deletion alone takes.
        let held =
            self.claims.iter().filter(|(_, (holder, _))| holder.as_ref().is_some_and(|h| h.upstream == id));
        held.for_each(|(name, _)| self.touch_named(name, touched));
    }

    fn touch_all_of(&self, id: UpstreamId, touched: &mut BTreeSet<ToolKey>) {
        let first = ToolKey { upstream: id, name: Arc::from("") };
        let all = self.parts.range(first..).map(|(key, _)| key).take_while(|key| key.upstream == id);
        touched.extend(all.cloned());
    }

    fn touch_named(&self, name: &str, touched: &mut BTreeSet<ToolKey>) {
        touched.extend(self.named(name).cloned());
    }

    /// Makes the tool anew from its parts. Without an observed row, its text or its upstream there is no tool: not yet,
    /// where the part that is missing touches it again when it comes, or no longer.
    fn rebuild(&mut self, key: &ToolKey, definition: Option<Arc<Definition>>, at_least: Revision) {
        let Some(mut tool) = self.assemble(key, definition) else { return self.withdraw(key) };
        tool.changed = tool.changed.max(at_least);
        if let Some(old) = self.tools.get(key) {
            self.changes.remove(&(old.changed, key.clone()));
            self.names.remove(&(old.tool.namespaced_name(), key.clone()));
        }
        let first_seen = |entry: &ToolEntry| entry.tool.observed.first_seen_at;
        if self.tools.get(key).map(|old| first_seen(old)) != Some(first_seen(&tool)) {
            self.renew_oxp_ids(key.upstream);
        }
        self.ids.insert(tool.tool.id, key.clone());
        self.names.insert((tool.tool.namespaced_name(), key.clone()));
        self.changes.insert((tool.changed, key.clone()));
        self.tools.insert(key.clone(), Arc::new(tool));
    }

    fn withdraw(&mut self, key: &ToolKey) {
        if self.graves.contains_key(&key.upstream) {
            self.parts.remove(key);
        }
        let Some(old) = self.tools.remove(key) else { return };
        self.renew_oxp_ids(key.upstream);
        self.ids.remove(&old.tool.id);
        self.names.remove(&(old.tool.namespaced_name(), key.clone()));
        self.changes.remove(&(old.changed, key.clone()));
        self.withdrawn.add(key.clone(), self.revision, View::Served.may_have_held(&old.tool));
    }

    fn assemble(&self, key: &ToolKey, definition: Option<Arc<Definition>>) -> Option<ToolEntry> {
        let Parts { observed, ruled } = self.parts.get(key)?;
        let (observed, observed_at) = observed.clone()?;
        let (ruled, ruled_at) = ruled.clone().unwrap_or_default();
        let UpstreamEntry { upstream, declared, .. } = &**self.upstreams.get(&key.upstream)?;
        let definition = match definition {
            Some(definition) => definition,
            None => Arc::clone(self.held(key, observed.fingerprint)?),
        };
        let name = served_name(upstream.name_policy, &upstream.slug, &key.name, &observed, &ruled);
        let (claim, claimed_at) = self.claim_of(key, &name);
        let tool = Tool {
            id: ToolId::of(key.upstream, &key.name),
            client: self.client,
            upstream: key.upstream,
            slug: upstream.slug.clone(),
            name_policy: upstream.name_policy,
            lock_issues: locks::check(&definition, &ruled.locks),
            binding_epoch: upstream.binding_epoch,
            definition,
            observed,
            ruled,
            claim,
        };
        Some(ToolEntry { tool, changed: observed_at.max(ruled_at).max(claimed_at).max(*declared) })
    }
}
