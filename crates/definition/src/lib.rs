//! What a tool definition is: exact JSON, its canonical form, its fingerprint, its names, what is served of it, and what
//! becomes of that in other systems' shapes.
//!
//! A definition is the JSON object that an upstream lists for one tool. It is kept as the exact text that was listed and
//! is never rebuilt from a model: a [`Document`](json::Document) is a view over its text. Everything here is pure: no
//! async, no I/O, no clock, no randomness. No input makes it panic, its cost is (near-)linear in the text, that of
//! checking [`locks`] bounded, and every bound stands in [`limits`].
//!
//! This crate must never know a client, an upstream's address, a store, a transport or a ruling.
//!
//! Start reading at [`Definition`]; what an agent reads of one is [`served_definition`], what changed between two is
//! [`diff`], [`projection`] gives one the shapes of other systems, and [`arguments`] judges what a call sends. The fingerprint's rule in full, precise enough to
//! write it again in another language, is `FINGERPRINT.md` beside this crate's manifest; its test vectors are
//! `vectors/fingerprint.json`.

pub mod arguments;
pub mod canonical;
pub mod diff;
pub mod json;
pub mod limits;
pub mod locks;
pub mod names;
pub mod projection;
pub mod scan;

mod definition;
mod effect;
mod fault;
mod fingerprint;
mod header_binding;
mod schema;
mod surgery;

pub use definition::{Definition, claimed_name};
pub use effect::{Effect, effect};
pub use fault::DefinitionFault;
pub use fingerprint::{Fingerprint, FingerprintSyntaxError};
pub use header_binding::{HeaderBindingFault, HeaderBindings};
pub use surgery::served_definition;
