//! The layout of the store.
//!
//! ```text
//! c <client: 16> <kind: 1> <parts of the kind>      everything of one tenant
//! g <kind: 1> <parts of the kind>                   what is looked up before the tenant is known
//! ```
//!
//! Ids and numbers have a fixed width, big-endian. Texts are escaped (`00` becomes `00 ff`) and ended by `00 01`: they sort
//! as their bytes do, and no text can reach into another's range.

use bytes::Bytes;
use toolgate_definition::Fingerprint;
use toolgate_domain::{AgentId, ClientId, KeyId, UpstreamId};
use toolgate_store::KeyRange;

const TENANT: u8 = b'c';
const GLOBAL: u8 = b'g';

mod kind {
    //! Kinds up to [`LAST_OF_CATALOGUE`] make the catalogue: the read model loads and follows that range, and its commits
    //! move the client's revision. The numbers are on disk: never change or reuse one.
    pub(super) const CLIENT: u8 = 0x10;
    pub(super) const UPSTREAM: u8 = 0x11;
    pub(super) const SLUG_CLAIM: u8 = 0x12;
    pub(super) const NAME_CLAIM: u8 = 0x13;
    pub(super) const UPSTREAM_TOMBSTONE: u8 = 0x14;
    pub(super) const UPSTREAM_SWEEP: u8 = 0x15;
    pub(super) const AGENT: u8 = 0x18;
    pub(super) const AGENT_NAME: u8 = 0x19;
    pub(super) const AGENT_DELETIONS: u8 = 0x1a;
    pub(super) const LISTING: u8 = 0x20;
    pub(super) const OBSERVED: u8 = 0x21;
    pub(super) const DEFINITION: u8 = 0x22;
    pub(super) const RULED: u8 = 0x23;
    pub(super) const LAST_OF_CATALOGUE: u8 = 0x2f;
    pub(super) const RULING: u8 = 0x30;
    pub(super) const CHAIN_HEAD: u8 = 0x31;
    pub(super) const API_KEY: u8 = 0x40;
    pub(super) const STATUS: u8 = 0x50;

    pub(super) const GLOBAL_API_KEY: u8 = 0x01;
    pub(super) const GLOBAL_CLIENT_NAME: u8 = 0x02;
    pub(super) const GLOBAL_BOOTSTRAP: u8 = 0x03;
    pub(super) const GLOBAL_DELETED_CLIENT: u8 = 0x04;
    pub(super) const GLOBAL_KEY_CHECK: u8 = 0x05;
}

/// The key of a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// Declared: a tenant.
    Client(ClientId),
    /// Declared: a tool server.
    Upstream(ClientId, UpstreamId),
    /// Claim: a folded slug, held by an upstream.
    SlugClaim(ClientId, String),
    /// Claim: a served name, held by a tool.
    NameClaim(ClientId, String),
    /// Declared: that a tool server was deleted.
    UpstreamTombstone(ClientId, UpstreamId),
    /// Whether all rows of a deleted tool server are swept.
    UpstreamSweep(ClientId, UpstreamId),
    /// Declared: a consumer of tools.
    Agent(ClientId, AgentId),
    /// Claim: the name of an agent.
    AgentName(ClientId, String),
    /// How many agents were deleted.
    AgentDeletions(ClientId),
    /// Observed: the last listing of an upstream.
    Listing(ClientId, UpstreamId),
    /// Observed: one tool, by its upstream's own name for it.
    Observed(ClientId, UpstreamId, String),
    /// Observed: one definition of that tool, by its fingerprint.
    Definition(ClientId, UpstreamId, String, Fingerprint),
    /// Ruled: what people ruled about that tool, as it stands.
    Ruled(ClientId, UpstreamId, String),
    /// Ruled: a row of the client's log, by its sequence number.
    Ruling(ClientId, u64),
    /// Ruled: the end of the client's log.
    ChainHead(ClientId),
    /// Declared: an API key.
    ApiKey(ClientId, KeyId),
    /// Status of an upstream; outside the catalogue's range.
    Status(ClientId, UpstreamId),
    /// Whose an API key is.
    ApiKeyOwner(KeyId),
    /// Which client has a name.
    ClientName(String),
    /// Which API key the bootstrap made.
    Bootstrap,
    /// The tombstone of a tenant.
    DeletedClient(ClientId),
    /// What tells whether a master key is the one of this data.
    KeyCheck,
}

