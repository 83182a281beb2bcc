//! From what a caller presents to a caller.
