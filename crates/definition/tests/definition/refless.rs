//! Schemas without references.

use jsonschema::{Draft, Validator};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolgate_definition::json::{Document, Node, ParseLimits};
use toolgate_definition::limits::{
    MAX_DEFINITION_DEPTH, MAX_INLINED_BYTES, MAX_INLINED_DEPTH, MAX_LISTED_CUTS, SERVED_DEFINITION,
};
use toolgate_definition::projection::{CutReason, Refless, refless, refless_input};

fn inlined(schema: &str) -> Refless {
    refless(schema).expect(schema)
}

/// The text alone, where nothing may be cut.
fn whole(schema: &str) -> String {
    let refless = inlined(schema);
    assert_eq!(refless.cuts, [], "{schema}");
    refless.text
}

fn cuts(schema: &str) -> Vec<(String, CutReason)> {
    inlined(schema).cuts.into_iter().map(|cut| (cut.path, cut.reason)).collect()
}

/// BR-013
#[test]
fn a_reference_is_replaced_by_what_it_leads_to_and_keeps_its_description() {
    let schema = r##"{"type":"object","properties":{"cond":{"$ref":"#/$defs/Cond","description":"which orders"},
        "alt":{"anyOf":[{"$ref":"#/$defs/Cond"},{"type":"null"}]}},"required":["cond"],
        "$defs":{"Cond":{"type":"object","properties":{"id":{"type":"integer"},"sn":{"type":"string"}},"required":["id","sn"]}}}"##;
    let cond = r#""type":"object","properties":{"id":{"type":"integer"},"sn":{"type":"string"}},"required":["id","sn"]"#;
    assert_eq!(
        whole(schema),
        format!(
            r#"{{"type":"object","properties":{{"cond":{{{cond},"description":"which orders"}},"alt":{{"anyOf":[{{{cond}}},{{"type":"null"}}]}}}},"required":["cond"]}}"#
        )
    );
}

