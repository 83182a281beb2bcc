//! Composes everything; the binary toolgate.
