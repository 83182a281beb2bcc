//! What agents read of a definition.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::subsequence;
use toolgate_definition::json::{Document, Node, ParseLimits};
use toolgate_definition::locks::{Locks, check};
use toolgate_definition::{Definition, Effect, served_definition};

use crate::locks::{locks, with_schema};
use crate::values::{Choices, Value, choices, definition, value};

const LIMITS: ParseLimits = ParseLimits { max_bytes: 1 << 20, max_depth: 128 };

/// Keywords of the root schema in which members or names are taken out.
const EDITED: [&str; 8] = [
    "properties",
    "required",
    "dependentRequired",
    "dependencies",
    "dependentSchemas",
    "default",
    "example",
    "examples",
];

fn served(text: &str, description: Option<&str>, effect: Option<Effect>) -> String {
    served_definition(&Definition::parse(text).expect(text), None, description, effect, &Locks::default())
}

/// The input schema that agents read.
fn without(schema: &str, fixed: &str) -> String {
    let definition = with_schema(schema);
    let text = served_definition(&definition, None, None, None, &locks(fixed));
    Definition::parse(&text).expect(&text).input_schema_text().to_owned()
}

/// BR-073.
#[test]
fn law_06_a_locked_input_is_in_nothing_that_agents_read() {
    let schema = r#"{"type": "object", "properties": {"path": {"type": "string"}, "deep": {"type": "boolean"}},
        "required": ["path"], "dependentRequired": {"deep": ["path"]}, "examples": [{"path": "/x", "deep": true}]}"#;
    let fixed = r#"{"path":"/data/docs"}"#;
    assert!(check(&with_schema(schema), &locks(fixed)).is_empty());
    assert_eq!(
        without(schema, fixed),
        r#"{"type": "object", "properties": {"deep": {"type": "boolean"}}, "dependentRequired": {}, "examples": [{"deep": true}]}"#
    );
}

