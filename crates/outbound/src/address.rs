use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of place an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressClass {
    /// Anywhere on the internet.
    Public,
    /// This machine.
    Loopback,
    /// A private network: RFC 1918, carrier-grade NAT (RFC 6598), unique local IPv6 (RFC 4193).
    Private,
    /// The local link (RFC 3927, RFC 4291), where clouds keep credentials.
    LinkLocal,
    /// A cloud's metadata or platform service outside the link-local range.
    Metadata,
    /// No address, or "this network".
    Unspecified,
    /// Many receivers.
    Multicast,
    /// Every receiver.
    Broadcast,
    /// For examples only (RFC 5737, RFC 3849, RFC 9637).
    Documentation,
    /// Set aside, retired, or a form that carries another address through a translator or tunnel.
    Reserved,
}

use AddressClass::{
    Broadcast, Documentation, LinkLocal, Loopback, Metadata, Multicast, Private, Public, Reserved,
    Unspecified,
};

/// IPv4 ranges, first match wins; anything else is public. After the IANA special-purpose registry.
const V4_RANGES: &[([u8; 4], u32, AddressClass)] = &[
    ([0, 0, 0, 0], 8, Unspecified),
    ([10, 0, 0, 0], 8, Private),
    // Alibaba Cloud keeps its metadata service inside the carrier-grade NAT range.
    ([100, 100, 100, 200], 32, Metadata),
    ([100, 64, 0, 0], 10, Private),
    ([127, 0, 0, 0], 8, Loopback),
    // Azure's platform service stands on a public address.
    ([168, 63, 129, 16], 32, Metadata),
    ([169, 254, 169, 254], 32, Metadata),
    ([169, 254, 0, 0], 16, LinkLocal),
    ([172, 16, 0, 0], 12, Private),
    // Oracle Cloud's older metadata service, inside the protocol assignments below.
    ([192, 0, 0, 192], 32, Metadata),
    ([192, 0, 0, 0], 24, Reserved),
    ([192, 0, 2, 0], 24, Documentation),
    ([192, 88, 99, 0], 24, Reserved),
    ([192, 168, 0, 0], 16, Private),
    ([198, 18, 0, 0], 15, Reserved),
    ([198, 51, 100, 0], 24, Documentation),
    ([203, 0, 113, 0], 24, Documentation),
    ([224, 0, 0, 0], 4, Multicast),
    ([255, 255, 255, 255], 32, Broadcast),
    ([240, 0, 0, 0], 4, Reserved),
];

/// IPv6 ranges, first match wins; anything outside global unicast is reserved. The forms that carry an IPv4 address
/// are not here, see [`embedded_v4`].
const V6_RANGES: &[(Ipv6Addr, u32, AddressClass)] = &[
    (Ipv6Addr::UNSPECIFIED, 128, Unspecified),
    (Ipv6Addr::LOCALHOST, 128, Loopback),
    // Teredo and the other protocol assignments.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Reserved),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, Documentation),
    // 6to4.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, Reserved),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, Documentation),
    (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, Public),
    // Metadata services that clouds keep in unique local ranges: Oracle, Amazon, Scaleway, Google.
    (Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0, 0), 32, Metadata),
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0), 32, Metadata),
    (Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42), 128, Metadata),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128, Metadata),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Private),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, LinkLocal),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, Multicast),
];

/// What kind of place `address` is. An IPv6 form that stands for an IPv4 address has that address's class.
pub fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(v4) => classify_v4(v4),
        IpAddr::V6(v6) => embedded_v4(v6).map_or_else(|| classify_v6(v6), classify_v4),
    }
}

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    let address = u32::from(address);
    let inside = |&&(start, bits, _): &&([u8; 4], u32, AddressClass)| {
        (address ^ u32::from_be_bytes(start)) >> (32 - bits) == 0
    };
    V4_RANGES.iter().find(inside).map_or(Public, |&(_, _, class)| class)
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    let address = u128::from(address);
    let inside = |&&(start, bits, _): &&(Ipv6Addr, u32, AddressClass)| {
        (address ^ u128::from(start)) >> (128 - bits) == 0
    };
    V6_RANGES.iter().find(inside).map_or(Reserved, |&(_, _, class)| class)
}

