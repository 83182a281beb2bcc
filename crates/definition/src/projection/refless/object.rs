use std::borrow::Cow;
use std::ops::Range;

use crate::json::Node;

/// A schema object that is being written, with what is known of its members.
#[derive(Default)]
pub(super) struct Object<'a> {
    /// Schemas whose reference led to the one whose members are being written here. Their own members win.
    pub(super) outer: Vec<Node<'a>>,
    pub(super) members: Vec<Member<'a>>,
    /// A reference in it was cut.
    pub(super) is_cut: bool,
}

/// A member as written, with the comma after it.
pub(super) struct Member<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) range: Range<usize>,
    /// A reference in it was cut.
    pub(super) is_cut: bool,
}

impl Object<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|member| member.name == name)
    }

    fn is_cut_in(&self, name: &str) -> bool {
        self.members.iter().any(|member| member.is_cut && member.name == name)
    }

    /// Takes out of `text` the members that would take less because something in them or beside them takes more.
    pub(super) fn loosen(&self, text: &mut String) {
        if !self.is_cut {
            return;
        }
        for member in self.members.iter().rev().filter(|member| self.must_go(member)) {
            if member.name == "oneOf" && !self.has("anyOf") {
                let written = &text[member.range.clone()];
                let key_end = member.range.start + written.find(':').expect("a member has a colon");
                text.replace_range(member.range.start..key_end, "\"anyOf\"");
            } else {
                text.replace_range(member.range.clone(), "");
            }
        }
    }

    fn must_go(&self, member: &Member<'_>) -> bool {
        match &*member.name {
            "not" | "oneOf" => member.is_cut,
            "if" | "then" | "else" => self.is_cut_in("if"),
            "contains" | "minContains" | "maxContains" => {
                self.is_cut_in("contains") && self.has("maxContains")
            }
            "unevaluatedProperties" | "unevaluatedItems" => true,
            _ => false,
        }
    }
}
