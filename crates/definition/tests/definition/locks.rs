//! Which locks a definition takes.

use proptest::prelude::*;
use toolgate_definition::Definition;
use toolgate_definition::limits::{MAX_LOCKS, MAX_LOCKS_BYTES};
use toolgate_definition::locks::{LockProblem, Locks, LocksError, check};

use crate::values::{choices, value};

pub(crate) fn with_schema(schema: &str) -> Definition {
    let text = format!(r#"{{"name":"t","inputSchema":{schema}}}"#);
    Definition::parse(&text).expect(&text)
}

pub(crate) fn locks(text: &str) -> Locks {
    Locks::parse(text).expect(text)
}

/// Issues as lines of `name: problem`.
fn issues(schema: &str, fixed: &str) -> Vec<String> {
    let issues = check(&with_schema(schema), &locks(fixed));
    issues.iter().map(|issue| format!("{}: {}", issue.name, issue.problem)).collect()
}

/// What is wrong with a lock on the input `x` of this schema.
fn problem(schema: &str, value: &str) -> Option<LockProblem> {
    let schema = format!(r#"{{"type":"object","properties":{{"x":{schema}}}}}"#);
    let issues = check(&with_schema(&schema), &locks(&format!(r#"{{"x":{value}}}"#)));
    issues.into_iter().map(|issue| issue.problem).next()
}

#[test]
fn values_keep_their_spelling_and_names_are_sorted() {
    let given = locks(
        " { \"n\" : 1.0 ,\"a/b\": { \"z\": 1, \"a\" :[ 1e2 ] }, \"\\u00e9\\n\": null, \"\": 9007199254740993} ",
    );
    let text = r#"{"":9007199254740993,"a/b":{ "z": 1, "a" :[ 1e2 ] },"n":1.0,"é\n":null}"#;
    assert_eq!(given.to_json(), text);
    assert_eq!(locks(text), given);
    assert_eq!((given.len(), given.get("n"), given.get("x")), (4, Some("1.0"), None));
    assert_eq!(locks("{}").to_json(), "{}");
    assert!(!format!("{given:?}").contains("9007199254740993"), "a value may be a secret");
}

#[test]
fn what_is_no_object_of_single_names_is_refused() {
    for text in ["[]", "null", "\"a\"", "1"] {
        assert!(matches!(Locks::parse(text), Err(LocksError::NotAnObject { .. })), "{text}");
    }
    for text in ["", "{", r#"{"a":1,"\u0061":2}"#, r#"{"a":}"#, r#"{"a":"\ud800"}"#] {
        assert!(matches!(Locks::parse(text), Err(LocksError::Json(_))), "{text}");
    }
}

#[test]
fn locks_are_merged_over_what_is_there() {
    let merged = locks(r#"{"a":1,"b":2,"c":3}"#).merge(locks(r#"{"b":2.0,"d":4}"#), &["a", "absent"]);
    assert_eq!(merged.expect("within the limits").to_json(), r#"{"b":2.0,"c":3,"d":4}"#);
    let both = locks(r#"{"a":1}"#).merge(locks(r#"{"a":2}"#), &["a"]);
    assert_eq!(both.expect("within the limits").to_json(), r#"{"a":2}"#);
}

#[test]
fn locks_over_a_limit_are_refused() {
    let many = |from: usize, to: usize| {
        let members: Vec<_> = (from..to).map(|number| format!("\"{number}\":0")).collect();
        format!("{{{}}}", members.join(","))
    };
    let most = locks(&many(0, MAX_LOCKS));
    assert_eq!(Locks::parse(&many(0, MAX_LOCKS + 1)), Err(LocksError::TooMany { found: MAX_LOCKS + 1 }));
    assert!(matches!(most.clone().merge(locks(r#"{"a":0}"#), &[""; 0]), Err(LocksError::TooMany { .. })));
    most.merge(locks(r#"{"a":0}"#), &["0"]).expect("one went and one came");

    let large = |bytes: usize| format!("{{\"l\":\"{}\"}}", "x".repeat(bytes - 8));
    let largest = locks(&large(MAX_LOCKS_BYTES));
    assert!(matches!(Locks::parse(&large(MAX_LOCKS_BYTES + 1)), Err(LocksError::Json(_))));
    assert!(matches!(largest.merge(locks(r#"{"a":0}"#), &[""; 0]), Err(LocksError::TooLarge { .. })));
}

/// BR-075.
#[test]
fn a_lock_is_judged_by_the_whole_schema_of_its_input() {
    let schema = r#"{"type":"object","properties":{
        "env":{"anyOf":[{"type":"string","enum":["all","keys"]},{"const":false}]},"n":{"type":"integer","minimum":1}}}"#;
    for fits in [r#"{"env":"keys"}"#, r#"{"env":false}"#, r#"{"n":1.0}"#, r#"{"env":"all","n":7}"#] {
        assert!(issues(schema, fits).is_empty(), "{fits}");
    }
    assert_eq!(
        issues(schema, r#"{"n":0,"env":true}"#),
        [
            "env: value does not fit: value is not valid under any of the schemas listed in the 'anyOf' keyword",
            "n: value does not fit: value is less than the minimum of 1",
        ]
    );
    let drifted = schema.replace(r#","keys""#, "");
    assert_eq!(issues(&drifted, r#"{"env":"keys"}"#).len(), 1);
}

#[test]
fn a_lock_on_an_input_that_is_not_declared_never_fits() {
    for schema in [
        "{}",
        r#"{"type":"object"}"#,
        r#"{"properties":null}"#,
        r#"{"properties":[]}"#,
        r#"{"properties":{"y":{}},"additionalProperties":true}"#,
        r#"{"properties":{"a":{"properties":{"x":{}}},"a.x":{},"X":{}," x":{}}}"#,
        r#"{"patternProperties":{".*":{}}}"#,
    ] {
        assert_eq!(issues(schema, r#"{"x":1}"#), ["x: no such input"], "{schema}");
    }
}

/// BR-093.
#[test]
fn a_name_is_the_literal_key() {
    let names = [
        "projects.any",
        "due_on.before",
        "a/b",
        "a~b",
        "~1",
        "é\u{1f600}",
        "__proto__",
        "constructor",
        "",
        "$ref",
        "%41",
        "a b",
        "\"\\",
    ];
    for name in names {
        let name = serde_json::Value::from(name).to_string();
        let schema = format!(
            r#"{{"properties":{{"projects_any":{{}},{name}:{{"type":"string"}}}},"required":[{name}]}}"#
        );
        assert!(issues(&schema, &format!(r#"{{{name}:"42"}}"#)).is_empty(), "{name}");
        assert_eq!(issues(&schema, &format!("{{{name}:42}}")).len(), 1, "{name}");
    }
    assert_eq!(issues(r#"{"properties":{}}"#, r#"{"__proto__":{}}"#), ["__proto__: no such input"]);
}

#[test]
fn boolean_schemas_take_all_or_nothing() {
    assert_eq!(problem("true", r#"{"a":[null]}"#), None);
    assert_eq!(
        problem("false", "null"),
        Some(LockProblem::DoesNotFit("False schema does not allow value".to_owned()))
    );
}

#[test]
fn local_references_are_followed_in_the_whole_schema() {
    let schema = r##"{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"colour":{"enum":["red",{"a":[1]}]},
        "list":{"properties":{"v":{"$ref":"#/definitions/colour"},"next":{"$ref":"#/definitions/list"}},
        "additionalProperties":false}},
        "properties":{"c":{"$ref":"#/definitions/colour","minLength":9},"l":{"$ref":"#/definitions/list"}}}"##;
    assert!(issues(schema, r#"{"c":"red","l":{"v":"red","next":{"next":{"v":{"a":[1.0]}}}}}"#).is_empty());
    assert_eq!(
        issues(schema, r#"{"l":{"next":{"next":{"secret-key":1}}}}"#),
        ["l: value does not fit: a property of value is not allowed by \"additionalProperties\""]
    );
    let beside = schema.replace("draft-07/schema#", "draft/2020-12/schema");
    assert_eq!(
        issues(&beside, r#"{"c":"red"}"#),
        ["c: value does not fit: value is shorter than 9 characters"],
        "since 2019-09 what stands beside `$ref` counts"
    );
}

#[test]
fn the_dialect_is_the_one_that_is_named() {
    let issues_in = |dialect: &str, value: &str| {
        issues(&format!(r#"{{"$schema":{dialect},"properties":{{"x":{{"type":"integer"}}}}}}"#), value)
    };
    for (dialect, value, fits) in [
        (r#""https://json-schema.org/draft/2020-12/schema""#, "1.0", true),
        (r#""http://json-schema.org/draft-07/schema#""#, "1.0", true),
        (r#""http://json-schema.org/draft-07/schema""#, "1.5", false),
        (r#""http://json-schema.org/draft-04/schema#""#, "1.0", false),
    ] {
        assert_eq!(issues_in(dialect, &format!(r#"{{"x":{value}}}"#)).is_empty(), fits, "{dialect} {value}");
    }
    for unknown in
        [r#""https://example.com/dialect""#, "7", r#""""#, r#""http://json-schema.org/draft-03/schema#""#]
    {
        let issues = issues_in(unknown, r#"{"x":1}"#);
        assert!(issues[0].starts_with("x: cannot be checked: "), "{unknown}: {issues:?}");
    }
}

#[test]
fn what_cannot_be_evaluated_is_said() {
    for (schema, value) in [
        (r#"{"$ref":"https://example.com/schema.json"}"#, "1"),
        (r#"{"$ref":"file:///etc/passwd"}"#, "1"),
        (r##"{"$ref":"#anchor"}"##, "1"),
        (r##"{"$ref":"#/$defs/missing"}"##, "1"),
        (r##"{"$dynamicRef":"#"}"##, "1"),
        (r##"{"$id":"https://example.com/","items":{"$ref":"#/properties/x"}}"##, "[1]"),
        (r##"{"$ref":"#/properties/x"}"##, "1"),
        (r##"{"allOf":[{"$ref":"#/properties/x"},{"$ref":"#/properties/x"}]}"##, "1"),
        (r#"{"type":"strange"}"#, "1"),
        (r#"{"minimum":"1"}"#, "1"),
        (r#"{"allOf":7}"#, "1"),
        ("7", "1"),
        (r#"{"pattern":"("}"#, "\"a\""),
        (r#"{"pattern":"(?=a)b"}"#, "\"a\""),
        (r#"{"pattern":"(a)\\1"}"#, "\"a\""),
        (r#"{"pattern":"((a{1000}){1000}){1000}"}"#, "\"a\""),
        (r#"{"maximum":1e400}"#, "1"),
        (r#"{"enum":[9007199254740993.0]}"#, "9007199254740992"),
        ("{}", "1e400"),
        ("{}", "[0.1000000000000000055511151231257827]"),
    ] {
        let problem = problem(schema, value);
        assert!(matches!(problem, Some(LockProblem::CannotBeChecked(_))), "{schema} {value}: {problem:?}");
    }
}

#[test]
fn a_reference_that_the_value_does_not_reach_says_nothing() {
    for schema in [
        r#"{"type":["string","object"],"properties":{"far":{"$ref":"https://example.com/schema.json"}}}"#,
        r#"{"type":"string","$defs":{"far":{"$ref":"https://example.com/schema.json"}}}"#,
        r#"{"const":"a","default":{"$ref":"https://example.com/schema.json"}}"#,
        r#"{"enum":["a",{"$ref":"https://example.com/schema.json"}]}"#,
    ] {
        assert_eq!(problem(schema, "\"a\""), None, "{schema}");
    }
}

#[test]
fn large_integers_are_compared_exactly() {
    assert_eq!(problem(r#"{"const":9007199254740993}"#, "9007199254740993"), None);
    for (schema, value) in [
        (r#"{"const":9007199254740993}"#, "9007199254740992"),
        (r#"{"enum":[18446744073709551615]}"#, "18446744073709551614"),
        (r#"{"maximum":9007199254740992}"#, "9007199254740993"),
        (r#"{"const":9007199254740993}"#, "9007199254740992.0"),
        (r#"{"maximum":9007199254740992.0}"#, "9007199254740993"),
        (r#"{"multipleOf":2}"#, "9007199254740993"),
    ] {
        assert!(matches!(problem(schema, value), Some(LockProblem::DoesNotFit(_))), "{schema} {value}");
    }
}

#[test]
fn a_problem_never_shows_the_value() {
    for (schema, value) in [
        (r#"{"type":"integer"}"#, "\"s3cret\""),
        (r#"{"type":["integer","null"]}"#, "\"s3cret\""),
        (r#"{"enum":["a"]}"#, "\"s3cret\""),
        (r#"{"const":"a"}"#, "\"s3cret\""),
        (r#"{"maxLength":1}"#, "\"s3cret\""),
        (r#"{"pattern":"^a"}"#, "\"s3cret\""),
        (r#"{"not":{}}"#, "\"s3cret\""),
        ("false", "\"s3cret\""),
        (r#"{"items":{"type":"null"}}"#, "[\"s3cret\"]"),
        (r#"{"prefixItems":[{}],"items":false}"#, "[1,\"s3cret\"]"),
        (r#"{"contains":{"type":"null"}}"#, "[\"s3cret\"]"),
        (r#"{"uniqueItems":true}"#, "[\"s3cret\",\"s3cret\"]"),
        (r#"{"unevaluatedItems":false}"#, "[\"s3cret\"]"),
        (r#"{"additionalProperties":false}"#, "{\"s3cret\":1}"),
        (r#"{"unevaluatedProperties":false}"#, "{\"s3cret\":1}"),
        (r#"{"propertyNames":{"maxLength":1}}"#, "{\"s3cret\":1}"),
        (r#"{"required":["a"]}"#, "{\"s3cret\":\"s3cret\"}"),
        (r#"{"oneOf":[{},{}]}"#, "{\"s3cret\":\"s3cret\"}"),
        (r#"{"if":{},"then":{"type":"null"}}"#, "\"s3cret\""),
    ] {
        let Some(LockProblem::DoesNotFit(message)) = problem(schema, value) else { panic!("{schema}") };
        assert!(!message.contains("s3cret"), "{schema}: {message}");
    }
    let long = format!(r#"{{"const":"{}"}}"#, "\\u202e".repeat(1000));
    let Some(LockProblem::DoesNotFit(message)) = problem(&long, "1") else {
        panic!("the constant is no number")
    };
    assert!(message.chars().count() <= 301 && !message.contains('\u{202e}'), "{message}");
}

/// They come to an end, on the stack of a test's thread, and none is taken as fitting.
#[test]
fn hostile_schemas_cost_little() {
    let nest = |open: &str, close: &str, depth| format!("{}{{}}{}", open.repeat(depth), close.repeat(depth));
    let chain = |last: &str, link: fn(usize) -> String, count| {
        let defs: Vec<_> = (0..count).map(|at| format!(r#""{at}":{}"#, link(at + 1))).collect();
        format!(
            r##"{{"$defs":{{{},"{count}":{last}}},"properties":{{"x":{{"$ref":"#/$defs/0"}}}}}}"##,
            defs.join(",")
        )
    };
    let deep_value = format!("{}{}", "[".repeat(60), "]".repeat(60));
    let doubling = chain(
        "{}",
        |at| {
            format!(
                r##"{{"anyOf":[{{"$ref":"#/$defs/{at}"}},{{"$ref":"#/$defs/{at}"}}],"items":{{"$ref":"#/$defs/{at}"}}}}"##
            )
        },
        40,
    );
    let single = chain("{}", |at| format!(r##"{{"$ref":"#/$defs/{at}"}}"##), 3000);
    let through = chain("{}", |at| format!(r##"{{"items":{{"$ref":"#/$defs/{at}"}}}}"##), 3000);
    let itself =
        r##"{"properties":{"x":{"items":{"allOf":[{"$ref":"#/properties/x"},{"$ref":"#/properties/x"}]}}}}"##;
    let x = |schema: &str| format!(r#"{{"properties":{{"x":{schema}}}}}"#);
    let not = x(&nest("{\"not\":", "}", 120));
    let unevaluated = x(&nest("{\"unevaluatedItems\":false,\"allOf\":[", "]}", 50));
    let patterns = x(&format!("{{\"anyOf\":[{}]}}", vec![r#"{"pattern":"\\w{200}"}"#; 9000].join(",")));
    let list = x(&format!("{{\"items\":{{\"enum\":[{}]}}}}", vec!["0"; 60_000].join(",")));
    let many = format!("[{}]", vec!["1"; 30_000].join(","));
    for (schema, value) in [
        (&doubling, "1"),
        (&doubling, &deep_value),
        (&single, "1"),
        (&through, &deep_value),
        (&itself.to_owned(), &deep_value),
        (&not, "1"),
        (&unevaluated, "[1]"),
        (&patterns, "\"a\""),
        (&list, &many),
    ] {
        let issues = issues(schema, &format!("{{\"x\":{value}}}"));
        assert!(
            issues.iter().any(|issue| issue.starts_with("x: cannot be checked: ")),
            "{schema:.80}: {issues:?}"
        );
    }
    let slow = format!("\"{}!\"", "a".repeat(60_000));
    assert!(matches!(problem(r#"{"pattern":"^(a+)+$"}"#, &slow), Some(LockProblem::DoesNotFit(_))));
    assert!(matches!(problem(r#"{"pattern":"(x+x+)+y"}"#, &slow), Some(LockProblem::DoesNotFit(_))));
    assert_eq!(
        problem(
            r#"{"uniqueItems":true}"#,
            &format!("[{}0]", (1..9000).map(|n| format!("{n},")).collect::<String>())
        ),
        None
    );
    let at_limit = x(&nest("{\"allOf\":[", "]}", 58));
    assert!(issues(&at_limit, "{\"x\":1}").is_empty());
}

#[test]
fn law_06_an_input_that_could_still_be_read_of_cannot_be_locked() {
    let shell = |more: &str| {
        format!(
            r#"{{"$defs":{{"d":{{"properties":{{"x":{{}}}}}},"e":{{"minProperties":1}}}},"properties":{{"x":{{"$anchor":"a"}},"y":{{}}}},{more}}}"#
        )
    };
    for more in [
        r#""anyOf":[{"required":["y"]},{"required":["x"]}]"#,
        r#""allOf":[{"anyOf":[{"properties":{"x":{"type":"string"}}}]}]"#,
        r#""oneOf":[true,{"not":{"required":["x"]}}]"#,
        r#""if":{"properties":{"x":{"const":1}}},"then":{"required":["y"]}"#,
        r#""then":{"required":["x"]}"#,
        r#""else":{"dependentRequired":{"y":["x"]}}"#,
        r#""allOf":[{"dependentRequired":{"x":["y"]}}]"#,
        r#""dependentSchemas":{"y":{"required":["x"]}}"#,
        r#""dependencies":{"y":{"properties":{"x":false}}}"#,
        r##""$ref":"#/$defs/d""##,
        r##""allOf":[{"$ref":"#/$defs/d"}]"##,
        r#""$ref":"https://example.com/schema.json""#,
        r##""$dynamicRef":"#d""##,
        r##""allOf":[{"$id":"https://example.com/","$ref":"#/$defs/e"}]"##,
        r#""propertyNames":{"enum":["x","y"]}"#,
        r#""patternProperties":{"^(x|z)$":{}}"#,
        r#""enum":[{"x":1}]"#,
        r#""const":{"x":1}"#,
        r#""propertyOrdering":["y","x"]"#,
        r#""x-ui":{"x":"wide"}"#,
        r##""additionalProperties":{"$ref":"#/properties/x"}"##,
        r##""additionalProperties":{"$ref":"#/properties/x/items"},"items":{"$ref":"#/properties/%78"}"##,
        r##""additionalProperties":{"$ref":"#"}"##,
        r##""additionalProperties":{"$ref":"#a"}"##,
    ] {
        let schema = shell(more);
        let issues = issues(&schema, r#"{"x":1}"#);
        assert_eq!(issues.len(), 1, "{more}");
        assert!(issues[0].starts_with("x: cannot be removed: "), "{more}: {issues:?}");
    }
    for more in [
        r#""anyOf":[{"required":["y"]},{"required":["z"]}]"#,
        r#""anyOf":[{"properties":{"y":{"properties":{"x":{}}}}}]"#,
        r#""dependentSchemas":{"x":{"required":["y"]}}"#,
        r#""required":["x"],"examples":[{"x":1}],"default":{"x":2}"#,
        r##""$ref":"#/$defs/e""##,
        r##""additionalProperties":{"$ref":"#/properties/y"}"##,
        r#""additionalProperties":false"#,
        r#""title":"x","type":"object""#,
        r#""patternProperties":{"^z-":{}}"#,
    ] {
        assert!(issues(&shell(more), r#"{"x":1}"#).is_empty(), "{more}");
    }
}

#[test]
fn inputs_that_need_each_other_can_be_locked_together() {
    let schema = r##"{"properties":{"x":{"type":"object","properties":{"in":{"$ref":"#/properties/x"}}},"y":{"$ref":"#/properties/x"}}}"##;
    assert!(issues(schema, r#"{"x":{},"y":{"in":{}}}"#).is_empty());
    assert!(issues(schema, r#"{"y":{}}"#).is_empty());
    assert_eq!(
        issues(schema, r#"{"x":{}}"#),
        ["x: cannot be removed: the reference `#/properties/x` needs its schema"]
    );
}

#[test]
fn issues_are_ordered_by_name() {
    let schema = r#"{"properties":{"b":{"type":"null"},"a":{},"d":false}}"#;
    let names: Vec<_> = check(&with_schema(schema), &locks(r#"{"d":1,"c":1,"b":1,"a":1}"#))
        .into_iter()
        .map(|issue| issue.name)
        .collect();
    assert_eq!(names, ["b", "c", "d"]);
}

proptest! {
    #[test]
    fn locks_are_read_back_from_their_text(value in value(), other in value(), mut choices in choices()) {
        let text = format!("{{\"b\":{},\"a\":{}}}", value.spell(&mut choices), other.spell(&mut choices));
        let given = Locks::parse(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(Locks::parse(&given.to_json()), Ok(given));
    }

    #[test]
    fn no_schema_and_no_value_break_the_check(schema in value(), value in value(), mut choices in choices()) {
        let (schema, value) = (schema.spell(&mut choices), value.spell(&mut choices));
        check(&with_schema(&format!("{{\"properties\":{{\"x\":{schema}}}}}")), &locks(&format!("{{\"x\":{value}}}")));
    }
}

/// BR-023
#[test]
fn a_lock_on_an_input_of_branches_is_judged_by_them() {
    let attach = r#"{"type":"object","anyOf":[{"properties":{"content":{"type":"string"}},"required":["content"]},
        {"properties":{"url":{"type":"string"}},"required":["url"]}]}"#;
    let either = r##"{"$ref":"#/$defs/a","$defs":{"a":{"oneOf":[{"properties":{"n":{"type":"integer"}}},
        {"properties":{"n":{"type":"null"}}}]}}}"##;
    let negated = r#"{"not":{"properties":{"n":{"type":"integer"}}}}"#;
    for (schema, lock, judged) in [
        (attach, r#"{"url":7}"#, "url: value does not fit"),
        // Agents would still read of it.
        (attach, r#"{"url":"x"}"#, "url: cannot be removed"),
        (attach, r#"{"uri":"x"}"#, "uri: no such input"),
        (either, r#"{"n":1}"#, "n: cannot be removed"),
        (either, r#"{"n":null}"#, "n: cannot be removed"),
        (either, r#"{"n":"1"}"#, "n: value does not fit"),
        (negated, r#"{"n":1}"#, "n: no such input"),
    ] {
        let issues = issues(schema, lock);
        assert!(issues.len() == 1 && issues[0].starts_with(judged), "{lock}: {issues:?}");
    }
}
