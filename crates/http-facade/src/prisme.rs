//! `GET /v1/agents/{agentId}/tools/{toolId}/capabilities`: what a tool server lists at this moment, in the Prisme shape.
//!
//! Backed by `ToolCatalog.ListServerTools`, one call a request. A server that cannot be listed is no error: the answer is
//! 200 and says so. Each segment of the path is percent-decoded once, so `%2F` is a part of an id and never leads elsewhere.

mod ask;
mod refusal;
mod shape;

use std::sync::Arc;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderName, HeaderValue};
use toolgate_api_proto::v1::ListServerToolsResponse;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;

use crate::answer::{Fault, X_TOOLGATE_REVISION};
use crate::coding::Coding;
use crate::envelope::Refusal;
use ask::Ask;

pub(crate) const PATH: &str = "/v1/agents/{agentId}/tools/{toolId}/capabilities";
/// The same where Prisme has it: its base URL ends so.
pub(crate) const WEBHOOK_PATH: &str =
    "/v2/workspaces/slug:agent-factory/webhooks/v1/agents/{agentId}/tools/{toolId}/capabilities";
const ALLOW: &str = "GET, HEAD";
const VARY_ON: &str = "authorization, x-prismeai-api-key, accept-encoding";

/// The methods of either path, answered by `catalog`.
pub(crate) fn methods<C: ToolCatalog>(catalog: Arc<C>) -> MethodRouter {
    get(capabilities::<C>).fallback(async || Refusal::method_not_allowed(ALLOW)).with_state(catalog)
}

async fn capabilities<C: ToolCatalog>(
    State(catalog): State<Arc<C>>,
    path: Result<RawPathParams, RawPathParamsRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let ask = Ask::read(path, &headers)?;
    let answer = catalog.list_server_tools(ask.request()).await;
    let list = answer.map_err(|status| refusal::refusal(&status))?.into_inner();
    Ok(rendered(list, ask.coding).await?)
}

/// Never to be kept by a cache: it is of this moment, and good for one caller.
async fn rendered(list: ListServerToolsResponse, coding: Coding) -> Result<Response, Fault> {
    let revision = HeaderValue::from_str(&list.revision).map_err(|_| Fault::NotAHeader("revision"))?;
    let body = tokio::task::spawn_blocking(move || shape::render(&list).map(|body| coding.apply(body)));
    let body = body.await?.map_err(|fault| Fault::NoShape(fault.to_string()))?;
    let fixed = |(name, value): (HeaderName, &'static str)| (name, HeaderValue::from_static(value));
    let mut headers: HeaderMap =
        [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store"), (VARY, VARY_ON)]
            .into_iter()
            .map(fixed)
            .chain(coding.name().map(|name| fixed((CONTENT_ENCODING, name))))
            .collect();
    headers.insert(X_TOOLGATE_REVISION, revision);
    Ok((headers, body).into_response())
}
