//! A listing, judged entry by entry. Pure.

use std::{collections::BTreeMap, sync::Arc};

use toolgate_definition::{Definition, HeaderBindings, claimed_name};
use toolgate_domain::{limits, sync_issue::SyncIssue};

/// What a listing had in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Reading {
    /// By the upstream's own name.
    pub(super) tools: BTreeMap<Arc<str>, Listed>,
    /// In the order of the listing.
    pub(super) issues: Vec<SyncIssue>,
    /// Everything that was listed.
    pub(super) entries_read: u32,
}

/// A tool as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) definition: Arc<Definition>,
    /// Another entry has the same name and another definition; `definition` is the one with the smaller fingerprint.
    pub(super) conflicted: bool,
    /// The name that it is given now, where the policy gives one ([`super::naming`]).
    pub(super) canonical_name: Option<String>,
}

/// Judges each entry alone, so that a faulty one costs no other its place. With `binds_headers`, one whose bindings of
/// inputs to request headers are invalid is faulty, too.
pub(super) fn read(entries: &[String], binds_headers: bool) -> Reading {
    let mut reading =
        Reading { entries_read: u32::try_from(entries.len()).unwrap_or(u32::MAX), ..Reading::default() };
    for (position, entry) in (0u32..).zip(entries) {
        match judge(entry, position, binds_headers) {
            Ok(definition) => reading.take(Arc::new(definition), position),
            Err(issue) => reading.issues.push(issue),
        }
    }
    reading.cut();
    reading
}

fn judge(entry: &str, position: u32, binds_headers: bool) -> Result<Definition, SyncIssue> {
    let issue = |code: &str, path: &str, fault: &dyn std::fmt::Display| SyncIssue {
        code: code.to_owned(),
        tool_name: claimed_name(entry).map(|name| name.chars().take(200).collect()),
        position,
        path: path.to_owned(),
        message: format!("{fault}; the tool is left out"),
        entries: 1,
    };
    let definition = Definition::parse(entry).map_err(|fault| issue(fault.code(), fault.path(), &fault))?;
    if binds_headers {
        HeaderBindings::of(&definition).map_err(|fault| issue(fault.code(), &fault.path, &fault))?;
    }
    Ok(definition)
}

impl Reading {
    fn take(&mut self, definition: Arc<Definition>, position: u32) {
        let name: Arc<str> = Arc::from(definition.name());
        let Some(earlier) = self.tools.get_mut(&name) else {
            self.tools.insert(name, Listed { definition, conflicted: false, canonical_name: None });
            return;
        };
        if earlier.definition.fingerprint() == definition.fingerprint() {
            return;
        }
        let both = [earlier.definition.fingerprint(), definition.fingerprint()];
        earlier.conflicted = true;
        if definition.fingerprint() < earlier.definition.fingerprint() {
            earlier.definition = definition;
        }
        self.issues.push(SyncIssue {
            code: "DUPLICATE_NAME".into(),
            tool_name: Some(name.to_string()),
            position,
            path: "/name".into(),
            message: format!(
                "the name is listed with two different definitions, {} and {}; neither is served until one is left",
                both[0], both[1]
            ),
            entries: 1,
        });
    }

