use std::borrow::Cow;

use crate::limits::MAX_BRIEF_CHARS;

/// A description cut to at most [`MAX_BRIEF_CHARS`] characters (Unicode scalar values), at the end of a phrase.
///
/// White space around it goes, all other stays. One that is longer ends with the last sentence that ends within the
/// limit: at a `.`, `!`, `?` or `…` before white space or the end. Where no sentence ends there it is cut at its last space,
/// else within a word, what separates phrases (`,`, `;`, `:`, `-`, spaces) is dropped from its end, and `…` follows.
pub fn brief(description: &str) -> Cow<'_, str> {
    let text = description.trim();
    if end_of(text, MAX_BRIEF_CHARS) == text.len() {
        return Cow::Borrowed(text);
    }
    if let Some(end) = last_sentence_end(text) {
        return Cow::Borrowed(&text[..end]);
    }
    // One character is left for the `…`.
    let head = &text[..end_of(text, MAX_BRIEF_CHARS - 1)];
    let cut = head.rfind(' ').unwrap_or(head.len());
    let phrase = head[..cut].trim_end_matches([' ', ',', ';', ':', '-']);
    let phrase = if phrase.is_empty() { head } else { phrase };
    Cow::Owned(format!("{phrase}…"))
}

/// Where the first `chars` characters end, in bytes.
fn end_of(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}

fn last_sentence_end(text: &str) -> Option<usize> {
    let characters = text.char_indices().take(MAX_BRIEF_CHARS);
    let ends = characters.filter(|(_, character)| matches!(character, '.' | '!' | '?' | '…'));
    let ends = ends.map(|(at, character)| at + character.len_utf8());
    ends.filter(|&end| text[end..].chars().next().is_none_or(char::is_whitespace)).last()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_description_ends_with_a_sentence() {
        let first = "The scheduler of the program: the tasks and the feed of notes under every one of them.";
        let second = "Add-only, never a change of what stands, with a feed that each of the owners reads.";
        assert_eq!(brief(&format!("{first} {second}")), first);
        let version = format!("Reads v1.2 of what is written!\n{}", "word ".repeat(40));
        assert_eq!(brief(&version), "Reads v1.2 of what is written!");
        let exact = format!("{}. {}", "x".repeat(159), "y");
        assert_eq!(brief(&exact), format!("{}.", "x".repeat(159)));
        let over = format!("{}. {}", "x".repeat(160), "y");
        assert_eq!(brief(&over), format!("{}…", "x".repeat(159)));
    }

    #[test]
    fn one_long_sentence_is_cut_between_words() {
        let words = format!("{}, - and more", "word ".repeat(30).trim_end());
        assert_eq!(words.chars().count(), 161);
        assert_eq!(brief(&words), format!("{}, - and…", "word ".repeat(30).trim_end()));
        let listed = format!("{}:- {}", "é".repeat(150), "x".repeat(20));
        assert_eq!(brief(&listed), format!("{}…", "é".repeat(150)));
        assert_eq!(brief(&format!("- {}", "x".repeat(200))), format!("- {}…", "x".repeat(157)));
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let fits = "é".repeat(160);
        for (text, left) in [("", ""), ("  \n", ""), (" a. b\n", "a. b"), (&*fits, &*fits)] {
            assert_eq!(brief(text), left);
        }
    }

    proptest! {
        #[test]
        fn a_brief_is_within_its_limit_and_starts_as_the_description(text in "[a .,é…\\-]{0,400}") {
            let short = brief(&text);
            prop_assert!(short.chars().count() <= MAX_BRIEF_CHARS);
            let trimmed = text.trim();
            prop_assert!(trimmed.starts_with(&*short) || trimmed.starts_with(short.trim_end_matches('…')));
            prop_assert_eq!(short.is_empty(), trimmed.is_empty());
        }
    }
}
