//! The contract, compiled: messages, client and server stubs, and the descriptor set of `proto/toolgate/v1`.
//!
//! Everything in `gen/` is generated (`cargo xtask codegen`) and committed, so that no build needs `protoc`. Written by
//! hand is only [`WholeAnswer`], which in-process callers share with the services.
//!
//! This crate must never know the domain or a store.

mod whole_answer;

pub use prost_types::{Duration, FieldMask, Timestamp};
pub use whole_answer::WholeAnswer;

/// Package `toolgate.v1`.
#[expect(
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "generated; the comments are those of the proto files"
)]
pub mod v1 {
    include!("gen/toolgate.v1.rs");
}

/// The `FileDescriptorSet` of `toolgate.v1`, with everything it imports.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!("gen/toolgate.v1.descriptor.bin");
