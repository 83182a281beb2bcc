//! Who asks, as far as the request tells.

use http::header::{AUTHORIZATION, HOST};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

use crate::refusal::Refusal;

/// A credential that nobody has judged yet, and the address under which the caller reaches the server.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) origin: String,
}

impl Caller {
    /// The `Host` was checked by whoever guards the routes. Of two credentials nobody could say which counts.
    pub(crate) fn read(head: &Parts, public_origin: Option<&str>) -> Result<Self, Refusal> {
        let mut lines = head.headers.get_all(AUTHORIZATION).iter();
        let authorization = lines.next().cloned();
        if lines.next().is_some() {
            return Err(Refusal::http(StatusCode::BAD_REQUEST, "authorization: send it once"));
        }
        let origin = public_origin.map_or_else(|| origin(head), str::to_owned);
        Ok(Self { authorization, origin })
    }

    /// Stands for the credential, however its header is spelt; the credential itself is not kept.
    pub(crate) fn digest(&self) -> [u8; 32] {
        let value = self.authorization.as_ref().map(HeaderValue::as_bytes).unwrap_or_default();
        let scheme_ends = value.iter().position(|byte| *byte == b' ').unwrap_or_default();
        Sha256::digest(value[scheme_ends..].trim_ascii()).into()
    }
}

fn origin(head: &Parts) -> String {
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| head.uri.authority().map(|authority| authority.as_str()));
    format!("http://{}", host.unwrap_or_default())
}
