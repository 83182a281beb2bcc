//! Answers as they are sent: a list of byte strings, so that a rendered page is sent from where it is kept.

use std::convert::Infallible;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::message::Id;
use crate::refusal::Refusal;

/// A JSON text in parts.
#[derive(Debug, Default)]
pub(crate) struct Reply(Vec<Bytes>);

impl Reply {
    /// The response with a result, whose members (without the braces) are `members`.
    pub(crate) fn result(id: &Id, members: Vec<Bytes>) -> Self {
        let mut reply = Self::default();
        reply.push(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"#, id.text()));
        reply.0.extend(members);
        reply.push("}}");
        reply
    }

    pub(crate) fn error(id: &Id, refusal: &Refusal) -> Self {
        let mut reply = Self::default();
        reply.push(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{}}}"#, id.text(), refusal.text()));
        reply
    }

    /// An array of replies.
    pub(crate) fn batch(replies: Vec<Self>) -> Self {
        let mut batch = Self::default();
        for (index, reply) in replies.into_iter().enumerate() {
            batch.push(if index == 0 { "[" } else { "," });
            batch.0.extend(reply.0);
        }
        batch.push("]");
        batch
    }

    fn push(&mut self, part: impl Into<Bytes>) {
        self.0.push(part.into());
    }

    /// What it says depends on the credential and may change at any time, so nobody keeps it by guess.
    pub(crate) fn into_response(self, status: StatusCode) -> Response {
        let length: usize = self.0.iter().map(Bytes::len).sum();
        let headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (CONTENT_LENGTH, HeaderValue::from(length)),
            (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ]);
        let parts = self.0.into_iter().map(Ok::<_, Infallible>);
        (status, headers, Body::from_stream(stream::iter(parts))).into_response()
    }
}

/// The answer to a request that is refused.
pub(crate) fn refused(id: &Id, refusal: Refusal) -> Response {
    let mut response = Reply::error(id, &refusal).into_response(refusal.status);
    response.headers_mut().extend(refusal.headers);
    response
}

/// A notification or a response was taken.
pub(crate) fn accepted() -> Response {
    StatusCode::ACCEPTED.into_response()
}
