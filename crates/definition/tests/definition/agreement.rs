//! The splitter, the exact parser and another parser agree, on any text at all.

use proptest::prelude::*;
use serde_json::value::RawValue;
use toolgate_definition::json::{Document, Kind, ParseLimits};
use toolgate_definition::names::Slug;
use toolgate_definition::{Definition, Fingerprint, claimed_name, scan};

use crate::values::{choices, value};

const LIMITS: ParseLimits = ParseLimits { max_bytes: 1 << 20, max_depth: 100 };

/// Texts that are nearly JSON.
fn nearly_json() -> impl Strategy<Value = String> {
    let token = prop::sample::select(&[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\"a\"",
        "\"b\":",
        "{\"a\":",
        "[]",
        "{}",
        "0",
        "-",
        "1.5",
        "e9",
        "01",
        "true",
        "nul",
        " ",
        "\n",
        "\\\"",
        "\\u0061",
        "\"\\ud800\"",
        "\u{e9}",
        "\u{feff}",
        "\u{1}",
        "\u{a0}",
    ]);
    prop::collection::vec(token, 0..16).prop_map(|tokens| tokens.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    let mangled = (value(), choices()).prop_map(|(value, mut choices)| {
        let mut characters: Vec<char> = value.spell(&mut choices).chars().collect();
        let place = choices.below(characters.len());
        match choices.below(3) {
            0 => drop(characters.remove(place)),
            1 => characters.insert(place, ['"', '\\', ',', ']', '}', '{'][choices.below(6)]),
            _ => characters.truncate(place),
        }
        characters.into_iter().collect()
    });
    let whole = (value(), choices()).prop_map(|(value, mut choices)| value.spell(&mut choices));
    prop_oneof![nearly_json(), mangled, whole, any::<String>()]
}

fn scanned_elements(text: &str) -> Option<Vec<&str>> {
    scan::elements(text).collect::<Result<_, _>>().ok()
}

fn parses(text: &&str) -> bool {
    Document::parse(text, &LIMITS).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_splitter_finds_the_entries_that_the_parser_finds(text in any_text()) {
        let Ok(document) = Document::parse(&text, &LIMITS) else { return Ok(()) };
        let root = document.root();
        let elements = (root.kind() == Kind::Array).then(|| root.elements().map(|node| node.text()).collect());
        prop_assert_eq!(scanned_elements(&text), elements);
        let members = (root.kind() == Kind::Object)
            .then(|| root.members().map(|(name, node)| (name, node.text())).collect::<Vec<_>>());
        prop_assert_eq!(scan::object(&text).ok(), members);
    }

    #[test]
    fn entries_that_all_parse_make_a_whole_that_parses(text in any_text()) {
        if let Some(elements) = scanned_elements(&text) && elements.iter().all(parses) {
            prop_assert!(parses(&text.as_str()), "{}", text);
        }
        if let Ok(members) = scan::object(&text) && members.iter().all(|(_, value)| parses(value)) {
            prop_assert!(parses(&text.as_str()), "{}", text);
        }
    }

    #[test]
    fn another_parser_takes_what_is_taken_and_refuses_what_is_malformed(text in any_text()) {
        let theirs = serde_json::from_str::<&RawValue>(&text);
        match Document::parse(&text, &LIMITS) {
            Ok(_) => prop_assert!(theirs.is_ok(), "{}", text),
            Err(error) if error.code() == "MALFORMED" => prop_assert!(theirs.is_err(), "{}: {}", error, text),
            Err(_) => {}
        }
    }

    #[test]
    fn no_text_makes_anything_panic(text in any_text()) {
        if let Err(error) = Document::parse(&text, &ParseLimits { max_bytes: 64, max_depth: 2 }) {
            prop_assert!(error.offset_bytes <= text.len());
            prop_assert!(!error.to_string().contains(char::is_control));
        }
        let _ = (Definition::parse(&text), claimed_name(&text), text.parse::<Slug>(), text.parse::<Fingerprint>());
        let scanned = [scan::object(&text).err(), scan::elements(&text).find_map(Result::err)];
        prop_assert!(scanned.into_iter().flatten().all(|error| error.offset_bytes <= text.len()));
    }
}

#[test]
fn one_bad_entry_leaves_the_others_whole() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let listing = format!(
        r#"[{{"name":"good","inputSchema":{{}}}}, {{"name":"bad"}},42 ,null,{{"name":"twice","name":"twice"}},NaN,{deep},{{"a":tru}},"\x"]"#
    );
    let entries = scanned_elements(&listing).expect("the brackets match");
    let codes: Vec<_> =
        entries.iter().map(|entry| Definition::parse(entry).map_err(|fault| fault.code()).err()).collect();
    let expected = [
        None,
        Some("INPUT_SCHEMA_MISSING"),
        Some("NOT_AN_OBJECT"),
        Some("NOT_AN_OBJECT"),
        Some("DUPLICATE_KEY"),
        Some("MALFORMED"),
        Some("TOO_DEEP"),
        Some("MALFORMED"),
        Some("MALFORMED"),
    ];
    assert_eq!(codes, expected);
}

