use serde_json::value::RawValue;

use crate::json::{Node, quote};

/// A default in the text notation of the table.
pub(super) fn default_text(value: Node<'_>) -> String {
    match value.as_str() {
        None => compact(value.text()),
        Some(text) if text.is_empty() || is_json(&text) => quote(&text),
        Some(text) => text.into_owned(),
    }
}

/// Judged by the grammar alone, so that what any reader takes as JSON is not taken for a string.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// JSON text without the white space between its tokens.
fn compact(text: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    text.chars()
        .filter(|&character| {
            let ends = in_string && !escaped && character == '"';
            escaped = in_string && !escaped && character == '\\';
            let kept = in_string || !character.is_ascii_whitespace();
            in_string = if in_string { !ends } else { character == '"' };
            kept
        })
        .collect()
}
