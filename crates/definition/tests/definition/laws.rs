//! Laws 1 and 2 of the design: exact, and a whole fingerprint.

use proptest::prelude::*;
use toolgate_definition::json::{Document, ParseLimits};
use toolgate_definition::{Definition, Fingerprint, canonical};

use crate::values::{Choices, Value, choices, definition, value};

const LIMITS: ParseLimits = ParseLimits { max_bytes: 1 << 20, max_depth: 64 };

fn canonical_of(text: &str) -> String {
    let document = Document::parse(text, &LIMITS).expect(text);
    canonical::to_string(document.root())
}

fn fingerprint_of(text: &str) -> Fingerprint {
    Fingerprint::of(&Document::parse(text, &LIMITS).expect(text))
}

fn listed(definition: &Value, choices: &mut Choices) -> Definition {
    let text = definition.spell(choices);
    Definition::parse(&text).expect(&text)
}

proptest! {
    #[test]
    fn law_01_the_text_is_kept_as_listed(value in definition(), mut choices in choices()) {
        let text = value.spell(&mut choices);
        let definition = Definition::parse(&text).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        prop_assert_eq!(definition.text(), &text);
        let document = definition.document();
        prop_assert_eq!(document.root().text(), text.trim());
        let schema = document.root().get("inputSchema").map(|node| node.text());
        prop_assert_eq!(Some(definition.input_schema_text()), schema);
    }

    #[test]
    fn law_02_spelling_does_not_move_the_fingerprint(value in definition(), mut one in choices(), mut other in choices()) {
        prop_assert_eq!(listed(&value, &mut one).fingerprint(), listed(&value, &mut other).fingerprint());
    }

    #[test]
    fn law_02_any_change_of_a_value_moves_the_fingerprint(value in value(), mut choices in choices()) {
        let mut changed = value.clone();
        changed.change(&mut choices);
        let (before, after) = (value.spell(&mut choices), changed.spell(&mut choices));
        prop_assert_ne!(fingerprint_of(&before), fingerprint_of(&after), "{} and {}", before, after);
    }

    #[test]
    fn two_values_share_a_fingerprint_exactly_when_they_are_equal(
        (left, right) in (value(), value()),
        mut choices in choices(),
    ) {
        let (one, other) = (left.spell(&mut choices), right.spell(&mut choices));
        prop_assert_eq!(fingerprint_of(&one) == fingerprint_of(&other), left == right);
        prop_assert_eq!(canonical_of(&one) == canonical_of(&other), left == right);
    }

    #[test]
    fn the_canonical_form_is_its_own(value in value(), mut choices in choices()) {
        let form = canonical_of(&value.spell(&mut choices));
        prop_assert_eq!(canonical_of(&form), form);
    }

    #[test]
    fn a_fingerprint_is_read_back_from_its_text(value in value(), mut choices in choices()) {
        let fingerprint = fingerprint_of(&value.spell(&mut choices));
        prop_assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
    }
}

/// Each member alone: changed, taken away, and set to null.
#[test]
fn law_02_every_member_of_a_definition_moves_its_fingerprint() {
    let full = r#"{"name":"t","title":"T","description":"d","icons":[],"inputSchema":{"type":"object"},
        "outputSchema":{},"annotations":{"readOnlyHint":true},"execution":{},"_meta":{"v":1},"unheardOf":[0]}"#;
    let document = Document::parse(full, &LIMITS).expect("the text is JSON");
    let fingerprint = Fingerprint::of(&document);
    assert_eq!(document.root().members().count(), 10);
    for (name, value) in document.root().members() {
        let span = value.span();
        let key = format!("\"{name}\":");
        let with = |value: &str| format!("{}{value}{}", &full[..span.start], &full[span.end..]);
        let member = format!("{key}{}", value.text());
        let without = full.replace(&format!("{member},"), "").replace(&format!(",{member}"), "");
        for changed in [with("null"), with("{\"\":0}"), with("\"\u{200b}t\""), without] {
            assert_ne!(fingerprint_of(&changed), fingerprint, "{changed}");
        }
    }
}

#[test]
fn only_the_exact_text_of_a_fingerprint_is_read() {
    let good = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    assert_eq!(good.parse::<Fingerprint>().map(|fingerprint| fingerprint.to_string()).as_deref(), Ok(good));
    for bad in [
        "",
        "sha256:",
        &good[7..],
        &good[..70],
        &format!("{good}0"),
        &format!(" {good}"),
        &good.replace("sha256", "SHA256"),
        &good.replace("sha256", "sha512"),
        &good.replace('a', "A"),
        &good.replace('a', "g"),
        &good.replace("01", "é"),
    ] {
        assert!(bad.parse::<Fingerprint>().is_err(), "{bad}");
    }
}
