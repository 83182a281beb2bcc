//! A plan as commits: each consistent alone, in an order in which stopping after any of them is safe.

use std::{collections::BTreeMap, sync::Arc};

use toolgate_definition::{
    Definition,
    names::{is_valid_served_name, namespaced_name},
};
use toolgate_domain::{
    Upstream,
    tool::{Observed, SeenDefinition},
    upstream::NamePolicy,
};
use toolgate_records::{Key, NameHolder, Record};
use toolgate_store::{Commit, CommitError, Condition, Revision, SharedStore};

use super::{
    history::History,
    limits::{COMMIT_BYTES, COMMIT_CONDITIONS, COMMIT_WRITES},
    naming::claim,
    plan::{Plan, Step},
    rows::{is_approved, seen},
};

/// An upstream with the version of its row.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub(super) upstream: Upstream,
    pub(super) version: Revision,
}

/// What is observed of an upstream's tools, with the versions of the rows.
pub(super) type Before = BTreeMap<Arc<str>, (Observed, Revision)>;

/// Commits the whole plan: what is listed first, what is gone last. Answers the last revision, if anything was written.
pub(super) async fn commit_all(
    store: &SharedStore,
    declared: &Declared,
    before: &Before,
    plan: &Plan,
    history: &mut History,
) -> Result<Option<Revision>, CommitError> {
    let mut batch = Commit::new();
    let mut last = None;
    for step in plan.listed.iter().chain(&plan.removed) {
        let part = part(store, &declared.upstream, before, step, history).await?;
        if !fit_together(&batch, &part) {
            last = Some(store.commit(while_declared(declared, std::mem::take(&mut batch))).await?);
        }
        batch.conditions.extend(part.conditions);
        batch.writes.extend(part.writes);
    }
    if !batch.writes.is_empty() {
        last = Some(store.commit(while_declared(declared, batch)).await?);
    }
    Ok(last)
}

fn fit_together(batch: &Commit, part: &Commit) -> bool {
    batch.writes.len() + part.writes.len() <= COMMIT_WRITES
        && batch.conditions.len() + part.conditions.len() <= COMMIT_CONDITIONS
        && bytes(batch) + bytes(part) <= COMMIT_BYTES
}

/// The same commit, for as long as the client exists and the upstream is declared so: what was listed of a server that it
/// no longer means is of no use.
pub(super) fn while_declared(declared: &Declared, commit: Commit) -> Commit {
    let Declared { upstream, version } = declared;
    commit
        .when(Condition::Equals(Key::Upstream(upstream.client, upstream.id).encode(), *version))
        .when(Condition::Present(Key::Client(upstream.client).encode()))
}

fn bytes(commit: &Commit) -> usize {
    commit.writes.iter().map(toolgate_store::Write::len_bytes).sum()
}

/// All that one tool takes, to be committed together: its row, its definitions where it has another one than before, its
/// name where it is free.
async fn part(
    store: &SharedStore,
    upstream: &Upstream,
    before: &Before,
    step: &Step,
    history: &mut History,
) -> Result<Commit, CommitError> {
    let (former, version) = before.get(&step.name).map_or((None, Revision::ZERO), |(o, v)| (Some(o), *v));
    let mut observed = step.observed.clone();
    let mut commit = Commit::new();
    if let Some(definition) = &step.definition {
        let tool = Part { store, upstream, name: &step.name };
        commit = tool.list(commit, definition, &mut observed, history).await?;
        if let Some(former) = former {
            commit = tool.put_away(commit, former, &mut observed, history).await?;
        }
        history.note(&step.name, observed.earlier);
    }
    let (key, value) =
        Record::Observed(upstream.client, upstream.id, step.name.to_string(), observed).encode();
    let commit = commit.when(Condition::Equals(key.clone(), version)).put(key, value);
    match policy_name(upstream, step) {
        Some(served_name) => claimed(store, upstream, commit, served_name, step.name.to_string()).await,
        None => Ok(commit),
    }
}

/// A tool whose definition is replaced by another one.
struct Part<'a> {
    store: &'a SharedStore,
    upstream: &'a Upstream,
    name: &'a Arc<str>,
}

impl Part<'_> {
    /// The definition that is listed from now on. The first text that was seen under its fingerprint stays, and so does
    /// when that was.
    async fn list(
        &self,
        commit: Commit,
        definition: &Definition,
        observed: &mut Observed,
        history: &mut History,
    ) -> Result<Commit, CommitError> {
        let (now, text) = (observed.changed_at, definition.text().to_owned());
        let key = self.key(observed);
        let (listed, version) = match seen(self.store, &key).await? {
            None => {
                let first = SeenDefinition { text: Some(text), first_seen_at: Some(now), returned_at: None };
                (first, Revision::ZERO)
            }
            Some((once, version)) => {
                history.take_out(&mut observed.earlier, once.text.as_deref());
                let text = once.text.or(Some(text));
                (SeenDefinition { text, returned_at: Some(now), ..once }, version)
            }
        };
        Ok(self.put(commit, observed, listed, version))
    }

    /// The definition that was listed before. Without room its text goes, unless it is approved, and stays so.
    async fn put_away(
        &self,
        commit: Commit,
        former: &Observed,
        observed: &mut Observed,
        history: &mut History,
    ) -> Result<Commit, CommitError> {
        let Some((once, version)) = seen(self.store, &self.key(former)).await? else { return Ok(commit) };
        let Some(text) = &once.text else { return Ok(commit) };
        if history.has_room(observed.earlier, text) {
            history.keep(&mut observed.earlier, text);
            return Ok(commit);
        }
        let ruled = Key::Ruled(self.upstream.client, self.upstream.id, self.name.to_string());
        let (approved, ruled_at) = is_approved(self.store, &ruled, former.fingerprint).await?;
        if approved {
            history.keep(&mut observed.earlier, text);
            return Ok(commit);
        }
        observed.earlier.dropped += 1;
        let commit = commit.when(Condition::Equals(ruled.encode(), ruled_at));
        Ok(self.put(commit, former, SeenDefinition { text: None, ..once }, version))
    }

    fn put(&self, commit: Commit, of: &Observed, seen: SeenDefinition, version: Revision) -> Commit {
        let (client, id, name) = (self.upstream.client, self.upstream.id, self.name.to_string());
        let (key, value) = Record::Definition(client, id, name, of.fingerprint, seen).encode();
        commit.when(Condition::Equals(key.clone(), version)).put(key, value)
    }

    fn key(&self, of: &Observed) -> Key {
        Key::Definition(self.upstream.client, self.upstream.id, self.name.to_string(), of.fingerprint)
    }
}

/// The name that the tool has by its upstream's policy, if agents can be given it.
fn policy_name(upstream: &Upstream, step: &Step) -> Option<String> {
    match upstream.name_policy {
        NamePolicy::Strict => {
            Some(namespaced_name(&upstream.slug, &step.name)).filter(|n| is_valid_served_name(n))
        }
        NamePolicy::Repair => step.observed.canonical_name.clone(),
    }
}

/// Takes the name where it is free; whoever holds it keeps it.
async fn claimed(
    store: &SharedStore,
    upstream: &Upstream,
    commit: Commit,
    served_name: String,
    tool_name: String,
) -> Result<Commit, CommitError> {
    let (holder, version) = claim(store, upstream, &served_name).await?;
    if holder.is_some() {
        return Ok(commit);
    }
    let holder = NameHolder { upstream: upstream.id, tool_name };
    let (key, value) = Record::NameClaim(upstream.client, served_name, Some(holder)).encode();
    Ok(commit.when(Condition::Equals(key.clone(), version)).put(key, value))
}
