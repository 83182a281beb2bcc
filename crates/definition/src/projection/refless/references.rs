use std::borrow::Cow;
use std::collections::BTreeMap;

use super::CutReason;
use crate::json::{Kind, Node};
use crate::limits::MAX_INLINED_REFERENCES;
use crate::schema::{Reference, anchors, has_own_base, resolve};

/// Finds what references lead to.
pub(super) struct References<'a> {
    /// The schema to which they are relative here.
    base: Node<'a>,
    /// Of each base that was asked, by its start.
    anchors: BTreeMap<usize, BTreeMap<Cow<'a, str>, Node<'a>>>,
    /// How many were met.
    met: usize,
}

impl<'a> References<'a> {
    pub(super) fn new(root: Node<'a>) -> Self {
        Self { base: root, anchors: BTreeMap::new(), met: 0 }
    }

    /// Before the members of a schema; answers the base to give back after them.
    pub(super) fn enter(&mut self, schema: Node<'a>) -> Node<'a> {
        let base = if has_own_base(schema) { schema } else { self.base };
        std::mem::replace(&mut self.base, base)
    }

    pub(super) fn leave(&mut self, outer_base: Node<'a>) {
        self.base = outer_base;
    }

    /// The schema to which a reference leads.
    pub(super) fn find(&mut self, reference: Node<'a>) -> Result<Node<'a>, CutReason> {
        self.met += 1;
        if self.met > MAX_INLINED_REFERENCES {
            return Err(CutReason::TooLarge);
        }
        let reference = reference.as_str().ok_or(CutReason::NotFollowed)?;
        let target = match resolve(self.base, self.without_own_name(&reference)) {
            Reference::Local(target) => target,
            Reference::Missing => return Err(CutReason::Missing),
            Reference::NotAPointer => self.anchored(&reference)?,
        };
        match target.kind() {
            Kind::Object | Kind::Bool => Ok(target),
            _ => Err(CutReason::Missing),
        }
    }

    /// The fragment of a reference that begins with the document's own `$id`.
    fn without_own_name<'r>(&self, reference: &'r str) -> &'r str {
        let identifier = self.base.get("$id").and_then(Node::as_str).unwrap_or_default();
        match reference.strip_prefix(identifier.trim_end_matches('#')) {
            Some("") if !reference.is_empty() => "#",
            Some(fragment) if fragment.starts_with('#') => fragment,
            _ => reference,
        }
    }

    fn anchored(&mut self, reference: &str) -> Result<Node<'a>, CutReason> {
        let base = self.base;
        let name = self.without_own_name(reference).strip_prefix('#');
        let name = name.filter(|name| !name.starts_with('/')).ok_or(CutReason::NotFollowed)?;
        let known = self.anchors.entry(base.span().start).or_insert_with(|| anchors(base));
        known.get(name).copied().ok_or(CutReason::Missing)
    }
}
