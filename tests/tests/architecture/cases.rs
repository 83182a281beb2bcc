//! Faults that people met in systems like this one. Each has tests that bear its number in their doc comment.

use std::collections::{BTreeMap, BTreeSet};

use crate::files::texts;

/// Number and kind of every case that is answered whole.
const CASES: &[(&str, &str)] = &[
    ("BR-001", "a name is longer than models take"),
    ("BR-003", "two names become one when they are made valid"),
    ("BR-005", "a joined name can be split in two ways"),
    ("BR-007", "a list has pages"),
    ("BR-008", "a page cursor is empty, or repeats"),
    ("BR-011", "a schema holds itself"),
    ("BR-013", "a reference has to be written out"),
    ("BR-015", "a reference leads elsewhere"),
    ("BR-017", "an object schema has no properties"),
    ("BR-019", "a schema is true or false"),
    ("BR-021", "a type is a list"),
    ("BR-023", "a schema is a union at its root"),
    ("BR-025", "one tool of a list is faulty"),
    ("BR-027", "one server is faulty"),
    ("BR-029", "a number is spelled in another way"),
    ("BR-031", "members come in another order"),
    ("BR-033", "a hint changes and nothing else"),
    ("BR-035", "characters that nobody sees"),
    ("BR-037", "two tools have one name"),
    ("BR-039", "an older listing arrives later"),
    ("BR-041", "a member stands twice in one object"),
    ("BR-043", "a schema is nested deeply"),
    ("BR-045", "line ends of every kind"),
    ("BR-047", "a storm of notices"),
    ("BR-049", "a session is forgotten"),
    ("BR-051", "an answer as a stream of events"),
    ("BR-053", "405 and 202 are no failures"),
    ("BR-055", "a server is slow, silent or drips"),
    ("BR-057", "a server wants another credential"),
    ("BR-059", "a redirect"),
    ("BR-061", "a compressed answer"),
    ("BR-063", "an older revision is negotiated"),
    ("BR-065", "a list is empty for a moment"),
    ("BR-067", "an approval meets a changed definition"),
    ("BR-069", "a definition changes after it was approved"),
    ("BR-071", "a call of what is not served"),
    ("BR-073", "a locked input shows, or is overruled"),
    ("BR-075", "a lock stops fitting"),
    ("BR-077", "a call without arguments"),
    ("BR-079", "a call with large integers"),
    ("BR-081", "a result that breaks its schema"),
    ("BR-083", "annotations get lost"),
    ("BR-085", "an owner's words outlive what they describe"),
    ("BR-087", "the order of a list"),
    ("BR-089", "an answer bears another id"),
    ("BR-091", "default values"),
    ("BR-093", "a dot in the name of an input"),
    ("BR-095", "a definition or a list is huge"),
    ("BR-097", "an answer outgrows a message"),
    ("BR-099", "the process dies while it writes"),
    ("BR-101", "the past of a watch is gone"),
    ("BR-103", "a name in a path"),
    ("BR-105", "64-bit numbers in JSON"),
    ("BR-107", "the process is told to stop"),
];

#[test]
fn every_case_has_a_test_that_bears_its_number() {
    let tests = labelled_tests();
    let missing: Vec<_> = CASES.iter().filter(|(number, _)| !tests.contains_key(*number)).collect();
    assert!(missing.is_empty(), "no test is labelled with {missing:?}");
    let known: BTreeSet<_> = CASES.iter().map(|(number, _)| (*number).to_owned()).collect();
    let unknown: Vec<_> = tests.iter().filter(|(number, _)| !known.contains(*number)).collect();
    assert!(unknown.is_empty(), "the tables do not know {unknown:?}");
}

/// Names of the tests of each number: those whose doc comment, right above their attributes, holds it.
fn labelled_tests() -> BTreeMap<String, Vec<String>> {
    let (mut tests, mut lost) = (BTreeMap::<_, Vec<_>>::new(), Vec::new());
    for (file, text) in texts().iter().filter(|(file, _)| file.ends_with(".rs")) {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("//")) {
            for number in numbers(line) {
                match test_below(&lines[index..]) {
                    Some(name) => tests.entry(number).or_default().push(name.to_owned()),
                    None => lost.push(format!("{file}:{}: {number}", index + 1)),
                }
            }
        }
    }
    assert!(lost.is_empty(), "not in the doc comment (`///`) of a test: {lost:?}");
    tests
}

fn numbers(line: &str) -> impl Iterator<Item = String> {
    let prefix = concat!("BR", "-");
    line.match_indices(prefix)
        .map(move |(at, _)| line[at..].chars().take(prefix.len() + 3).collect::<String>())
}

/// The name of the test that the comment at the top of these lines belongs to.
fn test_below<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let mut below = lines.iter().skip_while(|line| line.starts_with("///")).copied();
    let attribute =
        below.next().filter(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"));
    let function = attribute.and(below.next())?;
    function.trim_start_matches("async ").strip_prefix("fn ")?.split('(').next()
}
