//! Scenarios against the running server. See `tests/`.
