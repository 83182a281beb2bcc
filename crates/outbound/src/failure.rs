use std::error::Error;
use std::io;

use thiserror::Error;

/// Why a target is not connected to. The texts name no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Not an absolute URL with a host.
    #[error("the url is not an absolute http or https url")]
    Malformed,
    /// A scheme other than `http` and `https`.
    #[error("the url's scheme is not http or https")]
    Scheme,
    /// A user name or password in the URL, where every log would show it.
    #[error("the url holds a user name or password; send credentials in a header")]
    UserInfo,
    /// A loopback or private address that nobody declared.
    #[error("loopback and private addresses must be declared (allow_private)")]
    PrivateUndeclared,
    /// A loopback or private address under [`crate::Private::Never`].
    #[error("loopback and private addresses are forbidden by the configuration (outbound.private = never)")]
    PrivateNever,
    /// Link-local, metadata, reserved: anything that is neither public nor private.
    #[error("link-local, cloud metadata and reserved addresses are never connected to")]
    SpecialAddress,
    /// A redirect to another scheme, host or port.
    #[error("the server redirects to another origin; register the new url instead")]
    OtherOrigin,
    /// A redirect that may turn the request into a GET (RFC 9110 15.4).
    #[error("the server redirects with HTTP {0}; only 307 and 308 keep the request as it is")]
    MethodChange(u16),
    /// More than [`crate::limits::MAX_REDIRECTS`].
    #[error("the server redirects more than {max} times", max = crate::limits::MAX_REDIRECTS)]
    TooManyRedirects,
    /// A redirect without a usable `Location`.
    #[error("the server redirects to nowhere: its location header is missing or malformed")]
    BadLocation,
}

/// Why a request has no answer. The texts name no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum OutboundError {
    /// The guard said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// No connection: the reason.
    #[error("{0}")]
    Connect(&'static str),
    /// The connection or the exchange broke off; says what.
    #[error("{0}")]
    Broken(&'static str),
}

/// The name has no address, or no name server answered.
#[derive(Debug, Error)]
#[error("the host name does not resolve")]
pub(crate) struct Unresolved;

impl OutboundError {
    /// Reads a failure to send a request. reqwest's own texts hold the URL, so none of them is passed on.
    pub(crate) fn sending(error: &reqwest::Error) -> Self {
        if let Some(&refusal) = cause::<Refusal>(error) {
            return Self::Refused(refusal);
        }
        if cause::<Unresolved>(error).is_some() {
            return Self::Connect("the host name does not resolve");
        }
        if let Some(tls) = cause::<rustls::Error>(error) {
            return Self::Connect(tls_reason(tls));
        }
        match cause::<io::Error>(error).map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => Self::Connect("the connection was refused"),
            Some(io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable) => {
                Self::Connect("the host is unreachable")
            }
            Some(io::ErrorKind::TimedOut) => Self::Connect("the connection attempt timed out"),
            _ if error.is_connect() => Self::Connect("the connection failed"),
            _ => Self::Broken("the connection broke before an answer came"),
        }
    }

    /// Reads a failure to receive a body.
    pub(crate) fn receiving(error: &reqwest::Error) -> Self {
        if error.is_decode() {
            Self::Broken("the answer is cut off or its content encoding is damaged")
        } else {
            Self::Broken("the connection broke before the answer was complete")
        }
    }
}

fn tls_reason(error: &rustls::Error) -> &'static str {
    use rustls::CertificateError as Certificate;
    match error {
        rustls::Error::InvalidCertificate(Certificate::Expired | Certificate::ExpiredContext { .. }) => {
            "tls: the server's certificate has expired"
        }
        rustls::Error::InvalidCertificate(Certificate::UnknownIssuer) => {
            "tls: the server's certificate comes from an authority that this machine does not trust"
        }
        rustls::Error::InvalidCertificate(
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. },
        ) => "tls: the server's certificate is for another name",
        rustls::Error::InvalidCertificate(_) => "tls: the server's certificate is not valid",
        _ => "tls: the handshake failed",
    }
}

/// The first `E` among an error and its causes. An `io::Error` hides what it wraps from `source`, so it is opened.
fn cause<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}
