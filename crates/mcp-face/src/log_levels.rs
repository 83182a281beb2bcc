use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::limits::MAX_LOG_LEVELS;

/// As MCP orders them, the least severe first.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
/// Of a session that did not say, or said so to another replica: the protocol leaves it to the server.
const DEFAULT: &str = "info";

/// The level that `text` is.
pub(crate) fn level(text: &str) -> Option<&'static str> {
    LEVELS.into_iter().find(|level| *level == text)
}

/// What sessions want to hear of logs (`logging/setLevel`), kept on this replica as far as there is room.
#[derive(Debug, Default)]
pub(crate) struct LogLevels(Mutex<HashMap<String, &'static str>>);

impl LogLevels {
    /// Where there is no room, another session falls back to the default.
    pub(crate) fn set(&self, session: &str, level: &'static str) {
        let mut levels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if levels.len() >= MAX_LOG_LEVELS
            && !levels.contains_key(session)
            && let Some(other) = levels.keys().next().cloned()
        {
            levels.remove(&other);
        }
        levels.insert(session.to_owned(), level);
    }

    pub(crate) fn of(&self, session: &str) -> &'static str {
        let levels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        levels.get(session).copied().unwrap_or(DEFAULT)
    }
}
