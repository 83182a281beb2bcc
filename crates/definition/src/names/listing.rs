//! The names of the tools of one upstream, told apart.
//!
//! Of several tools that come to one plain name, the one whose own name already reads so keeps it; the others take a
//! tail. The order of the listing decides nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::shapes::reads_as_oxp;
use super::{SEPARATOR, Slug, canonical_name, canonical_name_with_tail, oxp_id, oxp_id_with_tail};

/// The canonical name of each tool of one server's listing, by the tool's own name.
pub fn canonical_names<'n>(
    server: &str,
    tools: impl IntoIterator<Item = &'n str>,
) -> BTreeMap<&'n str, String> {
    canonical_names_beside(server, tools, &BTreeSet::new())
}

/// The same, none of them one of `taken`.
pub fn canonical_names_beside<'n>(
    server: &str,
    tools: impl IntoIterator<Item = &'n str>,
    taken: &BTreeSet<String>,
) -> BTreeMap<&'n str, String> {
    told_apart(
        tools,
        &Rule {
            plain: &|tool| canonical_name(server, tool),
            tailed: &|tool| canonical_name_with_tail(server, tool),
            keeps: &|tool, plain| format!("{server}{SEPARATOR}{tool}") == *plain,
        },
        taken,
    )
}

/// The OXP id, without its version, of each tool that one upstream ever listed, by the tool's own name.
///
/// Each comes with when it was first seen: what came later takes no id away from what was there.
pub fn oxp_ids<'n, T: Ord>(
    slug: &Slug,
    tools: impl IntoIterator<Item = (T, &'n str)>,
) -> BTreeMap<&'n str, String> {
    let rule = Rule {
        plain: &|tool| oxp_id(slug, tool),
        tailed: &|tool| oxp_id_with_tail(slug, tool),
        keeps: &|tool, _| reads_as_oxp(tool),
    };
    let mut by_age: BTreeMap<T, Vec<&str>> = BTreeMap::new();
    for (seen, tool) in tools {
        by_age.entry(seen).or_default().push(tool);
    }
    let (mut ids, mut taken) = (BTreeMap::new(), BTreeSet::new());
    for tools in by_age.into_values() {
        let new = told_apart(tools, &rule, &taken);
        taken.extend(new.values().cloned());
        ids.extend(new);
    }
    ids
}

struct Rule<'r> {
    plain: &'r dyn Fn(&str) -> String,
    tailed: &'r dyn Fn(&str) -> String,
    /// Whether a tool keeps a plain name that others come to as well.
    keeps: &'r dyn Fn(&str, &str) -> bool,
}

/// The names of `tools`, none of which is one of `before`.
fn told_apart<'n>(
    tools: impl IntoIterator<Item = &'n str>,
    rule: &Rule<'_>,
    before: &BTreeSet<String>,
) -> BTreeMap<&'n str, String> {
    let plain: BTreeMap<_, _> = tools.into_iter().map(|tool| (tool, (rule.plain)(tool))).collect();
    let mut seen = BTreeSet::new();
    let contested: BTreeSet<&String> = plain.values().filter(|name| !seen.insert(*name)).collect();
    let keeps = |tool: &str, name: &String| {
        !before.contains(name) && (!contested.contains(name) || (rule.keeps)(tool, name))
    };
    let (mut names, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
        plain.iter().map(|(tool, name)| (*tool, name.clone())).partition(|(tool, name)| keeps(tool, name));
    let mut taken: BTreeSet<_> = names.values().chain(before).cloned().collect();
    for tool in others.into_keys() {
        let name = free_tail(tool, rule, &taken);
        taken.insert(name.clone());
        names.insert(tool, name);
    }
    names
}

