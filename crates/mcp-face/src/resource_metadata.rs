//! What RFC 9728 has a protected resource say of itself. No authorization server is named while none is configured.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde_json::json;
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;

use crate::accepted::JSON;
use crate::caller::Caller;
use crate::endpoint::Face;
use crate::message::Id;
use crate::service::SCOPE;
use crate::{PATH as RESOURCE, reply};

/// Of the endpoint (RFC 9728, 3.1).
pub(crate) const PATH: &str = "/.well-known/oauth-protected-resource/mcp";
/// Where clients look next.
pub(crate) const ROOT_PATH: &str = "/.well-known/oauth-protected-resource";

/// Where the document stands.
pub(crate) fn url(origin: &str) -> String {
    format!("{origin}{PATH}")
}

/// The document. It takes no key: it says how to get one.
pub(crate) async fn document<C: ToolCatalog>(State(face): State<Arc<Face<C>>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let caller = match Caller::read(&head, face.public_origin()) {
        Ok(caller) => caller,
        Err(refusal) => return reply::refused(&Id::unknown(), refusal),
    };
    let document = json!({
        "resource": format!("{}{RESOURCE}", caller.origin),
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": "toolgate",
    });
    ([(CONTENT_TYPE, JSON), (CACHE_CONTROL, "no-cache")], document.to_string()).into_response()
}
