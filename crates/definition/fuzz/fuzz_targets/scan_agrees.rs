//! The splitter and the exact parser agree on where every entry of an array or object ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_definition::json::{Document, Kind};
use toolgate_definition::limits::DEFINITION;
use toolgate_definition::scan;

fuzz_target!(|text: &str| {
    let parses = |text: &&str| Document::parse(text, &DEFINITION).is_ok();
    let elements = scan::elements(text).collect::<Result<Vec<_>, _>>().ok();
    let members = scan::object(text).ok();
    match Document::parse(text, &DEFINITION) {
        Ok(document) => {
            let root = document.root();
            let expected =
                (root.kind() == Kind::Array).then(|| root.elements().map(|node| node.text()).collect());
            assert_eq!(elements, expected);
            let expected = (root.kind() == Kind::Object)
                .then(|| root.members().map(|(name, node)| (name, node.text())).collect());
            assert_eq!(members, expected);
        }
        Err(error) if error.code() != "TOO_DEEP" => {
            assert!(!elements.is_some_and(|elements| elements.iter().all(parses)), "{error}");
            assert!(
                !members.is_some_and(|members| members.iter().all(|(_, value)| parses(value))),
                "{error}"
            );
        }
        Err(_) => {}
    }
});
