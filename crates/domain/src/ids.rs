//! Identities. A tool's is a UUIDv5 of its upstream and its name; all others are UUIDv7, whose order is that of creation.

use std::{fmt, str::FromStr};

use uuid::{Builder, Uuid};

use crate::Moment;

/// A text that is no UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a UUID")]
pub struct NotAUuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// From sixteen bytes, big-endian.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// The sixteen bytes, big-endian.
            pub const fn bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        /// Lower-case and hyphenated.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        /// Takes the hyphenated form only, in either case.
        impl FromStr for $name {
            type Err = NotAUuid;

            fn from_str(text: &str) -> Result<Self, NotAUuid> {
                if text.len() != uuid::fmt::Hyphenated::LENGTH {
                    return Err(NotAUuid);
                }
                Uuid::try_parse(text).map(Self).map_err(|_| NotAUuid)
            }
        }
    };
}

id!(
    /// A tenant. Everything else belongs to one.
    ClientId
);
id!(
    /// A registered tool server.
    UpstreamId
);
id!(
    /// A tool of an upstream.
    ToolId
);
id!(
    /// An API key.
    KeyId
);

id!(
    /// A consumer of tools.
    AgentId
);
id!(
    /// Something attached to an agent.
    AttachmentId
);

fn v7(now: Moment, random: [u8; 10]) -> Uuid {
    let ms = u64::try_from(now.unix_ms()).unwrap_or(0);
    Builder::from_unix_timestamp_millis(ms, &random).into_uuid()
}

impl ClientId {
    /// A new identity.
    pub fn new(now: Moment, random: [u8; 10]) -> Self {
        Self(v7(now, random))
    }
}

impl UpstreamId {
    /// A new identity.
    pub fn new(now: Moment, random: [u8; 10]) -> Self {
        Self(v7(now, random))
    }
}

impl AgentId {
    /// A new identity.
    pub fn new(now: Moment, random: [u8; 10]) -> Self {
        Self(v7(now, random))
    }
}

impl AttachmentId {
    /// A new identity.
    pub fn new(now: Moment, random: [u8; 10]) -> Self {
        Self(v7(now, random))
    }
}

impl KeyId {
    /// A new identity.
    pub fn new(now: Moment, random: [u8; 10]) -> Self {
        Self(v7(now, random))
    }
}

impl ToolId {
    /// The identity of the tool that `upstream` calls `name`, whenever it lists it.
    pub fn of(upstream: UpstreamId, name: &str) -> Self {
        Self(Uuid::new_v5(&upstream.0, name.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_made_later_sort_later() {
        let early = UpstreamId::new(Moment::from_unix_ms(1_000), [0xff; 10]);
        let late = UpstreamId::new(Moment::from_unix_ms(1_001), [0; 10]);
        assert!(early < late);
    }

    #[test]
    fn a_tool_keeps_its_id_and_no_two_names_share_one() {
        let upstream = UpstreamId::from_bytes([7; 16]);
        assert_eq!(ToolId::of(upstream, "a"), ToolId::of(upstream, "a"));
        assert_ne!(ToolId::of(upstream, "a"), ToolId::of(upstream, "A"));
        assert_ne!(ToolId::of(upstream, "a"), ToolId::of(UpstreamId::from_bytes([8; 16]), "a"));
    }

    #[test]
    fn only_the_hyphenated_form_of_a_uuid_is_taken() {
        let text = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
        assert_eq!(text.parse::<ClientId>().unwrap().to_string(), text);
        for bad in ["", "6ba7b8109dad11d180b400c04fd430c8", "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}", "../x"]
        {
            assert_eq!(bad.parse::<ClientId>(), Err(NotAUuid));
        }
    }
}
