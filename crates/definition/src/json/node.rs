use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::slice;

use super::document::{Document, Entry};
use super::keys;

/// The kinds of JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, of any size and precision.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

/// One value of a [`Document`]. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    document: &'a Document<'a>,
    index: u32,
}

impl<'a> Node<'a> {
    pub(super) fn new(document: &'a Document<'a>, index: u32) -> Self {
        Self { document, index }
    }

    /// What kind of value it is.
    pub fn kind(self) -> Kind {
        self.entry().kind
    }

    /// Its exact text, without white space around it.
    pub fn text(self) -> &'a str {
        &self.document.text[self.span()]
    }

    /// Where [`text`](Self::text) stands in the document's text, in bytes.
    pub fn span(self) -> Range<usize> {
        self.entry().span()
    }

    /// The value of a string, unescaped; `None` for any other kind.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        (self.kind() == Kind::String).then(|| self.document.string_at(self.index))
    }

    /// The value of a boolean; `None` for any other kind.
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.text() == "true")
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// An object's member of this (unescaped) name; `None` if there is none or this is no object.
    pub fn get(self, name: &str) -> Option<Node<'a>> {
        let sorted = self.sorted_keys();
        let place =
            sorted.binary_search_by(|&key| keys::compare(&self.document.string_at(key), name)).ok()?;
        Some(Node::new(self.document, sorted[place] + 1))
    }

    /// An object's members in text order, each with its unescaped name. Empty for any other kind.
    pub fn members(self) -> Members<'a> {
        let range = self.children(Kind::Object);
        Members { document: self.document, next: range.start, end: range.end }
    }

    /// An array's elements. Empty for any other kind.
    pub fn elements(self) -> Elements<'a> {
        let range = self.children(Kind::Array);
        Elements { document: self.document, next: range.start, end: range.end }
    }

    /// An object's members in text order, each as its key's node and its value's. Empty for any other kind.
    pub(crate) fn entries(self) -> impl Iterator<Item = (Node<'a>, Node<'a>)> {
        self.members().map(|(_, value)| (Node::new(self.document, value.index - 1), value))
    }

    /// Where an object's members stand in the text, in text order, each from its name to its value's end.
    pub(crate) fn member_spans(self) -> impl Iterator<Item = Range<usize>> {
        self.entries().map(|(key, value)| key.span().start..value.span().end)
    }

    /// An object's members in canonical order, each as its key's node and its value's. Empty for any other kind.
    pub(crate) fn sorted_members(self) -> SortedMembers<'a> {
        SortedMembers { document: self.document, keys: self.sorted_keys().iter() }
    }

    /// The text between the quotes of a string that is written with a backslash.
    pub(crate) fn escaped_content(self) -> Option<&'a str> {
        let entry = self.entry();
        entry.escaped.then(|| &self.document.text[entry.content()])
    }

    fn entry(self) -> &'a Entry {
        self.document.entry(self.index)
    }

    fn sorted_keys(self) -> &'a [u32] {
        self.document.sorted_keys(self.entry())
    }

    fn children(self, kind: Kind) -> Range<u32> {
        let entry = self.entry();
        if entry.kind == kind { self.index + 1..entry.next } else { 0..0 }
    }
}

/// The members of an object, from [`Node::members`].
#[derive(Debug, Clone)]
pub struct Members<'a> {
    document: &'a Document<'a>,
    next: u32,
    end: u32,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Node<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        (self.next < self.end).then(|| {
            let (key, value) = (self.next, self.next + 1);
            self.next = self.document.entry(value).next;
            (self.document.string_at(key), Node::new(self.document, value))
        })
    }
}

/// The elements of an array, from [`Node::elements`].
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    document: &'a Document<'a>,
    next: u32,
    end: u32,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.next < self.end).then(|| {
            let element = Node::new(self.document, self.next);
            self.next = element.entry().next;
            element
        })
    }
}

/// The members of an object in canonical order, from [`Node::sorted_members`].
#[derive(Debug)]
pub(crate) struct SortedMembers<'a> {
    document: &'a Document<'a>,
    keys: slice::Iter<'a, u32>,
}

impl<'a> Iterator for SortedMembers<'a> {
    type Item = (Node<'a>, Node<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let &key = self.keys.next()?;
        Some((Node::new(self.document, key), Node::new(self.document, key + 1)))
    }
}