/// Bytes that are no key of this layout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a key of this layout: {}", hex(.0))]
pub struct NotAKey(pub Vec<u8>);

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Key {
    /// The bytes.
    pub fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(64);
        self.write(&mut out);
        out.into()
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Client(client) => tenant(out, client, kind::CLIENT),
            Self::Upstream(client, upstream) => of_upstream(out, client, kind::UPSTREAM, upstream),
            Self::SlugClaim(client, slug) => {
                tenant(out, client, kind::SLUG_CLAIM);
                text(out, slug);
            }
            Self::NameClaim(client, name) => {
                tenant(out, client, kind::NAME_CLAIM);
                text(out, name);
            }
            Self::UpstreamTombstone(client, upstream) => {
                of_upstream(out, client, kind::UPSTREAM_TOMBSTONE, upstream);
            }
            Self::UpstreamSweep(client, upstream) => of_upstream(out, client, kind::UPSTREAM_SWEEP, upstream),
            Self::Agent(client, id) => {
                tenant(out, client, kind::AGENT);
                out.extend_from_slice(id.bytes());
            }
            Self::AgentName(client, name) => {
                tenant(out, client, kind::AGENT_NAME);
                text(out, name);
            }
            Self::AgentDeletions(client) => tenant(out, client, kind::AGENT_DELETIONS),
            Self::Listing(client, upstream) => of_upstream(out, client, kind::LISTING, upstream),
            Self::Observed(client, upstream, name) => {
                of_upstream(out, client, kind::OBSERVED, upstream);
                text(out, name);
            }
            Self::Definition(client, upstream, name, fingerprint) => {
                of_upstream(out, client, kind::DEFINITION, upstream);
                text(out, name);
                out.extend_from_slice(fingerprint.as_bytes());
            }
            Self::Ruled(client, upstream, name) => {
                of_upstream(out, client, kind::RULED, upstream);
                text(out, name);
            }
            Self::Ruling(client, sequence) => {
                tenant(out, client, kind::RULING);
                out.extend_from_slice(&sequence.to_be_bytes());
            }
            Self::ChainHead(client) => tenant(out, client, kind::CHAIN_HEAD),
            Self::ApiKey(client, id) => {
                tenant(out, client, kind::API_KEY);
                out.extend_from_slice(id.bytes());
            }
            Self::Status(client, upstream) => of_upstream(out, client, kind::STATUS, upstream),
            Self::ApiKeyOwner(id) => {
                out.extend_from_slice(&[GLOBAL, kind::GLOBAL_API_KEY]);
                out.extend_from_slice(id.bytes());
            }
            Self::ClientName(name) => {
                out.extend_from_slice(&[GLOBAL, kind::GLOBAL_CLIENT_NAME]);
                text(out, name);
            }
            Self::Bootstrap => out.extend_from_slice(&[GLOBAL, kind::GLOBAL_BOOTSTRAP]),
            Self::DeletedClient(client) => {
                out.extend_from_slice(&[GLOBAL, kind::GLOBAL_DELETED_CLIENT]);
                out.extend_from_slice(client.bytes());
            }
            Self::KeyCheck => out.extend_from_slice(&[GLOBAL, kind::GLOBAL_KEY_CHECK]),
        }
    }

    /// Reads the bytes back; every key has exactly one spelling.
    pub fn decode(bytes: &[u8]) -> Result<Self, NotAKey> {
        let mut rest = bytes;
        read(&mut rest).filter(|_| rest.is_empty()).ok_or_else(|| NotAKey(bytes.to_vec()))
    }

    /// Everything of one tenant.
    pub fn all_of(client: ClientId) -> KeyRange {
        let mut prefix = vec![TENANT];
        prefix.extend_from_slice(client.bytes());
        KeyRange::prefix(prefix)
    }

    /// The catalogue of one tenant: what the read model holds and what moves its revision.
    pub fn catalogue_of(client: ClientId) -> KeyRange {
        kinds(client, 0, kind::LAST_OF_CATALOGUE)
    }

    /// The tools observed of one upstream, by name.
    pub fn observed_of(client: ClientId, upstream: UpstreamId) -> KeyRange {
        rows_of(client, kind::OBSERVED, upstream)
    }

    /// How the tools of one upstream stand, by name.
    pub fn ruled_of(client: ClientId, upstream: UpstreamId) -> KeyRange {
        rows_of(client, kind::RULED, upstream)
    }

    /// The claims of served names of one tenant.
    pub fn name_claims_of(client: ClientId) -> KeyRange {
        kinds(client, kind::NAME_CLAIM, kind::NAME_CLAIM)
    }

    /// The definitions of one tool, by fingerprint.
    pub fn definitions_of(client: ClientId, upstream: UpstreamId, name: &str) -> KeyRange {
        let mut prefix = Vec::new();
        of_upstream(&mut prefix, &client, kind::DEFINITION, &upstream);
        text(&mut prefix, name);
        KeyRange::prefix(prefix)
    }

    /// The log of rulings of one tenant, in order.
    pub fn rulings_of(client: ClientId) -> KeyRange {
        kinds(client, kind::RULING, kind::RULING)
    }

    /// The API keys of one tenant, in order of creation.
    pub fn api_keys_of(client: ClientId) -> KeyRange {
        kinds(client, kind::API_KEY, kind::API_KEY)
    }

    /// Whose each API key is, and the names of all tenants: a row leaves this range with each key that ends by an act.
    pub fn owners_and_client_names() -> KeyRange {
        let global = |kind: u8| vec![GLOBAL, kind].into();
        KeyRange { start: global(kind::GLOBAL_API_KEY), end: Some(global(kind::GLOBAL_CLIENT_NAME + 1)) }
    }

    /// The status rows of one tenant.
    pub fn statuses_of(client: ClientId) -> KeyRange {
        kinds(client, kind::STATUS, kind::STATUS)
    }

    /// The names of all tenants.
    pub fn client_names() -> KeyRange {
        KeyRange::prefix(vec![GLOBAL, kind::GLOBAL_CLIENT_NAME])
    }

    /// The tombstones of all tenants that were deleted.
    pub fn deleted_clients() -> KeyRange {
        KeyRange::prefix(vec![GLOBAL, kind::GLOBAL_DELETED_CLIENT])
    }

    /// What a deleted tenant leaves to be swept: everything but the texts and the log, which stay readable.
    pub fn swept_of(client: ClientId) -> [KeyRange; 3] {
        [
            kinds(client, 0, kind::DEFINITION - 1),
            kinds(client, kind::DEFINITION + 1, kind::RULING - 1),
            kinds(client, kind::CHAIN_HEAD + 1, u8::MAX - 1),
        ]
    }
}