/// The first tailed name that no other tool spells out. A name is taken by a tool of its own, so the search ends.
fn free_tail(tool: &str, rule: &Rule<'_>, taken: &BTreeSet<String>) -> String {
    let mut salted = tool.to_owned();
    loop {
        let name = (rule.tailed)(&salted);
        if !taken.contains(&name) {
            return name;
        }
        salted.push('\0');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::names::is_valid_served_name;

    fn slug(text: &str) -> Slug {
        text.parse().expect(text)
    }

    /// Of tools that were first seen together.
    fn ids<'n>(of: &str, tools: impl IntoIterator<Item = &'n str>) -> BTreeMap<&'n str, String> {
        oxp_ids(&slug(of), tools.into_iter().map(|tool| ((), tool)))
    }

    /// BR-003, BR-087
    #[test]
    fn of_two_that_come_to_one_name_the_one_that_reads_so_keeps_it_whatever_the_order() {
        for tools in [["a.b", "a_b", "c d"], ["c d", "a_b", "a.b"]] {
            let names = canonical_names("srv", tools);
            assert_eq!(names["a_b"], "srv__a_b");
            assert_eq!(names["a.b"], canonical_name_with_tail("srv", "a.b"));
            assert_eq!(names["c d"], "srv__c_d");
            let ids = ids("my-srv", tools);
            assert_eq!(ids["a_b"], "my_srv.a_b");
            assert_eq!(ids["a.b"], oxp_id_with_tail(&slug("my-srv"), "a.b"));
            assert_eq!(ids["c d"], "my_srv.c_d");
        }
    }

    #[test]
    fn of_two_that_only_come_to_one_name_each_gets_a_tail() {
        for (tool, name) in canonical_names("srv", ["a.b", "a b"]) {
            assert_eq!(name, canonical_name_with_tail("srv", tool));
        }
        for (tool, id) in ids("srv", ["a.b", "a-b"]) {
            assert_eq!(id, oxp_id_with_tail(&slug("srv"), tool));
        }
    }

    #[test]
    fn a_name_that_is_taken_is_given_to_nobody() {
        let taken = BTreeSet::from(["srv__a_b".to_owned(), canonical_name_with_tail("srv", "c.d")]);
        let names = canonical_names_beside("srv", ["a_b", "c.d", "c_d", "e"], &taken);
        assert_eq!(names["a_b"], canonical_name_with_tail("srv", "a_b"));
        assert_eq!((&*names["c_d"], &*names["e"]), ("srv__c_d", "srv__e"));
        assert_eq!(names["c.d"], canonical_name_with_tail("srv", "c.d\0"));
    }

    #[test]
    fn a_tool_that_spells_anothers_tail_does_not_take_its_name() {
        let spelt = oxp_id_with_tail(&slug("srv"), "a.b").replace("srv.", "");
        let ids = ids("srv", ["a.b", "a_b", &spelt]);
        assert_eq!(ids[&*spelt], format!("srv.{spelt}"));
        assert_eq!(ids.values().collect::<BTreeSet<_>>().len(), 3);
    }

    fn is_oxp_id(id: &str) -> bool {
        let part =
            |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        id.split_once('.').is_some_and(|(toolkit, tool)| part(toolkit) && part(tool))
    }

    proptest! {
        #[test]
        fn names_are_valid_and_each_tools_own(
            tools in prop::collection::btree_set("[ab._é-]{1,3}", 0..12),
            any in prop::collection::btree_set(any::<String>().prop_map(|name| format!("n{name}")), 0..4),
        ) {
            let tools: Vec<_> = tools.union(&any).map(String::as_str).collect();
            let (names, by_name) = (canonical_names("a-b", tools.clone()), ids("a-b", tools.clone()));
            for of in [&names, &by_name] {
                prop_assert_eq!(of.values().collect::<BTreeSet<_>>().len(), tools.len());
            }
            prop_assert!(names.values().all(|name| is_valid_served_name(name)));
            prop_assert!(by_name.values().all(|id| is_oxp_id(id)));
            let reversed = tools.into_iter().rev();
            prop_assert_eq!(names, canonical_names("a-b", reversed.clone()));
            prop_assert_eq!(by_name, ids("a-b", reversed));
        }

        #[test]
        fn what_comes_later_takes_no_id_from_what_was_there(
            tools in prop::collection::btree_map("[ab._-]{1,3}", 0..4_u8, 0..12),
            later in prop::collection::btree_set("[ab._-]{1,3}", 0..6),
        ) {
            let slug = slug("srv");
            let there = tools.iter().map(|(name, age)| (*age, name.as_str()));
            let new = later.iter().filter(|name| !tools.contains_key(*name)).map(|name| (9, name.as_str()));
            let (before, after) = (oxp_ids(&slug, there.clone()), oxp_ids(&slug, there.chain(new)));
            prop_assert!(before.iter().all(|(tool, id)| after[tool] == *id));
            prop_assert_eq!(after.values().collect::<BTreeSet<_>>().len(), after.len());
        }
    }
}
