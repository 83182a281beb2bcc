//! Logs and traces: one guard that flushes.
