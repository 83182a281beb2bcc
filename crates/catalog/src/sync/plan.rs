//! What a listing changes, compared with what was observed before. Pure.

use std::{collections::BTreeMap, sync::Arc};

use toolgate_definition::Definition;
use toolgate_domain::{Moment, tool::Observed};

use super::reading::{Listed, Reading};

/// What is observed of one tool from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) name: Arc<str>,
    pub(super) observed: Observed,
    /// The definition, where it is another one than before.
    pub(super) definition: Option<Arc<Definition>>,
}

/// All that a listing changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Plan {
    /// New, returned or changed tools, by name.
    pub(super) listed: Vec<Step>,
    /// Tools that are no longer listed, by name.
    pub(super) removed: Vec<Step>,
    pub(super) added_count: usize,
    pub(super) changed_count: usize,
    pub(super) unchanged_count: usize,
}

/// Compares. Without `complete`, nothing is ever removed (law 7).
pub(super) fn plan(
    before: &BTreeMap<Arc<str>, Observed>,
    reading: &Reading,
    complete: bool,
    binding_epoch: u64,
    now: Moment,
) -> Plan {
    let mut plan = Plan::default();
    for (name, listed) in &reading.tools {
        plan.list(name, before.get(name), listed, binding_epoch, now);
    }
    if complete {
        let gone = before.iter().filter(|(name, _)| !reading.tools.contains_key(*name));
        plan.removed = gone.filter_map(|(name, observed)| removal(name, observed, now)).collect();
    }
    plan
}

impl Plan {
    fn list(
        &mut self,
        name: &Arc<str>,
        before: Option<&Observed>,
        listed: &Listed,
        binding_epoch: u64,
        now: Moment,
    ) {
        let fingerprint = listed.definition.fingerprint();
        let given = before.and_then(|before| before.canonical_name.clone());
        let mut observed = Observed {
            fingerprint,
            first_seen_at: before.map_or(now, |before| before.first_seen_at),
            changed_at: now,
            removed_at: None,
            conflicted: listed.conflicted,
            canonical_name: given.or_else(|| listed.canonical_name.clone()),
            binding_epoch,
            earlier: before.map(|before| before.earlier).unwrap_or_default(),
        };
        match before {
            Some(before) if before.removed_at.is_none() && same(before, &observed) => {
                self.unchanged_count += 1;
                if before.binding_epoch == binding_epoch {
                    return;
                }
                // Listed as before, by another endpoint.
                observed.changed_at = before.changed_at;
            }
            Some(before) if before.removed_at.is_none() => self.changed_count += 1,
            _ => self.added_count += 1,
        }
        let kept = before.is_some_and(|before| before.fingerprint == fingerprint);
        let definition = (!kept).then(|| Arc::clone(&listed.definition));
        self.listed.push(Step { name: Arc::clone(name), observed, definition });
    }
}

fn same(before: &Observed, now: &Observed) -> bool {
    before.fingerprint == now.fingerprint
        && before.conflicted == now.conflicted
        && before.canonical_name == now.canonical_name
}

fn removal(name: &Arc<str>, before: &Observed, now: Moment) -> Option<Step> {
    if before.removed_at.is_some() {
        return None;
    }
    let observed = Observed { removed_at: Some(now), changed_at: now, ..before.clone() };
    Some(Step { name: Arc::clone(name), observed, definition: None })
}

/// Whether a definition takes the place of another one.
pub(super) fn replaces(plan: &Plan, before: &BTreeMap<Arc<str>, Observed>) -> bool {
    plan.listed.iter().any(|step| step.definition.is_some() && before.contains_key(&step.name))
}

/// Whether acting on the plan would leave an upstream that had tools without any.
pub(super) fn empties(plan: &Plan, before: &BTreeMap<Arc<str>, Observed>) -> bool {
    let present = before.values().filter(|observed| observed.removed_at.is_none()).count();
    present > 0 && plan.removed.len() == present
}

#[cfg(test)]
mod tests {
    use super::{super::reading::read, *};

    fn at(ms: i64) -> Moment {
        Moment::from_unix_ms(ms)
    }

