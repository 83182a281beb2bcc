//! `GET /tool_list[?unit=ADDRESS]`: upstreams as the tools of a Melbis store, or one of them with its commands.
//!
//! Backed by `ToolCatalog.ListToolUnits` and `GetToolUnit`, asked for the whole answer as the Roar route is. The body is the
//! first of the two documented blocks; a header stands in for the second. Refusals are one line of text.

mod ask;
mod refusal;

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;
use toolgate_api_proto::v1::{GetToolUnitResponse, ListToolUnitsResponse, ToolUnit, ToolUnitCommand};
use toolgate_tool_list as tool_list;

use crate::answer::{Answer, Fault, tag};
use crate::body_cache::{BodyCache, BodyKey, TaggedBody};
use crate::coding::Coding;
use crate::envelope::Refusal;
use ask::Ask;
use refusal::MelbisRefusal;

pub(crate) const PATH: &str = "/tool_list";
const ALLOW: &str = "GET, HEAD";
const VARY: &str = "authorization, accept-encoding";

const X_TOOLGATE_HINT: HeaderName = HeaderName::from_static("x-toolgate-hint");
/// What becomes of the second block, which is for people before the program.
const NOTHING_HERE: HeaderValue =
    HeaderValue::from_static("no tools yet; register a tool server with: toolgate upstream add");

/// The route's methods, answered by `catalog`, with rendered bodies kept in `bodies`.
pub(crate) fn methods<C: ToolCatalog>(
    catalog: Arc<C>,
    bodies: Arc<BodyCache>,
    grant: Arc<str>,
) -> MethodRouter {
    let digest = Sha256::digest(grant.as_bytes());
    let rendering = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect::<String>();
    let lists = Lists { catalog, bodies, grant, rendering: format!(".{rendering}") };
    get(list::<C>).fallback(not_allowed).with_state(Arc::new(lists))
}

async fn not_allowed() -> MelbisRefusal {
    Refusal::method_not_allowed(ALLOW).into()
}

struct Lists<C> {
    catalog: Arc<C>,
    bodies: Arc<BodyCache>,
    grant: Arc<str>,
    /// What a tag has behind that of the service, which does not stand for the grant.
    rendering: String,
}

/// What the service told, of either call.
struct Told {
    not_modified: bool,
    etag: String,
    revision: String,
    is_partial: bool,
    content: Content,
}

enum Content {
    List(Vec<ToolUnit>),
    Unit(ToolUnit, Vec<ToolUnitCommand>),
}

async fn list<C: ToolCatalog>(
    State(lists): State<Arc<Lists<C>>>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, MelbisRefusal> {
    let Query(query) =
        query.map_err(|_| Refusal::invalid("query", "send `name=value` pairs joined by `&`"))?;
    let ask = Ask::read(&query, &headers, &lists.rendering)?;
    lists.answer(ask).await
}

impl<C: ToolCatalog> Lists<C> {
    async fn answer(&self, ask: Ask) -> Result<Response, MelbisRefusal> {
        let key = BodyKey::new(PATH, ask.authorization.as_ref(), &ask.unit, ask.coding);
        let held = self.bodies.get(&key);
        let known = held.as_ref().map(|held| &*held.etag).or(ask.if_none_match.first()).unwrap_or_default();

        let told = self.ask(&ask, known).await?;
        let etag: Arc<str> = tag(told.not_modified, known, &told.etag).map_err(Refusal::from)?.into();
        let shown = format!("{etag}{}", self.rendering);
        let answer = Answer::new(ask.coding, &shown, &told.revision, VARY).map_err(Refusal::from)?;
        if ask.if_none_match.holds(&etag) {
            return Ok(answer.not_modified());
        }
        let bytes = match held {
            Some(held) if told.not_modified => held.bytes,
            _ => {
                let bytes = self.render(told, ask.coding).await.map_err(Refusal::from)?;
                self.bodies.put(key, TaggedBody { etag, bytes: bytes.clone() });
                bytes
            }
        };
        let is_empty = ask.unit.is_empty() && bytes == ask.coding.apply(self.empty());
        let mut response = answer.full(bytes);
        if is_empty {
            response.headers_mut().insert(X_TOOLGATE_HINT, NOTHING_HERE);
        }
        Ok(response)
    }

    async fn ask(&self, ask: &Ask, known: &str) -> Result<Told, MelbisRefusal> {
        let told = match ask.unit.is_empty() {
            true => self.catalog.list_tool_units(ask.list(known)).await.map(|told| told.into_inner().into()),
            false => self.catalog.get_tool_unit(ask.get(known)).await.map(|told| told.into_inner().into()),
        };
        told.map_err(|status| refusal::of(&status, &ask.unit))
    }

    fn empty(&self) -> Vec<u8> {
        tool_list::list(&self.grant, &[]).into_bytes()
    }

    /// Off the threads that serve connections: a unit may have 10,000 commands.
    async fn render(&self, told: Told, coding: Coding) -> Result<Bytes, Fault> {
        if told.is_partial {
            return Err(Fault::Partial);
        }
        let grant = Arc::clone(&self.grant);
        let rendered = tokio::task::spawn_blocking(move || {
            let text = match &told.content {
                Content::List(units) => tool_list::list(&grant, units),
                Content::Unit(unit, commands) => tool_list::unit(unit, commands),
            };
            coding.apply(text.into_bytes())
        });
        Ok(rendered.await?)
    }
}

impl From<ListToolUnitsResponse> for Told {
    fn from(told: ListToolUnitsResponse) -> Self {
        let ListToolUnitsResponse { units, next_page_token, revision, etag, not_modified } = told;
        let (is_partial, content) = (!next_page_token.is_empty(), Content::List(units));
        Self { not_modified, etag, revision, is_partial, content }
    }
}

impl From<GetToolUnitResponse> for Told {
    fn from(told: GetToolUnitResponse) -> Self {
        let GetToolUnitResponse { unit, commands, next_page_token, revision, etag, not_modified } = told;
        let content = Content::Unit(unit.unwrap_or_default(), commands);
        Self { not_modified, etag, revision, is_partial: !next_page_token.is_empty(), content }
    }
}
