//! Names under the policy `repair`: each tool is given its canonical name once, and keeps it.
//!
//! Which tools are seen together decides nothing but who needs a tail: of several that come to one plain name, the one
//! whose own name already reads so keeps it, and the others get a tail of their own.

use std::{collections::BTreeSet, sync::Arc};

use toolgate_definition::names::{Slug, canonical_name, canonical_name_with_tail, namespaced_name};
use toolgate_domain::{Upstream, UpstreamId, upstream::NamePolicy};
use toolgate_records::{Key, NameHolder};
use toolgate_store::{Revision, SharedStore, StoreError};

use super::{reading::Reading, rows, write::Before};

/// Gives a name to every listed tool that has none yet. One for which every name is taken stays without.
pub(super) async fn name_all(
    store: &SharedStore,
    upstream: &Upstream,
    before: &Before,
    reading: &mut Reading,
) -> Result<(), StoreError> {
    if upstream.name_policy != NamePolicy::Repair {
        return Ok(());
    }
    let has_name = |name: &Arc<str>| before.get(name).is_some_and(|(seen, _)| seen.canonical_name.is_some());
    let nameless: Vec<Arc<str>> = reading.tools.keys().filter(|name| !has_name(name)).cloned().collect();
    let mut taken = BTreeSet::new();
    for (name, choices) in choices(&upstream.slug, &nameless) {
        for choice in choices {
            if !taken.contains(&choice) && is_free(store, upstream, &name, &choice).await? {
                taken.insert(choice.clone());
                if let Some(listed) = reading.tools.get_mut(&name) {
                    listed.canonical_name = Some(choice);
                }
                break;
            }
        }
    }
    Ok(())
}

/// The names that each tool may get, best first. Pure; the order of `names` does not matter.
fn choices(slug: &Slug, names: &[Arc<str>]) -> Vec<(Arc<str>, Vec<String>)> {
    let plain: Vec<String> = names.iter().map(|name| canonical_name(slug.as_str(), name)).collect();
    let mut seen = BTreeSet::new();
    let contested: BTreeSet<&String> = plain.iter().filter(|name| !seen.insert(*name)).collect();
    let of = |(name, plain): (&Arc<str>, &String)| {
        let tailed = canonical_name_with_tail(slug.as_str(), name);
        let keeps = !contested.contains(plain) || namespaced_name(slug, name) == *plain;
        let choices = if keeps { vec![plain.clone(), tailed] } else { vec![tailed] };
        (Arc::clone(name), choices)
    };
    names.iter().zip(&plain).map(of).collect()
}

async fn is_free(
    store: &SharedStore,
    upstream: &Upstream,
    name: &Arc<str>,
    choice: &str,
) -> Result<bool, StoreError> {
    let (holder, _) = claim(store, upstream, choice).await?;
    Ok(holder.is_none_or(|holder| holder.upstream == upstream.id && *holder.tool_name == **name))
}

/// Who holds a name, and the version of the row that says so.
pub(super) async fn claim(
    store: &SharedStore,
    upstream: &Upstream,
    name: &str,
) -> Result<(Option<NameHolder>, Revision), StoreError> {
    match rows::holder(store, &Key::NameClaim(upstream.client, name.to_owned())).await? {
        (Some(holder), version)
            if holder.upstream != upstream.id && is_gone(store, upstream, holder.upstream).await? =>
        {
            Ok((None, version))
        }
        found => Ok(found),
    }
}

/// Whether another upstream of the same client was deleted: what it claimed is void then, for its id never comes back.
async fn is_gone(store: &SharedStore, upstream: &Upstream, other: UpstreamId) -> Result<bool, StoreError> {
    Ok(store.get(&Key::Upstream(upstream.client, other).encode()).await?.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_choices(names: &[&str]) -> Vec<(String, String)> {
        let slug = "srv".parse().unwrap();
        let names: Vec<Arc<str>> = names.iter().map(|name| Arc::from(*name)).collect();
        let mut all: Vec<_> = choices(&slug, &names)
            .into_iter()
            .map(|(name, choices)| (name.to_string(), choices[0].clone()))
            .collect();
        all.sort();
        all
    }

    /// BR-003.
    #[test]
    fn of_two_that_come_to_one_name_the_one_that_reads_so_keeps_it_whatever_the_order() {
        let forth = first_choices(&["a.b", "a_b", "c d"]);
        assert_eq!(forth, first_choices(&["c d", "a_b", "a.b"]));
        assert_eq!(forth[0].1, canonical_name_with_tail("srv", "a.b"));
        assert_eq!((forth[1].1.as_str(), forth[2].1.as_str()), ("srv__a_b", "srv__c_d"));
    }

    #[test]
    fn of_two_that_only_come_to_one_name_each_gets_a_tail() {
        let both = first_choices(&["a.b", "a b"]);
        assert!(both.iter().all(|(name, choice)| *choice == canonical_name_with_tail("srv", name)));
        assert_ne!(both[0].1, both[1].1);
    }
}
