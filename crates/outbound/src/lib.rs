//! The guard that every outgoing connection passes.
