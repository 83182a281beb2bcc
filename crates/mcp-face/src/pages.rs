//! `tools/list`: pages of served definitions, each written as the text that the service gave, and the face's own tool last.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest, Sha256};
use toolgate_answer_cache::{AnswerCache, TaggedAnswer};
use toolgate_api_proto::v1::tool_catalog_server::ToolCatalog;
use toolgate_api_proto::v1::{ListToolsRequest, ListToolsResponse};

use crate::built_in;
use crate::caller::Caller;
use crate::refusal::{INVALID_PARAMS, Refusal};
use crate::service;

/// The digest of the credential and the cursor.
pub(crate) type PageKey = [u8; 32];

/// The members of the result that holds the page at `cursor`, which is the service's own page token.
pub(crate) async fn page<C: ToolCatalog>(
    catalog: &C,
    pages: &AnswerCache<PageKey>,
    caller: &Caller,
    cursor: Option<&str>,
) -> Result<Bytes, Refusal> {
    // The service would take the empty token for the first page, but no list of ours leads there.
    if cursor == Some("") {
        return Err(invalid_cursor());
    }
    let key = key(caller, cursor);
    let held = pages.get(&key);
    let known = held.as_ref().map(|held| held.etag.to_string()).unwrap_or_default();
    let page_token = cursor.unwrap_or_default().to_owned();
    let list = ListToolsRequest { page_token, if_none_match: known, ..ListToolsRequest::default() };
    let list = service::list_served(catalog, caller, list).await.map_err(|refusal| about(cursor, refusal))?;
    match held {
        Some(held) if list.not_modified => Ok(held.bytes),
        _ => {
            let bytes = render(&list);
            pages.put(key, TaggedAnswer { etag: Arc::from(list.etag), bytes: bytes.clone() });
            Ok(bytes)
        }
    }
}

/// The cursor is all that is of the caller's making.
fn about(cursor: Option<&str>, refusal: Refusal) -> Refusal {
    match cursor {
        Some(_) if refusal.code == INVALID_PARAMS => Refusal { is_the_services: true, ..invalid_cursor() },
        _ => refusal,
    }
}

fn invalid_cursor() -> Refusal {
    Refusal::invalid_params("cursor: is none of this list; begin again without it")
}

fn key(caller: &Caller, cursor: Option<&str>) -> PageKey {
    let mut digest = Sha256::new();
    digest.update(caller.digest());
    digest.update(cursor.unwrap_or_default());
    digest.finalize().into()
}

fn render(list: &ListToolsResponse) -> Bytes {
    let length: usize = list.tools.iter().map(|tool| tool.definition_json.len() + 1).sum();
    let mut out =
        String::with_capacity(length + list.next_page_token.len() + built_in::DEFINITION.len() + 64);
    out.push_str(r#""tools":["#);
    for (index, tool) in list.tools.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&tool.definition_json);
    }
    if list.next_page_token.is_empty() {
        if !list.tools.is_empty() {
            out.push(',');
        }
        out.push_str(built_in::DEFINITION);
    }
    out.push(']');
    if !list.next_page_token.is_empty() {
        out.push_str(r#","nextCursor":"#);
        out.push_str(&Value::from(&*list.next_page_token).to_string());
    }
    out.into()
}
