use crate::json::{Kind, Node};

/// A keyword that holds schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keyword {
    /// What its schemas apply to.
    pub(crate) place: Place,
    holds: Holds,
}

/// What a subschema applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The value that the schema around it applies to.
    Here,
    /// A part of that value.
    Below,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// A schema or a list of them.
    Schemas,
    /// An object whose members are schemas.
    Map,
}

/// The keywords of all drafts from 4 to 2020-12, references aside.
pub(crate) fn keyword(name: &str) -> Option<Keyword> {
    let (place, holds) = match name {
        "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" => (Place::Here, Holds::Schemas),
        "dependentSchemas" | "dependencies" => (Place::Here, Holds::Map),
        "properties" | "patternProperties" => (Place::Below, Holds::Map),
        "additionalProperties" | "propertyNames" | "unevaluatedProperties" => (Place::Below, Holds::Schemas),
        "items" | "prefixItems" | "additionalItems" | "contains" | "unevaluatedItems" => {
            (Place::Below, Holds::Schemas)
        }
        _ => return None,
    };
    Some(Keyword { place, holds })
}

/// Whether `name` holds an object whose members are named after inputs.
pub(crate) fn named_members(name: &str) -> bool {
    matches!(name, "properties" | "dependentRequired" | "dependencies" | "dependentSchemas")
}

/// Whether locked inputs are taken out of this member of the root schema.
pub(crate) fn is_edited(name: &str) -> bool {
    named_members(name) || matches!(name, "required" | "default" | "example" | "examples")
}

/// Keywords that judge a value by themselves. `format` and the content keywords only describe.
pub(crate) fn is_assertion(name: &str) -> bool {
    matches!(
        name,
        "type"
            | "enum"
            | "const"
            | "multipleOf"
            | "minimum"
            | "exclusiveMinimum"
            | "maximum"
            | "exclusiveMaximum"
            | "minLength"
            | "maxLength"
            | "pattern"
            | "minItems"
            | "maxItems"
            | "uniqueItems"
            | "minContains"
            | "maxContains"
            | "minProperties"
            | "maxProperties"
            | "required"
            | "dependentRequired"
    )
}

impl Keyword {
    /// Whether `value` holds its schemas as a map.
    pub(crate) fn is_map(self, value: Node<'_>) -> bool {
        self.holds == Holds::Map && value.kind() == Kind::Object
    }

    /// Whether `value` holds its schemas as a list.
    pub(crate) fn is_list(self, value: Node<'_>) -> bool {
        self.holds == Holds::Schemas && value.kind() == Kind::Array
    }
}
