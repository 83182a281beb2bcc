//! Envelope encryption of secrets, sealed tokens and keyed hashes under one master key.