#[test]
fn a_listing_whose_entries_cannot_be_told_apart_is_refused() {
    for text in [
        "",
        "{}",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1]]",
        "[1][",
        "[[1}]",
        "[{]}",
        "[\"a]",
        "[\"a\\\"]",
        "[1:2]",
        "[{\"a\":1]",
        "\u{feff}[]",
    ] {
        assert_eq!(scanned_elements(text), None, "{text}");
    }
}

#[test]
fn an_envelope_that_names_a_member_twice_is_refused() {
    let error =
        scan::object(r#"{"id":1,"result":{},"r\u0065sult":{"a":1}}"#).expect_err("`result` stands twice");
    assert_eq!(error.to_string(), "a member stands twice in one object, at byte 20 in /result");
    let inside = scan::object(r#"{"result":{"a":1,"a":2}}"#).expect("the inside is not read");
    assert_eq!(inside, [("result".into(), r#"{"a":1,"a":2}"#)]);
    let many: Vec<_> = (0..5000).map(|member| format!("\"{member}\":0")).collect();
    let error = scan::object(&format!("{{{}}}", many.join(","))).expect_err("there are too many");
    assert_eq!(error.code(), "TOO_MANY_MEMBERS");
}

#[test]
fn an_error_can_stand_in_a_log_line() {
    let text = r#"{"a\n\u001b\u202e\u200b\udb40\udc41":{"/":[0,"\ud800"]}}"#;
    let error = Document::parse(text, &LIMITS).expect_err("a surrogate stands alone");
    assert_eq!(error.path, "/a\n\u{1b}\u{202e}\u{200b}\u{e0041}/~1/1");
    let shown =
        r"a string holds a lone surrogate escape, at byte 46 in /a\n\u{1b}\u{202e}\u{200b}\u{e0041}/~1/1";
    assert_eq!(error.to_string(), shown);

    let long = format!("{{\"{}\":[tru]}}", "é".repeat(5000));
    let error = Document::parse(&long, &LIMITS).expect_err("`tru` is no literal");
    assert!(error.path.len() <= 1024 + '…'.len_utf8() && error.path.ends_with("é…"));
}

#[test]
fn a_members_value_is_found_by_its_unescaped_name() {
    let text = r#"{"b":1,"\u0061":2,"":3,"é":[{"x":null}],"ab":4}"#;
    let document = Document::parse(text, &LIMITS).expect("the text is JSON");
    let found = |name| document.root().get(name).map(|node| node.text());
    assert_eq!(
        ["a", "b", "", "é", "ab", "c", "\\u0061"].map(found),
        [Some("2"), Some("1"), Some("3"), Some(r#"[{"x":null}]"#), Some("4"), None, None]
    );
    let names: Vec<_> = document.root().members().map(|(name, _)| name).collect();
    assert_eq!(names, ["b", "a", "", "é", "ab"]);
    let inner =
        document.root().get("é").and_then(|list| list.elements().next()).and_then(|node| node.get("x"));
    assert!(
        inner.is_some_and(|node| node.is_null()
            && node.get("x").is_none()
            && node.elements().next().is_none())
    );
}
