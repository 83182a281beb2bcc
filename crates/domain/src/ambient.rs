//! What the product needs from the world around it, passed in by whoever composes it.

use crate::Moment;

/// Tells the time.
pub trait Clock: Send + Sync + std::fmt::Debug + 'static {
    /// Now. May jump in either direction; nothing may depend on it for order.
    fn now(&self) -> Moment;
}

/// Draws random numbers that nobody can guess.
pub trait Entropy: Send + Sync + std::fmt::Debug + 'static {
    /// Ten random bytes: what a UUIDv7 takes beside its time.
    fn ten_bytes(&self) -> [u8; 10];
}
