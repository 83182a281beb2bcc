//! From what a server lists to definitions.

use std::borrow::Cow;
use std::collections::HashMap;

use toolgate_definition::{json::quote, scan};
use toolgate_upstream::ListingError;

use crate::META;

type Members<'t> = Vec<(Cow<'t, str>, &'t str)>;

/// The definitions of a whole answer, in its order. Of several versions of one tool the latest is taken.
///
/// # Errors
/// The answer is no list of OXP 1.0.
pub(crate) fn definitions(answer: &str) -> Result<Vec<String>, ListingError> {
    let broken = |what: &str| ListingError::Protocol(format!("the list: {what}"));
    let members = scan::object(answer).map_err(|error| broken(&error.to_string()))?;
    if let Some(schema) = member(&members, "$schema")
        && !string(schema).is_some_and(|schema| is_supported(&schema))
    {
        return Err(broken("its `$schema` is not that of OXP 1.0"));
    }
    let items = member(&members, "items").ok_or_else(|| broken("it has no `items`"))?;
    let items = scan::elements(items).collect::<Result<Vec<_>, _>>();
    let items = items.map_err(|error| broken(&error.to_string()))?;
    let latest = latest(&items);
    let taken = items
        .iter()
        .enumerate()
        .filter(|(place, item)| id(item).is_none_or(|id| latest.get(tool_of(&id)) == Some(place)));
    Ok(taken.map(|(_, item)| definition(item)).collect())
}

/// By tool, the place of its entry with the highest version.
fn latest(items: &[&str]) -> HashMap<String, usize> {
    let mut latest: HashMap<String, (Vec<u64>, usize)> = HashMap::new();
    for (place, item) in items.iter().enumerate() {
        let Some(id) = id(item) else { continue };
        let version = version(item, &id);
        let newest = latest.entry(tool_of(&id).to_owned()).or_insert_with(|| (version.clone(), place));
        if version > newest.0 {
            *newest = (version, place);
        }
    }
    latest.into_iter().map(|(tool, (_, place))| (tool, place)).collect()
}

/// An entry as a definition. One that is no object, or ambiguous, stays as it is, for whoever judges definitions.
fn definition(item: &str) -> String {
    let Ok(members) = scan::object(item) else { return item.to_owned() };
    let mut out = Vec::new();
    let mut own = Vec::new();
    for (name, value) in &members {
        match &**name {
            "name" | "description" => out.push(format!("{}:{value}", quote(name))),
            "input_schema" => out.push(format!(r#""inputSchema":{value}"#)),
            // `null` says that nothing comes back, for which MCP has no word.
            "output_schema" if *value != "null" => out.push(format!(r#""outputSchema":{value}"#)),
            _ => own.push(format!("{}:{value}", quote(name))),
        }
    }
    if member(&members, "input_schema").is_none() {
        out.push(r#""inputSchema":{"type":"object"}"#.to_owned());
    }
    out.push(format!(r#""_meta":{{"{META}":{{{}}}}}"#, own.join(",")));
    format!("{{{}}}", out.join(","))
}

/// The OXP id that a definition keeps.
pub(crate) fn id_of(definition: &str) -> Option<String> {
    let members = scan::object(definition).ok()?;
    let meta = scan::object(member(&members, "_meta")?).ok()?;
    id(member(&meta, META)?)
}

fn id(item: &str) -> Option<String> {
    member(&scan::object(item).ok()?, "id").and_then(string)
}

/// An id without its version.
fn tool_of(id: &str) -> &str {
    id.split('@').next().unwrap_or(id)
}

fn version(item: &str, id: &str) -> Vec<u64> {
    let said = scan::object(item).ok().and_then(|members| member(&members, "version").and_then(string));
    let text = said.or_else(|| id.split_once('@').map(|(_, version)| version.to_owned())).unwrap_or_default();
    text.split('.').map(|part| part.parse().unwrap_or_default()).collect()
}

fn is_supported(schema: &str) -> bool {
    matches!(schema, "urn:oxp:1.0" | "otc://1.0") || schema.ends_with("/http/1.0/openapi.json")
}

pub(crate) fn member<'t>(members: &Members<'t>, name: &str) -> Option<&'t str> {
    members.iter().find(|(found, _)| found == name).map(|(_, value)| *value)
}

pub(crate) fn string(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_becomes_a_definition_as_it_is_spelt() {
        let list = r#" {"$schema":"urn:oxp:1.0","items":[ {"id":"Math.Add@1.2.0","name":"Math_Add","description":"\u0041dds",
            "version":"1.2.0","input_schema":{ "type":"object","x":1.0 },"output_schema":{"type":"number"},"requirements":{"user_id":true},"y":1E2} ]}"#;
        let expected = r#"{"name":"Math_Add","description":"\u0041dds","inputSchema":{ "type":"object","x":1.0 },"outputSchema":{"type":"number"},"_meta":{"dev.toolgate/oxp":{"id":"Math.Add@1.2.0","version":"1.2.0","requirements":{"user_id":true},"y":1E2}}}"#;
        assert_eq!(definitions(list).unwrap(), [expected]);
        assert_eq!(id_of(expected).as_deref(), Some("Math.Add@1.2.0"));
    }

    #[test]
    fn what_is_not_said_is_no_input_and_null_is_no_output() {
        let list = r#"{"items":[{"id":"A.B","name":"b","output_schema":null}]}"#;
        let expected = r#"{"name":"b","inputSchema":{"type":"object"},"_meta":{"dev.toolgate/oxp":{"id":"A.B","output_schema":null}}}"#;
        assert_eq!(definitions(list).unwrap(), [expected]);
    }

    #[test]
    fn of_several_versions_the_latest_is_taken_by_number() {
        let item = |version: &str| format!(r#"{{"id":"A.B@{version}","name":"b","version":"{version}"}}"#);
        let list = format!(r#"{{"items":[{},{},{}]}}"#, item("2.0.0"), item("10.0.0"), item("9.9.9"));
        let taken = definitions(&list).unwrap();
        assert_eq!(taken.len(), 1);
        assert_eq!(id_of(&taken[0]).as_deref(), Some("A.B@10.0.0"));
    }

    #[test]
    fn a_faulty_entry_is_left_to_be_judged_and_a_faulty_list_is_refused() {
        assert_eq!(definitions(r#"{"items":[7,{"a":1,"a":2}]}"#).unwrap(), ["7", r#"{"a":1,"a":2}"#]);
        for list in ["", "[]", "{}", r#"{"items":{}}"#, r#"{"$schema":"urn:oxp:2.0","items":[]}"#] {
            assert!(matches!(definitions(list), Err(ListingError::Protocol(_))), "{list}");
        }
    }
}
