//! What is persisted: the keys, the rows and their codecs, written once for every engine of the store port.
//!
//! Three kinds of row are written by three kinds of actor, so that none can overwrite another: *declared* by an operator,
//! *observed* by a sync, *ruled* by a reviewer. Beside them stand claims (names held), the hash-chained log of rulings, and
//! a status range for what changes without meaning.
//!
//! Keys begin with the client, so that one prefix is one tenant ([`key`]). A stored value is a format byte, a checksum over
//! key and payload, and a private protobuf ([`codec`]).
//!
//! This crate must never know an engine, a use case or a transport, and never opens a secret.
//!
//! Start reading at [`key::Key`], then [`Record`].

pub mod chain;
pub mod codec;
pub mod key;
mod record;
mod stored;

pub use codec::RowError;
pub use key::Key;
pub use record::{ChainHead, ChainedRuling, DeletedClient, NameHolder, Record};
