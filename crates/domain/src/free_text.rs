//! Text that a person writes and people or models read: what it may hold.

use crate::{Violation, limits};

/// Whether a text shows itself as it is: no control character but line feed and tab, and nothing that turns the reading
/// order around (the embeddings, overrides and isolates of UAX #9), which can make a line read as another one.
pub fn is_plain(text: &str) -> bool {
    !text.chars().any(|c| (c.is_control() && !matches!(c, '\n' | '\t')) || is_bidi_control(c))
}

fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What is said of a text that [`is_plain`] refuses.
pub const NOT_PLAIN: &str =
    "holds a control character or a bidirectional override; remove it (line feed and tab may stay)";

/// What is wrong with a display name.
pub fn display_name_violation(name: &str) -> Option<Violation> {
    let most = limits::MAX_DISPLAY_NAME_BYTES;
    let problem = if name.len() > most {
        format!("is longer than {most} bytes")
    } else if !is_plain(name) {
        NOT_PLAIN.to_owned()
    } else {
        return None;
    };
    Some(Violation::new("display_name", problem))
}

/// What is wrong with a description that an owner gives.
pub fn description_violation(text: &str) -> Option<Violation> {
    let most = limits::MAX_DESCRIPTION_CHARS;
    let problem = if text.trim().is_empty() {
        "is blank; leave it out to clear it".to_owned()
    } else if text.chars().count() > most {
        format!("is longer than {most} characters")
    } else if !is_plain(text) {
        NOT_PLAIN.to_owned()
    } else {
        return None;
    };
    Some(Violation::new("description", problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_make_a_text_read_as_another_is_refused() {
        for hidden in ["\0", "\r", "\u{1b}[2J", "\u{7f}", "\u{9b}", "\u{202e}", "\u{2066}", "\u{2069}"] {
            let text = format!("Sends{hidden} mail.");
            assert!(description_violation(&text).is_some(), "{text:?}");
            assert!(display_name_violation(&text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn lines_tabs_and_every_script_are_plain() {
        for text in ["a\n\tb", "Versendet Grüße", "שלום עולם", "नमस्ते", "👩\u{200d}🚀", "x\u{200f}"]
        {
            assert_eq!(description_violation(text), None, "{text:?}");
        }
    }

    #[test]
    fn lengths_are_bounded() {
        let most = limits::MAX_DESCRIPTION_CHARS;
        assert_eq!(description_violation(&"é".repeat(most)), None);
        assert!(description_violation(&"é".repeat(most + 1)).is_some());
        assert!(description_violation(" \n").is_some());
        assert!(display_name_violation(&"x".repeat(limits::MAX_DISPLAY_NAME_BYTES + 1)).is_some());
        assert_eq!(display_name_violation(""), None);
    }
}
