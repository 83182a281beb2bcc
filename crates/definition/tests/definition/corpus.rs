//! Real definitions. They are other projects' data and stand beside the repository, not in it.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};
use toolgate_definition::{Definition, canonical, scan};

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

fn checked(line: &str) -> Definition {
    let members = scan::object(line).expect("a line is an object");
    let (_, text) = members.iter().find(|(name, _)| name == "tool").expect("a line holds a tool");
    let definition = Definition::parse(text).expect(text);
    assert_eq!(definition.text(), *text);
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
