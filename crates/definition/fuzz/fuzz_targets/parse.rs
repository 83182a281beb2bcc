//! No text makes the parser panic, and what it takes has a canonical form that is its own.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_definition::json::{Document, ParseLimits};
use toolgate_definition::limits::DEFINITION;
use toolgate_definition::{Definition, Fingerprint, canonical, claimed_name};

fuzz_target!(|text: &str| {
    let _ = (Definition::parse(text), claimed_name(text));
    let Ok(document) = Document::parse(text, &DEFINITION) else { return };
    let form = canonical::to_string(document.root());
    // The form may be longer than the text, so it is read without a bound on its size.
    let limits = ParseLimits { max_bytes: usize::MAX, ..DEFINITION };
    let again = Document::parse(&form, &limits).expect("a canonical form is JSON");
    assert_eq!(canonical::to_string(again.root()), form);
    assert_eq!(Fingerprint::of(&again), Fingerprint::of(&document));
});
