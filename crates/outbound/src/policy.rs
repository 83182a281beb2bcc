use std::net::IpAddr;

use url::{Host, Url};

use crate::address::{AddressClass, classify};
use crate::failure::Refusal;

/// Whether loopback and private addresses can be reached at all (`outbound.private`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Private {
    /// By those requests whose target was declared to be private.
    Declared,
    /// By none, whatever was declared.
    Never,
}

/// What one client may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Public,
    PublicAndPrivate,
    /// Private addresses were declared, and the configuration says no.
    PublicByConfig,
}

impl Reach {
    pub(crate) fn new(private: Private, declared: bool) -> Self {
        match (private, declared) {
            (_, false) => Self::Public,
            (Private::Declared, true) => Self::PublicAndPrivate,
            (Private::Never, true) => Self::PublicByConfig,
        }
    }

    pub(crate) fn admit(self, address: IpAddr) -> Result<(), Refusal> {
        match (classify(address), self) {
            (AddressClass::Public, _) => Ok(()),
            (AddressClass::Loopback | AddressClass::Private, Self::PublicAndPrivate) => Ok(()),
            (AddressClass::Loopback | AddressClass::Private, Self::Public) => Err(Refusal::PrivateUndeclared),
            (AddressClass::Loopback | AddressClass::Private, Self::PublicByConfig) => {
                Err(Refusal::PrivateNever)
            }
            _ => Err(Refusal::SpecialAddress),
        }
    }

    /// Checks what can be known of a URL without asking a name server. A literal address never reaches the resolver,
    /// so it is judged here.
    pub(crate) fn admit_url(self, url: &Url) -> Result<(), Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::UserInfo);
        }
        match url.host() {
            Some(Host::Ipv4(v4)) => self.admit(v4.into()),
            Some(Host::Ipv6(v6)) => self.admit(v6.into()),
            Some(Host::Domain(_)) => Ok(()),
            None => Err(Refusal::Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(url: &str, reach: Reach) -> Result<(), Refusal> {
        reach.admit_url(&Url::parse(url).unwrap())
    }

    #[test]
    fn a_literal_address_is_judged_in_every_spelling() {
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://127.0.0.1./",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::127.0.0.1]/",
            "http://１２７.0.0.1/",
            "https://10.1.2.3:8443/mcp",
        ] {
            assert_eq!(verdict(url, Reach::Public), Err(Refusal::PrivateUndeclared), "{url}");
            assert_eq!(verdict(url, Reach::PublicByConfig), Err(Refusal::PrivateNever), "{url}");
            assert_eq!(verdict(url, Reach::PublicAndPrivate), Ok(()), "{url}");
        }
    }

    #[test]
    fn metadata_and_link_local_addresses_are_refused_even_when_private_ones_are_declared() {
        for url in [
            "http://169.254.169.254/latest/meta-data/",
            "http://2852039166/",
            "http://[::ffff:169.254.169.254]/",
            "http://[64:ff9b::a9fe:a9fe]/",
            "http://[fd00:ec2::254]/",
            "http://[fe80::1]/",
            "http://0.0.0.0/",
            "http://[::]/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
        ] {
            assert_eq!(verdict(url, Reach::PublicAndPrivate), Err(Refusal::SpecialAddress), "{url}");
        }
    }

    #[test]
    fn only_plain_http_and_https_urls_without_user_info_pass() {
        assert_eq!(verdict("https://example.org/mcp", Reach::Public), Ok(()));
        assert_eq!(verdict("ftp://example.org/", Reach::Public), Err(Refusal::Scheme));
        assert_eq!(verdict("file:///etc/passwd", Reach::Public), Err(Refusal::Scheme));
        assert_eq!(verdict("https://u:p@example.org/", Reach::Public), Err(Refusal::UserInfo));
        assert_eq!(verdict("https://:p@example.org/", Reach::Public), Err(Refusal::UserInfo));
    }

    #[test]
    fn private_addresses_need_the_declaration_and_the_configuration() {
        assert_eq!(Reach::new(Private::Declared, true), Reach::PublicAndPrivate);
        assert_eq!(Reach::new(Private::Declared, false), Reach::Public);
        assert_eq!(Reach::new(Private::Never, true), Reach::PublicByConfig);
        assert_eq!(Reach::new(Private::Never, false), Reach::Public);
    }
}
