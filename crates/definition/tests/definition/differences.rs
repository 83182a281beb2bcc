//! What [`toolgate_definition::diff`] promises of any two values.

use proptest::prelude::*;
use toolgate_definition::json::{Document, Node, ParseLimits};
use toolgate_definition::{Fingerprint, diff::diff};

use crate::values::{choices, value};

const LIMITS: ParseLimits = ParseLimits { max_bytes: 1 << 20, max_depth: 64 };

/// What stands at a JSON Pointer.
fn at<'a>(document: &'a Document<'_>, path: &str) -> Option<Node<'a>> {
    path.split('/').skip(1).try_fold(document.root(), |node, token| {
        let token = token.replace("~1", "/").replace("~0", "~");
        node.get(&token).or_else(|| node.elements().nth(token.parse().ok()?))
    })
}

proptest! {
    #[test]
    fn there_is_no_difference_exactly_when_the_fingerprints_are_equal(
        (left, right) in prop_oneof![(value(), value()), value().prop_map(|value| (value.clone(), value))],
        mut choices in choices(),
    ) {
        let (one, other) = (left.spell(&mut choices), right.spell(&mut choices));
        let (one, other) = (Document::parse(&one, &LIMITS).unwrap(), Document::parse(&other, &LIMITS).unwrap());
        prop_assert_eq!(diff(&one, &other).is_empty(), Fingerprint::of(&one) == Fingerprint::of(&other));
    }

    #[test]
    fn one_change_makes_few_differences_and_each_names_what_stands_there(value in value(), mut choices in choices()) {
        let mut changed = value.clone();
        changed.change(&mut choices);
        let (old, new) = (value.spell(&mut choices), changed.spell(&mut choices));
        let (old, new) = (Document::parse(&old, &LIMITS).unwrap(), Document::parse(&new, &LIMITS).unwrap());
        let differences = diff(&old, &new);
        // A member that was given another name is gone under one and new under the other.
        prop_assert!((1..=2).contains(&differences.len()), "{:?}", differences);
        for difference in differences {
            for (document, found) in [(&old, difference.old), (&new, difference.new)] {
                let Some(found) = found else { continue };
                prop_assert_eq!(at(document, &difference.path).map(Node::span), Some(found.span()));
            }
        }
    }

    #[test]
    fn both_directions_name_the_same_places((left, right) in (value(), value()), mut choices in choices()) {
        let (left, right) = (left.spell(&mut choices), right.spell(&mut choices));
        let (left, right) = (Document::parse(&left, &LIMITS).unwrap(), Document::parse(&right, &LIMITS).unwrap());
        let paths = |from, to| {
            let mut paths: Vec<_> = diff(from, to).into_iter().map(|difference| difference.path).collect();
            paths.sort();
            paths
        };
        prop_assert_eq!(paths(&left, &right), paths(&right, &left));
    }
}