#[test]
fn every_place_and_every_comma() {
    for (schema, left) in [
        (r#"{"properties":{"x":1,"a":2,"y":3,"b":4}}"#, r#"{"properties":{"a":2,"b":4}}"#),
        (r#"{"properties":{"a":1,"x":2,"b":3,"y":4}}"#, r#"{"properties":{"a":1,"b":3}}"#),
        (r#"{"properties":{ "x" : 1 , "y" : 2 , "a" : 3 }}"#, r#"{"properties":{ "a" : 3 }}"#),
        (r#"{"properties":{ "a" : 1 , "x" : 2 , "y" : 3 }}"#, r#"{"properties":{ "a" : 1 }}"#),
        (r#"{"properties":{ "x" : 1 , "y" : 2 }}"#, r#"{"properties":{  }}"#),
        (r#"{"properties":{"\u0078":1,"X":2}}"#, r#"{"properties":{"X":2}}"#),
        (r#"{"required":["x","a","y","b","x"]}"#, r#"{"required":["a","b"]}"#),
        (r#"{"required":["\u0078"]}"#, "{}"),
        (r#"{"a":1,"required":["x"],"b":2}"#, r#"{"a":1,"b":2}"#),
        (r#"{"required":["x","y"],"b":2}"#, r#"{"b":2}"#),
        (r#"{"a":1,"required":["x"]}"#, r#"{"a":1}"#),
        (r#"{"required":[]}"#, r#"{"required":[]}"#),
        (
            r#"{"dependentRequired":{"a":["x","b"],"b":["y"],"x":["a"],"c":[]}}"#,
            r#"{"dependentRequired":{"a":["b"],"c":[]}}"#,
        ),
        (
            r#"{"dependencies":{"a":["x"],"b":{"required":["c"]},"y":true}}"#,
            r#"{"dependencies":{"b":{"required":["c"]}}}"#,
        ),
        (r#"{"dependentSchemas":{"x":{},"a":{}}}"#, r#"{"dependentSchemas":{"a":{}}}"#),
        (
            r#"{"default":{"x":1,"a":1.0},"example":{"a":1,"y":2}}"#,
            r#"{"default":{"a":1.0},"example":{"a":1}}"#,
        ),
        (r#"{"examples":[{"x":1},"x",{"a":1,"x":[]}]}"#, r#"{"examples":[{},"x",{"a":1}]}"#),
        (r#"{"minProperties":3,"maxProperties":1}"#, r#"{"minProperties":1,"maxProperties":0}"#),
        (r#"{"minProperties":"3","maxProperties":2.0}"#, r#"{"minProperties":"3","maxProperties":2.0}"#),
        (
            r#"{"properties":null,"required":7,"dependencies":[]}"#,
            r#"{"properties":null,"required":7,"dependencies":[]}"#,
        ),
        (
            r#"{"properties":{"a":{"properties":{"x":1},"required":["x"]}},"$defs":{"x":{}}}"#,
            r#"{"properties":{"a":{"properties":{"x":1},"required":["x"]}},"$defs":{"x":{}}}"#,
        ),
    ] {
        assert_eq!(without(schema, r#"{"x":0,"y":0}"#), left);
    }
}

/// BR-093.
#[test]
fn a_lock_means_the_literal_key() {
    let schema = r#"{"properties":{"projects.any":{},"projects_any":{},"projects":{"properties":{"any":{}}}},
        "required":["projects.any","projects"]}"#;
    let left = r#"{"properties":{"projects_any":{},"projects":{"properties":{"any":{}}}},
        "required":["projects"]}"#;
    assert_eq!(without(schema, r#"{"projects.any":"42"}"#), left);
}

#[test]
fn a_description_takes_the_place_of_the_listed_one() {
    let mine = Some("my \"own\"\n\u{e9}");
    for (text, left) in [
        (
            r#"{"description" : "listed", "name":"t","inputSchema":{}}"#,
            r#"{"description" : "my \"own\"\né", "name":"t","inputSchema":{}}"#,
        ),
        (
            r#"{ "name" : "t" , "inputSchema":{}}"#,
            r#"{ "name" : "t","description":"my \"own\"\né" , "inputSchema":{}}"#,
        ),
        (
            r#"{"inputSchema":{},"name":"t"}"#,
            r#"{"inputSchema":{},"name":"t","description":"my \"own\"\né"}"#,
        ),
        (
            r#"{"name":"t","inputSchema":{},"description":null}"#,
            r#"{"name":"t","inputSchema":{},"description":"my \"own\"\né"}"#,
        ),
    ] {
        assert_eq!(served(text, mine, None), left);
    }
}

#[test]
fn an_effect_is_written_into_the_hint() {
    let (reads, changes) = (Some(Effect::Reads), Some(Effect::Changes));
    for (text, effect, left) in [
        (
            r#"{"name":"t","inputSchema":{}} "#,
            reads,
            r#"{"name":"t","inputSchema":{},"annotations":{"readOnlyHint":true}} "#,
        ),
        (
            r#"{"name":"t","inputSchema":{},"annotations":null}"#,
            changes,
            r#"{"name":"t","inputSchema":{},"annotations":{"readOnlyHint":false}}"#,
        ),
        (
            r#"{"name":"t","annotations":{ },"inputSchema":{}}"#,
            reads,
            r#"{"name":"t","annotations":{"readOnlyHint":true},"inputSchema":{}}"#,
        ),
        (
            r#"{"name":"t","annotations":{"title":"T"},"inputSchema":{}}"#,
            reads,
            r#"{"name":"t","annotations":{"title":"T","readOnlyHint":true},"inputSchema":{}}"#,
        ),
        (
            r#"{"name":"t","annotations":{"readOnlyHint": true,"a":1},"inputSchema":{}}"#,
            changes,
            r#"{"name":"t","annotations":{"readOnlyHint": false,"a":1},"inputSchema":{}}"#,
        ),
        (
            r#"{"name":"t","annotations":{"readOnlyHint":"yes"},"inputSchema":{}}"#,
            reads,
            r#"{"name":"t","annotations":{"readOnlyHint":true},"inputSchema":{}}"#,
        ),
        (
            r#"{"name":"t","annotations":{"readOnlyHint":true},"inputSchema":{}}"#,
            reads,
            r#"{"name":"t","annotations":{"readOnlyHint":true},"inputSchema":{}}"#,
        ),
    ] {
        assert_eq!(served(text, None, effect), left);
    }
    let both = served(r#"{"inputSchema":{},"name":"t"}"#, Some("d"), reads);
    assert_eq!(
        both,
        r#"{"inputSchema":{},"name":"t","description":"d","annotations":{"readOnlyHint":true}}"#
    );
}

/// Names that are easy to get wrong, beside ordinary ones.
const NAMES: [&str; 8] = ["a", "b", "c.d", "__proto__", "", "é\u{1f600}", "\"\\", "required"];

fn text(name: &str) -> Value {
    Value::String(name.to_owned())
}

/// A schema whose keywords name some of [`NAMES`], with other members between.
fn schema() -> impl Strategy<Value = Value> {
    let names = || subsequence(&NAMES[..], 0..=NAMES.len());
    let map = |names: Vec<&'static str>, value: &Value| {
        Value::Object(names.into_iter().map(|name| (name.to_owned(), value.clone())).collect())
    };
    let list = |names: Vec<&'static str>| Value::Array(names.into_iter().map(text).collect());
    (prop::collection::vec(names(), 8), names(), value(), value()).prop_map(
        move |(mut names, some, any, other)| {
            let mut next = || names.pop().expect("eight were drawn");
            let asked = list(some);
            let members = [
                ("properties", map(next(), &any)),
                ("required", list(next())),
                ("dependentRequired", map(next(), &asked)),
                ("dependencies", map(next(), &asked)),
                ("dependentSchemas", map(next(), &any)),
                ("default", map(next(), &any)),
                ("example", map(next(), &any)),
                ("examples", Value::Array(vec![map(next(), &any), any.clone()])),
                ("$defs", any.clone()),
                ("unheardOf", other),
            ];
            Value::object(members)
        },
    )
}

/// Texts of the members of an object.
fn members(object: Node<'_>) -> Vec<(String, String)> {
    object.members().map(|(name, value)| (name.into_owned(), value.text().to_owned())).collect()
}

/// The names that an edited keyword still holds.
pub(crate) fn names_in(schema: Node<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (keyword, value) in schema.members().filter(|(keyword, _)| EDITED.contains(&&**keyword)) {
        names.extend(value.members().map(|(name, _)| name.into_owned()));
        let required = value.elements().filter(|_| keyword == "required");
        names.extend(required.filter_map(Node::as_str).map(String::from));
        let lists = value.members().filter(|_| matches!(&*keyword, "dependentRequired" | "dependencies"));
        names.extend(lists.flat_map(|(_, list)| list.elements()).filter_map(Node::as_str).map(String::from));
        let examples = value.elements().filter(|_| keyword == "examples");
        names.extend(examples.flat_map(|example| example.members()).map(|(name, _)| name.into_owned()));
    }
    names
}

fn spelt(value: &Value, choices: &mut Choices) -> Definition {
    let text = value.spell(choices);
    Definition::parse(&text).expect(&text)
}

proptest! {
    #[test]
    fn law_06_no_locked_name_is_left_and_nothing_else_goes(
        listed in definition(),
        schema in schema(),
        locked in subsequence(&NAMES[..], 0..=NAMES.len()),
        mut choices in choices(),
    ) {
        let Value::Object(mut listed) = listed else { return Ok(()) };
        listed.insert("inputSchema".to_owned(), schema);
        let definition = spelt(&Value::Object(listed), &mut choices);
        let fixed = Value::Object(locked.iter().map(|name| ((*name).to_owned(), Value::Null)).collect());
        let fixed = locks(&fixed.spell(&mut choices));
        let text = served_definition(&definition, None, None, None, &fixed);
        let served = Definition::parse(&text).map_err(|fault| TestCaseError::fail(format!("{fault}: {text}")))?;
        prop_assert_eq!(served.name(), definition.name());

        let (before, after) = (definition.document(), served.document());
        let rest = |root: Node<'_>| -> Vec<_> {
            members(root).into_iter().filter(|(name, _)| name != "inputSchema").collect()
        };
        prop_assert_eq!(rest(before.root()), rest(after.root()));

        let schemas = (before.root().get("inputSchema"), after.root().get("inputSchema"));
        let (Some(before), Some(after)) = schemas else { return Err(TestCaseError::fail("no schema")) };
        let kept = |schema: Node<'_>| -> Vec<_> {
            members(schema).into_iter().filter(|(name, _)| !EDITED.contains(&&**name)).collect()
        };
        prop_assert_eq!(kept(before), kept(after));
        let (had, has) = (names_in(before), names_in(after));
        prop_assert!(has.iter().all(|name| !fixed.contains(name)), "{:?} in {}", fixed, text);
        let unlocked: BTreeSet<_> = had.into_iter().filter(|name| !fixed.contains(name)).collect();
        prop_assert!(has.is_subset(&unlocked));
        for keyword in ["properties", "dependentSchemas", "default", "example"] {
            let left = |schema: Node<'_>| schema.get(keyword).map(members);
            let expected = left(before).map(|all| all.into_iter().filter(|(name, _)| !fixed.contains(name)).collect());
            prop_assert_eq!(left(after), expected, "{}", keyword);
        }
    }

    #[test]
    fn law_01_nothing_to_change_is_the_listed_text(listed in definition(), mut choices in choices()) {
        let definition = spelt(&listed, &mut choices);
        let absent = locks(r#"{"not an input":1}"#);
        for locks in [Locks::default(), absent] {
            prop_assert_eq!(served_definition(&definition, None, None, None, &locks), definition.text());
        }
    }

    #[test]
    fn a_served_name_takes_the_place_of_the_listed_one_and_changes_nothing_else(
        listed in definition(),
        name in any::<String>(),
        mut choices in choices(),
    ) {
        let definition = spelt(&listed, &mut choices);
        let kept = served_definition(&definition, Some(definition.name()), None, None, &Locks::default());
        prop_assert_eq!(kept, definition.text());
        let text = served_definition(&definition, Some(&name), None, None, &Locks::default());
        let document = Document::parse(&text, &LIMITS).map_err(|fault| TestCaseError::fail(format!("{fault}: {text}")))?;
        let found = document.root().get("name").and_then(Node::as_str);
        prop_assert_eq!(found.as_deref(), Some(&*name));
        let others = |root: Node<'_>| -> Vec<_> {
            members(root).into_iter().filter(|(name, _)| name != "name").collect()
        };
        prop_assert_eq!(others(document.root()), others(definition.document().root()));
    }

    #[test]
    fn overrides_change_their_own_member_alone(
        listed in definition(),
        description in any::<String>(),
        reads in any::<bool>(),
        dropped in subsequence(&["description", "annotations", "unheardOf"][..], 0..=3),
        mut choices in choices(),
    ) {
        let Value::Object(mut listed) = listed else { return Ok(()) };
        listed.retain(|name, _| !dropped.contains(&&**name));
        let definition = spelt(&Value::Object(listed), &mut choices);
        let effect = if reads { Effect::Reads } else { Effect::Changes };
        let text = served_definition(&definition, None, Some(&description), Some(effect), &Locks::default());
        let served = Definition::parse(&text).map_err(|fault| TestCaseError::fail(format!("{fault}: {text}")))?;
        prop_assert_eq!(served.description().map(String::from), Some(description));
        prop_assert_eq!(served.read_only_hint(), reads);
        let others = |definition: &Definition| -> Vec<_> {
            let all = members(definition.document().root()).into_iter();
            all.filter(|(name, _)| name != "description" && name != "annotations").collect()
        };
        prop_assert_eq!(others(&served), others(&definition));
        prop_assert!(Document::parse(&text, &LIMITS).is_ok());
    }
}
