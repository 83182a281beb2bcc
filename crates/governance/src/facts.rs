//! The rows that a ruling depends on, read together with the conditions that they are still the same when it is written.

use std::sync::Arc;

use toolgate_catalog::ToolEntry;
use toolgate_definition::{Definition, Fingerprint};
use toolgate_domain::{
    Fault, Tool, Upstream,
    tool::{Observed, Ruled as Standing, served_name},
};
use toolgate_records::{Key, NameHolder, Record};
use toolgate_store::{Condition, Revision, Store};

use crate::{
    rows::read,
    rule::{Rule, Wish},
};

/// What a ruling is judged on.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) observed: Observed,
    /// What is observed.
    pub(crate) definition: Arc<Definition>,
    pub(crate) standing: Standing,
    pub(crate) binding_epoch: u64,
    /// No other tool holds the name that is wished for. Means nothing for another wish.
    pub(crate) name_is_free: bool,
}

/// The facts, and what keeps them true.
pub(crate) struct Found {
    pub(crate) facts: Facts,
    /// The last commit that touched one of them.
    pub(crate) newest: Revision,
    pub(crate) conditions: Vec<Condition>,
    /// Names that change hands if the wish is granted.
    pub(crate) claims: Vec<Record>,
}

/// Reads what `rule`, about the tool of `entry`, depends on.
pub(crate) async fn find(store: &dyn Store, rule: &Rule, entry: &ToolEntry) -> Result<Found, Fault> {
    let tool = &entry.tool;
    let name = || tool.name().to_owned();
    let observed_key = Key::Observed(tool.client, tool.upstream, name());
    let ruled_key = Key::Ruled(tool.client, tool.upstream, name());
    let upstream_key = Key::Upstream(tool.client, tool.upstream);
    let (observed, observed_at) = read(store, &observed_key).await?;
    let (ruled, ruled_at) = read(store, &ruled_key).await?;
    let (upstream, upstream_at) = read(store, &upstream_key).await?;
    let (Some(Record::Observed(.., observed)), Some(Record::Upstream(upstream))) = (observed, upstream)
    else {
        return Err(Fault::ToolNotFound);
    };
    let standing = match ruled {
        Some(Record::Ruled(.., standing)) => standing,
        _ => Standing::default(),
    };
    let newest = observed_at.max(ruled_at).max(upstream_at);
    // Another definition than the reviewed one is refused as that, with the present one.
    let is_other = matches!(rule.wish, Wish::Approve(reviewed) if reviewed != observed.fingerprint);
    let is_stale = rule.based_on.is_some_and(|based_on| based_on != entry.changed || newest > based_on);
    if is_stale && !is_other {
        return Err(Fault::EtagMismatch { current: String::new() });
    }
    let conditions = vec![
        Condition::Equals(observed_key.encode(), observed_at),
        Condition::Equals(ruled_key.encode(), ruled_at),
        Condition::Equals(upstream_key.encode(), upstream_at),
    ];
    let definition = definition(store, tool, observed.fingerprint).await?;
    let binding_epoch = upstream.binding_epoch;
    let facts = Facts { observed, definition, standing, binding_epoch, name_is_free: true };
    let mut found = Found { facts, newest, conditions, claims: Vec::new() };
    if let Wish::Rename(wanted) = &rule.wish {
        find_names(store, tool, &upstream, wanted.as_deref(), &mut found).await?;
    }
    Ok(found)
}

/// The definition that is observed; the entry's own, unless a newer one came meanwhile.
async fn definition(
    store: &dyn Store,
    tool: &Tool,
    fingerprint: Fingerprint,
) -> Result<Arc<Definition>, Fault> {
    if tool.definition.fingerprint() == fingerprint {
        return Ok(Arc::clone(&tool.definition));
    }
    let key = Key::Definition(tool.client, tool.upstream, tool.name().to_owned(), fingerprint);
    let (Some(Record::Definition(.., seen)), _) = read(store, &key).await? else {
        return Err(Fault::Internal { cause: format!("no definition {fingerprint} of tool {}", tool.id) });
    };
    let Some(text) = seen.text else {
        // Only a definition that was replaced since its tool's row was read can be without.
        let cause = format!("definition {fingerprint} of tool {} left while it was read", tool.id);
        return Err(Fault::StoreUnavailable { outcome_unknown: false, cause });
    };
    let parsed = Definition::parse(&text).map_err(|error| Fault::Internal { cause: error.to_string() })?;
    Ok(Arc::new(parsed))
}

/// Who holds the wished name, and which name is given up for it: one that an owner gave, and that the tool does not have
/// by its upstream's policy.
async fn find_names(
    store: &dyn Store,
    tool: &Tool,
    upstream: &Upstream,
    wanted: Option<&str>,
    found: &mut Found,
) -> Result<(), Fault> {
    let holder = NameHolder { upstream: tool.upstream, tool_name: tool.name().to_owned() };
    let Facts { observed, standing, .. } = &found.facts;
    let unruled = Standing::default();
    let own = served_name(upstream.name_policy, &upstream.slug, tool.name(), observed, &unruled);
    let given_up = standing.served_name.clone().filter(|name| *name != own && Some(name.as_str()) != wanted);
    if let Some(name) = wanted {
        let (present, version) = claim(store, tool, name).await?;
        found.facts.name_is_free = present.is_none_or(|present| present == holder);
        found
            .conditions
            .push(Condition::Equals(Key::NameClaim(tool.client, name.to_owned()).encode(), version));
        found.claims.push(Record::NameClaim(tool.client, name.to_owned(), Some(holder.clone())));
    }
    if let Some(name) = given_up {
        let (present, version) = claim(store, tool, &name).await?;
        if present == Some(holder) {
            found
                .conditions
                .push(Condition::Equals(Key::NameClaim(tool.client, name.clone()).encode(), version));
            found.claims.push(Record::NameClaim(tool.client, name, None));
        }
    }
    Ok(())
}

async fn claim(store: &dyn Store, tool: &Tool, name: &str) -> Result<(Option<NameHolder>, Revision), Fault> {
    let (record, version) = read(store, &Key::NameClaim(tool.client, name.to_owned())).await?;
    let Some(Record::NameClaim(_, _, Some(holder))) = record else { return Ok((None, version)) };
    // A claim ends with its upstream, whose id never comes back.
    let is_void = holder.upstream != tool.upstream
        && read(store, &Key::Upstream(tool.client, holder.upstream)).await?.0.is_none();
    Ok((Some(holder).filter(|_| !is_void), version))
}
