//! `GET /client/mcp/tools[?upstreamId=UUID]`: the whole catalogue of the caller's client, in the Roar shape.
//!
//! Backed by `ToolCatalog.ListTools` in the RAW view. One request makes one call, which carries
//! [`WholeAnswer`](toolgate_api_proto::WholeAnswer), so that the list is not cut into pages, and the tag of what is
//! already held, here or by the caller.

mod ask;
mod shape;

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use bytes::Bytes;
use http::HeaderMap;
use toolgate_api_proto::v1::ListToolsResponse;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;

use crate::answer::{Answer, Fault, tag};
use crate::body_cache::{BodyCache, BodyKey, TaggedBody};
use crate::coding::Coding;
use crate::envelope::Refusal;
use crate::mapping;
use ask::Ask;

pub(crate) const PATH: &str = "/client/mcp/tools";
const ALLOW: &str = "GET, HEAD";
const VARY: &str = "authorization, accept-encoding";

/// The route's methods, answered by `catalog`, with rendered bodies kept in `bodies`.
pub(crate) fn methods<C: ToolCatalog>(catalog: Arc<C>, bodies: Arc<BodyCache>) -> MethodRouter {
    let methods = get(list::<C>).fallback(async || Refusal::method_not_allowed(ALLOW));
    methods.with_state(Arc::new(Lists { catalog, bodies }))
}

struct Lists<C> {
    catalog: Arc<C>,
    bodies: Arc<BodyCache>,
}

impl From<shape::NoShape> for Fault {
    fn from(fault: shape::NoShape) -> Self {
        Self::NoShape(fault.to_string())
    }
}

async fn list<C: ToolCatalog>(
    State(lists): State<Arc<Lists<C>>>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let Query(query) =
        query.map_err(|_| Refusal::invalid("query", "send `name=value` pairs joined by `&`"))?;
    let ask = Ask::read(&query, &headers)?;
    let key = BodyKey::new(PATH, ask.authorization.as_ref(), &ask.upstream_id, ask.coding);
    let held = lists.bodies.get(&key);
    let known = held.as_ref().map(|held| &*held.etag).or(ask.if_none_match.first()).unwrap_or_default();

    let list = call(&*lists.catalog, &ask, known).await?;
    let etag: Arc<str> = tag(list.not_modified, known, &list.etag)?.into();
    let answer = Answer::new(ask.coding, &etag, &list.revision, VARY)?;
    if ask.if_none_match.holds(&etag) {
        return Ok(answer.not_modified());
    }
    match held {
        Some(held) if list.not_modified => Ok(answer.full(held.bytes)),
        _ => {
            let bytes = render(list, ask.coding).await?;
            lists.bodies.put(key, TaggedBody { etag, bytes: bytes.clone() });
            Ok(answer.full(bytes))
        }
    }
}

async fn call<C: ToolCatalog>(catalog: &C, ask: &Ask, known: &str) -> Result<ListToolsResponse, Refusal> {
    let answer = catalog.list_tools(ask.request(known)).await;
    answer.map(tonic::Response::into_inner).map_err(|status| mapping::refusal(&status))
}

/// Off the threads that serve connections: a list may have 100,000 tools.
async fn render(list: ListToolsResponse, coding: Coding) -> Result<Bytes, Fault> {
    if !list.next_page_token.is_empty() {
        return Err(Fault::Partial);
    }
    let body = tokio::task::spawn_blocking(move || shape::render(&list.tools).map(|body| coding.apply(body)));
    Ok(body.await??)
}