#[test]
fn every_local_reference_is_followed() {
    for (schema, left) in [
        (r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}"##, r#"{"type":"object"}"#),
        (
            r##"{"items":{"$ref":"#/definitions/a~1b"},"definitions":{"a/b":{"a":1.0}}}"##,
            r#"{"items":{"a":1.0}}"#,
        ),
        (
            r##"{"items":{"$ref":"#/x-parts/0"},"x-parts":[{"a":1}]}"##,
            r#"{"items":{"a":1},"x-parts":[{"a":1}]}"#,
        ),
        (
            r##"{"items":{"$ref":"#n"},"$defs":{"a":{"$anchor":"n","title":"A"}}}"##,
            r#"{"items":{"title":"A"}}"#,
        ),
        (
            r##"{"items":{"$ref":"#n"},"definitions":{"a":{"$id":"#n","title":"A"}}}"##,
            r#"{"items":{"title":"A"}}"#,
        ),
        (
            r##"{"$id":"https://h/s.json","items":{"$ref":"https://h/s.json#/$defs/a"},"$defs":{"a":{"title":"A"}}}"##,
            r#"{"items":{"title":"A"}}"#,
        ),
        (
            r##"{"items":{"$id":"https://h/i","$ref":"#/$defs/a","$defs":{"a":{"title":"in"}}},"$defs":{"a":{"title":"out"}}}"##,
            r#"{"items":{"title":"in"}}"#,
        ),
        (
            r##"{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/c"},"c":{}}}"##,
            r#"{"items":{}}"#,
        ),
        (r##"{"items":{"$ref":"#/$defs/a"},"$defs":{"a":true}}"##, r#"{"items":{}}"#),
        (r##"{"items":{"$ref":"#/$defs/a"},"$defs":{"a":false}}"##, r#"{"items":{"not":{}}}"#),
        (
            r##"{"contentSchema":{"$ref":"#/$defs/a"},"$defs":{"a":{"title":"A"}}}"##,
            r#"{"contentSchema":{"title":"A"}}"#,
        ),
        (
            r##"{"dependencies":{"a":["b"],"c":{"$ref":"#/$defs/a"}},"items":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"title":"A"}}}"##,
            r#"{"dependencies":{"a":["b"],"c":{"title":"A"}},"items":[{"title":"A"}]}"#,
        ),
    ] {
        assert_eq!(whole(schema), left, "{schema}");
    }
}

#[test]
fn what_stands_beside_a_reference_stays() {
    let with = |beside: &str| {
        whole(&format!(
            r##"{{"items":{{{beside}}},"$defs":{{"a":{{"type":"object","title":"A","description":"listed","minProperties":1}}}}}}"##
        ))
    };
    for (beside, left) in [
        (
            r##""title":"mine","$ref":"#/$defs/a","default":{}"##,
            r#""title":"mine","type":"object","description":"listed","minProperties":1,"default":{}"#,
        ),
        (
            r##""type":"object","$ref":"#/$defs/a""##,
            r#""type":"object","title":"A","description":"listed","minProperties":1"#,
        ),
        (
            r##""$ref":"#/$defs/a","minProperties":2,"description":"mine""##,
            r#""allOf":[{"type":"object","title":"A","description":"listed","minProperties":1}],"minProperties":2,"description":"mine""#,
        ),
        (
            r##""allOf":[{"maxProperties":3}],"$ref":"#/$defs/a""##,
            r#""allOf":[{"maxProperties":3},{"type":"object","title":"A","description":"listed","minProperties":1}]"#,
        ),
    ] {
        assert_eq!(with(beside), format!(r#"{{"items":{{{left}}}}}"#), "{beside}");
    }
    let old = r##"{"$schema":"http://json-schema.org/draft-07/schema#","items":{"$ref":"#/definitions/a","minLength":3,"description":"mine"},
        "definitions":{"a":{"type":"string","description":"listed"}}}"##;
    assert_eq!(
        whole(old),
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":{"type":"string","description":"mine"}}"#
    );
}

#[test]
fn only_what_stands_where_a_schema_stands_is_a_reference() {
    let schema = r##"{"properties":{"$ref":{"type":"string"},"$defs":{"type":"string"},"definitions":true,"$id":{}},"enum":[{"$ref":"#/x"}],
        "const":{"$defs":{}},"default":{"$ref":"#/x", "n":1.0},"examples":[{"definitions":{}}],"x-own":{"$ref":"#/x"},"required":["$ref"]}"##;
    assert_eq!(whole(schema), schema.replace("\n        ", ""));
}

/// BR-011
#[test]
fn a_cycle_is_cut_where_it_closes() {
    let ring = r##"{"type":"object","properties":{"root":{"$ref":"#/$defs/A"}},
        "$defs":{"A":{"allOf":[{"$ref":"#/$defs/B"}]},"B":{"allOf":[{"$ref":"#/$defs/A"}]}}}"##;
    assert_eq!(inlined(ring).text, r#"{"type":"object","properties":{"root":{"allOf":[{"allOf":[{}]}]}}}"#);
    assert_eq!(cuts(ring), [("/properties/root/allOf/0/allOf/0".to_owned(), CutReason::Cycle)]);

    let tree = r##"{"$ref":"#/$defs/N","$defs":{"N":{"description":"a node","properties":{"own":{"$ref":"#/$defs/N","description":"mine"},
        "next":{"$ref":"#/$defs/N"},"all":{"items":{"$ref":"#"}}}}}}"##;
    assert_eq!(
        inlined(tree).text,
        r#"{"description":"a node","properties":{"own":{"description":"mine"},"next":{"description":"a node"},"all":{"items":{}}}}"#
    );
    let itself = r##"{"$ref":"#","title":"t"}"##;
    assert_eq!(
        (inlined(itself).text, cuts(itself)),
        (r#"{"title":"t"}"#.to_owned(), vec![(String::new(), CutReason::Cycle)])
    );
}

