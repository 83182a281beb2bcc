use std::borrow::Cow;
use std::ops::Range;

use super::node::{Kind, Node};
use super::parser::Parser;
use super::string::decode;
use super::{ParseError, ParseLimits};
use crate::limits::MAX_DOCUMENT_BYTES;

/// One node of a document. Nodes stand in text order; a member is its key (a string) followed by its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// A string with a backslash in it.
    pub(super) escaped: bool,
    /// Span in the text.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The entry after this one and all it holds.
    pub(super) next: u32,
    /// An object's slice of [`Document::sorted_keys`].
    pub(super) keys_start: u32,
    pub(super) keys_len: u32,
}

/// A JSON text that was checked whole, with a flat index over it.
///
/// The index takes 24 bytes a value and 28 a member's name; nothing of the text is copied.
#[derive(Debug, Clone)]
pub struct Document<'t> {
    pub(super) text: &'t str,
    pub(super) entries: Vec<Entry>,
    /// For each object, the entries of its keys in canonical order. One sort finds duplicates, orders the canonical
    /// form and answers look-ups.
    pub(super) sorted_keys: Vec<u32>,
}

impl<'t> Document<'t> {
    /// Reads exactly one JSON value with nothing but white space around it.
    ///
    /// # Errors
    ///
    /// The first fault in the text, except that a duplicate is found at the end of its object.
    pub fn parse(text: &'t str, limits: &ParseLimits) -> Result<Self, ParseError> {
        Parser::new(text, limits).parse()
    }

    /// The text as it was given.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The value.
    pub fn root(&self) -> Node<'_> {
        Node::new(self, 0)
    }

    pub(super) fn entry(&self, index: u32) -> &Entry {
        &self.entries[index as usize]
    }

    /// What the string at `index` stands for.
    pub(super) fn string_at(&self, index: u32) -> Cow<'_, str> {
        let entry = self.entry(index);
        if entry.escaped {
            decode(&self.text[entry.span()])
        } else {
            Cow::Borrowed(&self.text[entry.content()])
        }
    }

    pub(super) fn sorted_keys(&self, object: &Entry) -> &[u32] {
        let start = object.keys_start as usize;
        &self.sorted_keys[start..start + object.keys_len as usize]
    }
}

impl Entry {
    pub(super) fn span(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Span between the quotes of a string.
    pub(super) fn content(&self) -> Range<usize> {
        self.start as usize + 1..self.end as usize - 1
    }
}

/// A place in the text or the index.
pub(super) fn position(at: usize) -> u32 {
    const { assert!(MAX_DOCUMENT_BYTES < u32::MAX as usize) };
    at as u32
}
