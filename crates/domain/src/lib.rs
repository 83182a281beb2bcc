//! The vocabulary of the product and its pure decisions.
