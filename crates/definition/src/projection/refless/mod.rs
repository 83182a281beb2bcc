//! A schema without references, for shapes that have none.

mod inliner;
mod object;
mod references;
mod said;

use thiserror::Error;

use crate::json::{Document, Node, ParseError};
use crate::limits::SERVED_DEFINITION;

/// A schema with everything that it refers to in place: `$ref`, `$defs` and `definitions` stand nowhere in it where a
/// keyword can stand, nor do `$id` and the anchors, to which nothing refers any more.
///
/// It takes whatever the schema takes that it was made of, and the same alone when nothing was cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refless {
    /// The schema, always an object. Members keep their order, and all that is no schema its spelling.
    pub text: String,
    /// The places where a reference could not be inlined, in the order they were met; the first
    /// [`MAX_LISTED_CUTS`](crate::limits::MAX_LISTED_CUTS).
    pub cuts: Vec<Cut>,
    /// How many more such places there are.
    pub cuts_not_listed: usize,
}

/// A place where an unconstrained schema stands for a reference. It keeps its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// JSON Pointer (RFC 6901) to the schema that held the reference, as if all others had been followed; empty for the root.
    pub path: String,
    /// Why.
    pub reason: CutReason,
}

/// Why a reference was not inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CutReason {
    /// It leads to a schema around it.
    #[error("the schema refers to itself")]
    Cycle,
    /// No schema stands where it leads.
    #[error("nothing stands where the reference leads")]
    Missing,
    /// It leads to another document, or depends on the way to it (`$dynamicRef`, `$recursiveRef`).
    #[error("the reference is not followed")]
    NotFollowed,
    /// What it leads to does not fit the bounds: [`MAX_INLINED_BYTES`](crate::limits::MAX_INLINED_BYTES),
    /// [`MAX_INLINED_DEPTH`](crate::limits::MAX_INLINED_DEPTH),
    /// [`MAX_INLINED_REFERENCES`](crate::limits::MAX_INLINED_REFERENCES) or
    /// [`MAX_NESTED_REFERENCES`](crate::limits::MAX_NESTED_REFERENCES).
    #[error("the schema would be too large with what it refers to")]
    TooLarge,
}

/// Inlines every local reference of a schema.
///
/// - JSON Pointers and anchors are followed within the schema's own document, `#` being the schema itself. Nothing is ever
///   fetched.
/// - What stands beside a `$ref` stays: notes such as `description` and `default` win over those of what is referred to,
///   and where keywords that judge stand beside it, both hold (`allOf`). In drafts 4 to 7 these judge nothing and go.
/// - A reference that cannot be inlined becomes a schema that takes everything and keeps its description, its own or that
///   of what it refers to. So that this never takes less than before, keywords around it that turn more into less go with
///   it: `not`, `if` with `then` and `else`, `contains` beside `maxContains`, `unevaluatedProperties` and
///   `unevaluatedItems`; `oneOf` becomes `anyOf`.
/// - `properties: null` goes. A boolean schema stays, at the root as `{}` or `{"not":{}}`.
///
/// What is no schema (`enum`, `const`, `default`, `examples`, unknown keywords) is kept byte for byte.
///
/// # Errors
///
/// The text is no JSON within [`SERVED_DEFINITION`].
pub fn refless(schema: &str) -> Result<Refless, ParseError> {
    let document = Document::parse(schema, &SERVED_DEFINITION)?;
    Ok(of(document.root(), false))
}

/// [`refless`] of an input schema: where the root has no `properties`, it gets empty ones.
///
/// # Errors
///
/// As [`refless`].
pub fn refless_input(schema: &str) -> Result<Refless, ParseError> {
    let document = Document::parse(schema, &SERVED_DEFINITION)?;
    Ok(of(document.root(), true))
}

pub(super) fn of(schema: Node<'_>, with_properties: bool) -> Refless {
    inliner::Inliner::new(schema).inline(with_properties)
}
