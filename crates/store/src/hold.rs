use bytes::Bytes;

/// The name of a lease: short, printable, chosen by the caller. One holder at a time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HoldName(pub String);

/// Proof of a lease for [`crate::Condition::Held`]. Opaque: only the engine that made it can read it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The engine's key of the lease.
    pub key: Bytes,
    /// Distinguishes this holding of the lease from every earlier and later one.
    pub holding: u64,
}

/// A lease that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// What was asked for.
    pub name: HoldName,
    /// To put into commits that only the holder may make.
    pub fence: Fence,
}
