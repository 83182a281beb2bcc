//! The store in memory: the reference that can be checked by reading.
