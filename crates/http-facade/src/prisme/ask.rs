//! What a request asks for.

use axum::extract::RawPathParams;
use axum::extract::rejection::RawPathParamsRejection;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use tonic::metadata::MetadataMap;
use toolgate_api_proto::v1::ListServerToolsRequest;

use super::refusal::unauthorized;
use crate::coding::Coding;
use crate::envelope::Refusal;
use crate::request::{min_revision, single};

const X_PRISMEAI_API_KEY: HeaderName = HeaderName::from_static("x-prismeai-api-key");
/// Begins the keys of an organisation, which carry no user's identity: documented never to be taken as a bearer's.
const ORGANISATION_KEY: &str = "iak_";

/// The parts of a request that this route reads; all others are ignored.
pub(super) struct Ask {
    agent_id: String,
    attachment_id: String,
    min_revision: String,
    /// As a value of `Authorization`: whether it is good is the service's word.
    credential: Option<HeaderValue>,
    pub(super) coding: Coding,
}

impl Ask {
    /// Whether an id is too long, or anybody's, is the service's word, after that on the credential.
    pub(super) fn read(
        path: Result<RawPathParams, RawPathParamsRejection>,
        headers: &HeaderMap,
    ) -> Result<Self, Refusal> {
        let path =
            path.map_err(|_| Refusal::invalid("path", "percent-encode the bytes of UTF-8 text, once"))?;
        let id = |wanted: &str| {
            let found = path.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| value.to_owned()).unwrap_or_default()
        };
        Ok(Self {
            agent_id: id("agentId"),
            attachment_id: id("toolId"),
            min_revision: min_revision(headers)?,
            credential: credential(headers)?,
            coding: Coding::preferred(headers),
        })
    }

    /// The one call that answers this request.
    pub(super) fn request(&self) -> tonic::Request<ListServerToolsRequest> {
        let mut request = tonic::Request::new(ListServerToolsRequest {
            agent_id: self.agent_id.clone(),
            attachment_id: self.attachment_id.clone(),
            min_revision: self.min_revision.clone(),
            ..ListServerToolsRequest::default()
        });
        let credential = self.credential.clone().map(|value| (AUTHORIZATION, value));
        *request.metadata_mut() = MetadataMap::from_headers(HeaderMap::from_iter(credential));
        request
    }
}

/// `Authorization` as it came, or the key of `x-prismeai-api-key` as a bearer's. Where both came, they must name one key:
/// which of two counts would be anybody's guess.
fn credential(headers: &HeaderMap) -> Result<Option<HeaderValue>, Refusal> {
    let authorization = single(headers, &AUTHORIZATION)?;
    let key = single(headers, &X_PRISMEAI_API_KEY)?;
    let bearer = authorization.and_then(bearer_token);
    if bearer.is_some_and(|token| token.starts_with(ORGANISATION_KEY.as_bytes())) {
        return Err(unauthorized("an organisation's key is sent as `x-prismeai-api-key`"));
    }
    match (authorization, key) {
        (authorization, None) => Ok(authorization.cloned()),
        (Some(_), Some(key)) if bearer != Some(key.as_bytes()) => {
            Err(unauthorized("send one credential, in one header"))
        }
        (_, Some(key)) => {
            let bearer = HeaderValue::from_bytes(&[b"Bearer ", key.as_bytes()].concat());
            bearer.map(Some).map_err(|_| Refusal::invalid(X_PRISMEAI_API_KEY.as_str(), "send a key"))
        }
    }
}

/// What follows the scheme, which may be written in any case (RFC 9110, 11.1).
fn bearer_token(value: &HeaderValue) -> Option<&[u8]> {
    let value = value.as_bytes();
    let at = value.iter().position(|byte| *byte == b' ')?;
    let (scheme, token) = value.split_at(at);
    scheme.eq_ignore_ascii_case(b"bearer").then(|| token.trim_ascii())
}
