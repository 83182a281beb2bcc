//! The documented HTTP shapes over the generated service traits.
