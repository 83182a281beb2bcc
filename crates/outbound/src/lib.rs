//! The guard that every outgoing connection passes.
//!
//! A URL that somebody registered must not become a way into the network that this process stands in. Three checks
//! see to that: the URL itself ([`Outbound::check`]: scheme, user info, literal addresses), the resolver (which hands
//! a connection only the addresses that the policy allows, so a name that changes its mind after a check gains
//! nothing), and redirects (followed within one origin, method, headers and body intact).
//!
//! [`classify`] is the whole table of addresses. Private and loopback addresses may be declared; link-local, cloud
//! metadata and reserved ones are refused always.
//!
//! This crate must never know what is sent or why: no tenant, no MCP. It keeps no log, and no text of it names an
//! address, a host or a header value.
//!
//! Start reading at [`Outbound`].

mod address;
mod client;
mod failure;
pub mod limits;
mod policy;
mod resolver;

pub use address::{AddressClass, classify};
pub use client::{Client, Outbound, Response, SetupError};
pub use failure::{OutboundError, Refusal};
pub use policy::Private;
