//! What this crate knows of JSON Schema: where schemas stand in a schema, and where a local reference leads.

mod anchors;
mod dialect;
mod keyword;
mod reference;

pub(crate) use anchors::anchors;
pub(crate) use dialect::dialect;
pub(crate) use keyword::{Keyword, Place, is_assertion, is_edited, keyword, named_members};
pub(crate) use reference::{Reference, has_own_base, resolve};
