//! How results look: as text for people, as protobuf JSON for scripts.

pub(crate) mod json;
pub(crate) mod text;
