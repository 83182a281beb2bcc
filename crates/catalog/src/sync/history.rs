//! Which texts of earlier definitions are kept. Fingerprints and times always are.
//!
//! What is kept is counted in each tool's own row, so that no history is read to add to it.

use std::{collections::BTreeMap, sync::Arc};

use toolgate_domain::{limits, sync_issue::SyncIssue, tool::EarlierTexts};

use super::write::Before;

/// Bounds of what is kept beside the definitions that are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Texts of one tool.
    pub texts_per_tool: u32,
    /// Bytes of one client's texts.
    pub bytes_per_client: u64,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self {
            texts_per_tool: limits::MAX_EARLIER_TEXTS_PER_TOOL,
            bytes_per_client: limits::MAX_EARLIER_TEXT_BYTES_PER_CLIENT,
        }
    }
}

/// What is kept of one upstream's earlier definitions, and how many texts its tools lack.
#[derive(Debug)]
pub(super) struct History {
    limits: HistoryLimits,
    /// Of the client's other upstreams, as they were last counted.
    others_bytes: u64,
    own_bytes: u64,
    /// By the upstream's own name; tools that lack none are not in it.
    dropped: BTreeMap<Arc<str>, u32>,
}

impl History {
    /// As it is before a sync.
    pub(super) fn of(before: &Before, limits: HistoryLimits, others_bytes: u64) -> Self {
        let mut history = Self { limits, others_bytes, own_bytes: 0, dropped: BTreeMap::new() };
        for (name, (observed, _)) in before {
            history.own_bytes += observed.earlier.kept_bytes;
            history.note(name, observed.earlier);
        }
        history
    }

    /// Bytes that are kept of this upstream.
    pub(super) fn own_bytes(&self) -> u64 {
        self.own_bytes
    }

    /// An earlier definition is listed again: its text, if it was kept, is no longer an earlier one.
    pub(super) fn take_out(&mut self, earlier: &mut EarlierTexts, text: Option<&str>) {
        match text {
            Some(text) => {
                let bytes = (text.len() as u64).min(earlier.kept_bytes);
                earlier.kept = earlier.kept.saturating_sub(1);
                earlier.kept_bytes -= bytes;
                self.own_bytes = self.own_bytes.saturating_sub(bytes);
            }
            None => earlier.dropped = earlier.dropped.saturating_sub(1),
        }
    }

    /// Whether a text can be kept that is about to be an earlier one.
    pub(super) fn has_room(&self, earlier: EarlierTexts, text: &str) -> bool {
        let bytes = self.others_bytes + self.own_bytes + text.len() as u64;
        earlier.kept < self.limits.texts_per_tool && bytes <= self.limits.bytes_per_client
    }

    /// Keeps it, room or not.
    pub(super) fn keep(&mut self, earlier: &mut EarlierTexts, text: &str) {
        let bytes = text.len() as u64;
        earlier.kept += 1;
        earlier.kept_bytes += bytes;
        self.own_bytes += bytes;
    }

    /// How a tool stands after a sync.
    pub(super) fn note(&mut self, name: &Arc<str>, earlier: EarlierTexts) {
        match earlier.dropped {
            0 => self.dropped.remove(name),
            dropped => self.dropped.insert(Arc::clone(name), dropped),
        };
    }

    /// Says that not everything is kept. One issue of the upstream, however many tools it is about.
    pub(super) fn issue(&self) -> Option<SyncIssue> {
        let (first, _) = self.dropped.first_key_value()?;
        let tools = self.dropped.len();
        let texts: u64 = self.dropped.values().map(|dropped| u64::from(*dropped)).sum();
        let HistoryLimits { texts_per_tool, bytes_per_client } = self.limits;
        Some(SyncIssue {
            code: "HISTORY_FULL".into(),
            tool_name: (tools == 1).then(|| first.chars().take(200).collect()),
            position: 0,
            path: String::new(),
            message: format!(
                "definitions changed so often that of {texts} earlier ones, of {tools} tools, fingerprint and times are \
                 kept and the text is not (at most {texts_per_tool} texts a tool, {bytes_per_client} bytes a client); \
                 what is listed or approved is not affected: find out why the server goes on changing its tools"
            ),
            entries: 0,
        })
    }
}
