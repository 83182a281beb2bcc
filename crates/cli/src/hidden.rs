//! Characters that a reader does not see, or that make a terminal or a line of text show something else than is there.

use std::borrow::Cow;

/// Whether the character is a control, a format or a bidirectional mark, a filler, a variation selector or a tag.
///
/// These are the controls (Cc), the format characters (Cf) and the rest of what Unicode lists as ignorable by default,
/// in whole blocks where unassigned code points stand between them. White space that takes room is not among them.
pub(crate) fn is_hidden(character: char) -> bool {
    matches!(character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' // controls, DEL included
        | '\u{ad}' // soft hyphen
        | '\u{34f}' // grapheme joiner
        | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' // Arabic and Syriac marks
        | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{115f}'..='\u{1160}' // Hangul fillers
        | '\u{17b4}'..='\u{17b5}' // Khmer inherent vowels
        | '\u{180b}'..='\u{180f}' // Mongolian selectors
        | '\u{200b}'..='\u{200f}' // zero width, direction marks
        | '\u{2028}'..='\u{202e}' // separators, bidirectional embeddings and overrides
        | '\u{2060}'..='\u{206f}' // joiners, invisible operators, bidirectional isolates
        | '\u{3164}' // Hangul filler
        | '\u{fe00}'..='\u{fe0f}' // variation selectors
        | '\u{feff}' // zero width no-break space
        | '\u{ffa0}' // halfwidth Hangul filler
        | '\u{fff0}'..='\u{fffb}' // interlinear annotation
        | '\u{110bd}' | '\u{110cd}' // Kaithi number signs
        | '\u{13430}'..='\u{1343f}' // hieroglyph joiners
        | '\u{1bca0}'..='\u{1bca3}' // shorthand format controls
        | '\u{1d173}'..='\u{1d17a}' // musical format controls
        | '\u{e0000}'..='\u{e0fff}' // tags, more variation selectors
    )
}

/// The text with each hidden character written as `\u{…}`, line ends and tabs included: safe as a part of one line.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_hidden(character) {
            true => escaped.extend(character.escape_unicode()),
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_would_not_see_is_written_out() {
        let cases = [
            ("plain, ünïcode 工具 🔧", "plain, ünïcode 工具 🔧"),
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("two\r\nlines\tand \u{7f}\u{9b}", "two\\u{d}\\u{a}lines\\u{9}and \\u{7f}\\u{9b}"),
            ("safe \u{202e}cod.exe\u{202c} end", "safe \\u{202e}cod.exe\\u{202c} end"),
            ("del\u{200b}ete\u{feff}", "del\\u{200b}ete\\u{feff}"),
            ("Reads.\u{e0049}\u{e0067}", "Reads.\\u{e0049}\\u{e0067}"),
            ("a\u{fe0f}\u{e0100}", "a\\u{fe0f}\\u{e0100}"),
        ];
        for (text, expected) in cases {
            assert_eq!(escape(text), expected);
            assert_eq!(escape(expected), expected, "escaping again changes nothing");
        }
    }
}