/// BR-015
#[test]
fn a_reference_that_leads_out_or_nowhere_takes_everything() {
    for (reference, reason) in [
        (r#""$ref":"http://169.254.169.254/latest/meta-data/""#, CutReason::NotFollowed),
        (r#""$ref":"file:///etc/passwd""#, CutReason::NotFollowed),
        (r#""$ref":"other.json#/a""#, CutReason::NotFollowed),
        (r#""$ref":"""#, CutReason::NotFollowed),
        (r#""$ref":7"#, CutReason::NotFollowed),
        (r##""$dynamicRef":"#a""##, CutReason::NotFollowed),
        (r##""$recursiveRef":"#""##, CutReason::NotFollowed),
        (r##""$ref":"#/$defs/b""##, CutReason::Missing),
        (r##""$ref":"#nowhere""##, CutReason::Missing),
        (r##""$ref":"#/$defs/list""##, CutReason::Missing),
        (r##""$ref":"#/$defs/based/items""##, CutReason::NotFollowed),
    ] {
        let schema = format!(
            r##"{{"properties":{{"c":{{{reference},"description":"d"}}}},"$defs":{{"list":[],"based":{{"$id":"http://h/","items":{{}}}}}}}}"##
        );
        assert_eq!(inlined(&schema).text, r#"{"properties":{"c":{"description":"d"}}}"#, "{reference}");
        assert_eq!(cuts(&schema), [("/properties/c".to_owned(), reason)], "{reference}");
    }
}

#[test]
fn what_turns_more_into_less_goes_with_a_cut() {
    let out = r#"{"$ref":"http://h/"}"#;
    for (schema, left) in [
        (format!(r#"{{"not":{out},"title":"t"}}"#), r#"{"title":"t"}"#),
        (format!(r#"{{"not":{{"not":{out}}}}}"#), "{}"),
        (format!(r#"{{"then":false,"if":{{"items":{out}}},"else":{{}},"title":"t"}}"#), r#"{"title":"t"}"#),
        (format!(r#"{{"if":{{}},"then":{out}}}"#), r#"{"if":{},"then":{}}"#),
        (format!(r#"{{"oneOf":[{out},{{"type":"null"}}]}}"#), r#"{"anyOf":[{},{"type":"null"}]}"#),
        (format!(r#"{{"anyOf":[{{}}],"oneOf":[{out}]}}"#), r#"{"anyOf":[{}]}"#),
        (format!(r#"{{"contains":{out},"minContains":2}}"#), r#"{"contains":{},"minContains":2}"#),
        (format!(r#"{{"maxContains":3,"contains":{out},"minContains":2}}"#), "{}"),
        (r#"{"$ref":"http://h/","unevaluatedProperties":false}"#.to_owned(), "{}"),
        (format!(r#"{{"prefixItems":[{out}],"unevaluatedItems":false}}"#), r#"{"prefixItems":[{}]}"#),
    ] {
        assert_eq!(inlined(&schema).text, left, "{schema}");
    }
}

/// BR-017
#[test]
fn an_input_schema_without_properties_gets_empty_ones() {
    for (schema, left) in [
        ("{}", r#"{"properties":{}}"#),
        (r#"{"type":"object"}"#, r#"{"type":"object","properties":{}}"#),
        (r#"{"properties":null,"type":"object"}"#, r#"{"type":"object","properties":{}}"#),
        (r#"{"properties":{"a":{"properties":null}}}"#, r#"{"properties":{"a":{}}}"#),
        (r##"{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"b":{}}}}}"##, r#"{"properties":{"b":{}}}"#),
        (
            r##"{"properties":null,"$ref":"#/$defs/a","$defs":{"a":{"properties":{"b":{}}}}}"##,
            r#"{"properties":{"b":{}}}"#,
        ),
    ] {
        assert_eq!(refless_input(schema).expect(schema).text, left);
    }
    assert_eq!(whole(r#"{"properties":null}"#), "{}");
}

/// BR-019
#[test]
fn boolean_schemas_stay_and_the_root_is_always_an_object() {
    let schema = r#"{"properties":{"refresh":true,"never":false},"additionalProperties":false}"#;
    assert_eq!(whole(schema), schema);
    assert_eq!(whole("true"), "{}");
    assert_eq!(whole("false"), r#"{"not":{}}"#);
    assert_eq!(refless_input("false").expect("JSON").text, r#"{"not":{},"properties":{}}"#);
}

/// BR-087, BR-093
#[test]
fn order_and_spelling_stay_as_listed() {
    let schema = r#"{"type":"object","properties":{"projects.any":{"default":1.0},"b":{"maximum":12345678901234567890},"\u0061":{"enum":[1e2, 0.10]},"projects_any":{}},"required":["b","projects.any"]}"#;
    assert_eq!(whole(schema), schema);
    assert_eq!(whole(&schema.replace(",\"type", " , \"type").replace("{\"enum", "{ \"enum")), schema);
}

fn nest(open: &str, close: &str, times: usize) -> String {
    format!("{}{{}}{}", open.repeat(times), close.repeat(times))
}

/// BR-043
#[test]
fn a_deep_schema_stays_whole() {
    let deep = nest(r#"{"type":"object","properties":{"a":"#, "}}", 60);
    assert_eq!(whole(&deep), deep);
    let too_deep = nest(r#"{"properties":{"a":"#, "}}", 64);
    assert_eq!(refless(&too_deep).map_err(|error| error.code()), Err("TOO_DEEP"));
}

fn chain(last: &str, link: impl Fn(usize) -> String, length: usize) -> String {
    let links: Vec<_> = (0..length).map(|at| format!("\"{at}\":{}", link(at + 1))).collect();
    format!(r##"{{"items":{{"$ref":"#/$defs/0"}},"$defs":{{{},"{length}":{last}}}}}"##, links.join(","))
}

#[test]
fn what_grows_beyond_its_bounds_is_cut() {
    let doubling = chain(
        "{}",
        |at| format!(r##"{{"prefixItems":[{{"$ref":"#/$defs/{at}"}},{{"$ref":"#/$defs/{at}"}}]}}"##),
        40,
    );
    let through = chain("{}", |at| format!(r##"{{"items":{{"$ref":"#/$defs/{at}"}}}}"##), 3000);
    let single = chain("{}", |at| format!(r##"{{"$ref":"#/$defs/{at}"}}"##), 3000);
    let conjoined = chain("{}", |at| format!(r##"{{"$ref":"#/$defs/{at}","minItems":{at}}}"##), 100);
    let large = format!(
        r##"{{"$defs":{{"a":{{"enum":["{}"]}}}},"prefixItems":[{}]}}"##,
        "x".repeat(100_000),
        vec![r##"{"$ref":"#/$defs/a"}"##; 30].join(",")
    );
    let missing = format!(r##"{{"prefixItems":[{}]}}"##, vec![r##"{"$ref":"#/a"}"##; 5000].join(","));
    for schema in [&doubling, &through, &single, &conjoined, &large, &missing] {
        let refless = inlined(schema);
        assert!(refless.cuts.len() <= MAX_LISTED_CUTS);
        let reasons = || refless.cuts.iter().map(|cut| cut.reason);
        assert!(
            reasons().any(|reason| reason == CutReason::TooLarge) || refless.cuts_not_listed > 0,
            "{schema:.80}"
        );
        assert!(refless.text.len() <= MAX_INLINED_BYTES);
        checked(schema, &refless);
    }
    assert_eq!(inlined(&missing).cuts_not_listed, 5000 - MAX_LISTED_CUTS);
}

/// What holds of every schema without references.
pub(crate) fn checked(schema: &str, refless: &Refless) {
    let limits = ParseLimits { max_bytes: 2 * MAX_INLINED_BYTES, ..SERVED_DEFINITION };
    let before = Document::parse(schema, &limits).expect(schema);
    let document = Document::parse(&refless.text, &limits).expect(&refless.text);
    assert!(document.root().members().next().is_some() || refless.text == "{}");
    assert!(depth(document.root()) <= depth(before.root()).clamp(MAX_INLINED_DEPTH, MAX_DEFINITION_DEPTH));
    assert!(refless.text.len() <= schema.len().max(MAX_INLINED_BYTES) + 16);
    assert_no_reference(document.root());
    if refless.text.len() <= SERVED_DEFINITION.max_bytes {
        assert_eq!(whole(&refless.text), refless.text);
    }
}

fn depth(node: Node<'_>) -> usize {
    let below = node.elements().chain(node.members().map(|(_, value)| value)).map(depth).max();
    below.map_or(usize::from(!matches!(node.text(), "{}" | "[]")), |below| 1 + below)
}

/// Written apart from the crate's own list of keywords.
fn assert_no_reference(schema: Node<'_>) {
    const SCHEMAS: &str = "allOf anyOf oneOf not if then else items prefixItems additionalItems contains unevaluatedItems \
        additionalProperties propertyNames unevaluatedProperties contentSchema";
    const MAPS: &str = "properties patternProperties dependentSchemas dependencies";
    for (name, value) in schema.members() {
        assert!(
            !matches!(&*name, "$ref" | "$dynamicRef" | "$recursiveRef" | "$defs" | "definitions"),
            "{name}"
        );
        if SCHEMAS.split_whitespace().any(|keyword| keyword == name) {
            assert_no_reference(value);
            value.elements().for_each(assert_no_reference);
        }
        if MAPS.split_whitespace().any(|keyword| keyword == name) {
            value.members().for_each(|(_, schema)| assert_no_reference(schema));
        }
    }
}

const DEFS: usize = 3;

/// A schema of everyday keywords; a reference in it is the number of its target.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({"type": "integer"})),
        Just(json!({"type": ["string", "null"], "description": "d"})),
        Just(json!({"enum": [1, "a", null]})),
        Just(json!({"required": ["a"]})),
        (0..=DEFS).prop_map(|target| json!({"$ref": target})),
        (0..=DEFS).prop_map(|target| json!({"$ref": target, "description": "own"})),
        (0..=DEFS).prop_map(|target| json!({"$ref": target, "maxLength": 1, "type": "object"})),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let keyword = prop_oneof![
            3 => prop::collection::btree_map("[ab]", inner.clone(), 0..3).prop_map(|map| ("properties", json!(map))),
            1 => inner.clone().prop_map(|schema| ("additionalProperties", schema)),
            1 => inner.clone().prop_map(|schema| ("items", schema)),
            1 => inner.clone().prop_map(|schema| ("not", schema)),
            1 => inner.clone().prop_map(|schema| ("if", schema)),
            1 => inner.clone().prop_map(|schema| ("then", schema)),
            1 => inner.clone().prop_map(|schema| ("else", schema)),
            1 => inner.clone().prop_map(|schema| ("contains", schema)),
            1 => (0..3).prop_map(|most| ("maxContains", json!(most))),
            1 => Just(("unevaluatedProperties", json!(false))),
            1 => Just(("type", json!("object"))),
            1 => (0..=DEFS).prop_map(|target| ("$ref", json!(target))),
            2 => prop::collection::vec(inner.clone(), 1..3).prop_map(|list| ("allOf", json!(list))),
            2 => prop::collection::vec(inner.clone(), 1..3).prop_map(|list| ("anyOf", json!(list))),
            2 => prop::collection::vec(inner, 1..3).prop_map(|list| ("oneOf", json!(list))),
        ];
        prop::collection::vec(keyword, 1..4)
            .prop_map(|keywords| keywords.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

/// Turns numbers into references. One that applies to the same value leads on to later definitions alone, so that each
/// validator comes to an end; others may lead anywhere, where `cyclic`.
fn referring(schema: &mut Value, from: usize, cyclic: bool) {
    let Value::Object(members) = schema else { return };
    if let Some(target) = members.get("$ref").and_then(Value::as_u64) {
        let target = target as usize;
        if target < from {
            members.remove("$ref");
        } else {
            let text = if target == 0 { "#".to_owned() } else { format!("#/$defs/{target}") };
            members.insert("$ref".to_owned(), Value::from(text));
        }
    }
    for (name, value) in members.iter_mut() {
        let below = matches!(name.as_str(), "properties" | "additionalProperties" | "items" | "contains");
        let from = if below && cyclic { 0 } else { from };
        match value {
            Value::Array(list) => list.iter_mut().for_each(|schema| referring(schema, from, cyclic)),
            Value::Object(map) if name == "properties" => {
                map.values_mut().for_each(|schema| referring(schema, from, cyclic));
            }
            other => referring(other, from, cyclic),
        }
    }
}

fn whole_schema(cyclic: bool) -> impl Strategy<Value = Value> {
    prop::collection::vec(schema(), DEFS + 1).prop_map(move |mut schemas| {
        for (place, schema) in schemas.iter_mut().enumerate() {
            referring(schema, place + 1, cyclic);
        }
        let mut root = match schemas.remove(0) {
            Value::Object(root) => root,
            other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
        };
        let defs: Map<_, _> = (1..).map(|at: usize| at.to_string()).zip(schemas).collect();
        root.insert("$defs".to_owned(), Value::Object(defs));
        Value::Object(root)
    })
}

fn instance() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(1)),
        Just(json!("a")),
        Just(json!("long")),
        Just(json!({})),
        Just(json!([]))
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            3 => prop::collection::btree_map("[abc]", inner.clone(), 0..3).prop_map(|map| json!(map)),
            1 => prop::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}

fn validator(draft: Draft, schema: &Value) -> Validator {
    jsonschema::options().with_draft(draft).build(schema).expect("the schema is valid")
}

proptest! {
    #[test]
    fn a_schema_without_references_judges_as_before(
        schema in whole_schema(false),
        old in any::<bool>(),
        instances in prop::collection::vec(instance(), 12),
    ) {
        let (schema, draft) = dated(schema, old);
        let text = schema.to_string();
        let refless = inlined(&text);
        prop_assert_eq!(&refless.cuts, &[], "{}", text);
        checked(&text, &refless);
        let (before, after) = (validator(draft, &schema), validator(draft, &serde_json::from_str(&refless.text)?));
        for instance in instances {
            prop_assert_eq!(before.is_valid(&instance), after.is_valid(&instance), "{} by {} and {}", instance, text, refless.text);
        }
    }

    #[test]
    fn a_cut_never_makes_a_schema_take_less(
        schema in whole_schema(true),
        old in any::<bool>(),
        instances in prop::collection::vec(instance(), 12),
    ) {
        let (schema, draft) = dated(schema, old);
        let text = schema.to_string();
        let refless = inlined(&text);
        checked(&text, &refless);
        let (before, after) = (validator(draft, &schema), validator(draft, &serde_json::from_str(&refless.text)?));
        for instance in instances {
            let (took, takes) = (before.is_valid(&instance), after.is_valid(&instance));
            prop_assert!(takes || !took, "{} by {} and {}", instance, text, refless.text);
            prop_assert!(took == takes || !refless.cuts.is_empty());
        }
    }
}

/// In draft 7 what stands beside a reference judges nothing.
fn dated(mut schema: Value, old: bool) -> (Value, Draft) {
    if !old {
        return (schema, Draft::Draft202012);
    }
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    (schema, Draft::Draft7)
}
