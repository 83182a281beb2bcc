//! What this crate knows of JSON Schema: where schemas stand in a schema, and where a local reference leads.

mod keyword;
mod reference;

pub(crate) use keyword::{Keyword, Place, is_edited, keyword, named_members};
pub(crate) use reference::{Reference, has_own_base, resolve};
