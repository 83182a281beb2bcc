use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::Validator;

use super::{Arguments, Misfit};
use crate::limits::{MAX_ARGUMENTS_PRODUCT_BYTES, MAX_TOLD_MISFITS};
use crate::locks::{Locks, Unfolding, depth, rounded, validator};
use crate::schema::dialect;
use crate::{Definition, HeaderBindings};

/// The input schema of a definition, made ready to judge arguments.
///
/// Read as [`check`](crate::locks::check) reads it: in its own dialect, with local references followed and nothing ever
/// fetched, and only as deep as the arguments are, so that a reference to itself ends. What is needed is made once.
#[derive(Debug)]
pub struct InputSchema {
    definition: Arc<Definition>,
    headers: HeaderBindings,
    by_depth: Mutex<BTreeMap<usize, Arc<Ready>>>,
}

#[derive(Debug)]
enum Ready {
    Usable {
        validator: Box<Validator>,
        bytes: usize,
    },
    /// Why nothing can be judged by it.
    Unusable(String),
}

/// What an input schema says of arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// They fit.
    Fits,
    /// They do not, for these reasons, at most [`MAX_TOLD_MISFITS`].
    Misfits(Vec<Misfit>),
    /// The schema cannot be evaluated, for this reason, whatever the arguments: whoever listed it has to judge.
    CannotBeJudged(String),
}

impl InputSchema {
    /// That of this definition. Nothing is made ready yet to judge by it.
    pub fn new(definition: Arc<Definition>) -> Self {
        // A definition that breaks the rule of the annotation binds nothing; one is not stored.
        let headers = HeaderBindings::of(&definition).unwrap_or_default();
        Self { definition, headers, by_depth: Mutex::default() }
    }

    /// The inputs that it binds to headers.
    pub fn headers(&self) -> &HeaderBindings {
        &self.headers
    }

    /// Judges arguments with the locks in them. Numbers that neither a 64-bit integer nor a double stands for are judged
    /// as the double next to them.
    pub fn judge(&self, arguments: &Arguments, locks: &Locks) -> Judgement {
        let document = arguments.document();
        let value = rounded(document.root());
        let ready = self.ready(depth(&value));
        let (validator, bytes) = match &*ready {
            Ready::Usable { validator, bytes } => (validator, *bytes),
            Ready::Unusable(reason) => return Judgement::CannotBeJudged(reason.clone()),
        };
        if bytes.saturating_mul(arguments.text().len()) > MAX_ARGUMENTS_PRODUCT_BYTES {
            let problem = "they are too large to be checked against the input schema".to_owned();
            return Judgement::Misfits(vec![Misfit { path: String::new(), problem }]);
        }
        if validator.is_valid(&value) {
            return Judgement::Fits;
        }
        let mut misfits: Vec<Misfit> = Vec::new();
        for error in validator.iter_errors(&value) {
            let misfit = Misfit::new(&error, locks);
            if !misfits.contains(&misfit) {
                misfits.push(misfit);
            }
            if misfits.len() == MAX_TOLD_MISFITS {
                break;
            }
        }
        Judgement::Misfits(misfits)
    }

    /// For arguments of this depth, which their limits bound.
    fn ready(&self, depth: usize) -> Arc<Ready> {
        let mut by_depth = self.by_depth.lock().unwrap_or_else(PoisonError::into_inner);
        let ready = by_depth.entry(depth).or_insert_with(|| Arc::new(Ready::new(&self.definition, depth)));
        Arc::clone(ready)
    }
}

