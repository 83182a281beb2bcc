//! What a request asks for.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use tonic::metadata::MetadataMap;
use toolgate_api_proto::WholeAnswer;
use toolgate_api_proto::v1::{GetToolUnitRequest, ListToolUnitsRequest};

use crate::coding::Coding;
use crate::conditional::IfNoneMatch;
use crate::envelope::Refusal;
use crate::request::{min_revision, single};

const UNIT: &str = "unit";

/// The parts of a request that this route reads; all others are ignored.
pub(super) struct Ask {
    /// As it came: whether it is good is the service's word.
    pub(super) authorization: Option<HeaderValue>,
    /// As it came; empty for the list of them all.
    pub(super) unit: String,
    min_revision: String,
    /// In the service's own tags.
    pub(super) if_none_match: IfNoneMatch,
    pub(super) coding: Coding,
}

impl Ask {
    /// `rendering` is what tags have behind the service's own.
    pub(super) fn read(
        query: &[(String, String)],
        headers: &HeaderMap,
        rendering: &str,
    ) -> Result<Self, Refusal> {
        Ok(Self {
            authorization: single(headers, &AUTHORIZATION)?.cloned(),
            unit: unit(query)?,
            min_revision: min_revision(headers)?,
            if_none_match: IfNoneMatch::read(headers).without_suffix(rendering),
            coding: Coding::preferred(headers),
        })
    }

    /// The one call for all units; `known` is the tag of an answer that is held, or empty.
    pub(super) fn list(&self, known: &str) -> tonic::Request<ListToolUnitsRequest> {
        self.request(ListToolUnitsRequest {
            if_none_match: known.to_owned(),
            min_revision: self.min_revision.clone(),
            ..ListToolUnitsRequest::default()
        })
    }

    /// The one call for one unit.
    pub(super) fn get(&self, known: &str) -> tonic::Request<GetToolUnitRequest> {
        self.request(GetToolUnitRequest {
            unit: self.unit.clone(),
            if_none_match: known.to_owned(),
            min_revision: self.min_revision.clone(),
            ..GetToolUnitRequest::default()
        })
    }

    fn request<Q>(&self, message: Q) -> tonic::Request<Q> {
        let mut request = tonic::Request::new(message);
        let credential = self.authorization.clone().map(|value| (AUTHORIZATION, value));
        *request.metadata_mut() = MetadataMap::from_headers(HeaderMap::from_iter(credential));
        request.extensions_mut().insert(WholeAnswer);
        request
    }
}

fn unit(query: &[(String, String)]) -> Result<String, Refusal> {
    let mut given = query.iter().filter(|(name, _)| name == UNIT).map(|(_, value)| value);
    match (given.next(), given.next()) {
        (unit, None) => Ok(unit.cloned().unwrap_or_default()),
        (_, Some(_)) => Err(Refusal::invalid(UNIT, "send it once")),
    }
}
