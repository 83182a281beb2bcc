//! `GET /openapi.json`: what every route on this listener takes and answers, in OpenAPI 3.1. It takes no key.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use bytes::Bytes;
use http::HeaderMap;
use sha2::{Digest, Sha256};

use crate::answer::Answer;
use crate::coding::Coding;
use crate::conditional::IfNoneMatch;
use crate::envelope::Refusal;

pub(crate) const PATH: &str = "/openapi.json";
const ALLOW: &str = "GET, HEAD";
const TEXT: &str = include_str!("../openapi.json");

/// The route's methods.
pub(crate) fn methods() -> MethodRouter {
    let methods = get(answer).fallback(async || Refusal::method_not_allowed(ALLOW));
    methods.with_state(Arc::new(Document::new()))
}

/// The document in each coding, made once.
struct Document {
    etag: String,
    plain: Bytes,
    coded: Bytes,
}

impl Document {
    fn new() -> Self {
        Self {
            etag: Sha256::digest(TEXT).iter().map(|byte| format!("{byte:02x}")).collect(),
            plain: Coding::Identity.apply(TEXT.into()),
            coded: Coding::Gzip.apply(TEXT.into()),
        }
    }
}

async fn answer(State(document): State<Arc<Document>>, headers: HeaderMap) -> Result<Response, Refusal> {
    let coding = Coding::preferred(&headers);
    let answer = Answer::public(coding, &document.etag)?;
    if IfNoneMatch::read(&headers).holds(&document.etag) {
        return Ok(answer.not_modified());
    }
    Ok(answer.full(match coding {
        Coding::Identity => document.plain.clone(),
        Coding::Gzip => document.coded.clone(),
    }))
}
