//! Operator commands over the gRPC client.
