use std::borrow::Cow;

use jsonschema::Draft;

use super::object::{Member, Object};
use super::references::References;
use super::said::{is_judged_beside, is_left_out, judges, nesting};
use super::{Cut, CutReason, Refless};
use crate::json::{Kind, Node, Pointer};
use crate::limits::{MAX_INLINED_BYTES, MAX_INLINED_DEPTH, MAX_LISTED_CUTS, MAX_NESTED_REFERENCES};
use crate::schema::{dialect, keyword};

/// Writes a schema anew, following its references.
pub(super) struct Inliner<'a> {
    root: Node<'a>,
    /// What stands beside a `$ref` judges nothing.
    refs_stand_alone: bool,
    references: References<'a>,
    text: String,
    /// Of the place that is being written; as many as objects and arrays around it.
    path: Vec<Cow<'a, str>>,
    /// Starts of the schemas around this place.
    open: Vec<usize>,
    /// References followed to this place.
    nested: usize,
    /// Bytes of the schemas that were and are to be written, an upper bound of the text's.
    bytes: usize,
    cuts: Vec<Cut>,
    cuts_made: usize,
}

/// What becomes of a schema's `$ref`.
#[derive(Clone, Copy)]
enum Step<'a> {
    /// There is none.
    Stay,
    /// The members of its target take its place.
    Merge(Node<'a>),
    /// Its target is one more element of `allOf`.
    Conjoin(Node<'a>),
    /// It goes; this description stays.
    Cut(Option<Node<'a>>),
}

impl<'a> Inliner<'a> {
    pub(super) fn new(root: Node<'a>) -> Self {
        Self {
            root,
            refs_stand_alone: dialect(root).is_some_and(|draft| draft <= Draft::Draft7),
            references: References::new(root),
            text: String::new(),
            path: Vec::new(),
            open: Vec::new(),
            nested: 0,
            bytes: root.text().len(),
            cuts: Vec::new(),
            cuts_made: 0,
        }
    }

    pub(super) fn inline(mut self, with_properties: bool) -> Refless {
        let mut object = Object::default();
        self.text.push('{');
        self.merge(self.root, &mut object);
        if with_properties && !object.has("properties") {
            self.member("\"properties\"", "properties".into(), &mut object, |this| this.text.push_str("{}"));
        }
        self.close(object, 0);
        Refless { text: self.text, cuts_not_listed: self.cuts_made - self.cuts.len(), cuts: self.cuts }
    }

    /// Writes a schema, or a list where one was expected.
    fn schema(&mut self, schema: Node<'a>) {
        match schema.kind() {
            Kind::Object => {
                let cuts_before = self.cuts_made;
                let mut object = Object::default();
                self.text.push('{');
                self.members(schema, &mut object);
                self.close(object, cuts_before);
            }
            Kind::Array => self.list(schema.elements(), None),
            _ => self.text.push_str(schema.text()),
        }
    }

    fn close(&mut self, mut object: Object<'a>, cuts_before: usize) {
        object.is_cut = self.cuts_made > cuts_before;
        object.loosen(&mut self.text);
        self.end('}');
    }

    /// Writes what a schema says as members of the object that is being written.
    fn merge(&mut self, schema: Node<'a>, object: &mut Object<'a>) {
        match schema.kind() {
            Kind::Object => self.members(schema, object),
            Kind::Bool if schema.as_bool() == Some(false) => {
                self.member("\"not\"", "not".into(), object, |this| this.text.push_str("{}"));
            }
            _ => {}
        }
    }

    fn members(&mut self, schema: Node<'a>, object: &mut Object<'a>) {
        let outer_base = self.references.enter(schema);
        self.open.push(schema.span().start);
        let step = self.step(schema, object);
        for (key, value) in schema.entries() {
            self.keyword(schema, (key, value), step, object);
        }
        self.open.pop();
        self.references.leave(outer_base);
    }

    fn keyword(
        &mut self,
        schema: Node<'a>,
        (key, value): (Node<'a>, Node<'a>),
        step: Step<'a>,
        object: &mut Object<'a>,
    ) {
        let name = key.as_str().unwrap_or_default();
        let alone = self.refs_stand_alone && schema.get("$ref").is_some();
        match (&*name, step) {
            ("$ref", _) => self.reference(schema, step, object),
            ("$dynamicRef" | "$recursiveRef", _) => self.cut(CutReason::NotFollowed),
            ("allOf", Step::Conjoin(target)) => {
                self.member(key.text(), name, object, |this| match value.kind() {
                    Kind::Array => this.list(value.elements(), Some(target)),
                    _ => this.list([value], Some(target)),
                })
            }
            ("$schema", _) if self.open.len() > 1 => {}
            _ if is_left_out(&name, value) || (alone && judges(&name)) => {}
            _ if object.outer.iter().any(|outer| self.says(*outer, &name)) => {}
            _ => {
                let keyword = name.clone();
                self.member(key.text(), name, object, |this| this.value(&keyword, value));
            }
        }
    }

    /// Whether a schema that refers to another says this keyword itself.
    fn says(&self, outer: Node<'a>, name: &str) -> bool {
        !(self.refs_stand_alone && judges(name))
            && outer.get(name).is_some_and(|value| !is_left_out(name, value))
    }

    /// Decides about a schema's `$ref`, once.
    fn step(&mut self, schema: Node<'a>, object: &Object<'a>) -> Step<'a> {
        let Some(reference) = schema.get("$ref") else { return Step::Stay };
        let (reason, target) = match self.references.find(reference) {
            Err(reason) => (reason, None),
            Ok(target) => {
                let conjoined = !self.refs_stand_alone && is_judged_beside(schema, target);
                match self.admit(target, if conjoined { 2 } else { 0 }) {
                    Ok(()) if conjoined => return Step::Conjoin(target),
                    Ok(()) => return Step::Merge(target),
                    Err(reason) => (reason, Some(target)),
                }
            }
        };
        self.cut(reason);
        let says = |of: &Node<'a>| of.get("description").is_some();
        let description = target.and_then(|target| target.get("description"));
        let description = description.filter(|_| !says(&schema) && !object.outer.iter().any(says));
        Step::Cut(
            description.filter(|text| text.kind() == Kind::String && self.take_bytes(text.text().len() + 16)),
        )
    }

    /// Whether a target may be written `levels` deeper than this object.
    fn admit(&mut self, target: Node<'a>, levels: usize) -> Result<(), CutReason> {
        if self.open.contains(&target.span().start) {
            return Err(CutReason::Cycle);
        }
        let fits = self.nested < MAX_NESTED_REFERENCES
            && self.take_bytes(target.text().len())
            && self.path.len() + levels + nesting(target) <= MAX_INLINED_DEPTH;
        if fits { Ok(()) } else { Err(CutReason::TooLarge) }
    }

    fn take_bytes(&mut self, bytes: usize) -> bool {
        let fits = bytes <= MAX_INLINED_BYTES.saturating_sub(self.bytes);
        self.bytes += if fits { bytes } else { 0 };
        fits
    }

    /// Writes what takes the place of a `$ref`.
    fn reference(&mut self, schema: Node<'a>, step: Step<'a>, object: &mut Object<'a>) {
        self.nested += 1;
        match step {
            Step::Merge(target) => {
                object.outer.push(schema);
                self.merge(target, object);
                object.outer.pop();
            }
            Step::Conjoin(target) if schema.get("allOf").is_none() => {
                self.member("\"allOf\"", "allOf".into(), object, |this| this.list([], Some(target)));
            }
            Step::Cut(Some(text)) => {
                self.member("\"description\"", "description".into(), object, |this| {
                    this.text.push_str(text.text());
                });
            }
            Step::Conjoin(_) | Step::Cut(None) | Step::Stay => {}
        }
        self.nested -= 1;
    }

    fn value(&mut self, keyword_name: &str, value: Node<'a>) {
        match keyword(keyword_name) {
            Some(keyword) if keyword.is_map(value) => self.map(value),
            Some(_) => self.schema(value),
            None if keyword_name == "contentSchema" => self.schema(value),
            None => self.text.push_str(value.text()),
        }
    }

    fn map(&mut self, schemas: Node<'a>) {
        self.text.push('{');
        for (key, schema) in schemas.entries() {
            self.text.push_str(key.text());
            self.text.push(':');
            self.entry(key.as_str().unwrap_or_default(), schema);
        }
        self.end('}');
    }

    /// Writes schemas, then one that was referred to.
    fn list(&mut self, schemas: impl IntoIterator<Item = Node<'a>>, target: Option<Node<'a>>) {
        self.text.push('[');
        let mut index = 0;
        for schema in schemas {
            self.entry(index.to_string().into(), schema);
            index += 1;
        }
        if let Some(target) = target {
            self.nested += 1;
            self.entry(index.to_string().into(), target);
            self.nested -= 1;
        }
        self.end(']');
    }

    fn entry(&mut self, name: Cow<'a, str>, schema: Node<'a>) {
        self.path.push(name);
        self.schema(schema);
        self.path.pop();
        self.text.push(',');
    }

    fn member(
        &mut self,
        key: &str,
        name: Cow<'a, str>,
        object: &mut Object<'a>,
        write: impl FnOnce(&mut Self),
    ) {
        let (start, cuts_before) = (self.text.len(), self.cuts_made);
        self.text.push_str(key);
        self.text.push(':');
        self.path.push(name);
        write(self);
        let name = self.path.pop().unwrap_or_default();
        self.text.push(',');
        let range = start..self.text.len();
        object.members.push(Member { name, range, is_cut: self.cuts_made > cuts_before });
    }

    /// Closes an object or array, in which a comma follows each entry.
    fn end(&mut self, bracket: char) {
        if self.text.ends_with(',') {
            self.text.pop();
        }
        self.text.push(bracket);
    }

    fn cut(&mut self, reason: CutReason) {
        self.cuts_made += 1;
        if self.cuts.len() < MAX_LISTED_CUTS {
            let mut path = Pointer::default();
            self.path.iter().for_each(|token| path.push(token));
            self.cuts.push(Cut { path: path.into_string(), reason });
        }
    }
}
