//! The document at `/openapi.json`, to hold answers against.

use std::collections::BTreeSet;

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use crate::double::{Answer, Face};

pub(crate) const PATH: &str = "/openapi.json";

pub(crate) struct Contract(pub(crate) Value);

impl Contract {
    pub(crate) async fn read() -> Self {
        Self(Face::holding(Vec::new()).get(PATH).await.json())
    }

    pub(crate) fn paths(&self) -> BTreeSet<&str> {
        self.0["paths"].as_object().unwrap().keys().map(String::as_str).collect()
    }

    /// In capitals.
    pub(crate) fn methods(&self, path: &str) -> BTreeSet<String> {
        let members = self.0["paths"][path].as_object().unwrap().keys();
        members.filter(|name| *name != "parameters").map(|name| name.to_uppercase()).collect()
    }

    pub(crate) fn responses(&self, method: &str, path: &str) -> &Value {
        &self.0["paths"][path][method.to_lowercase()]["responses"]
    }

    pub(crate) fn statuses(&self, method: &str, path: &str) -> BTreeSet<u16> {
        self.responses(method, path)
            .as_object()
            .unwrap()
            .keys()
            .map(|status| status.parse().unwrap())
            .collect()
    }

    /// What stands where a reference leads, or the value itself.
    pub(crate) fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(place) => self.0.pointer(&place[1..]).unwrap_or_else(|| panic!("{place} leads nowhere")),
            None => value,
        }
    }

    /// Of a schema that stands in the document.
    pub(crate) fn validator(&self, schema: &Value) -> Validator {
        let root = json!({"allOf": [schema], "components": self.0["components"]});
        let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
        options.offline().build(&root).unwrap()
    }

    pub(crate) fn component(&self, name: &str) -> Validator {
        self.validator(&json!({"$ref": format!("#/components/schemas/{name}")}))
    }

    /// That the answer is documented: its status, the headers that it must have, and its body.
    pub(crate) fn check(&self, method: &str, path: &str, answer: &Answer) {
        let place = format!("{method} {path} {}", answer.status);
        let response = self.resolved(&self.responses(method, path)[answer.status.as_str()]);
        assert!(response.is_object(), "{place} is not documented");
        for (name, header) in response["headers"].as_object().unwrap() {
            let is_required = self.resolved(header)["required"] == true;
            assert!(!is_required || answer.header(name).is_some(), "{place}: {name} is missing");
        }
        let Some(content) = response["content"].as_object() else {
            return assert!(answer.body.is_empty(), "{place}: {:?}", answer.body);
        };
        let media_type = answer.header("content-type").unwrap();
        assert!(content.contains_key(media_type), "{place}: {media_type}");
        if media_type == "application/json" {
            assert_valid(&self.validator(&content[media_type]["schema"]), &answer.json(), &place);
        }
    }
}

pub(crate) fn assert_valid(validator: &Validator, value: &Value, place: &str) {
    let errors: Vec<_> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{place}: {errors:?} in {value}");
}
