//! What a request asks for.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use tonic::metadata::MetadataMap;
use toolgate_api_proto::WholeAnswer;
use toolgate_api_proto::v1::{ListToolsRequest, ToolView};

use crate::coding::Coding;
use crate::conditional::IfNoneMatch;
use crate::envelope::Refusal;
use crate::request::{min_revision, single};

const UPSTREAM_ID: &str = "upstreamId";

/// The parts of a request that this route reads; all others are ignored.
pub(super) struct Ask {
    /// As it came: whether it is good is the service's word.
    pub(super) authorization: Option<HeaderValue>,
    /// A lower-case UUID; empty for all upstreams.
    pub(super) upstream_id: String,
    pub(super) min_revision: String,
    pub(super) if_none_match: IfNoneMatch,
    pub(super) coding: Coding,
}

impl Ask {
    pub(super) fn read(query: &[(String, String)], headers: &HeaderMap) -> Result<Self, Refusal> {
        Ok(Self {
            authorization: single(headers, &AUTHORIZATION)?.cloned(),
            upstream_id: upstream_id(query)?,
            min_revision: min_revision(headers)?,
            if_none_match: IfNoneMatch::read(headers),
            coding: Coding::preferred(headers),
        })
    }

    /// The one call that answers this request; `known` is the tag of an answer that is held, or empty.
    pub(super) fn request(&self, known: &str) -> tonic::Request<ListToolsRequest> {
        let mut request = tonic::Request::new(ListToolsRequest {
            view: ToolView::Raw.into(),
            upstream_id: self.upstream_id.clone(),
            if_none_match: known.to_owned(),
            min_revision: self.min_revision.clone(),
            ..ListToolsRequest::default()
        });
        let credential = self.authorization.clone().map(|value| (AUTHORIZATION, value));
        *request.metadata_mut() = MetadataMap::from_headers(HeaderMap::from_iter(credential));
        request.extensions_mut().insert(WholeAnswer);
        request
    }
}

fn upstream_id(query: &[(String, String)]) -> Result<String, Refusal> {
    let mut given = query.iter().filter(|(name, _)| name == UPSTREAM_ID).map(|(_, value)| value);
    match (given.next(), given.next()) {
        (None, _) => Ok(String::new()),
        (Some(id), None) if is_uuid(id) => Ok(id.to_ascii_lowercase()),
        (Some(_), None) => {
            Err(Refusal::invalid(UPSTREAM_ID, "send a UUID, or leave it out for all upstreams"))
        }
        (Some(_), Some(_)) => Err(Refusal::invalid(UPSTREAM_ID, "send it once")),
    }
}

/// The form of RFC 9562, section 4, in either case.
fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
