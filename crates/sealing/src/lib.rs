//! Envelope encryption of secrets, sealed tokens and keyed hashes under one master key.
//!
//! Three things leave this crate, each under its own key derived from the master key:
//!
//! - *sealed secrets*: what an upstream must be sent and nobody may read, kept in the store ([`Sealer::seal_secret`]);
//! - *sealed tokens*: revisions, cursors and sessions given to callers, opaque and of no use to another client
//!   ([`Sealer::seal_token`]);
//! - *key digests*: what is kept of an API key ([`Sealer::key_digest`]).
//!
//! The crate does no input or output but for the key file and the system's randomness. It must never know
//! what a secret, a revision or a key means, and nothing in it prints, logs or formats a key or a secret.
//!
//! Start reading at [`MasterKey`], then [`Sealer`].

mod api_key;
mod hex;
mod key_file;
mod master_key;
mod sealer;
mod secret;
mod token;

pub use api_key::{ApiKeyParts, SECRET_CHARS, format_api_key, new_secret, parse_api_key};
pub use key_file::KeyFileError;
pub use master_key::MasterKey;
pub use sealer::Sealer;
pub use secret::{SecretContext, SecretError};
pub use token::{TokenError, TokenKind};
