//! The headers of a good answer.

use std::convert::Infallible;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::Fault;
use crate::coding::Coding;

const X_TOOLGATE_REVISION: HeaderName = HeaderName::from_static("x-toolgate-revision");

/// An answer whose body is still to be decided on.
pub(super) struct Answer {
    coding: Coding,
    headers: HeaderMap,
}

impl Answer {
    /// With the headers that a 200 and a 304 have in common (RFC 9110, 15.4.5).
    ///
    /// The body depends on the credential, so it is for the caller's own cache only, and good there only after it was
    /// asked for again: rights and tools may change at any time.
    pub(super) fn new(coding: Coding, etag: &str, revision: &str) -> Result<Self, Fault> {
        let revision = HeaderValue::from_str(revision).map_err(|_| Fault::NotAHeader("revision"))?;
        let headers = HeaderMap::from_iter([
            (ETAG, coding.etag(etag).map_err(|_| Fault::NotAHeader("etag"))?),
            (X_TOOLGATE_REVISION, revision),
            (CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
            (VARY, HeaderValue::from_static("authorization, accept-encoding")),
        ]);
        Ok(Self { coding, headers })
    }

    pub(super) fn full(mut self, body: Bytes) -> Response {
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(name) = self.coding.name() {
            self.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(name));
        }
        (self.headers, body).into_response()
    }

    /// A body of no stated length, since a `Content-Length` here would have to be that of the full answer (RFC 9110,
    /// 8.6).
    pub(super) fn not_modified(self) -> Response {
        let nothing = Body::from_stream(futures::stream::empty::<Result<Bytes, Infallible>>());
        (StatusCode::NOT_MODIFIED, self.headers, nothing).into_response()
    }
}
