use serde_json::Value;
use toolgate_definition::json::Document;
use toolgate_definition::limits::DEFINITION;
use toolgate_definition::{Fingerprint, canonical};

fn vectors(list: &str) -> Vec<Value> {
    let vectors: Value =
        serde_json::from_str(include_str!("../../vectors/fingerprint.json")).expect("the vectors are JSON");
    vectors[list].as_array().cloned().expect(list)
}

fn member<'a>(vector: &'a Value, name: &str) -> &'a str {
    vector[name].as_str().expect(name)
}

#[test]
fn every_accepted_vector_gives_its_canonical_form_and_fingerprint() {
    let vectors = vectors("accepted");
    assert!(vectors.len() >= 60);
    for vector in &vectors {
        let (about, text) = (member(vector, "about"), member(vector, "text"));
        let document = Document::parse(text, &DEFINITION).unwrap_or_else(|error| panic!("{about}: {error}"));
        assert_eq!(canonical::to_string(document.root()), member(vector, "canonical"), "{about}");
        assert_eq!(Fingerprint::of(&document).to_string(), member(vector, "fingerprint"), "{about}");
    }
}

#[test]
fn every_refused_vector_is_refused_for_its_reason() {
    let vectors = vectors("refused");
    assert!(vectors.len() >= 42);
    for vector in &vectors {
        let code = Document::parse(member(vector, "text"), &DEFINITION).map_err(|error| error.code());
        assert_eq!(code.err(), Some(member(vector, "code")), "{}", member(vector, "about"));
    }
}