fn rows_of(client: ClientId, kind: u8, upstream: UpstreamId) -> KeyRange {
    let mut prefix = Vec::new();
    of_upstream(&mut prefix, &client, kind, &upstream);
    KeyRange::prefix(prefix)
}

fn kinds(client: ClientId, first: u8, last: u8) -> KeyRange {
    let (mut start, mut end) = (Vec::new(), Vec::new());
    tenant(&mut start, &client, first);
    tenant(&mut end, &client, last + 1);
    KeyRange { start: start.into(), end: Some(end.into()) }
}

fn tenant(out: &mut Vec<u8>, client: &ClientId, kind: u8) {
    out.push(TENANT);
    out.extend_from_slice(client.bytes());
    out.push(kind);
}

fn of_upstream(out: &mut Vec<u8>, client: &ClientId, kind: u8, upstream: &UpstreamId) {
    tenant(out, client, kind);
    out.extend_from_slice(upstream.bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        out.push(byte);
        if byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 1]);
}

fn read(rest: &mut &[u8]) -> Option<Key> {
    match take::<1>(rest)? {
        [TENANT] => {
            let client = ClientId::from_bytes(take(rest)?);
            let [kind] = take(rest)?;
            read_tenant(client, kind, rest)
        }
        [GLOBAL] => match take::<1>(rest)? {
            [kind::GLOBAL_API_KEY] => Some(Key::ApiKeyOwner(KeyId::from_bytes(take(rest)?))),
            [kind::GLOBAL_CLIENT_NAME] => Some(Key::ClientName(take_text(rest)?)),
            [kind::GLOBAL_BOOTSTRAP] => Some(Key::Bootstrap),
            [kind::GLOBAL_DELETED_CLIENT] => Some(Key::DeletedClient(ClientId::from_bytes(take(rest)?))),
            [kind::GLOBAL_KEY_CHECK] => Some(Key::KeyCheck),
            _ => None,
        },
        _ => None,
    }
}

