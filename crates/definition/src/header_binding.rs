use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use thiserror::Error;

use crate::Definition;
use crate::arguments::Arguments;
use crate::json::{Decimal, Document, Kind, Node, Pointer};
use crate::limits::ARGUMENTS;
use crate::locks::Locks;

/// The annotation that binds an input to a request header.
const ANNOTATION: &str = "x-mcp-header";

/// Keywords whose value is one schema or an array of schemas.
const SCHEMAS: [&str; 16] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is an object of schemas, `properties` left out.
const NAMED_SCHEMAS: [&str; 5] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties"];

/// An `x-mcp-header` that breaks its rules (MCP 2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters"). A
/// client over HTTP must leave such a tool out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`x-mcp-header` {rule}")]
pub struct HeaderBindingFault {
    /// JSON Pointer (RFC 6901) to the annotation inside the definition.
    pub path: String,
    rule: &'static str,
}

impl HeaderBindingFault {
    /// A short stable code.
    pub fn code(&self) -> &'static str {
        "X_MCP_HEADER_INVALID"
    }
}

/// The inputs of a definition that its input schema binds to request headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderBindings(Vec<Binding>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Binding {
    header: String,
    /// The names that lead to the input.
    input: Vec<String>,
}

impl HeaderBindings {
    /// Those of a definition, in text order.
    ///
    /// # Errors
    ///
    /// The first `x-mcp-header`, in text order, that is not the name of a header (an HTTP token), stands twice in the
    /// schema ignoring case, or stands anywhere but on a string, integer or boolean input that is reached through
    /// `properties` alone.
    pub fn of(definition: &Definition) -> Result<Self, HeaderBindingFault> {
        let document = definition.document();
        let mut walk =
            Walk { found: Self::default(), seen: HashSet::new(), place: vec!["inputSchema".into()] };
        if let Some(schema) = document.root().get("inputSchema") {
            walk.schema(schema, Reach::Root)?;
        }
        Ok(walk.found)
    }

    /// The headers that repeat these arguments, with their values: a string as it is, an integer in its plain decimal
    /// form, `true` or `false`. An input that is not sent, or is none of these, is not repeated.
    pub fn headers(&self, arguments: &Arguments) -> Vec<(String, String)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let document = arguments.document();
        let value = |binding: &Binding| {
            let sent = binding.input.iter().try_fold(document.root(), |node, name| node.get(name));
            sent.and_then(repeated).map(|value| (binding.header.clone(), value))
        };
        self.0.iter().filter_map(value).collect()
    }
}

impl HeaderBindings {
    /// The first binding, in text order, whose header does not repeat what was sent (MCP 2026-07-28, "Custom Headers from
    /// Tool Parameters", server validation): the name of that header. `received` has names in lower case without their
    /// prefix, and values in clear text. Locked inputs are not the caller's to send.
    pub fn mismatch(
        &self,
        arguments: &Arguments,
        locks: &Locks,
        received: &BTreeMap<String, String>,
    ) -> Option<&str> {
        let document = arguments.document();
        let is_wrong = |binding: &&Binding| {
            let sent = binding.input.iter().try_fold(document.root(), |node, name| node.get(name));
            let told = received.get(&binding.header.to_ascii_lowercase());
            match (sent.filter(|sent| repeated(*sent).is_some()), told) {
                (None, None) => false,
                (Some(sent), Some(told)) => !repeats(sent, told),
                (None, Some(_)) | (Some(_), None) => true,
            }
        };
        let own =
            self.0.iter().filter(|binding| !binding.input.first().is_some_and(|name| locks.contains(name)));
        own.filter(is_wrong).map(|binding| binding.header.as_str()).next()
    }
}

