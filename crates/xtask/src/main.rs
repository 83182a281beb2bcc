//! Upkeep: code generation, checks, tests, laws.
fn main() {}
