use crate::limits::MAX_ERROR_PATH_BYTES;

/// A JSON Pointer (RFC 6901) under construction. Once over its limit it ends in `…` and takes no more.
#[derive(Default)]
pub(crate) struct Pointer {
    path: String,
    cut: bool,
}

impl Pointer {
    pub(crate) fn push(&mut self, token: &str) {
        self.push_char('/');
        for character in token.chars() {
            match character {
                '~' => self.push_escape("~0"),
                '/' => self.push_escape("~1"),
                other => self.push_char(other),
            }
            if self.cut {
                return;
            }
        }
    }

    pub(crate) fn into_string(self) -> String {
        self.path
    }

    fn push_escape(&mut self, escape: &str) {
        escape.chars().for_each(|character| self.push_char(character));
    }

    fn push_char(&mut self, character: char) {
        if self.cut {
            return;
        }
        self.cut = self.path.len() + character.len_utf8() > MAX_ERROR_PATH_BYTES;
        self.path.push(if self.cut { '…' } else { character });
    }
}
