//! What a request asks for.

use axum::body::to_bytes;
use axum::extract::Request;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use tonic::metadata::MetadataMap;
use toolgate_api_proto::WholeAnswer;
use toolgate_api_proto::v1::ListToolDefinitionsRequest;

use crate::coding::Coding;
use crate::conditional::IfNoneMatch;
use crate::envelope::Refusal;
use crate::limits::MAX_LIST_BODY_BYTES;
use crate::request::{min_revision, single};

const OXP_API_KEY: HeaderName = HeaderName::from_static("oxp-api-key");
/// Where a body says which version it is of.
pub(super) const MEMBER: &str = "$schema";
pub(super) const UNSUPPORTED: &str = "is not supported; send `urn:oxp:1.0`, or leave it out";

/// The parts of a request that this route reads; all others are ignored.
pub(super) struct Ask {
    /// As a value of `Authorization`: whether it is good is the service's word.
    pub(super) credential: Option<HeaderValue>,
    min_revision: String,
    pub(super) if_none_match: IfNoneMatch,
    pub(super) coding: Coding,
}

impl Ask {
    pub(super) async fn read(request: Request) -> Result<Self, Refusal> {
        let (head, body) = request.into_parts();
        let ask = Self {
            credential: credential(&head.headers)?,
            min_revision: min_revision(&head.headers)?,
            if_none_match: IfNoneMatch::read(&head.headers),
            coding: Coding::preferred(&head.headers),
        };
        let body = to_bytes(body, MAX_LIST_BODY_BYTES).await;
        let problem = format!("send none, or a JSON object of at most {MAX_LIST_BODY_BYTES} bytes");
        check(&body.map_err(|_| Refusal::invalid("body", &problem))?, &problem)?;
        Ok(ask)
    }

    /// The one call that answers this request; `known` is the tag of an answer that is held, or empty.
    pub(super) fn request(&self, known: &str) -> tonic::Request<ListToolDefinitionsRequest> {
        let mut request = tonic::Request::new(ListToolDefinitionsRequest {
            if_none_match: known.to_owned(),
            min_revision: self.min_revision.clone(),
            ..ListToolDefinitionsRequest::default()
        });
        let credential = self.credential.clone().map(|value| (AUTHORIZATION, value));
        *request.metadata_mut() = MetadataMap::from_headers(HeaderMap::from_iter(credential));
        request.extensions_mut().insert(WholeAnswer);
        request
    }
}

/// `Authorization` as it came, or the key of `OXP-API-Key` as a bearer's; not both.
pub(super) fn credential(headers: &HeaderMap) -> Result<Option<HeaderValue>, Refusal> {
    match (single(headers, &AUTHORIZATION)?, single(headers, &OXP_API_KEY)?) {
        (Some(_), Some(_)) => Err(Refusal::invalid("oxp-api-key", "send it without `Authorization`")),
        (authorization, None) => Ok(authorization.cloned()),
        (None, Some(key)) => {
            let bearer = [b"Bearer ", key.as_bytes()].concat();
            let bearer = HeaderValue::from_bytes(&bearer);
            bearer.map(Some).map_err(|_| Refusal::invalid("oxp-api-key", "send a key"))
        }
    }
}

/// A `GET` has a body here, if it wants to say which version it speaks.
fn check(body: &[u8], problem: &str) -> Result<(), Refusal> {
    if body.trim_ascii().is_empty() {
        return Ok(());
    }
    let body: Map<String, Value> =
        serde_json::from_slice(body).map_err(|_| Refusal::invalid("body", problem))?;
    match body.get(MEMBER) {
        None => Ok(()),
        Some(Value::String(schema)) if is_supported(schema) => Ok(()),
        Some(_) => Err(Refusal::invalid(MEMBER, UNSUPPORTED)),
    }
}

/// All that OXP 1.0 was ever called.
pub(super) fn is_supported(schema: &str) -> bool {
    let is_document = |url: &str| url.ends_with("/http/1.0/openapi.json");
    matches!(schema, super::SCHEMA | "otc://1.0")
        || schema.strip_prefix("https://").or(schema.strip_prefix("http://")).is_some_and(is_document)
}