    /// Keeps the stored list of issues bounded; the last one counts what was cut, so that every entry stays accounted for.
    fn cut(&mut self) {
        if self.issues.len() <= limits::MAX_SYNC_ISSUES {
            return;
        }
        let rest = self.issues.split_off(limits::MAX_SYNC_ISSUES - 1);
        self.issues.push(SyncIssue {
            code: "MORE_ISSUES".into(),
            tool_name: None,
            position: rest[0].position,
            path: String::new(),
            message: format!("{} more entries from here on are faulty", rest.len()),
            entries: rest.iter().map(|issue| issue.entries).sum(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    /// BR-025.
    #[test]
    fn a_faulty_entry_is_reported_with_its_position_and_costs_no_other_its_place() {
        let reading = read(
            &entries(&[
                r#"{"name":"good","inputSchema":{"type":"object"}}"#,
                r#"{"name":"bad"}"#,
                r#"{"inputSchema":{"type":"object"}}"#,
                "42",
                "null",
                r#"{"name":7,"inputSchema":{}}"#,
            ]),
            false,
        );
        assert_eq!(reading.tools.keys().map(|name| name.to_string()).collect::<Vec<_>>(), ["good"]);
        assert_eq!(reading.issues.iter().map(|issue| issue.position).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert_eq!(reading.issues[0].tool_name.as_deref(), Some("bad"));
        assert!(reading.issues.iter().all(|issue| !issue.message.is_empty() && issue.entries == 1));
    }

    /// BR-041.
    #[test]
    fn a_duplicate_key_is_reported_with_its_path() {
        let reading = read(
            &entries(&[
                r#"{"name":"a","description":"harmless","inputSchema":{"type":"object"},"description":"else"}"#,
                r#"{"name":"b","inputSchema":{"type":"object","properties":{"p":{"type":"string"},"p":{"type":"integer"}}}}"#,
                r#"{"name":"c","inputSchema":{"type":"object"}}"#,
            ]),
            false,
        );
        let found: Vec<_> = reading.issues.iter().map(|i| (i.code.as_str(), i.path.as_str())).collect();
        assert_eq!(
            found,
            [("DUPLICATE_KEY", "/description"), ("DUPLICATE_KEY", "/inputSchema/properties/p")]
        );
        assert_eq!(reading.tools.len(), 1);
    }

    /// BR-037.
    #[test]
    fn two_definitions_of_one_name_conflict_whatever_their_order() {
        let first = r#"{"name":"get","description":"first","inputSchema":{}}"#;
        let second = r#"{"name":"get","description":"second","inputSchema":{}}"#;
        let other = r#"{"name":"other","inputSchema":{}}"#;
        let forth = read(&entries(&[first, other, second]), false);
        let back = read(&entries(&[second, other, first]), false);
        assert!(forth.tools["get"].conflicted && !forth.tools["other"].conflicted);
        assert_eq!(forth.tools, back.tools, "list order decides nothing");
        assert_eq!(forth.issues[0].code, "DUPLICATE_NAME");
    }

    #[test]
    fn an_identical_repeat_is_one_entry() {
        let text = r#"{"name":"get","inputSchema":{}}"#;
        let spelled = r#"{ "inputSchema": {}, "name": "get" }"#;
        let reading = read(&entries(&[text, spelled]), false);
        assert!(!reading.tools["get"].conflicted && reading.issues.is_empty());
        assert_eq!(reading.tools["get"].definition.text(), text, "the first one seen is kept");
        assert_eq!(reading.entries_read, 2);
    }

    #[test]
    fn an_invalid_header_binding_costs_the_tool_its_place_where_headers_are_bound() {
        let bound = |name: &str| {
            format!(
                r#"{{"name":"{name}","inputSchema":{{"properties":{{"p":{{"type":"string","x-mcp-header":"{name}"}}}}}}}}"#
            )
        };
        let listed = [bound("Region"), bound("not a token")];
        let reading = read(&listed, true);
        assert_eq!(reading.tools.keys().map(|name| name.to_string()).collect::<Vec<_>>(), ["Region"]);
        let [issue] = &reading.issues[..] else { panic!("{:?}", reading.issues) };
        assert_eq!((issue.code.as_str(), issue.position), ("X_MCP_HEADER_INVALID", 1));
        assert_eq!(issue.path, "/inputSchema/properties/p/x-mcp-header");
        assert_eq!(issue.tool_name.as_deref(), Some("not a token"));
        assert_eq!(read(&listed, false).tools.len(), 2, "elsewhere it is a member like another");
    }

    #[test]
    fn however_many_entries_are_faulty_each_is_counted() {
        let reading = read(&vec!["1".to_owned(); 1000], false);
        assert_eq!(reading.issues.len(), limits::MAX_SYNC_ISSUES);
        assert_eq!(reading.issues.iter().map(|issue| issue.entries).sum::<u32>(), 1000);
    }
}
