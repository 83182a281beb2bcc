//! Real definitions. They are other projects' data and stand beside the repository, not in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};
use toolgate_definition::arguments::{Arguments, InputSchema, Judgement};
use toolgate_definition::json::Node;
use toolgate_definition::limits::MAX_LOCKS;
use toolgate_definition::locks::{LockProblem, Locks, check};
use toolgate_definition::names::{canonical_names, is_valid_served_name, oxp_ids};
use toolgate_definition::projection::{ServerTool, brief, melbis_command, oxp_tool};
use toolgate_definition::{Definition, canonical, scan, served_definition};

use crate::refless::checked as checked_refless;
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

/// Arguments as deep as a call may send them, in every input that a definition names.
#[test]
fn nearly_every_real_input_schema_can_judge_arguments() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    for file in FILES {
        let Ok(lines) = fs::read_to_string(folder.join(file)) else {
            println!("corpus absent: {file}");
            continue;
        };
        let mut judged = 0;
        let mut unjudged = BTreeMap::<(usize, String), usize>::new();
        for definition in lines.lines().map(|line| Arc::new(listed(line))) {
            let schema = InputSchema::new(Arc::clone(&definition));
            for depth in [0, 2, 5] {
                let value = format!("{}1{}", r#"{"a":["#.repeat(depth), "]}".repeat(depth));
                let arguments = Arguments::parse(&format!(r#"{{"a":{value}}}"#)).unwrap();
                match schema.judge(&arguments, &Locks::default()) {
                    Judgement::Fits | Judgement::Misfits(_) => judged += 1,
                    Judgement::CannotBeJudged(why) => *unjudged.entry((depth, why)).or_default() += 1,
                }
            }
        }
        let count: usize = unjudged.values().sum();
        println!("corpus {file}: {judged} judgements, {count} impossible: {unjudged:#?}");
        assert!(count * 50 <= judged, "more than 2 % cannot be judged");
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

#[test]
fn real_definitions_take_every_shape() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    for file in FILES {
        let Ok(lines) = fs::read_to_string(folder.join(file)) else {
            println!("corpus absent: {file}");
            continue;
        };
        let (mut rows, mut types) = (0, BTreeMap::<String, usize>::new());
        let mut servers = BTreeMap::<String, Vec<String>>::new();
        for line in lines.lines() {
            let definition = listed(line);
            rows += shaped(&definition, &mut types);
            let server = scan::object(line).expect("a line is an object")[0].1.to_owned();
            servers.entry(server).or_default().push(definition.name().to_owned());
        }
        servers.values().for_each(|names| named(names));
        println!("corpus {file}: {rows} rows of types {types:?}");
    }
}

/// How many rows its table has.
fn shaped(definition: &Definition, types: &mut BTreeMap<String, usize>) -> usize {
    let text = definition.text();
    let tool = oxp_tool(text).expect(text);
    assert!(!tool.description.is_empty() && brief(&tool.description).chars().count() <= 160);
    let input = tool.input_schema.expect("a definition has an input schema");
    let input_properties =
        serde_json::from_str::<Value>(&input.text).expect("JSON")["properties"].is_object();
    assert!(input_properties, "{}", input.text);
    checked_refless(definition.input_schema_text(), &input);
    let output = tool.output_schema.map(|schema| {
        checked_refless(definition.output_schema_text().expect("it has a projection"), &schema);
        schema.cuts
    });
    for cut in input.cuts.iter().chain(output.iter().flatten()) {
        println!("{}: cut at {:?}: {}", definition.name(), cut.path, cut.reason);
    }
    let entry = ServerTool::read(text).expect("a definition has a name");
    assert_eq!(entry.input_schema_json, Some(definition.input_schema_text()));
    assert_eq!(entry.name, definition.name());
    let params = melbis_command(text).expect(text).params;
    params.iter().for_each(|row| *types.entry(row.value_type.clone()).or_default() += 1);
    params.len()
}

fn named(names: &[String]) {
    let slug = "my-server".parse().expect("a slug");
    let names = || names.iter().map(String::as_str);
    let (canonical, ids) =
        (canonical_names("my-server", names()), oxp_ids(&slug, names().map(|name| ((), name))));
    assert!(canonical.values().all(|name| is_valid_served_name(name)));
    let is_part =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    assert!(ids.values().all(|id| id.split_once('.').is_some_and(|(l, r)| is_part(l) && is_part(r))));
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
