//! What is on disk, read row by row, without the server.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use toolgate_definition::{Definition, Fingerprint};
use toolgate_domain::{ClientId, ruling::Act};
use toolgate_records::{ChainHead, ChainedRuling, Key, Record, chain};
use toolgate_store::{Store, scan_all};
use toolgate_store_sled::{Options, SledStore};

use super::owned::{Word, stands};

/// Upstream id and the upstream's own name of a tool.
type ToolKey = (String, String);

/// The rows of one client.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The rulings about each tool, in order.
    pub(super) log: BTreeMap<ToolKey, Vec<Word>>,
    /// The version that each versioned definition carries.
    pub(super) versions: BTreeMap<String, u64>,
    /// Whatever does not fit together.
    pub(super) faults: Vec<String>,
}

impl Kept {
    pub(super) async fn read(folder: &Path, client: &str) -> Self {
        let client: ClientId = client.parse().unwrap();
        let store = SledStore::open(folder, Options::default()).expect("the folder opens after a kill");
        let (rows, _) = scan_all(&store, &Key::all_of(client)).await.unwrap();
        store.close().await.unwrap();
        let mut kept = Self::default();
        let mut records = Vec::new();
        for row in rows {
            match Record::decode(&row.key, &row.value) {
                Ok(record) => records.push(record),
                Err(error) => kept.faults.push(error.to_string()),
            }
        }
        kept.check_log(&records);
        kept.check_definitions(&records);
        kept
    }

    /// The chain is whole, and how each tool stands is what its rulings come to.
    fn check_log(&mut self, records: &[Record]) {
        let mut head = ChainHead::EMPTY;
        let mut log: Vec<&ChainedRuling> = Vec::new();
        let mut standing = BTreeMap::new();
        for record in records {
            match record {
                Record::ChainHead(_, found) => head = found.clone(),
                Record::Ruling(_, row) => log.push(row),
                Record::Ruled(_, upstream, name, ruled) => {
                    standing.insert(
                        (upstream.to_string(), name.clone()),
                        (ruled.approval.is_some(), ruled.disabled),
                    );
                }
                _ => {}
            }
        }
        if let Err(broken) = chain::verify(log.iter().copied(), &head) {
            self.faults.push(broken.to_string());
        }
        for ChainedRuling { ruling, .. } in log {
            let upstream = ruling.upstream.map(|upstream| upstream.to_string()).unwrap_or_default();
            let key = (upstream, ruling.tool_name.clone());
            self.log.entry(key).or_default().push(word(&ruling.act));
        }
        let from_log: BTreeMap<_, _> =
            self.log.iter().map(|(key, acts)| (key.clone(), stands(acts))).collect();
        if from_log != standing {
            self.faults.push(format!("the log comes to {from_log:?}, the tools stand as {standing:?}"));
        }
    }

    /// Every tool that is listed has the text of its fingerprint, and every text is that of its fingerprint.
    fn check_definitions(&mut self, records: &[Record]) {
        let mut texts = BTreeSet::new();
        for record in records {
            if let Record::Definition(_, upstream, name, fingerprint, seen) = record {
                let Some(text) = &seen.text else { continue };
                texts.insert((*upstream, name.clone(), *fingerprint));
                if Definition::parse(text).map(|definition| definition.fingerprint()) != Ok(*fingerprint) {
                    self.faults.push(format!("{name}: a text that is not that of {fingerprint}"));
                }
            }
        }
        for record in records {
            if let Record::Observed(_, upstream, name, observed) = record {
                if !texts.contains(&(*upstream, name.clone(), observed.fingerprint)) {
                    self.faults.push(format!("{name}: no text of {}", observed.fingerprint));
                }
                self.read_version(records, name, observed.fingerprint);
            }
        }
    }

    fn read_version(&mut self, records: &[Record], name: &str, listed: Fingerprint) {
        let text = records.iter().find_map(|record| match record {
            Record::Definition(_, _, of, fingerprint, seen) if of == name && *fingerprint == listed => {
                seen.text.as_ref()
            }
            _ => None,
        });
        let definition: Option<serde_json::Value> = text.and_then(|text| serde_json::from_str(text).ok());
        if let Some(version) = definition.and_then(|definition| definition["version"].as_u64()) {
            self.versions.insert(name.to_owned(), version);
        }
    }
}

fn word(act: &Act) -> Word {
    match act {
        Act::Approve { .. } => Word::Approve,
        Act::RevokeApproval => Word::Revoke,
        Act::Disable => Word::Disable,
        Act::Enable => Word::Enable,
        other => panic!("nobody ruled {other:?}, and the log has it"),
    }
}