    fn listing(tools: &[(&str, &str)]) -> Reading {
        let entry = |(name, text): &(&str, &str)| {
            format!(r#"{{"name":"{name}","description":"{text}","inputSchema":{{"type":"object"}}}}"#)
        };
        read(&tools.iter().map(entry).collect::<Vec<_>>(), false)
    }

    fn follow(before: &mut BTreeMap<Arc<str>, Observed>, plan: &Plan) {
        for step in plan.listed.iter().chain(&plan.removed) {
            before.insert(Arc::clone(&step.name), step.observed.clone());
        }
    }

    fn observed(tools: &[(&str, &str)]) -> BTreeMap<Arc<str>, Observed> {
        let mut before = BTreeMap::new();
        let first = plan(&before, &listing(tools), true, 1, at(1));
        follow(&mut before, &first);
        before
    }

    #[test]
    fn law_07_an_incomplete_listing_adds_and_changes_and_never_removes() {
        let before = observed(&[("a", "1"), ("b", "1")]);
        let found = plan(&before, &listing(&[("a", "2"), ("c", "1")]), false, 1, at(2));
        assert_eq!((found.added_count, found.changed_count, found.removed.len()), (1, 1, 0));
        assert!(!empties(&plan(&before, &listing(&[]), false, 1, at(2)), &before));
    }

    #[test]
    fn a_complete_listing_removes_what_it_lacks_once() {
        let mut before = observed(&[("a", "1"), ("b", "1")]);
        let found = plan(&before, &listing(&[("a", "1")]), true, 1, at(2));
        assert_eq!(found.removed.iter().map(|step| &*step.name).collect::<Vec<_>>(), ["b"]);
        follow(&mut before, &found);
        assert_eq!(before["b"].removed_at, Some(at(2)));
        assert_eq!(
            plan(&before, &listing(&[("a", "1")]), true, 1, at(3)),
            Plan { unchanged_count: 1, ..Plan::default() }
        );
    }

    #[test]
    fn a_tool_that_comes_back_keeps_when_it_was_first_seen() {
        let mut before = observed(&[("a", "1"), ("b", "1")]);
        let gone = plan(&before, &listing(&[("a", "1")]), true, 1, at(2));
        follow(&mut before, &gone);
        let back = plan(&before, &listing(&[("a", "1"), ("b", "1")]), true, 1, at(3));
        let step = &back.listed[0];
        assert_eq!((step.observed.first_seen_at, step.observed.removed_at), (at(1), None));
        assert_eq!(step.definition, None, "its text is kept already");
    }

    #[test]
    fn what_another_endpoint_lists_alike_is_noted_and_no_change() {
        let mut before = observed(&[("a", "1")]);
        let found = plan(&before, &listing(&[("a", "1")]), true, 2, at(2));
        assert_eq!((found.unchanged_count, found.changed_count, found.listed.len()), (1, 0, 1));
        follow(&mut before, &found);
        assert_eq!((before["a"].binding_epoch, before["a"].changed_at), (2, at(1)));
        assert_eq!(plan(&before, &listing(&[("a", "1")]), true, 2, at(3)).listed, []);
    }

    #[test]
    fn a_conflict_that_ends_is_a_change_although_the_fingerprint_stays() {
        let mut before = BTreeMap::new();
        let both = plan(&before, &listing(&[("a", "1"), ("a", "2")]), true, 1, at(1));
        follow(&mut before, &both);
        assert!(before["a"].conflicted);
        let smaller = both.listed[0].definition.as_ref().unwrap().description().unwrap().into_owned();
        let one = plan(&before, &listing(&[("a", &smaller)]), true, 1, at(2));
        assert_eq!((one.changed_count, one.listed[0].observed.conflicted), (1, false));
    }

    #[test]
    fn only_a_plan_that_leaves_nothing_is_to_be_confirmed() {
        let before = observed(&[("a", "1"), ("b", "1")]);
        assert!(empties(&plan(&before, &listing(&[]), true, 1, at(2)), &before));
        assert!(!empties(&plan(&before, &listing(&[("b", "1")]), true, 1, at(2)), &before));
        assert!(!empties(&plan(&BTreeMap::new(), &listing(&[]), true, 1, at(2)), &BTreeMap::new()));
    }
}
