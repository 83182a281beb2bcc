//! The contract, compiled: generated messages, stubs and the descriptor set.
