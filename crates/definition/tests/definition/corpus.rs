//! Real definitions. They are other projects' data and stand beside the repository, not in it.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};
use toolgate_definition::json::Node;
use toolgate_definition::limits::MAX_LOCKS;
use toolgate_definition::locks::{LockProblem, Locks, check};
use toolgate_definition::{Definition, canonical, scan, served_definition};

use crate::served::names_in;

const FILES: [&str; 2] = ["handed.jsonl", "handed-fetched.jsonl"];

#[test]
fn real_definitions_are_taken_and_keep_their_value() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    for file in FILES {
        let Ok(lines) = fs::read_to_string(folder.join(file)) else {
            println!("corpus absent: {file}");
            continue;
        };
        let mut digest = Sha256::new();
        for line in lines.lines() {
            digest.update(format!("{}\n", checked(line).fingerprint()));
        }
        let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        println!("corpus {file}: {} definitions, digest {digest}", lines.lines().count());
    }
}

/// Each input locked to the default that its schema names, or to null.
#[test]
fn inputs_of_real_definitions_can_be_locked() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    for file in FILES {
        let Ok(lines) = fs::read_to_string(folder.join(file)) else {
            println!("corpus absent: {file}");
            continue;
        };
        let (mut defaults, mut unfit, mut unchecked, mut unremovable) = (0, 0, 0, 0);
        for definition in lines.lines().map(listed) {
            let document = definition.document();
            let schema = document.root().get("inputSchema").expect("a definition has an input schema");
            let inputs = schema.get("properties").into_iter().flat_map(Node::members).take(MAX_LOCKS);
            for (name, input) in inputs {
                let default = input.get("default").map(Node::text);
                let name = Value::from(name.into_owned());
                let lock = format!("{{{name}:{}}}", default.unwrap_or("null"));
                let locks = Locks::parse(&lock).expect(&lock);
                let problem = check(&definition, &locks).into_iter().next().map(|issue| issue.problem);
                defaults += usize::from(default.is_some());
                match problem {
                    None => left_out(&definition, &locks),
                    Some(LockProblem::NoSuchInput) => panic!("{name} of {}", definition.text()),
                    Some(LockProblem::DoesNotFit(_)) => unfit += usize::from(default.is_some()),
                    Some(LockProblem::CannotBeChecked(why)) => {
                        println!("{} {name}: {why}", definition.name());
                        unchecked += 1;
                    }
                    Some(LockProblem::CannotBeRemoved(why)) => {
                        println!("{} {name}: {why}", definition.name());
                        unremovable += 1;
                    }
                }
            }
        }
        println!(
            "corpus {file}: of {defaults} defaults {unfit} do not fit; {unchecked} unchecked, {unremovable} unremovable"
        );
    }
}

fn left_out(definition: &Definition, locks: &Locks) {
    let text = served_definition(definition, None, None, None, locks);
    let served = Definition::parse(&text).expect(&text);
    let document = served.document();
    let schema = document.root().get("inputSchema").expect("a definition has an input schema");
    assert!(names_in(schema).iter().all(|name| !locks.contains(name)), "{text}");
}

fn listed(line: &str) -> Definition {
    let members = scan::object(line).expect("a line is an object");
    let (_, text) = members.iter().find(|(name, _)| name == "tool").expect("a line holds a tool");
    let definition = Definition::parse(text).expect(text);
    assert_eq!(definition.text(), *text);
    definition
}

fn checked(line: &str) -> Definition {
    let definition = listed(line);
    let text = definition.text();
    let form = canonical::to_string(definition.document().root());
    let again = Definition::parse(&form).expect(&form);
    assert_eq!(canonical::to_string(again.document().root()), form);
    assert_eq!(again.fingerprint(), definition.fingerprint());
    let read = |text: &str| serde_json::from_str::<Value>(text).expect("serde_json takes it");
    assert_eq!(numbers_as_doubles(read(&form)), numbers_as_doubles(read(text)));
    definition
}

/// `1` and `1.0` are one value to us and two to serde_json.
fn numbers_as_doubles(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::from(number.as_f64()),
        Value::Array(elements) => elements.into_iter().map(numbers_as_doubles).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, numbers_as_doubles(value))).collect()
        }
        scalar => scalar,
    }
}
