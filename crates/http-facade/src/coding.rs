//! Content codings (RFC 9110, 8.4 and 12.5.3).

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, InvalidHeaderValue};
use http::{HeaderMap, HeaderValue};

/// How a body is coded on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// As it is.
    Identity,
    /// gzip, at its fastest: the result is kept, but every change of the catalogue makes a new one.
    Gzip,
}

impl Coding {
    /// gzip where the caller likes it at least as much as no coding. A caller that refuses both gets no coding.
    pub(crate) fn preferred(headers: &HeaderMap) -> Self {
        let (mut gzip, mut identity, mut any) = (None, None, None);
        for (coding, weight) in accepted(headers) {
            match coding.to_ascii_lowercase().as_str() {
                "gzip" | "x-gzip" => gzip = Some(weight),
                "identity" => identity = Some(weight),
                "*" => any = Some(weight),
                _ => {}
            }
        }
        let gzip = gzip.or(any).unwrap_or(0.0);
        if gzip > 0.0 && gzip >= identity.unwrap_or(0.0) { Self::Gzip } else { Self::Identity }
    }

    pub(crate) fn apply(self, body: Vec<u8>) -> Bytes {
        match self {
            Self::Identity => body.into(),
            Self::Gzip => gzip(&body).into(),
        }
    }

    /// The value of `Content-Encoding`, if there is one.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some("gzip"),
        }
    }

    /// The `ETag` of an answer in this coding.
    ///
    /// A strong tag stands for one sequence of bytes. The plain body has one; the coded one, whose bytes may differ
    /// between two builds of the compressor, has the same tag as a weak one. `If-None-Match` compares weakly, so either
    /// is good for both.
    pub(crate) fn etag(self, etag: &str) -> Result<HeaderValue, InvalidHeaderValue> {
        match self {
            Self::Identity => HeaderValue::try_from(format!("\"{etag}\"")),
            Self::Gzip => HeaderValue::try_from(format!("W/\"{etag}\"")),
        }
    }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 8), Compression::fast());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("a vector takes every write")
}

/// The codings of `Accept-Encoding` with their weights; one with a malformed weight is left out.
fn accepted(headers: &HeaderMap) -> impl Iterator<Item = (&str, f32)> {
    let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).filter_map(|item| {
        let (coding, weight) = item.split_once(';').unwrap_or((item, "q=1"));
        let weight = weight.trim().strip_prefix(['q', 'Q'])?.strip_prefix('=')?.parse().ok()?;
        (0.0..=1.0).contains(&weight).then_some((coding.trim(), weight))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preferred(accept: &'static str) -> Coding {
        Coding::preferred(&HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(accept))]))
    }

    #[test]
    fn gzip_is_used_only_where_it_is_wanted() {
        for accept in ["gzip", "GZIP", "x-gzip", "br, gzip;q=0.5", "*", "gzip ; q=0.5, identity;q=0.5"] {
            assert_eq!(preferred(accept), Coding::Gzip, "{accept}");
        }
        for accept in [
            "",
            "br",
            "gzip;q=0",
            "*;q=0",
            "gzip;q=0, *",
            "gzip;q=0.4, identity;q=0.5",
            "gzip;q=x",
            "gzip;q=NaN",
        ] {
            assert_eq!(preferred(accept), Coding::Identity, "{accept}");
        }
        assert_eq!(Coding::preferred(&HeaderMap::new()), Coding::Identity);
    }
}