fn read_tenant(client: ClientId, kind: u8, rest: &mut &[u8]) -> Option<Key> {
    let mut upstream = || take(rest).map(UpstreamId::from_bytes);
    Some(match kind {
        kind::CLIENT => Key::Client(client),
        kind::UPSTREAM => Key::Upstream(client, upstream()?),
        kind::SLUG_CLAIM => Key::SlugClaim(client, take_text(rest)?),
        kind::NAME_CLAIM => Key::NameClaim(client, take_text(rest)?),
        kind::UPSTREAM_TOMBSTONE => Key::UpstreamTombstone(client, upstream()?),
        kind::UPSTREAM_SWEEP => Key::UpstreamSweep(client, upstream()?),
        kind::AGENT => Key::Agent(client, AgentId::from_bytes(take(rest)?)),
        kind::AGENT_NAME => Key::AgentName(client, take_text(rest)?),
        kind::AGENT_DELETIONS => Key::AgentDeletions(client),
        kind::LISTING => Key::Listing(client, upstream()?),
        kind::OBSERVED => Key::Observed(client, upstream()?, take_text(rest)?),
        kind::DEFINITION => {
            let upstream = upstream()?;
            Key::Definition(client, upstream, take_text(rest)?, Fingerprint::from_bytes(take(rest)?))
        }
        kind::RULED => Key::Ruled(client, upstream()?, take_text(rest)?),
        kind::RULING => Key::Ruling(client, u64::from_be_bytes(take(rest)?)),
        kind::CHAIN_HEAD => Key::ChainHead(client),
        kind::API_KEY => Key::ApiKey(client, KeyId::from_bytes(take(rest)?)),
        kind::STATUS => Key::Status(client, upstream()?),
        _ => return None,
    })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

fn take_text(rest: &mut &[u8]) -> Option<String> {
    let mut out = Vec::new();
    loop {
        match take::<1>(rest)? {
            [0] => match take::<1>(rest)? {
                [1] => return String::from_utf8(out).ok(),
                [0xff] => out.push(0),
                _ => return None,
            },
            [byte] => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn client() -> impl Strategy<Value = ClientId> {
        any::<[u8; 16]>().prop_map(ClientId::from_bytes)
    }

    fn upstream() -> impl Strategy<Value = UpstreamId> {
        any::<[u8; 16]>().prop_map(UpstreamId::from_bytes)
    }

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![".*", "[\u{0}\u{1}a\u{ff}\u{fffd}]{0,8}"]
    }

    fn key() -> impl Strategy<Value = Key> {
        prop_oneof![
            client().prop_map(Key::Client),
            (client(), upstream()).prop_map(|(c, u)| Key::Upstream(c, u)),
            (client(), name()).prop_map(|(c, n)| Key::SlugClaim(c, n)),
            (client(), name()).prop_map(|(c, n)| Key::NameClaim(c, n)),
            (client(), upstream()).prop_map(|(c, u)| Key::UpstreamTombstone(c, u)),
            (client(), upstream()).prop_map(|(c, u)| Key::UpstreamSweep(c, u)),
            (client(), any::<[u8; 16]>()).prop_map(|(c, a)| Key::Agent(c, AgentId::from_bytes(a))),
            (client(), name()).prop_map(|(c, n)| Key::AgentName(c, n)),
            client().prop_map(Key::AgentDeletions),
            (client(), upstream()).prop_map(|(c, u)| Key::Listing(c, u)),
            (client(), upstream(), name()).prop_map(|(c, u, n)| Key::Observed(c, u, n)),
            (client(), upstream(), name(), any::<[u8; 32]>()).prop_map(|(c, u, n, f)| Key::Definition(
                c,
                u,
                n,
                Fingerprint::from_bytes(f)
            )),
            (client(), upstream(), name()).prop_map(|(c, u, n)| Key::Ruled(c, u, n)),
            (client(), any::<u64>()).prop_map(|(c, s)| Key::Ruling(c, s)),
            client().prop_map(Key::ChainHead),
            (client(), any::<[u8; 16]>()).prop_map(|(c, k)| Key::ApiKey(c, KeyId::from_bytes(k))),
            (client(), upstream()).prop_map(|(c, u)| Key::Status(c, u)),
            any::<[u8; 16]>().prop_map(|k| Key::ApiKeyOwner(KeyId::from_bytes(k))),
            name().prop_map(Key::ClientName),
            Just(Key::Bootstrap),
            client().prop_map(Key::DeletedClient),
            Just(Key::KeyCheck),
        ]
    }

    proptest! {
        #[test]
        fn a_key_reads_back_as_written(key in key()) {
            prop_assert_eq!(Key::decode(&key.encode()), Ok(key));
        }

        #[test]
        fn no_two_keys_share_their_bytes_and_none_is_the_beginning_of_another(a in key(), b in key()) {
            prop_assume!(a != b);
            prop_assert!(!b.encode().starts_with(&a.encode()));
        }

        #[test]
        fn tools_sort_by_upstream_and_then_by_name(c in client(), a in (upstream(), name()), b in (upstream(), name())) {
            let key = |(u, n): &(UpstreamId, String)| Key::Observed(c, *u, n.clone()).encode();
            let (left, right) = (key(&a), key(&b));
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
        }

        #[test]
        fn law_10_a_tenants_range_holds_its_own_rows_and_no_others(a in client(), b in client(), upstream in upstream(), name in name()) {
            prop_assume!(a != b);
            let of = |client| Key::Observed(client, upstream, name.clone()).encode();
            prop_assert!(Key::all_of(a).contains(&of(a)) && Key::catalogue_of(a).contains(&of(a)));
            prop_assert!(!Key::all_of(a).contains(&of(b)) && !Key::catalogue_of(a).contains(&of(b)));
        }

        #[test]
        fn the_definitions_of_a_tool_are_its_own_and_no_others(u in upstream(), a in name(), b in name(), f in any::<[u8; 32]>()) {
            prop_assume!(a != b);
            let client = ClientId::from_bytes([9; 16]);
            let key = Key::Definition(client, u, a.clone(), Fingerprint::from_bytes(f)).encode();
            prop_assert!(Key::definitions_of(client, u, &a).contains(&key));
            prop_assert!(!Key::definitions_of(client, u, &b).contains(&key));
        }

        #[test]
        fn any_bytes_are_a_key_or_refused(bytes: Vec<u8>) {
            if let Ok(key) = Key::decode(&bytes) {
                prop_assert_eq!(key.encode().to_vec(), bytes);
            }
        }
    }

    #[test]
    fn of_a_deleted_tenant_all_is_swept_but_the_texts_and_the_log() {
        let client = ClientId::from_bytes([9; 16]);
        let (upstream, name) = (UpstreamId::from_bytes([1; 16]), || "a".to_owned());
        let is_swept = |key: Key| Key::swept_of(client).iter().any(|range| range.contains(&key.encode()));
        let text = Key::Definition(client, upstream, name(), Fingerprint::from_bytes([2; 32]));
        for kept in [text, Key::Ruling(client, 1), Key::ChainHead(client)] {
            assert!(!is_swept(kept.clone()), "{kept:?}");
        }
        for swept in [
            Key::Client(client),
            Key::Upstream(client, upstream),
            Key::SlugClaim(client, name()),
            Key::NameClaim(client, name()),
            Key::Agent(client, AgentId::from_bytes([4; 16])),
            Key::AgentName(client, name()),
            Key::AgentDeletions(client),
            Key::Listing(client, upstream),
            Key::Observed(client, upstream, name()),
            Key::Ruled(client, upstream, name()),
            Key::ApiKey(client, KeyId::from_bytes([3; 16])),
            Key::Status(client, upstream),
        ] {
            assert!(is_swept(swept.clone()), "{swept:?}");
        }
        assert!(!is_swept(Key::Client(ClientId::from_bytes([8; 16]))));
        assert!(!is_swept(Key::Client(ClientId::from_bytes([10; 16]))));
    }

    #[test]
    fn status_rows_and_rulings_lie_outside_the_catalogue() {
        let client = ClientId::from_bytes([9; 16]);
        let upstream = UpstreamId::from_bytes([1; 16]);
        let catalogue = Key::catalogue_of(client);
        for key in [Key::Status(client, upstream), Key::Ruling(client, 1), Key::ChainHead(client)] {
            assert!(!catalogue.contains(&key.encode()), "{key:?}");
            assert!(Key::all_of(client).contains(&key.encode()), "{key:?}");
        }
        assert!(catalogue.contains(&Key::Ruled(client, upstream, "a".into()).encode()));
    }
}