impl Ready {
    fn new(definition: &Definition, depth: usize) -> Self {
        let document = definition.document();
        let root = document.root().get("inputSchema").expect("a definition has an `inputSchema`");
        let Some(draft) = dialect(root) else {
            return Self::Unusable("the dialect of the input schema is unknown".to_owned());
        };
        let mut unfolding = Unfolding::new(root, draft);
        let made = unfolding.copy(root, depth).and_then(|schema| {
            let made = validator(draft, &schema);
            made.map_err(|error| format!("the input schema is not usable: {}", error.masked()))
        });
        match made {
            Ok(validator) => Self::Usable { validator: Box::new(validator), bytes: unfolding.bytes() },
            Err(reason) => Self::Unusable(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(schema: &str, arguments: &str, locks: &str) -> Judgement {
        let definition = Definition::parse(&format!(r#"{{"name":"t","inputSchema":{schema}}}"#)).unwrap();
        let locks = Locks::parse(locks).unwrap();
        let arguments = Arguments::parse(arguments).unwrap().with(&locks);
        InputSchema::new(Arc::new(definition)).judge(&arguments, &locks)
    }

    fn misfits(schema: &str, arguments: &str, locks: &str) -> Vec<String> {
        match judged(schema, arguments, locks) {
            Judgement::Misfits(misfits) => misfits.iter().map(ToString::to_string).collect(),
            other => vec![format!("{other:?}")],
        }
    }

    const NAMED: &str = r#"{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}},
        "required":["n"],"additionalProperties":false}"#;

    #[test]
    fn a_misfit_names_where_and_what_without_the_value() {
        assert_eq!(judged(NAMED, r#"{"n":1}"#, "{}"), Judgement::Fits);
        assert_eq!(misfits(NAMED, r#"{"n":"hush"}"#, "{}"), [r#"/n: value is not of type "integer""#]);
        assert_eq!(misfits(NAMED, "{}", "{}"), [r#"arguments: "n" is a required property"#]);
        let two = misfits(NAMED, r#"{"s":1,"x":2}"#, "{}");
        assert_eq!(two.len(), 3, "{two:?}");
        assert!(two.iter().any(|misfit| misfit.contains("'x' was unexpected")), "{two:?}");
    }

    #[test]
    fn law_06_a_misfit_never_tells_of_a_lock() {
        let schema = r#"{"properties":{"secret":{"type":"string"},"n":{}},"not":{"required":["n"]},
            "maxProperties":1}"#;
        for misfit in misfits(schema, r#"{"n":1}"#, r#"{"secret":"value"}"#) {
            assert!(!misfit.contains("secret"), "{misfit}");
        }
        assert_eq!(
            misfits(r#"{"properties":{"secret":{"type":"integer"}}}"#, "{}", r#"{"secret":"value"}"#),
            ["arguments: they do not fit the input schema as a whole"]
        );
    }

    /// BR-079.
    #[test]
    fn a_number_of_any_size_is_judged_and_none_evades_the_rest() {
        let schema = r#"{"properties":{"n":{"type":"integer"},"s":{"type":"string"}}}"#;
        for number in ["9007199254740993", "123456789012345678901234567890", "1e400", "-0.0"] {
            assert_eq!(judged(schema, &format!(r#"{{"n":{number}}}"#), "{}"), Judgement::Fits, "{number}");
            let evading = format!(r#"{{"n":{number},"s":7}}"#);
            assert_eq!(misfits(schema, &evading, "{}"), [r#"/s: value is not of type "string""#]);
        }
        assert_eq!(misfits(schema, r#"{"n":1.5}"#, "{}").len(), 1);
    }

    #[test]
    fn a_schema_that_refers_to_itself_judges_as_deep_as_the_arguments_go() {
        let tree = r##"{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}},"v":{"type":"string"}}}"##;
        assert_eq!(judged(tree, r#"{"v":"a","kids":[{"kids":[{"v":"b"}]}]}"#, "{}"), Judgement::Fits);
        assert_eq!(
            misfits(tree, r#"{"kids":[{"kids":[{"v":1}]}]}"#, "{}"),
            [r#"/kids/0/kids/0/v: value is not of type "string""#]
        );
    }

    #[test]
    fn a_schema_that_cannot_be_evaluated_judges_nothing() {
        for schema in [
            r##"{"$ref":"#"}"##,
            r#"{"properties":{"a":{"$ref":"https://example.com/s.json"}}}"#,
            r#"{"$schema":"https://example.com/dialect"}"#,
            r#"{"type":"objekt"}"#,
        ] {
            let judged = judged(schema, r#"{"a":1}"#, "{}");
            assert!(matches!(judged, Judgement::CannotBeJudged(_)), "{schema}: {judged:?}");
        }
    }

    #[test]
    fn arguments_too_large_for_the_schema_are_refused() {
        let names: Vec<_> = (0..1500).map(|n| format!(r#""n{n}":{{"type":"string"}}"#)).collect();
        let schema = format!(r#"{{"properties":{{{}}}}}"#, names.join(","));
        let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(60 << 14));
        assert!(misfits(&schema, &large, "{}")[0].contains("too large to be checked"));
        assert_eq!(judged(&schema, r#"{"x":""}"#, "{}"), Judgement::Fits);
    }
}
