//! Signals, the two phases of a stop, and readiness.