/// The IPv4 address that a connection to `address` ends at: IPv4-mapped (`::ffff:0:0/96`) and the well-known prefix
/// of NAT64 (`64:ff9b::/96`, RFC 6052), which is how a public IPv4 host is reached from an IPv6-only network.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., a, b] = address.segments();
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => {
            Some(Ipv4Addr::from(u32::from(a) << 16 | u32::from(b)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn class(text: &str) -> AddressClass {
        classify(text.parse().unwrap())
    }

    #[test]
    fn every_range_begins_and_ends_where_its_registry_says() {
        let table = [
            ("0.0.0.0", Unspecified),
            ("0.255.255.255", Unspecified),
            ("1.0.0.0", Public),
            ("8.8.8.8", Public),
            ("9.255.255.255", Public),
            ("10.0.0.0", Private),
            ("10.255.255.255", Private),
            ("11.0.0.0", Public),
            ("100.63.255.255", Public),
            ("100.64.0.0", Private),
            ("100.100.100.199", Private),
            ("100.100.100.200", Metadata),
            ("100.127.255.255", Private),
            ("100.128.0.0", Public),
            ("126.255.255.255", Public),
            ("127.0.0.0", Loopback),
            ("127.0.0.1", Loopback),
            ("127.255.255.255", Loopback),
            ("128.0.0.0", Public),
            ("168.63.129.16", Metadata),
            ("169.253.255.255", Public),
            ("169.254.0.0", LinkLocal),
            ("169.254.169.254", Metadata),
            ("169.254.170.2", LinkLocal),
            ("169.255.0.0", Public),
            ("172.15.255.255", Public),
            ("172.16.0.0", Private),
            ("172.31.255.255", Private),
            ("172.32.0.0", Public),
            ("192.0.0.8", Reserved),
            ("192.0.0.192", Metadata),
            ("192.0.1.0", Public),
            ("192.0.2.1", Documentation),
            ("192.88.99.1", Reserved),
            ("192.167.255.255", Public),
            ("192.168.0.0", Private),
            ("192.169.0.0", Public),
            ("198.17.255.255", Public),
            ("198.18.0.0", Reserved),
            ("198.19.255.255", Reserved),
            ("198.51.100.7", Documentation),
            ("203.0.113.255", Documentation),
            ("223.255.255.255", Public),
            ("224.0.0.0", Multicast),
            ("239.255.255.255", Multicast),
            ("240.0.0.0", Reserved),
            ("255.255.255.254", Reserved),
            ("255.255.255.255", Broadcast),
            ("::", Unspecified),
            ("::1", Loopback),
            ("::2", Reserved),
            ("::127.0.0.1", Reserved),
            ("::ffff:0:127.0.0.1", Reserved),
            ("64:ff9b:1::7f00:1", Reserved),
            ("100::1", Reserved),
            ("2000::1", Public),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", Reserved),
            ("2001:1ff::1", Reserved),
            ("2001:200::1", Public),
            ("2001:db8::1", Documentation),
            ("2001:4860:4860::8888", Public),
            ("2002:7f00:1::1", Reserved),
            ("2606:4700::1111", Public),
            ("3ffe:ffff::1", Public),
            ("3fff::1", Documentation),
            ("3fff:1000::1", Public),
            ("4000::1", Reserved),
            ("5f00::1", Reserved),
            ("fc00::1", Private),
            ("fd00:c1::a9fe:a9fe", Metadata),
            ("fd00:ec2::254", Metadata),
            ("fd00:42::42", Metadata),
            ("fd20:ce::254", Metadata),
            ("fdff::1", Private),
            ("fe00::1", Reserved),
            ("fe80::1", LinkLocal),
            ("febf::1", LinkLocal),
            ("fec0::1", Reserved),
            ("ff02::1", Multicast),
        ];
        for (address, expected) in table {
            assert_eq!(class(address), expected, "{address}");
        }
    }

    proptest! {
        #[test]
        fn an_ipv6_spelling_of_an_ipv4_address_has_its_class(octets: [u8; 4]) {
            let v4 = Ipv4Addr::from(octets);
            let nat64 = Ipv6Addr::from((0x0064_ff9b_u128 << 96) | u128::from(u32::from(v4)));
            prop_assert_eq!(classify(v4.to_ipv6_mapped().into()), classify(v4.into()));
            prop_assert_eq!(classify(nat64.into()), classify(v4.into()));
        }

        #[test]
        fn nothing_that_the_standard_library_calls_special_is_public(octets: [u8; 4]) {
            let v4 = Ipv4Addr::from(octets);
            let special = v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_broadcast()
                || v4.is_documentation() || v4.is_multicast() || v4.is_unspecified();
            prop_assert!(!(special && classify(v4.into()) == Public));
        }

        #[test]
        fn only_global_unicast_ipv6_is_public(bits: u128) {
            let v6 = Ipv6Addr::from(bits);
            let global = v6.segments()[0] & 0xe000 == 0x2000;
            prop_assert!(global || embedded_v4(v6).is_some() || classify(v6.into()) != Public);
        }
    }
}
