//! A plan as commits: each consistent alone, in an order in which stopping after any of them is safe.

use std::{collections::BTreeMap, sync::Arc};

use toolgate_definition::names::{is_valid_served_name, namespaced_name};
use toolgate_domain::{Upstream, tool::Observed, upstream::NamePolicy};
use toolgate_records::{Key, NameHolder, Record};
use toolgate_store::{Commit, CommitError, Condition, Revision, SharedStore};

use super::{
    limits::{COMMIT_BYTES, COMMIT_WRITES},
    naming::claim,
    plan::{Plan, Step},
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
) -> Result<Option<Revision>, CommitError> {
    let mut batch = Commit::new();
    let mut last = None;
    for step in plan.listed.iter().chain(&plan.removed) {
        let part = part(store, &declared.upstream, before, step).await?;
        if batch.writes.len() + part.writes.len() > COMMIT_WRITES
            || bytes(&batch) + bytes(&part) > COMMIT_BYTES
        {
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

/// The same commit, for as long as the client exists and the upstream is declared so: what was listed of a server that it no longer means is of
/// no use.
pub(super) fn while_declared(declared: &Declared, commit: Commit) -> Commit {
    let Declared { upstream, version } = declared;
    commit
        .when(Condition::Equals(Key::Upstream(upstream.client, upstream.id).encode(), *version))
        .when(Condition::Present(Key::Client(upstream.client).encode()))
}

fn bytes(commit: &Commit) -> usize {
    commit.writes.iter().map(toolgate_store::Write::len_bytes).sum()
}

/// All that one tool takes, to be committed together: its row, its text where none is kept, its name where it is free.
async fn part(
    store: &SharedStore,
    upstream: &Upstream,
    before: &Before,
    step: &Step,
) -> Result<Commit, CommitError> {
    let (client, id, name) = (upstream.client, upstream.id, step.name.to_string());
    let version = before.get(&step.name).map_or(Revision::ZERO, |(_, version)| *version);
    let (key, value) = Record::Observed(client, id, name.clone(), step.observed.clone()).encode();
    let mut commit = Commit::new().when(Condition::Equals(key.clone(), version)).put(key, value);
    if let Some(definition) = &step.text {
        let text = definition.text().to_owned();
        commit = unless_kept(
            store,
            commit,
            Record::Definition(client, id, name.clone(), definition.fingerprint(), text),
        )
        .await?;
    }
    match policy_name(upstream, step) {
        Some(served_name) => claimed(store, upstream, commit, served_name, name).await,
        None => Ok(commit),
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

/// The first text seen under a fingerprint stays.
async fn unless_kept(store: &SharedStore, commit: Commit, record: Record) -> Result<Commit, CommitError> {
    let (key, value) = record.encode();
    Ok(match store.get(&key).await? {
        Some(_) => commit,
        None => commit.when(Condition::Absent(key.clone())).put(key, value),
    })
}
