//! A good answer: its tag, its headers, its body.

use std::convert::Infallible;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::coding::Coding;
use crate::envelope::Refusal;

pub(crate) const X_TOOLGATE_REVISION: HeaderName = HeaderName::from_static("x-toolgate-revision");

/// A service that does not keep its contract. The log says how; the caller is not told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the answer has no etag")]
    NoEtag,
    #[error("the whole list was asked for, and a page came")]
    Partial,
    #[error("the answer is `not_modified`, but no tag was sent")]
    NothingHeld,
    #[error("the {0} cannot be sent in a header")]
    NotAHeader(&'static str),
    #[error("{0}")]
    NoShape(String),
    #[error("rendering ended early: {0}")]
    Rendering(#[from] tokio::task::JoinError),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        tracing::error!(%fault, "an answer could not be sent");
        Self::internal()
    }
}

/// The tag of what is current, where `known` was sent along and the service answered `etag`.
pub(crate) fn tag<'a>(not_modified: bool, known: &'a str, etag: &'a str) -> Result<&'a str, Fault> {
    match (not_modified, known, etag) {
        (true, "", _) => Err(Fault::NothingHeld),
        (true, known, _) => Ok(known),
        (false, _, "") => Err(Fault::NoEtag),
        (false, _, etag) => Ok(etag),
    }
}

/// An answer whose body is still to be decided on.
pub(crate) struct Answer {
    coding: Coding,
    headers: HeaderMap,
}

impl Answer {
    /// With the headers that a 200 and a 304 have in common (RFC 9110, 15.4.5).
    ///
    /// The body depends on the credential, so it is for the caller's own cache only, and good there only after it was
    /// asked for again: rights and tools may change at any time. `vary` names the request's headers that it depends on.
    pub(crate) fn new(coding: Coding, etag: &str, revision: &str, vary: &'static str) -> Result<Self, Fault> {
        let revision = HeaderValue::from_str(revision).map_err(|_| Fault::NotAHeader("revision"))?;
        let mut answer = Self::tagged(coding, etag, "private, no-cache", vary)?;
        answer.headers.insert(X_TOOLGATE_REVISION, revision);
        Ok(answer)
    }

    /// The same for everybody, until another release.
    pub(crate) fn public(coding: Coding, etag: &str) -> Result<Self, Fault> {
        Self::tagged(coding, etag, "no-cache", "accept-encoding")
    }

    fn tagged(coding: Coding, etag: &str, caching: &'static str, vary: &'static str) -> Result<Self, Fault> {
        let headers = HeaderMap::from_iter([
            (ETAG, coding.etag(etag).map_err(|_| Fault::NotAHeader("etag"))?),
            (CACHE_CONTROL, HeaderValue::from_static(caching)),
            (VARY, HeaderValue::from_static(vary)),
        ]);
        Ok(Self { coding, headers })
    }

    pub(crate) fn full(mut self, body: Bytes) -> Response {
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(name) = self.coding.name() {
            self.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(name));
        }
        (self.headers, body).into_response()
    }

    /// A body of no stated length, since a `Content-Length` here would have to be that of the full answer (RFC 9110,
    /// 8.6).
    pub(crate) fn not_modified(self) -> Response {
        let nothing = Body::from_stream(futures::stream::empty::<Result<Bytes, Infallible>>());
        (StatusCode::NOT_MODIFIED, self.headers, nothing).into_response()
    }
}