/// Whether a header says what was sent, whatever the spelling of a number.
fn repeats(sent: Node<'_>, told: &str) -> bool {
    let is_number = || {
        let other = Document::parse(told, &ARGUMENTS).ok();
        let other = other.as_ref().map(Document::root).filter(|node| node.kind() == Kind::Number);
        other.is_some_and(|other| repeated(other) == repeated(sent))
    };
    repeated(sent).is_some_and(|text| text == told) || (sent.kind() == Kind::Number && is_number())
}

fn repeated(sent: Node<'_>) -> Option<String> {
    match sent.kind() {
        Kind::String => sent.as_str().map(Cow::into_owned),
        Kind::Number => Some(Decimal::read(sent.text()).plain().unwrap_or_else(|| sent.text().to_owned())),
        Kind::Bool => Some(sent.text().to_owned()),
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}

/// How a schema is reached from the root.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Root,
    Properties,
    Otherwise,
}

struct Walk<'a> {
    found: HeaderBindings,
    /// Header names in lower case.
    seen: HashSet<String>,
    place: Vec<Cow<'a, str>>,
}

impl<'a> Walk<'a> {
    /// As deep as the definition, which has a limit. What is no schema (`default`, `enum`, …) is not entered.
    fn schema(&mut self, schema: Node<'a>, reach: Reach) -> Result<(), HeaderBindingFault> {
        for (keyword, value) in schema.members() {
            let keyword_is = |names: &[&str]| names.contains(&&*keyword);
            let (is_annotation, is_named) = (keyword == ANNOTATION, keyword_is(&NAMED_SCHEMAS));
            let (is_properties, is_schemas) = (keyword == "properties", keyword_is(&SCHEMAS));
            self.place.push(keyword);
            if is_annotation {
                self.annotation(schema, value, reach)?;
            } else if is_properties {
                let reach = if reach == Reach::Otherwise { reach } else { Reach::Properties };
                self.named(value, reach)?;
            } else if is_named {
                self.named(value, Reach::Otherwise)?;
            } else if is_schemas {
                self.schema_or_array(value)?;
            }
            self.place.pop();
        }
        Ok(())
    }

    fn named(&mut self, schemas: Node<'a>, reach: Reach) -> Result<(), HeaderBindingFault> {
        for (name, schema) in schemas.members() {
            self.place.push(name);
            self.schema(schema, reach)?;
            self.place.pop();
        }
        Ok(())
    }

    fn schema_or_array(&mut self, value: Node<'a>) -> Result<(), HeaderBindingFault> {
        self.schema(value, Reach::Otherwise)?;
        for (position, schema) in value.elements().enumerate() {
            self.place.push(position.to_string().into());
            self.schema(schema, Reach::Otherwise)?;
            self.place.pop();
        }
        Ok(())
    }

    fn annotation(
        &mut self,
        schema: Node<'_>,
        value: Node<'_>,
        reach: Reach,
    ) -> Result<(), HeaderBindingFault> {
        if reach != Reach::Properties {
            return Err(self.fault("stands where no input is reached through `properties` alone"));
        }
        let Some(name) = value.as_str().filter(|name| is_token(name)) else {
            return Err(self.fault("is not the name of an HTTP header"));
        };
        let input_type = schema.get("type").filter(|node| node.kind() == Kind::String).and_then(Node::as_str);
        if !input_type.is_some_and(|found| ["string", "integer", "boolean"].contains(&&*found)) {
            return Err(self.fault("stands on an input whose type is not string, integer or boolean"));
        }
        if !self.seen.insert(name.to_ascii_lowercase()) {
            return Err(self.fault("names a header that another input is bound to"));
        }
        let input = self.place.iter().skip(2).step_by(2).map(|name| name.to_string()).collect();
        self.found.0.push(Binding { header: name.into_owned(), input });
        Ok(())
    }

    fn fault(&self, rule: &'static str) -> HeaderBindingFault {
        let mut pointer = Pointer::default();
        self.place.iter().for_each(|token| pointer.push(token));
        HeaderBindingFault { path: pointer.into_string(), rule }
    }
}

