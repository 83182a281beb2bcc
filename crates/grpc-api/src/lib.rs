//! The gRPC adapter: convert, authorise, call, map errors; health and reflection.
