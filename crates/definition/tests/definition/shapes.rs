//! Definitions in the shapes of other systems.

use std::collections::BTreeSet;

use proptest::prelude::*;
use toolgate_definition::json::Document;
use toolgate_definition::limits::SERVED_DEFINITION;
use toolgate_definition::projection::{MelbisParam, melbis_command, oxp_tool};

use crate::refless::checked;
use crate::values::{Value, choices, definition, value};

fn served(schema: &str) -> String {
    format!(r#"{{"name":"t","description":"d","inputSchema":{schema}}}"#)
}

fn rows(schema: &str) -> Vec<MelbisParam> {
    melbis_command(&served(schema)).expect(schema).params
}

/// Name, type and whether it is required.
fn short(schema: &str) -> Vec<(String, String, bool)> {
    rows(schema).into_iter().map(|row| (row.name, row.value_type, row.required)).collect()
}

fn row(name: &str, value_type: &str, required: bool) -> (String, String, bool) {
    (name.to_owned(), value_type.to_owned(), required)
}

fn type_of(schema: &str) -> String {
    let rows = rows(&format!(r##"{{"properties":{{"x":{schema}}},"$defs":{{"e":{{"enum":["a"]}}}}}}"##));
    assert_eq!(rows.len(), 1, "{schema}");
    rows[0].value_type.clone()
}

/// BR-019, BR-021
#[test]
fn each_type_has_its_word_and_a_union_shows_all() {
    for (schema, word) in [
        (r#"{"type":"string"}"#, "str"),
        (r#"{"type":"string","format":"date-time"}"#, "datetime"),
        (r#"{"type":"string","format":"date"}"#, "str"),
        (r#"{"type":"integer"}"#, "int"),
        (r#"{"type":"number"}"#, "float"),
        (r#"{"type":"boolean"}"#, "bool"),
        (r#"{"type":"null"}"#, "null"),
        (r#"{"type":"object","properties":{"a":{}}}"#, "json"),
        (r#"{"type":"array","items":{"type":"string"}}"#, "str/json"),
        (r#"{"type":"array","items":{"type":"string","format":"date-time"}}"#, "datetime/json"),
        (r#"{"type":"array","items":{"enum":[1,2]}}"#, "int/json"),
        (r#"{"type":"array","items":{"type":"object"}}"#, "json"),
        (r#"{"type":"array","items":{"type":["string","null"]}}"#, "json"),
        (r#"{"type":"array"}"#, "json"),
        (r#"{"type":["integer","null"],"description":"id"}"#, "int/null"),
        (r#"{"type":["array","null"],"items":{"type":"string"}}"#, "str/json/null"),
        (r#"{"type":"any"}"#, "json"),
        (r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#, "int/null"),
        (r#"{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}"#, "str/json"),
        (r#"{"anyOf":[{"type":"string"},{}]}"#, "str/json"),
        (r#"{"anyOf":[{"type":"string"},false]}"#, "str"),
        (r#"{"allOf":[{"minimum":1},{"type":"integer"}]}"#, "int"),
        (r##"{"allOf":[{"$ref":"#/$defs/e"}],"default":"a"}"##, "str"),
        (r##"{"$ref":"#/$defs/e","maxLength":1}"##, "str"),
        (r##"{"$ref":"http://h/"}"##, "json"),
        (r#"{"enum":["a",1,1.0,1.5,1e2,null,true,[]]}"#, "str/int/float/null/bool/json"),
        (r#"{"const":-0.0}"#, "int"),
        ("{}", "json"),
        ("true", "json"),
        ("false", "json"),
        ("null", "json"),
    ] {
        assert_eq!(type_of(schema), word, "{schema}");
    }
}

/// BR-013
#[test]
fn rows_are_read_through_references() {
    let schema = r##"{"type":"object","properties":{"cond":{"$ref":"#/$defs/Cond","description":"which orders"},
        "alt":{"anyOf":[{"$ref":"#/$defs/Cond"},{"type":"null"}]}},"required":["cond"],
        "$defs":{"Cond":{"type":"object","properties":{"id":{"type":"integer"}},"description":"a condition"}}}"##;
    assert_eq!(short(schema), [row("cond", "json", true), row("alt", "json/null", false)]);
    assert_eq!(rows(schema)[0].descr, "which orders");
    let root = r##"{"$ref":"#/$defs/Args","$defs":{"Args":{"properties":{"a":{"type":"string"}},"required":["a"]}}}"##;
    assert_eq!(short(root), [row("a", "str", true)]);
    let beside = r##"{"type":"object","minProperties":1,"$ref":"#/$defs/Args","$defs":{"Args":{"properties":{"a":{"type":"string"}},"required":["a"]}}}"##;
    assert_eq!(short(beside), [row("a", "str", true)]);
}

/// BR-011, BR-015
#[test]
fn what_cannot_be_inlined_is_json_and_keeps_its_description() {
    let schema = r##"{"properties":{"ring":{"$ref":"#/$defs/A"},"out":{"$ref":"http://169.254.169.254/","description":"o"},"root":{"$ref":"#"}},
        "$defs":{"A":{"allOf":[{"$ref":"#/$defs/B"}]},"B":{"allOf":[{"$ref":"#/$defs/A"}]}}}"##;
    assert_eq!(
        short(schema),
        [row("ring", "json", false), row("out", "json", false), row("root", "json", false)]
    );
    assert_eq!(rows(schema)[1].descr, "o");
}

/// BR-017
#[test]
fn a_tool_without_inputs_has_no_rows() {
    for schema in [
        r#"{"type":"object"}"#,
        r#"{"type":"object","additionalProperties":false}"#,
        r#"{"properties":null}"#,
        "{}",
    ] {
        assert_eq!(rows(schema), [], "{schema}");
    }
}

/// BR-023
#[test]
fn inputs_of_combined_schemas_are_listed_and_required_when_every_way_requires_them() {
    let attach = r#"{"type":"object","anyOf":[{"properties":{"content":{"type":"string"}},"required":["content"]},
        {"properties":{"url":{"type":"string"}},"required":["url"]}]}"#;
    assert_eq!(short(attach), [row("content", "str", false), row("url", "str", false)]);
    for (schema, expected) in [
        (
            r#"{"oneOf":[{"properties":{"k":{"const":"a"},"x":{}},"required":["k","x"]},{"properties":{"k":{"const":1}},"required":["k"]}],
                "properties":{"z":{"type":"integer"}}}"#,
            vec![row("z", "int", false), row("k", "str/int", true), row("x", "json", false)],
        ),
        (
            r#"{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"anyOf":[{"required":["b"]},false]}],"properties":{"b":true}}"#,
            vec![row("b", "json", true), row("a", "str", true)],
        ),
        (
            r#"{"properties":{"a":{}},"if":{"required":["a"]},"then":{"properties":{"b":{}},"required":["b","a"]},"else":{"required":["a"]}}"#,
            vec![row("a", "json", true), row("b", "json", false)],
        ),
        (
            r#"{"properties":{"a":{}},"dependentSchemas":{"a":{"properties":{"b":{"type":"null"}},"required":["b"]}},"not":{"properties":{"c":{}}}}"#,
            vec![row("a", "json", false), row("b", "null", false)],
        ),
    ] {
        assert_eq!(short(schema), expected, "{schema}");
    }
}

/// BR-091
#[test]
fn every_default_can_be_told_from_every_other_and_from_none() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer","default":0},"b":{"type":"boolean","default":false},
        "c":{"type":"string","default":""},"d":{"type":"array","default":[]},"e":{"type":"number","default":0.0},"f":{"type":"string"},
        "g":{"type":"object","default":{"k": [1, {"z" : null , "a b":"c \" d"}]}},"h":{"type":"string","default":"null"},"i":{"default":null},
        "j":{"default":"kDefault"},"k":{"default":"\"quoted\""},"l":{"default":" 12 "},"m":{"default":"a \"b"},"n":{"default":"{\"a\":1,\"a\":2}"}}}"#;
    let defaults: Vec<_> = rows(schema).into_iter().map(|row| row.default).collect();
    assert_eq!(
        defaults,
        [
            "0",
            "false",
            "\"\"",
            "[]",
            "0.0",
            "",
            r#"{"k":[1,{"z":null,"a b":"c \" d"}]}"#,
            "\"null\"",
            "null",
            "kDefault",
            r#""\"quoted\"""#,
            "\" 12 \"",
            "a \"b",
            r#""{\"a\":1,\"a\":2}""#,
        ]
    );
}

/// BR-093, BR-087
#[test]
fn rows_show_the_exact_key_in_the_order_listed() {
    let schema = r#"{"type":"object","properties":{"projects.any":{"type":"string"},"due_on.before":{"type":"string"},"projects_any":{"type":"string"},"\u0061":{}},"required":["projects.any"]}"#;
    let expected = [
        row("projects.any", "str", true),
        row("due_on.before", "str", false),
        row("projects_any", "str", false),
        row("a", "json", false),
    ];
    assert_eq!(short(schema), expected);
}

/// BR-043
#[test]
fn a_deep_tool_works_in_both_shapes() {
    let level = r#"{"type":"object","properties":{"a":"#;
    let deep = |levels: usize| served(&format!("{}{{}}{}", level.repeat(levels), "}}".repeat(levels)));
    for text in [deep(40), deep(60)] {
        let tool = oxp_tool(&text).expect("within limits");
        assert_eq!(tool.input_schema.map(|schema| text.contains(&schema.text)), Some(true));
        assert_eq!(melbis_command(&text).expect("within limits").params.len(), 1);
    }
}

#[test]
fn an_oxp_tool_always_has_a_description() {
    for (members, description) in [
        (r#""description":"d","title":"T""#, "d"),
        (r#""description":" ","title":"T""#, "T"),
        (r#""description":7,"annotations":{"title":"A"}"#, "A"),
        (r#""title":null"#, "t"),
    ] {
        let text = format!(r#"{{"name":"t","inputSchema":{{}},{members}}}"#);
        assert_eq!(oxp_tool(&text).expect(&text).description, description);
    }
}

#[test]
fn an_output_schema_is_given_only_when_one_is_stated() {
    for (output, left) in [
        (r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}"##, Some(r#"{"type":"object"}"#)),
        ("{}", Some("{}")),
        ("true", Some("{}")),
        ("null", None),
        ("\"object\"", None),
    ] {
        let text = format!(r#"{{"name":"t","inputSchema":{{}},"outputSchema":{output}}}"#);
        let schema = oxp_tool(&text).expect(&text).output_schema;
        assert_eq!(schema.map(|schema| schema.text).as_deref(), left);
    }
    assert_eq!(oxp_tool(r#"{"name":"t","inputSchema":{}}"#).expect("JSON").output_schema, None);
}

#[test]
fn a_command_shows_the_whole_description() {
    for (members, descr) in [
        (r#""description":" A long\ntext. ","title":"T""#, " A long\ntext. "),
        (r#""description":"","title":"T""#, "T"),
        (r#""title":7"#, ""),
    ] {
        let text = format!(r#"{{"name":"t","inputSchema":{{}},{members}}}"#);
        assert_eq!(melbis_command(&text).expect(&text).descr, descr);
    }
}

proptest! {
    #[test]
    fn any_definition_takes_both_shapes(listed in definition(), schema in value(), mut choices in choices()) {
        let Value::Object(mut listed) = listed else { return Ok(()) };
        listed.insert("inputSchema".to_owned(), Value::object([("properties", schema.clone()), ("anyOf", schema)]));
        let text = Value::Object(listed).spell(&mut choices);
        let Ok(document) = Document::parse(&text, &SERVED_DEFINITION) else { return Ok(()) };
        let tool = oxp_tool(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let schema = document.root().get("inputSchema").map(|schema| schema.text());
        let (Some(before), Some(after)) = (schema, tool.input_schema) else { return Err(TestCaseError::fail("no schema")) };
        checked(before, &after);
        let command = melbis_command(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let names: BTreeSet<_> = command.params.iter().map(|row| &row.name).collect();
        prop_assert_eq!(names.len(), command.params.len());
    }
}
