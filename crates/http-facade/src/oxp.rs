//! `GET /tools`: what the caller may use, in the shape of OXP 1.0, and `GET /health`.
//!
//! Backed by `ToolCatalog.ListToolDefinitions`, asked for the whole list as the Roar route is. Errors have OXP's own form.

mod ask;
pub(crate) mod call;
mod refusal;
mod shape;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use bytes::Bytes;
use http::header::CACHE_CONTROL;
use http::{HeaderValue, StatusCode};
use toolgate_api_proto::v1::ListToolDefinitionsResponse;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;

use crate::answer::{Answer, Fault, tag};
use crate::body_cache::{BodyCache, BodyKey, TaggedBody};
use crate::coding::Coding;
use crate::envelope::Refusal;
use crate::mapping;
use ask::Ask;
use refusal::OxpRefusal;

pub(crate) const TOOLS_PATH: &str = "/tools";
pub(crate) const HEALTH_PATH: &str = "/health";
const ALLOW: &str = "GET, HEAD";
const VARY: &str = "authorization, oxp-api-key, accept-encoding";

/// The version that is spoken, as every answer names it.
const SCHEMA: &str = "urn:oxp:1.0";

/// The methods of [`TOOLS_PATH`], answered by `catalog`, with rendered bodies kept in `bodies`.
pub(crate) fn tools<C: ToolCatalog>(catalog: Arc<C>, bodies: Arc<BodyCache>) -> MethodRouter {
    let methods = get(list::<C>).fallback(not_allowed);
    methods.with_state(Arc::new(Lists { catalog, bodies }))
}

/// The methods of [`HEALTH_PATH`]: 200 while `takes_work` says so, else 503, without a body and to everybody.
pub(crate) fn health(takes_work: Arc<dyn Fn() -> bool + Send + Sync>) -> MethodRouter {
    let answer = async move || {
        let status = if takes_work() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        (status, [(CACHE_CONTROL, HeaderValue::from_static("no-store"))])
    };
    get(answer).fallback(not_allowed)
}

async fn not_allowed() -> OxpRefusal {
    Refusal::method_not_allowed(ALLOW).into()
}

struct Lists<C> {
    catalog: Arc<C>,
    bodies: Arc<BodyCache>,
}

async fn list<C: ToolCatalog>(State(lists): State<Arc<Lists<C>>>, request: Request) -> Response {
    let answer = lists.answer(request).await;
    answer.unwrap_or_else(|refusal| OxpRefusal::from(refusal).into_response())
}

impl<C: ToolCatalog> Lists<C> {
    async fn answer(&self, request: Request) -> Result<Response, Refusal> {
        let ask = Ask::read(request).await?;
        let key = BodyKey::new(TOOLS_PATH, ask.credential.as_ref(), "", ask.coding);
        let held = self.bodies.get(&key);
        let known = held.as_ref().map(|held| &*held.etag).or(ask.if_none_match.first()).unwrap_or_default();

        let list = self.catalog.list_tool_definitions(ask.request(known)).await;
        let list = list.map_err(|status| mapping::refusal(&status))?.into_inner();
        let etag: Arc<str> = tag(list.not_modified, known, &list.etag)?.into();
        let answer = Answer::new(ask.coding, &etag, &list.revision, VARY)?;
        if ask.if_none_match.holds(&etag) {
            return Ok(answer.not_modified());
        }
        match held {
            Some(held) if list.not_modified => Ok(answer.full(held.bytes)),
            _ => {
                let bytes = render(list, ask.coding).await?;
                self.bodies.put(key, TaggedBody { etag, bytes: bytes.clone() });
                Ok(answer.full(bytes))
            }
        }
    }
}

/// Off the threads that serve connections: a list may have 100,000 tools.
async fn render(list: ListToolDefinitionsResponse, coding: Coding) -> Result<Bytes, Fault> {
    if !list.next_page_token.is_empty() {
        return Err(Fault::Partial);
    }
    Ok(tokio::task::spawn_blocking(move || coding.apply(shape::render(&list.definitions))).await?)
}