/// RFC 9110 5.6.2.
fn is_token(text: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_tchar)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bindings(schema: &str) -> Result<HeaderBindings, HeaderBindingFault> {
        let text = format!(r#"{{"name":"a","inputSchema":{schema}}}"#);
        HeaderBindings::of(&Definition::parse(&text).unwrap())
    }

    fn check(schema: &str) -> Result<(), HeaderBindingFault> {
        bindings(schema).map(drop)
    }

    fn property(annotated: &str) -> String {
        format!(r#"{{"type":"object","properties":{{"p":{annotated}}}}}"#)
    }

    fn fault_path(schema: &str) -> String {
        check(schema).unwrap_err().path
    }

    #[test]
    fn inputs_reached_through_properties_alone_may_be_bound() {
        for input_type in ["string", "integer", "boolean"] {
            let bound = format!(r#"{{"type":"{input_type}","x-mcp-header":"Region"}}"#);
            assert_eq!(check(&property(&bound)), Ok(()));
            assert_eq!(check(&property(&property(&bound))), Ok(()));
        }
        assert_eq!(check("{}"), Ok(()));
    }

    #[test]
    fn a_header_name_must_be_a_token() {
        for name in [r#""""#, r#""a b""#, r#""a:b""#, r#""a\r\nb""#, r#""é""#, "7", "null", "{}"] {
            let schema = property(&format!(r#"{{"type":"string","x-mcp-header":{name}}}"#));
            assert_eq!(fault_path(&schema), "/inputSchema/properties/p/x-mcp-header", "{name}");
        }
    }

    #[test]
    fn only_strings_integers_and_booleans_can_be_bound() {
        for input_type in
            [r#""type":"number","#, r#""type":"object","#, r#""type":["string","null"],"#, r#""type":7,"#, ""]
        {
            let schema = property(&format!(r#"{{{input_type}"x-mcp-header":"A"}}"#));
            assert_eq!(fault_path(&schema), "/inputSchema/properties/p/x-mcp-header", "{input_type}");
        }
    }

    #[test]
    fn two_inputs_are_not_bound_to_one_header_whatever_its_case() {
        let input = |name: &str| format!(r#"{{"type":"string","x-mcp-header":"{name}"}}"#);
        let (first, second) = (input("Region"), input("rEGION"));
        let schema = format!(r#"{{"properties":{{"a/b":{first},"c~d":{{"properties":{{"e":{second}}}}}}}}}"#);
        assert_eq!(fault_path(&schema), "/inputSchema/properties/c~0d/properties/e/x-mcp-header");
    }

    #[test]
    fn an_annotation_off_the_chain_of_properties_is_invalid() {
        let bound = r#"{"type":"string","x-mcp-header":"A"}"#;
        for keyword in
            ["items", "not", "if", "then", "else", "contains", "additionalProperties", "propertyNames"]
        {
            assert_eq!(
                fault_path(&property(&format!(r#"{{"{keyword}":{bound}}}"#))),
                format!("/inputSchema/properties/p/{keyword}/x-mcp-header")
            );
        }
        for keyword in ["oneOf", "anyOf", "allOf", "prefixItems", "items"] {
            assert_eq!(
                fault_path(&format!(r#"{{"{keyword}":[true,{{"properties":{{"p":{bound}}}}}]}}"#)),
                format!("/inputSchema/{keyword}/1/properties/p/x-mcp-header")
            );
        }
        for keyword in ["$defs", "definitions", "patternProperties", "dependentSchemas"] {
            assert_eq!(
                fault_path(&format!(r#"{{"{keyword}":{{"d":{bound}}}}}"#)),
                format!("/inputSchema/{keyword}/d/x-mcp-header")
            );
        }
        assert_eq!(fault_path(bound), "/inputSchema/x-mcp-header");
        assert_eq!(
            fault_path(&property(r#"{"type":"string","x-mcp\u002dheader":""}"#)),
            "/inputSchema/properties/p/x-mcp-header",
            "an escaped spelling is the same member"
        );
    }

    #[test]
    fn what_is_data_or_a_name_is_no_annotation() {
        for schema in [
            property(
                r#"{"default":{"x-mcp-header":""},"enum":[{"x-mcp-header":7}],"const":{"x-mcp-header":1}}"#,
            ),
            r#"{"properties":{"x-mcp-header":{"type":"number"}},"examples":[{"x-mcp-header":""}]}"#
                .to_owned(),
            r#"{"properties":{"properties":{"type":"object","properties":{"x-mcp-header":true}}}}"#
                .to_owned(),
        ] {
            assert_eq!(check(&schema), Ok(()), "{schema}");
        }
    }

    #[test]
    fn what_is_sent_for_a_bound_input_is_repeated_in_its_header() {
        let bound = |input_type: &str, header: &str| {
            format!(r#"{{"type":"{input_type}","x-mcp-header":"{header}"}}"#)
        };
        let (text, flag, count) =
            (bound("string", "Text"), bound("boolean", "Flag"), bound("integer", "Count"));
        let schema = format!(
            r#"{{"properties":{{"s":{text},"in":{{"properties":{{"b":{flag},"properties":{count}}}}}}}}}"#
        );
        let bindings = bindings(&schema).unwrap();
        for (sent, headers) in [
            (r#"{"s":"a \u00e9","in":{"b":true,"properties":7}}"#, "Text=a é Flag=true Count=7"),
            (r#"{"in":{"properties":-1.50e2,"b":false}}"#, "Flag=false Count=-150"),
            (r#"{"s":"","in":{"properties":9007199254740993}}"#, "Text= Count=9007199254740993"),
            (r#"{"in":{"properties":-0.0}}"#, "Count=0"),
            (r#"{"in":{"properties":1e400}}"#, "Count=1e400"),
            (r#"{"s":null,"in":{"b":[],"properties":{}}}"#, ""),
            (r#"{"s":["a"],"in":7}"#, ""),
            ("{}", ""),
        ] {
            let told = bindings.headers(&Arguments::parse(sent).unwrap());
            let told: Vec<_> = told.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(told.join(" "), headers, "{sent}");
        }
    }

    #[test]
    fn a_header_has_to_repeat_what_was_sent_and_nothing_else() {
        let schema = r#"{"properties":{"s":{"type":"string","x-mcp-header":"Text"},"n":{"type":"integer","x-mcp-header":"Count"}}}"#;
        let bindings = bindings(schema).unwrap();
        let mismatch = |sent: &str, locks: &str, received: &[(&str, &str)]| {
            let received =
                received.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let (sent, locks) = (Arguments::parse(sent).unwrap(), Locks::parse(locks).unwrap());
            bindings.mismatch(&sent, &locks, &received).map(str::to_owned)
        };
        for (sent, received, wrong) in [
            (r#"{"s":"a","n":100}"#, &[("text", "a"), ("count", "100")][..], None),
            (r#"{"s":"a","n":1e2}"#, &[("text", "a"), ("count", "100.0")], None),
            ("{}", &[("other", "x")], None),
            (r#"{"s":null}"#, &[], None),
            (r#"{"s":"a"}"#, &[], Some("Text")),
            (r#"{"s":"a"}"#, &[("text", "b")], Some("Text")),
            ("{}", &[("count", "1")], Some("Count")),
            (r#"{"n":7}"#, &[("count", "8")], Some("Count")),
            (r#"{"n":7}"#, &[("count", "seven")], Some("Count")),
        ] {
            assert_eq!(mismatch(sent, "{}", received).as_deref(), wrong, "{sent} {received:?}");
        }
        assert_eq!(
            mismatch(r#"{"s":"mine"}"#, r#"{"s":"ours"}"#, &[]),
            None,
            "a locked input is not the caller's"
        );
    }
}
