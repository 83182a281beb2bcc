//! `/mcp`: from an HTTP request to the era that it belongs to.

use std::error::Error;
use std::sync::Arc;

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::header::ALLOW;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::LengthLimitError;
use serde_json::json;
use toolgate_answer_cache::AnswerCache;
use toolgate_api_proto::v1::{tool_catalog_server::ToolCatalog, tool_gateway_server::ToolGateway};
use toolgate_definition::json::{Document, Kind};

use crate::accepted::check_is_json;
use crate::call::CallEvents;
use crate::caller::Caller;
use crate::limits::{MAX_CACHED_BYTES, MAX_CACHED_PAGES, MAX_REQUEST_BYTES, MAX_UNJUDGED_BYTES, REQUEST};
use crate::log_levels::LogLevels;
use crate::message::{self, Id, Message};
use crate::pages::PageKey;
use crate::refusal::Refusal;
use crate::session_token::SessionTokens;
use crate::settings::McpSettings;
use crate::under_way::UnderWay;
use crate::{reply, service, session_era, stateless_era};

/// What every request is answered from.
pub(crate) struct Face<C> {
    pub(crate) catalog: Arc<C>,
    pub(crate) gateway: Arc<dyn ToolGateway<CallToolStream = CallEvents>>,
    pub(crate) pages: AnswerCache<PageKey>,
    pub(crate) sessions: SessionTokens,
    pub(crate) under_way: Arc<UnderWay>,
    pub(crate) log_levels: LogLevels,
    /// JSON text.
    pub(crate) server_info: String,
    /// What `tool_list` tells of where rights are granted.
    pub(crate) grant: Arc<str>,
    public_origin: Option<String>,
}

impl<C> Face<C> {
    pub(crate) fn new(
        catalog: Arc<C>,
        gateway: Arc<dyn ToolGateway<CallToolStream = CallEvents>>,
        settings: McpSettings,
    ) -> Self {
        Self {
            catalog,
            gateway,
            pages: AnswerCache::new(MAX_CACHED_BYTES, MAX_CACHED_PAGES),
            sessions: SessionTokens::new(settings.sealer, settings.random),
            under_way: Arc::default(),
            log_levels: LogLevels::default(),
            server_info: json!({"name": "toolgate", "version": settings.version}).to_string(),
            grant: settings.melbis_grant,
            public_origin: settings.public_origin,
        }
    }

    pub(crate) fn public_origin(&self) -> Option<&str> {
        self.public_origin.as_deref()
    }

    /// Every revision, the newest first.
    pub(crate) fn supported(&self) -> Vec<&'static str> {
        [stateless_era::REVISION].into_iter().chain(session_era::REVISIONS).collect()
    }
}

pub(crate) async fn post<C: ToolCatalog>(State(face): State<Arc<Face<C>>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let caller = match Caller::read(&head, face.public_origin()) {
        Ok(caller) => caller,
        Err(refusal) => return reply::refused(&Id::unknown(), refusal),
    };
    let answered = match read_body(&face, &caller, &head, body).await {
        Ok(text) => answer(&face, &caller, &head.headers, &text).await,
        Err(refusal) => Err((Id::unknown(), refusal)),
    };
    or_refused(&face, &caller, answered).await
}

pub(crate) async fn get<C: ToolCatalog>(State(face): State<Arc<Face<C>>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let caller = match Caller::read(&head, face.public_origin()) {
        Ok(caller) => caller,
        Err(refusal) => return reply::refused(&Id::unknown(), refusal),
    };
    let answered = session_era::notices(&face, &caller, &head.headers).await;
    or_refused(&face, &caller, answered.map_err(|refusal| (Id::unknown(), refusal))).await
}

/// A session is kept nowhere, so `DELETE` cannot end one; the protocol lets a server say so.
pub(crate) async fn other_method() -> Response {
    let refusal = Refusal::http(StatusCode::METHOD_NOT_ALLOWED, "this route takes GET and POST");
    reply::refused(&Id::unknown(), refusal.with_header(ALLOW, HeaderValue::from_static("GET, POST")))
}

/// Nobody is told what is wrong with a request before the service has accepted the credential.
async fn or_refused<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    answered: Result<Response, (Id, Refusal)>,
) -> Response {
    let (id, mut refusal) = match answered {
        Ok(response) => return response,
        Err(refused) => refused,
    };
    if !refusal.is_the_services
        && let Err(first) = service::admit(&*face.catalog, caller).await
    {
        refusal = first;
    }
    reply::refused(&id, refusal)
}

/// Without a credential the body is not even read, and one that may be large only with a credential that is good.
async fn read_body<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    head: &Parts,
    body: Body,
) -> Result<Bytes, Refusal> {
    let size = body.size_hint();
    if caller.authorization.is_none() || size.upper().is_none_or(|most| most > MAX_UNJUDGED_BYTES) {
        service::admit(&*face.catalog, caller).await?;
    }
    check_is_json(&head.headers)?;
    if size.lower() > MAX_REQUEST_BYTES as u64 {
        return Err(too_large());
    }
    to_bytes(body, MAX_REQUEST_BYTES).await.map_err(|error| unread(&error))
}

fn too_large() -> Refusal {
    let message = format!("the body has more than {MAX_REQUEST_BYTES} bytes");
    Refusal::http(StatusCode::PAYLOAD_TOO_LARGE, message)
}

fn unread(error: &axum::Error) -> Refusal {
    match error.source().is_some_and(<dyn Error>::is::<LengthLimitError>) {
        true => too_large(),
        false => Refusal::http(StatusCode::BAD_REQUEST, "the body broke off, or took too long to come"),
    }
}

async fn answer<C: ToolCatalog>(
    face: &Face<C>,
    caller: &Caller,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response, (Id, Refusal)> {
    let unknown = |refusal| (Id::unknown(), refusal);
    let text = std::str::from_utf8(body).map_err(|_| unknown(Refusal::not_utf8()))?;
    let document = Document::parse(text, &REQUEST).map_err(|error| unknown(Refusal::unreadable(&error)))?;
    let root = document.root();
    if root.kind() == Kind::Array {
        return session_era::answer_batch(face, caller, headers, root).await.map_err(unknown);
    }
    let message = message::read(root)?;
    let id = match &message {
        Message::Request(request) => request.id.clone(),
        Message::Notification(_) | Message::Response => Id::unknown(),
    };
    let answered = if stateless_era::is_meant(headers, &message) {
        stateless_era::answer(face, caller, headers, &message).await
    } else {
        session_era::answer(face, caller, headers, &message).await
    };
    answered.map_err(|refusal| (id, refusal))
}
